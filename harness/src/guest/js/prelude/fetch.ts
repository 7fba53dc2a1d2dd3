// fetch, Request, Response. The request is op `fetch`: relay checks the policy and follows redirects. Bodies stream: a
// response's is pulled with `fetch.read` when somebody reads it, a request's that is a stream is pushed with `fetch.write`.

import { AbortSignal } from "./events";
import { cancel, request, type Answer } from "./requests";
import { Blob, ReadableStream, concat, drain, toBytes } from "./streams";
import { callRpc } from "./mcp";
import { fromUtf8, jsonParse, jsonStringify } from "./primordials";

type Init = Record<string, any>;

class Body {
  #bytes: Uint8Array | undefined;
  #stream: ReadableStream | null = null;
  bodyUsed = false;

  protected setBody(value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (value instanceof ReadableStream) {
      this.#stream = value;
      return undefined;
    }
    this.#bytes = toBytes(value);
    if (typeof value === "string") return "text/plain;charset=UTF-8";
    if (value instanceof URLSearchParams) return "application/x-www-form-urlencoded;charset=UTF-8";
    return value instanceof Blob && value.type ? value.type : undefined;
  }
  get body(): ReadableStream | null {
    if (!this.#stream && this.#bytes) this.#stream = ReadableStream.from([this.#bytes]);
    return this.#stream;
  }
  /** The body when it has to be read piece by piece; it is then used up. */
  protected takeStream(): ReadableStream | null {
    if (!this.#stream || this.#bytes || this.bodyUsed || this.#stream.locked) return null;
    this.bodyUsed = true;
    return this.#stream;
  }
  async bytes(): Promise<Uint8Array> {
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError("Body is unusable: Body has already been read");
    if (!this.#stream && !this.#bytes) return new Uint8Array(0);
    this.bodyUsed = true;
    return this.#stream ? drain(this.#stream) : this.#bytes!;
  }
  async text(): Promise<string> {
    return fromUtf8(await this.bytes());
  }
  async json(): Promise<any> {
    return jsonParse(await this.text());
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).slice().buffer as ArrayBuffer;
  }
  async blob(): Promise<Blob> {
    const type = (this as unknown as { headers: Headers }).headers.get("content-type") ?? "";
    return new Blob([await this.bytes()], { type });
  }
  protected copyBody(from: Body): void {
    if (from.bodyUsed) throw new TypeError("Body has already been read");
    this.#bytes = from.#bytes;
    if (!from.#bytes) this.#stream = from.#stream;
  }
}

export class Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly redirect: string;
  constructor(input: unknown, init: Init = {}) {
    super();
    const from = input instanceof Request ? input : undefined;
    const address = from ? from.url : String(input);
    this.url = address.startsWith("/") ? address : new URL(address).href;
    this.method = String(init.method ?? from?.method ?? "GET").toUpperCase();
    this.headers = new Headers(init.headers ?? from?.headers);
    this.signal = init.signal ?? from?.signal ?? new AbortSignal();
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    if (init.body !== undefined && init.body !== null) {
      if (this.method === "GET" || this.method === "HEAD") throw new TypeError("Request with GET/HEAD method cannot have body");
      const type = this.setBody(init.body);
      if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
    } else if (from) this.copyBody(from);
  }
  clone(): Request {
    return new Request(this);
  }
  streamOf(): ReadableStream | null {
    return this.takeStream();
  }
}

export class Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string = "";
  readonly redirected: boolean = false;
  readonly type = "default";
  constructor(body?: unknown, init: Init = {}) {
    super();
    this.status = Number(init.status ?? 200);
    if (!(this.status >= 200 && this.status <= 599)) throw new RangeError("Response status must be between 200 and 599");
    this.statusText = String(init.statusText ?? "");
    this.headers = new Headers(init.headers);
    const type = this.setBody(body);
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
    if (init.url) this.url = init.url;
    if (init.redirected) this.redirected = true;
  }
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  clone(): Response {
    const made = new Response(null, this);
    made.copyBody(this);
    return made;
  }
  static json(data: unknown, init: Init = {}): Response {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(jsonStringify(data), { ...init, headers });
  }
  static error(): Response {
    return new Response(null, { status: 599 });
  }
}

function headerPairs(headers: Headers): [string, string][] {
  const pairs: [string, string][] = [];
  headers.forEach((value, name) => pairs.push([name, value]));
  return pairs;
}

/** `fetch("/mcps-rpc", ...)` is the seed's way to call upstream tools; it never leaves as HTTP. */
async function localRpc(req: Request): Promise<Response> {
  try {
    return Response.json(await callRpc(jsonParse(await req.text())));
  } catch (error) {
    return Response.json({ error: { message: (error as Error).message } }, { status: 400 });
  }
}

let uploads = 0;

export async function fetch(input: unknown, init?: Init): Promise<Response> {
  const req = new Request(input, init);
  if (req.url === "/mcps-rpc") return localRpc(req);
  if (req.url.startsWith("/")) throw new TypeError(`fetch needs an absolute URL, not ${req.url}`);
  req.signal.throwIfAborted();
  const args = { url: req.url, method: req.method, headers: headerPairs(req.headers), redirect: req.redirect };
  const source = req.streamOf();
  const upload = source ? ++uploads : 0;
  const started = source ? request("fetch", { ...args, upload }) : request("fetch", args, await req.bytes());
  if (source) void send(source, upload);
  const { result, body } = await abortable(started.answer, req.signal, () => cancel(started.id));
  const bare = [101, 204, 205, 304].includes(result.status);
  if (bare || result.stream === undefined) return new Response(bare ? null : ReadableStream.from(body.length ? [body] : []), result);
  return new Response(receive(result.stream, req.signal), result);
}

const PIECE_BYTES = 256 * 1024;

/** The reply to each piece says that there is room for the next. A request that is over takes none: its own answer says why. */
async function send(source: ReadableStream, upload: number): Promise<void> {
  const write = (args: object, bytes?: Uint8Array) => request("fetch.write", { upload, ...args }, bytes).answer;
  try {
    for await (const chunk of source) {
      const bytes = toBytes(chunk);
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) await write({}, bytes.subarray(at, at + PIECE_BYTES));
    }
    await write({ end: true });
  } catch {
    await write({ abort: true }).catch(() => undefined);
  }
}

/** A body that relay holds for us: each read asks for what has arrived. */
function receive(stream: number, signal: AbortSignal): ReadableStream {
  const close = () => request("fetch.close", { stream }).answer.then(() => undefined);
  return new ReadableStream({
    start(controller) {
      signal.addEventListener("abort", () => {
        controller.error(signal.reason);
        void close();
      });
    },
    async pull(controller) {
      let piece: Answer;
      try {
        piece = await request("fetch.read", { stream }).answer;
      } catch (error) {
        throw failed(error as Error);
      }
      if (piece.result.done) controller.close();
      else if (!signal.aborted) controller.enqueue(piece.body);
    },
    cancel: close,
  });
}

function failed(error: Error & { type?: string }): Error {
  return Object.assign(new TypeError(`fetch failed: ${error.message}`), { cause: error, type: error.type });
}

function abortable<T>(answer: Promise<T>, signal: AbortSignal, stop: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => {
      stop();
      reject(signal.reason);
    });
    answer.then(resolve, (error) => reject(failed(error)));
  });
}

export { concat };
