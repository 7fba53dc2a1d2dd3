// The V8 host object of the zygote, and the platform classes a bare V8 lacks.

import type { Channel } from "../../guest/wire";
import { decodeUtf8, encodeInto, encodeUtf8 } from "../../guest/text";

export interface ZygoteHost extends Channel {
  /** Before the first fork: the next frame that receive() gives. */
  practise(header: string, body: Uint8Array): void;
  readFile(path: string): Uint8Array;
  readText(path: string): string;
  compileWasm(path: string): WebAssembly.Module;
  drainMicrotasks(): void;
  log(text: string): void;
  encodeUtf8?(text: string): Uint8Array;
  decodeUtf8?(bytes: Uint8Array): string;
  runtimeDir?: string;
  makeCache?: boolean;
  writeFile?(path: string, bytes: Uint8Array): void;
}

export interface Harness {
  boot(): Promise<void>;
  /** Runs of all kinds that lead nowhere, and one ordinary one. */
  practise(): void;
  rehearse(): void;
  serve(): void;
}

/** Lets each frame in turn be the next that receive() gives. */
export function queuePractice(host: ZygoteHost, frames: { header: string; body: string }[]): void {
  for (const { header, body } of frames) host.practise(header, Uint8Array.from(body, (character) => character.charCodeAt(0)));
}

const scope = globalThis as unknown as Record<string, unknown>;

/** Takes the host off the global object: only the harness's closures keep it. */
export function takeHost(): ZygoteHost {
  const host = scope.host as ZygoteHost;
  delete scope.host;
  return host;
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  return new Uint8Array(input as ArrayBuffer);
}

function encoderClass(host: ZygoteHost) {
  const native = host.encodeUtf8?.bind(host);
  return class TextEncoder {
    readonly encoding = "utf-8";
    encode(text = ""): Uint8Array {
      return native ? native(String(text)) : encodeUtf8(String(text));
    }
    encodeInto(text: string, out: Uint8Array) {
      return encodeInto(text, out);
    }
  };
}

function decoderClass(host: ZygoteHost) {
  const native = host.decodeUtf8?.bind(host);
  return class TextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    private held = new Uint8Array(0);
    constructor(label = "utf-8", options: { fatal?: boolean } = {}) {
      this.encoding = /16/.test(label) ? "utf-16le" : "utf-8";
      this.fatal = options.fatal === true;
    }
    decode(input?: unknown, options: { stream?: boolean } = {}): string {
      let bytes = bytesOf(input);
      if (this.held.length) bytes = Uint8Array.from([...this.held, ...bytes]);
      const whole = options.stream ? wholeLength(bytes) : bytes.length;
      this.held = bytes.slice(whole);
      bytes = bytes.subarray(0, whole);
      if (this.encoding === "utf-16le") return utf16(bytes);
      if (this.fatal) return decodeUtf8(bytes, () => { throw new TypeError("The encoded data was not valid"); });
      return native && bytes.length > 16 ? native(bytes) : decodeUtf8(bytes);
    }
  };
}

/** Bytes up to the last complete UTF-8 character. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function utf16(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i + 1 < bytes.length; i += 2) out += String.fromCharCode(bytes[i]! | (bytes[i + 1]! << 8));
  return out;
}

/** The engine looks for the machine's time zone when it is first needed, and in a child it could not: that is done here, while there
 *  are files. The zone itself is UTC, which relay's environment says. */
function findTimeZone(): void {
  const now = new Date();
  now.getTimezoneOffset();
  now.toString();
  now.toLocaleString();
}

/** What quickjs-wasi and Pyodide's loader expect of any JavaScript platform. */
export function installPlatform(host: ZygoteHost): void {
  const symbols = Symbol as unknown as Record<string, symbol>;
  symbols.dispose ??= Symbol.for("Symbol.dispose");
  symbols.asyncDispose ??= Symbol.for("Symbol.asyncDispose");
  findTimeZone();
  scope.TextEncoder = encoderClass(host);
  scope.TextDecoder = decoderClass(host);
  const say = (...args: unknown[]) => host.log(args.map(String).join(" "));
  scope.console = { log: say, warn: say, error: say, info: say, debug: say, trace: say };
  scope.performance = { now: () => host.now() };
  scope.crypto = {
    getRandomValues(view: ArrayBufferView) {
      bytesOf(view).set(host.random(view.byteLength));
      return view;
    },
  };
}
