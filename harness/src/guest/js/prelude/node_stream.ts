// node:stream, small: objects that packages extend (Transform, Readable, Writable). No back pressure: all is in memory.

import { EventEmitter } from "./emitter";

type Done = (error?: Error | null, data?: unknown) => void;

export class Readable extends EventEmitter {
  readable = true;
  protected chunks: unknown[] = [];
  protected ended = false;
  _read(_size?: number): void {}
  push(chunk: unknown): boolean {
    if (chunk === null) this.ended = true;
    else this.chunks.push(chunk);
    queueMicrotask(() => this.flow());
    return true;
  }
  read(): unknown {
    if (this.chunks.length === 0) this._read();
    return this.chunks.shift() ?? null;
  }
  protected flow(): void {
    if (this.listenerCount("readable") > 0 && this.chunks.length > 0) this.emit("readable");
    if (this.listenerCount("data") > 0) for (let chunk = this.chunks.shift(); chunk !== undefined; chunk = this.chunks.shift()) this.emit("data", chunk);
    if (this.ended && this.chunks.length === 0) {
      this.ended = false;
      this.emit("end");
      this.emit("close");
    }
  }
  override on(event: string | symbol, listener: (...args: any[]) => void): this {
    super.on(event, listener);
    if (event === "data" || event === "readable") {
      this._read();
      queueMicrotask(() => this.flow());
    }
    return this;
  }
  pipe<T extends Writable>(target: T): T {
    this.on("data", (chunk) => target.write(chunk));
    this.on("end", () => target.end());
    return target;
  }
  setEncoding(): this {
    return this;
  }
  resume(): this {
    return this.on("data", () => {});
  }
  pause(): this {
    return this;
  }
  destroy(error?: Error): this {
    if (error) this.emit("error", error);
    this.emit("close");
    return this;
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    const queue: unknown[] = [];
    let wake: () => void = () => {};
    let over = false, failure: unknown;
    this.on("data", (chunk) => (queue.push(chunk), wake()));
    this.on("end", () => ((over = true), wake()));
    this.on("error", (error) => ((failure = error), wake()));
    for (;;) {
      if (failure) throw failure;
      if (queue.length) yield queue.shift();
      else if (over) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  static from(items: Iterable<unknown> | AsyncIterable<unknown>): Readable {
    const made = new Readable();
    void (async () => {
      for await (const item of items as AsyncIterable<unknown>) made.push(item);
      made.push(null);
    })();
    return made;
  }
}

export class Writable extends Readable {
  writable = true;
  constructor(options: { write?: (chunk: unknown, encoding: string, done: Done) => void } = {}) {
    super();
    if (options.write) this._write = options.write;
  }
  _write(_chunk: unknown, _encoding: string, done: Done): void {
    done();
  }
  write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    const after = typeof encoding === "function" ? encoding : done;
    this._write(chunk, typeof encoding === "string" ? encoding : "utf8", (error) => {
      if (error) this.emit("error", error);
      if (typeof after === "function") after(error);
    });
    return true;
  }
  end(chunk?: unknown): this {
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk);
    queueMicrotask(() => this.emit("finish"));
    return this;
  }
}

export class Transform extends Writable {
  constructor(options: { transform?: Transform["_transform"]; flush?: Transform["_flush"] } = {}) {
    super();
    if (options.transform) this._transform = options.transform;
    if (options.flush) this._flush = options.flush;
  }
  _transform(chunk: unknown, _encoding: string, done: Done): void {
    done(null, chunk);
  }
  _flush(done: Done): void {
    done();
  }
  override _write(chunk: unknown, encoding: string, done: Done): void {
    this._transform(chunk, encoding, (error, data) => {
      if (data !== undefined && data !== null) this.push(data);
      done(error);
    });
  }
  override end(chunk?: unknown): this {
    super.end(chunk);
    this._flush((error, data) => {
      if (error) this.emit("error", error);
      if (data !== undefined && data !== null) this.push(data);
      this.push(null);
    });
    return this;
  }
}

export const stream = { Readable, Writable, Duplex: Transform, Transform, PassThrough: Transform, Stream: Readable };
