// The process object: arguments, environment, streams, exit. `exit` does not return: the harness stops the engine.

import { host, type RunConfig } from "./bridge";
import * as p from "./primordials";
import { EventEmitter } from "./emitter";
import { resolve } from "./path";
import { requestSync } from "./requests";

function spinUntilStopped(): never {
  for (;;) {
    // The harness's interrupt hook ends this loop, past every catch and finally.
  }
}

function bytesOf(data: unknown): string | Uint8Array {
  if (typeof data === "string") return data;
  if (data instanceof p.NativeUint8Array) return data;
  throw new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array');
}

class OutputStream extends EventEmitter {
  readonly isTTY = false;
  readonly writable = true;
  readonly columns = 80;
  constructor(readonly fd: number) {
    super();
  }
  write(data: unknown, encoding?: unknown, done?: unknown): boolean {
    host().write(this.fd, bytesOf(data));
    const callback = typeof encoding === "function" ? encoding : done;
    if (typeof callback === "function") queueMicrotask(callback as () => void);
    return true;
  }
  end(data?: unknown): void {
    if (data !== undefined) this.write(data);
  }
}

class InputStream extends EventEmitter {
  readonly fd = 0;
  readonly isTTY = false;
  #encoding: string | undefined;
  setEncoding(encoding: string): this {
    this.#encoding = encoding;
    return this;
  }
  /** All that is left (or at most `size` bytes), at once; null at the end. */
  read(size?: number): string | Uint8Array | null {
    const bytes = size === undefined ? readAll() : host().stdin(size);
    return bytes.length === 0 ? null : this.#decoded(bytes);
  }
  readText(): string {
    return p.fromUtf8(readAll());
  }
  async text(): Promise<string> {
    return this.readText();
  }
  resume(): this {
    return this;
  }
  pause(): this {
    return this;
  }
  override on(event: string, listener: (...args: any[]) => void): this {
    super.on(event, listener);
    if (event === "data" || event === "readable" || event === "end") this.#flow();
    return this;
  }
  #flowing = false;
  #flow(): void {
    if (this.#flowing) return;
    this.#flowing = true;
    queueMicrotask(() => {
      if (this.listenerCount("readable") > 0) this.emit("readable");
      for (let bytes = host().stdin(65536); bytes.length > 0; bytes = host().stdin(65536)) this.emit("data", this.#decoded(bytes));
      this.emit("end");
      this.emit("close");
    });
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array> {
    for (let bytes = host().stdin(65536); bytes.length > 0; bytes = host().stdin(65536)) yield this.#decoded(bytes);
  }
  #decoded(bytes: Uint8Array): string | Uint8Array {
    if (this.#encoding) return p.fromUtf8(bytes);
    return (globalThis as any).Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

export function readAll(): Uint8Array {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (let bytes = host().stdin(1 << 20); bytes.length > 0; bytes = host().stdin(1 << 20)) {
    p.push(parts, bytes);
    total += bytes.length;
  }
  const out = new p.NativeUint8Array(total);
  for (let i = 0, at = 0; i < parts.length; i++) {
    out.set(parts[i]!, at);
    at += parts[i]!.length;
  }
  return out;
}

class Process extends EventEmitter {
  argv: string[] = [];
  execArgv: string[] = [];
  env: Record<string, string> = {};
  exitCode: number | undefined = undefined;
  readonly title = "relay";
  readonly pid = 1;
  readonly ppid = 0;
  readonly arch = "wasm32";
  readonly platform = "linux";
  readonly version = "v20.0.0";
  versions: Record<string, string> = {};
  readonly stdout = new OutputStream(1);
  readonly stderr = new OutputStream(2);
  readonly stdin = new InputStream();
  readonly release = { name: "relay" };
  readonly features = {};
  #cwd = "/";
  #started = 0;

  cwd = (): string => this.#cwd;
  chdir = (path: string): void => {
    const target = resolve(p.startsWith(path, "/") ? path : `${this.#cwd}/${path}`);
    if (requestSync("fs.stat", { path: target }).result.type !== "dir") throw p.assign(new Error(`ENOTDIR: not a directory, chdir '${path}'`), { code: "ENOTDIR" });
    this.#cwd = target;
  };
  exit = (code?: number): never => {
    let final = code ?? this.exitCode ?? 0;
    try {
      this.exitCode = final;
      this.emit("exit", final);
      final = this.exitCode ?? final;
    } finally {
      host().exit(p.trunc(Number(final)) & 255);
    }
    spinUntilStopped();
  };
  abort = (): never => this.exit(134);
  uptime = (): number => (host().now() - this.#started) / 1000;
  hrtime = Object.assign(
    (since?: [number, number]): [number, number] => {
      const now = host().now();
      const seconds = p.floor(now / 1000), nanos = p.floor((now % 1000) * 1e6);
      if (!since) return [seconds, nanos];
      const left = nanos - since[1];
      return left < 0 ? [seconds - since[0] - 1, left + 1e9] : [seconds - since[0], left];
    },
    { bigint: (): bigint => BigInt(p.floor(host().now() * 1e6)) },
  );
  nextTick = (fn: (...args: unknown[]) => void, ...args: unknown[]): void => queueMicrotask(() => fn(...args));
  memoryUsage = () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 });
  cpuUsage = () => ({ user: p.floor(host().now() * 1000), system: 0 });
  emitWarning = (warning: unknown): void => host().write(2, `(relay) Warning: ${p.toText(warning)}\n`);
  getuid = (): number => 65534;
  binding = (): never => {
    throw new Error("process.binding is not available here");
  };
  kill = (): never => {
    throw toPermission("kill");
  };

  /** @internal */ configure(config: RunConfig): void {
    this.argv = ["relay", config.entry];
    for (let i = 0; i < config.argv.length; i++) p.push(this.argv, config.argv[i]!);
    this.env = p.assign({}, config.env);
    this.versions = config.versions;
    this.exitCode = undefined;
    this.#cwd = config.cwd;
    this.#started = config.now;
  }
}

function toPermission(what: string): Error {
  return p.assign(new Error(`EPERM: operation not permitted, ${what}`), { code: "EPERM" });
}

export const process = new Process();
p.hide(Process.prototype, "configure", Process.prototype.configure);
