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

type Done<T> = (error: Error | null, value: T) => void;

function coded(error: Error, code: string): Error {
  return p.assign(error, { code });
}

/** Node's rule: text in an encoding, or bytes of any view; nothing is turned into text by guessing. */
function dataOf(data: unknown, encoding: string | undefined, what: string): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, encoding);
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return toBytes(data);
  throw coded(new TypeError(`The "${what}" argument must be of type string or an instance of Buffer, TypedArray, or DataView`), "ERR_INVALID_ARG_TYPE");
}

function algorithmOf(name: unknown): string {
  if (typeof name !== "string") throw coded(new TypeError('The "algorithm" argument must be of type string'), "ERR_INVALID_ARG_TYPE");
  const known = p.split(host().digestNames(), ",");
  const wanted = name.toLowerCase().replace(/^(sha)-(?=\d)|^rsa-/, "$1");
  if (known.includes(wanted)) return wanted;
  throw coded(new Error(`Digest method not supported: ${name}. This sandbox has ${p.join(known, ", ")}`), "ERR_CRYPTO_INVALID_DIGEST");
}

/** What createHash and createHmac give. The data is kept until the digest is asked for. */
class Digest {
  #parts: Uint8Array[] = [];
  #finished = false;
  constructor(readonly algorithm: string, readonly key?: Uint8Array) {}

  update(data: unknown, encoding?: string): this {
    this.#refuseFinished();
    this.#parts.push(new p.NativeUint8Array(dataOf(data, encoding, "data")));
    return this;
  }
  digest(encoding?: string): Buffer | string {
    this.#refuseFinished();
    this.#finished = true;
    const bytes = Buffer.from(host().digest(this.algorithm, Buffer.concat(this.#parts), this.key));
    return encoding === undefined || encoding === "buffer" ? bytes : bytes.toString(encoding);
  }
  copy(): Digest {
    this.#refuseFinished();
    const copy = new Digest(this.algorithm, this.key);
    copy.#parts = p.slice(this.#parts);
    return copy;
  }
  #refuseFinished(): void {
    if (this.#finished) throw coded(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
  }
}
p.hide(Digest.prototype, Symbol.toStringTag, "Hash");

function sizeOf(size: unknown): number {
  if (typeof size === "number" && p.isInteger(size) && size >= 0 && size <= 0x7fffffff) return size;
  throw coded(new RangeError(`The value of "size" is out of range. Received ${p.toText(size)}`), "ERR_OUT_OF_RANGE");
}

function randomBytes(size: number, done?: Done<Buffer>): Buffer | void {
  const bytes = Buffer.from(host().random(sizeOf(size)));
  if (!done) return bytes;
  queueMicrotask(() => done(null, bytes));
}

function randomInt(low: number, high?: number | Done<number>, done?: Done<number>): number | void {
  const [from, to] = typeof high === "number" ? [low, high] : [0, low];
  const answer = typeof high === "function" ? high : done;
  if (!(to > from)) throw coded(new RangeError('The value of "max" is out of range: it must be greater than "min"'), "ERR_OUT_OF_RANGE");
  const six = host().random(6).reduce((sum, byte) => sum * 256 + byte, 0);
  const value = from + p.floor((six / 2 ** 48) * (to - from));
  if (!answer) return value;
  queueMicrotask(() => answer(null, value));
}

function randomFillSync<T extends ArrayBufferView>(view: T, offset = 0, size = view.byteLength - offset): T {
  new p.NativeUint8Array(view.buffer, view.byteOffset + offset, size).set(host().random(size));
  return view;
}

function timingSafeEqual(a: unknown, b: unknown): boolean {
  for (const value of [a, b])
    if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer))
      throw coded(new TypeError("timingSafeEqual compares Buffers, TypedArrays or DataViews"), "ERR_INVALID_ARG_TYPE");
  const x = toBytes(a), y = toBytes(b);
  if (x.length !== y.length) throw coded(new RangeError("Input buffers must have the same byte length"), "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH");
  let difference = 0;
  for (let i = 0; i < x.length; i++) difference |= x[i]! ^ y[i]!;
  return difference === 0;
}

const createHash = (algorithm: string) => new Digest(algorithmOf(algorithm));

export const cryptoModule = {
  createHash,
  createHmac: (algorithm: string, key: unknown) => new Digest(algorithmOf(algorithm), dataOf(key, undefined, "key")),
  hash: (algorithm: string, data: unknown, encoding = "hex") => createHash(algorithm).update(data).digest(encoding),
  getHashes: () => p.split(host().digestNames(), ","),
  randomUUID,
  randomBytes,
  randomInt,
  randomFillSync,
  getRandomValues,
  webcrypto: { getRandomValues, randomUUID, subtle },
  subtle,
  timingSafeEqual,
};
