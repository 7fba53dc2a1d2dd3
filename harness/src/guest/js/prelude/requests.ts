// Requests to relay from inside QuickJS: promises for the asynchronous ones, errors in the language's own shape.

import { host } from "./bridge";
import * as p from "./primordials";

export interface Answer {
  result: any;
  body: Uint8Array;
}

/** What arrives after a streaming call's first reply. */
export interface Sink {
  chunk(bytes: Uint8Array): void;
  end(error?: Error): void;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  sink?: Sink;
  settled: boolean;
}

const EMPTY = new p.NativeUint8Array(0);
const waiting: Record<number, Waiting> = p.create(null);

export class RelayError extends Error {
  code?: string;
  type?: string;
}
p.hide(RelayError.prototype, "name", "Error");

export function toError(error: { type?: string; message?: string; errno?: string } | undefined): Error {
  const made = new RelayError(error?.message ?? "the request failed");
  if (error?.type) p.hide(made, "type", error.type);
  if (error?.type && !error.errno) p.hide(made, "name", error.type);
  if (error?.errno) made.code = error.errno;
  return made;
}

export function requestSync(op: string, args: object, body?: Uint8Array): Answer {
  const header = p.jsonParse(host().sync(op, p.jsonStringify(args), body));
  if (!header.ok) throw toError(header.error);
  return { result: header.result, body: host().takeBody() ?? EMPTY };
}

export function request(op: string, args: object, body?: Uint8Array, sink?: Sink): { id: number; answer: Promise<Answer> } {
  const id = host().start(op, p.jsonStringify(args), body);
  const answer = new p.NativePromise<Answer>((resolve, reject) => {
    waiting[id] = { resolve, reject, sink, settled: false };
  });
  return { id, answer };
}

export function cancel(id: number): void {
  host().cancel(id);
  drop(id);
}

function drop(id: number): void {
  delete waiting[id];
  host().close(id);
}

export function onReply(id: number, headerText: string, body: Uint8Array | undefined): void {
  const entry = waiting[id];
  if (!entry || entry.settled) return;
  const header = p.jsonParse(headerText);
  entry.settled = true;
  if (!entry.sink || !header.ok || header.result?.streaming !== true) drop(id);
  if (!header.ok) return entry.reject(toError(header.error));
  entry.resolve({ result: header.result, body: body ?? EMPTY });
  if (entry.sink && header.result?.streaming !== true) {
    if (body && body.length) entry.sink.chunk(body);
    entry.sink.end();
  }
}

export function onEvent(id: number, headerText: string, body: Uint8Array | undefined): void {
  const sink = waiting[id]?.sink;
  if (!sink) return;
  const header = p.jsonParse(headerText);
  if (header.event === "chunk") return sink.chunk(body ?? EMPTY);
  drop(id);
  sink.end(header.event === "end" ? undefined : toError(header.error));
}
