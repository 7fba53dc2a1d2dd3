// Buffer: a Uint8Array with Node's conversions.

import * as p from "./primordials";

type Encoding = string | undefined;

function normal(encoding: Encoding): string {
  return String(encoding ?? "utf8").toLowerCase().replace("-", "");
}

function encode(text: string, encoding: Encoding): Uint8Array {
  switch (normal(encoding)) {
    case "utf8":
      return p.utf8(text);
    case "hex": {
      const pairs = text.match(/[0-9a-fA-F]{2}/g) ?? [];
      return Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
    }
    case "base64":
    case "base64url": {
      const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, ""));
      return Uint8Array.from(binary, (char) => char.charCodeAt(0));
    }
    case "latin1":
    case "binary":
    case "ascii":
      return Uint8Array.from(text, (char) => char.charCodeAt(0) & 255);
    case "utf16le":
    case "ucs2":
      return Uint8Array.from({ length: text.length * 2 }, (_, i) => (text.charCodeAt(i >> 1) >> (8 * (i & 1))) & 255);
    default:
      throw new TypeError(`Unknown encoding: ${encoding}`);
  }
}

function binary(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 4096) out += String.fromCharCode.apply(null, bytes.subarray(i, i + 4096) as unknown as number[]);
  return out;
}

function decode(bytes: Uint8Array, encoding: Encoding): string {
  switch (normal(encoding)) {
    case "utf8":
      return p.fromUtf8(bytes);
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    case "base64":
      return btoa(binary(bytes));
    case "base64url":
      return btoa(binary(bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    case "latin1":
    case "binary":
      return binary(bytes);
    case "ascii":
      return binary(bytes.map((byte) => byte & 127));
    case "utf16le":
    case "ucs2":
      return binary16(bytes);
    default:
      throw new TypeError(`Unknown encoding: ${encoding}`);
  }
}

function binary16(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i + 1 < bytes.length; i += 2) out += String.fromCharCode(bytes[i]! | (bytes[i + 1]! << 8));
  return out;
}

export class Buffer extends Uint8Array {
  static override from(value: any, encoding?: any, length?: any): Buffer {
    if (typeof value === "string") return wrap(encode(value, encoding));
    if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length);
    if (ArrayBuffer.isView(value)) return wrap(new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice());
    if (value?.type === "Buffer" && Array.isArray(value.data)) return wrap(Uint8Array.from(value.data));
    return wrap(Uint8Array.from(value));
  }
  static alloc(size: number, fill?: number | string): Buffer {
    const made = new Buffer(size);
    if (fill !== undefined) made.fill(fill as number);
    return made;
  }
  static allocUnsafe(size: number): Buffer {
    return new Buffer(size);
  }
  static concat(list: Uint8Array[], total = list.reduce((sum, part) => sum + part.length, 0)): Buffer {
    const made = new Buffer(total);
    let at = 0;
    for (const part of list) {
      made.set(part.subarray(0, p.max(0, total - at)), at);
      at += part.length;
    }
    return made;
  }
  static isBuffer(value: unknown): boolean {
    return value instanceof Buffer;
  }
  static isEncoding(name: string): boolean {
    return ["utf8", "hex", "base64", "base64url", "latin1", "binary", "ascii", "utf16le", "ucs2"].includes(normal(name));
  }
  static byteLength(value: string | Uint8Array, encoding?: string): number {
    return typeof value === "string" ? encode(value, encoding).length : value.byteLength;
  }
  static compare(a: Uint8Array, b: Uint8Array): number {
    for (let i = 0; i < p.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  override toString(encoding?: string, from = 0, to = this.length): string {
    return decode(this.subarray(from, to), encoding);
  }
  toJSON(): { type: string; data: number[] } {
    return { type: "Buffer", data: Array.from(this) };
  }
  equals(other: Uint8Array): boolean {
    return Buffer.compare(this, other) === 0;
  }
  compare(other: Uint8Array): number {
    return Buffer.compare(this, other);
  }
  write(text: string, at = 0, length?: number | string, encoding?: string): number {
    const bytes = encode(text, typeof length === "string" ? length : encoding);
    const part = bytes.subarray(0, p.min(this.length - at, typeof length === "number" ? length : Infinity));
    this.set(part, at);
    return part.length;
  }
  copy(target: Uint8Array, at = 0, from = 0, to = this.length): number {
    const part = this.subarray(from, p.min(to, from + target.length - at));
    target.set(part, at);
    return part.length;
  }
  override fill(value: any, from?: number, to?: number): this {
    if (typeof value === "number") return super.fill(value, from, to);
    const bytes = encode(value, "utf8");
    for (let i = from ?? 0, end = to ?? this.length; i < end; i++) this[i] = bytes[(i - (from ?? 0)) % bytes.length] ?? 0;
    return this;
  }
  override indexOf(value: any, from = 0): number {
    if (typeof value === "number") return super.indexOf(value, from);
    return binary(this).indexOf(binary(typeof value === "string" ? encode(value, "utf8") : value), from);
  }
  override includes(value: any, from?: number): boolean {
    return this.indexOf(value, from) >= 0;
  }
  override slice(from?: number, to?: number): any {
    return this.subarray(from, to);
  }
}

function wrap(bytes: Uint8Array): Buffer {
  return new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

const NUMBERS: [string, string, number][] = [
  ["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2], ["UInt32", "Uint32", 4],
  ["Int32", "Int32", 4], ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigUInt64", "BigUint64", 8], ["BigInt64", "BigInt64", 8],
];

function addNumber(name: string, viewName: string, size: number, order: "LE" | "BE"): void {
  const suffix = size === 1 ? "" : order;
  const little = order === "LE";
  const view = (buffer: Uint8Array) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength) as any;
  const read = function (this: Uint8Array, at = 0) {
    return view(this)["get" + viewName](at, little);
  };
  const write = function (this: Uint8Array, value: unknown, at = 0) {
    view(this)["set" + viewName](at, value, little);
    return at + size;
  };
  p.hide(Buffer.prototype, "read" + name + suffix, read);
  p.hide(Buffer.prototype, "write" + name + suffix, write);
  p.hide(Buffer.prototype, ("read" + name + suffix).replace("UInt", "Uint"), read);
  p.hide(Buffer.prototype, ("write" + name + suffix).replace("UInt", "Uint"), write);
}
for (const [name, viewName, size] of NUMBERS) {
  addNumber(name, viewName, size, "LE");
  addNumber(name, viewName, size, "BE");
}

p.hide(Buffer.prototype, Symbol.for("nodejs.util.inspect.custom"), function (this: Buffer) {
  const shown = Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `<Buffer ${shown}${this.length > 50 ? ` ... ${this.length - 50} more bytes` : ""}>`;
});
