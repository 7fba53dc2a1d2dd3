// Random numbers come from relay's kernel for every child: the engine's own generators were seeded before the fork and
// would give each run the same sequence. Digests and keyed operations are the extension's.

import { host } from "./bridge";
import { Buffer } from "./buffer";
import { toBytes } from "./streams";
import * as p from "./primordials";

const native = crypto;
const subtle = native.subtle;

export function getRandomValues<T extends ArrayBufferView>(view: T): T {
  const bytes = new p.NativeUint8Array(view.buffer, view.byteOffset, view.byteLength);
  if (bytes.length > 65536) throw new DOMException("The requested length exceeds 65536 bytes", "QuotaExceededError");
  bytes.set(host().random(bytes.length));
  return view;
}

export function randomUUID(): string {
  const bytes = host().random(16);
  bytes[6] = (bytes[6]! & 15) | 64;
  bytes[8] = (bytes[8]! & 63) | 128;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

async function generateKey(algorithm: any, extractable: boolean, usages: string[]): Promise<unknown> {
  const name = String(algorithm?.name ?? algorithm).toUpperCase();
  const size = name === "HMAC" ? (algorithm.length ?? 512) / 8 : name.startsWith("AES-") ? algorithm.length / 8 : 0;
  if (!size) throw new DOMException(`generateKey does not support ${name} here`, "NotSupportedError");
  return subtle.importKey("raw", host().random(size), algorithm, extractable, usages);
}

export function installCrypto(): void {
  const guarded = p.create(p.getPrototypeOf(subtle));
  for (const name of ["digest", "importKey", "exportKey", "sign", "verify", "encrypt", "decrypt", "deriveBits", "deriveKey"])
    if (typeof subtle[name] === "function") p.hide(guarded, name, subtle[name].bind(subtle));
  p.hide(guarded, "generateKey", generateKey);
  const made = { getRandomValues, randomUUID, subtle: guarded };
  p.defineProperty(globalThis, "crypto", { value: made, writable: true, enumerable: false, configurable: true });
}

const randomBytes = (size: number) => Buffer.from(host().random(size));

export const cryptoModule = {
  randomUUID,
  randomBytes,
  randomInt: (low: number, high?: number) => {
    const [from, to] = high === undefined ? [0, low] : [low, high];
    const six = randomBytes(6).reduce((sum, byte) => sum * 256 + byte, 0);
    return from + p.floor((six / 2 ** 48) * (to - from));
  },
  getRandomValues,
  webcrypto: { getRandomValues, randomUUID, subtle },
  subtle,
  timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
    const x = toBytes(a), y = toBytes(b);
    let difference = x.length ^ y.length;
    for (let i = 0; i < p.min(x.length, y.length); i++) difference |= x[i]! ^ y[i]!;
    return difference === 0;
  },
};
