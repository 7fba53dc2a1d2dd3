// createReadStream and createWriteStream: a file in pieces, one request each, asked for when somebody wants them.

import { Buffer } from "./buffer";
import { Readable, Writable } from "./node_stream";
import { request } from "./requests";
import { toBytes } from "./streams";

interface ReadOptions {
  encoding?: string;
  start?: number;
  end?: number;
  highWaterMark?: number;
}

const PIECE = 64 * 1024;
const optionsOf = <T>(options: string | T | undefined): any => (typeof options === "string" ? { encoding: options } : options ?? {});

export class ReadStream extends Readable {
  bytesRead = 0;
  #asking = false;
  #over = false;
  #at: number;
  readonly #options: ReadOptions;
  constructor(readonly path: string, options?: string | ReadOptions) {
    super();
    this.#options = optionsOf(options);
    this.#at = this.#options.start ?? 0;
  }
  override _read(): void {
    if (this.#asking || this.#over) return;
    this.#asking = true;
    const left = (this.#options.end ?? Infinity) - this.#at + 1;
    const length = Math.min(this.#options.highWaterMark ?? PIECE, left);
    request("fs.read", { path: this.path, offset: this.#at, length }).answer.then(
      ({ result, body }) => this.#take(body, result?.eof !== false || body.length === left),
      (error) => ((this.#over = true), void this.destroy(error)),
    );
  }
  #take(body: Uint8Array, last: boolean): void {
    this.#asking = false;
    this.#at += body.length;
    this.bytesRead += body.length;
    const piece = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (body.length > 0) this.push(this.#options.encoding ? piece.toString(this.#options.encoding) : piece);
    this.#over = last || body.length === 0;
    if (this.#over) this.push(null);
    else this._read();
  }
}

/** Writes follow one another, whatever the writer waits for. */
export class WriteStream extends Writable {
  bytesWritten = 0;
  #first = true;
  #before: Promise<void> = Promise.resolve();
  readonly #flags: string;
  constructor(readonly path: string, options?: string | { flags?: string }) {
    super();
    this.#flags = optionsOf(options).flags ?? "w";
  }
  override _write(chunk: unknown, _encoding: string, done: (error?: Error | null) => void): void {
    this.#before = this.#before.then(() => this.#send(toBytes(chunk))).then(() => done(), done);
  }
  override end(chunk?: unknown): this {
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk);
    const told = () => (this.emit("finish"), this.emit("close"));
    this.#before.then(() => (this.#first ? this.#send(new Uint8Array(0)) : undefined)).then(told, (error) => void this.destroy(error));
    return this;
  }
  async #send(bytes: Uint8Array): Promise<void> {
    const appends = !this.#first || this.#flags.startsWith("a");
    const exclusive = this.#first && this.#flags.includes("x");
    this.#first = false;
    await request("fs.write", { path: this.path, mode: exclusive ? "create" : appends ? "append" : "overwrite", exclusive: exclusive || undefined }, bytes).answer;
    this.bytesWritten += bytes.length;
  }
}
