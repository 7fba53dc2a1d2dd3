// Digests for node:crypto, which wants them at once: the engine's own come as promises. Computed on this side, where the
// compiler makes them fast; bytes in, bytes out.

import { hmac } from "@noble/hashes/hmac.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_256 } from "@noble/hashes/sha2.js";

const ALGORITHMS = { md5, sha1, sha224, sha256, sha384, sha512, "sha512-256": sha512_256, ripemd160 } as const;

/** The names that this side knows, in lower case. */
export const digestNames: readonly string[] = Object.keys(ALGORITHMS);

/** With a key it is the HMAC. */
export function digest(algorithm: string, data: Uint8Array, key?: Uint8Array): Uint8Array {
  if (!Object.hasOwn(ALGORITHMS, algorithm)) throw new Error(`no digest ${algorithm}`);
  const hash = ALGORITHMS[algorithm as keyof typeof ALGORITHMS];
  return key ? hmac(hash, key, data) : hash(data);
}
