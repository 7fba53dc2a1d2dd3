// A ReadableStream of bytes or values, a Blob, and what a fetch body may be. Small on purpose: readers, async iteration,
// tee-less; enough for `for await (const chunk of response.body)` and for streams that a program makes itself.

import { fromUtf8, utf8 } from "./primordials";

interface Controller {
  enqueue(chunk: unknown): void;
  close(): void;
  error(reason: unknown): void;
  readonly desiredSize: number;
}

interface Source {
  start?(controller: Controller): unknown;
  pull?(controller: Controller): unknown;
  cancel?(reason: unknown): unknown;
}

type Result = { done: boolean; value: unknown };

export class ReadableStream {
  #queue: unknown[] = [];
  #waiting: { resolve(result: Result): void; reject(reason: unknown): void }[] = [];
  #state: "open" | "closed" | "failed" = "open";
  #reason: unknown;
  #source: Source;
  #pulling = false;
  locked = false;

  constructor(source: Source = {}) {
    this.#source = source;
    const started = source.start?.(this.#controller);
    if (started instanceof Promise) started.catch((reason) => this.#controller.error(reason));
  }

  #controller: Controller = {
    enqueue: (chunk) => {
      if (this.#state !== "open") throw new TypeError("the stream is closed");
      const reader = this.#waiting.shift();
      if (reader) reader.resolve({ done: false, value: chunk });
      else this.#queue.push(chunk);
    },
    close: () => {
      if (this.#state === "open") this.#state = "closed";
      for (const reader of this.#waiting.splice(0)) reader.resolve({ done: true, value: undefined });
    },
    error: (reason) => {
      if (this.#state !== "open") return;
      this.#state = "failed";
      this.#reason = reason;
      for (const reader of this.#waiting.splice(0)) reader.reject(reason);
    },
    desiredSize: 1,
  };

  #read(): Promise<Result> {
    if (this.#queue.length) return Promise.resolve({ done: false, value: this.#queue.shift() });
    if (this.#state === "closed") return Promise.resolve({ done: true, value: undefined });
    if (this.#state === "failed") return Promise.reject(this.#reason);
    const next = new Promise<Result>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    void this.#pull();
    return next;
  }

  async #pull(): Promise<void> {
    if (this.#pulling || !this.#source.pull) return;
    this.#pulling = true;
    try {
      while (this.#waiting.length && this.#state === "open") await this.#source.pull(this.#controller);
    } catch (reason) {
      this.#controller.error(reason);
    } finally {
      this.#pulling = false;
    }
  }

  getReader() {
    if (this.locked) throw new TypeError("ReadableStream is locked");
    this.locked = true;
    return {
      read: () => this.#read(),
      releaseLock: () => void (this.locked = false),
      cancel: (reason?: unknown) => this.cancel(reason),
      closed: new Promise(() => {}),
    };
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#queue = [];
    this.#controller.close();
    await this.#source.cancel?.(reason);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<any> {
    this.locked = true;
    try {
      for (let next = await this.#read(); !next.done; next = await this.#read()) yield next.value;
    } finally {
      if (this.#state === "open") await this.cancel();
    }
  }

  values() {
    return this[Symbol.asyncIterator]();
  }

  static from(items: Iterable<unknown> | AsyncIterable<unknown>): ReadableStream {
    const steps = (async function* () {
      yield* items as AsyncIterable<unknown>;
    })();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await steps.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
  }
}

export function concat(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export async function drain(stream: AsyncIterable<unknown>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of stream) parts.push(toBytes(chunk));
  return concat(parts);
}

export function toBytes(value: unknown): Uint8Array {
  if (typeof value === "string") return utf8(value);
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Blob) return value.bytesNow();
  return utf8(String(value));
}

export class Blob {
  #bytes: Uint8Array;
  readonly type: string;
  constructor(parts: unknown[] = [], options: { type?: string } = {}) {
    this.#bytes = concat(parts.map(toBytes));
    if (parts.length === 1) this.#bytes = this.#bytes.slice();
    this.type = String(options.type ?? "").toLowerCase();
  }
  get size(): number {
    return this.#bytes.length;
  }
  bytesNow(): Uint8Array {
    return this.#bytes;
  }
  async text(): Promise<string> {
    return fromUtf8(this.#bytes);
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer as ArrayBuffer;
  }
  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice();
  }
  slice(from?: number, to?: number, type = ""): Blob {
    return new Blob([this.#bytes.slice(from, to)], { type });
  }
  stream(): ReadableStream {
    return ReadableStream.from([this.#bytes]);
  }
}

export class File extends Blob {
  readonly lastModified: number;
  constructor(parts: unknown[], readonly name: string, options: { type?: string; lastModified?: number } = {}) {
    super(parts, options);
    this.lastModified = options.lastModified ?? Date.now();
  }
}
