// Requests of the guest to relay. Each has an id; a synchronous one waits for its own reply while frames for others queue
// up, an asynchronous one is answered when the run loop comes round. So ten calls started together are ten in flight.

import { Kind, Limits, type Channel, type Frame, type ReplyHeader, type WireError } from "./wire";
import type { Output } from "./output";
import { utf8Length, wellFormedJson } from "./text";

export interface Reply {
  /** The header as text: guests parse it with their own parser. */
  header: string;
  body: Uint8Array;
}

const NOTHING = new Uint8Array(0);

export class Calls {
  private nextId = 1;
  private readonly queue: Frame[] = [];
  private readonly open = new Set<number>();
  private interruptSeen = false;

  constructor(private readonly channel: Channel, private readonly output: Output) {}

  get pending(): number {
    return this.open.size;
  }

  get interrupted(): boolean {
    return this.interruptSeen;
  }

  /** Sends a request and returns its id; args is JSON text. */
  start(op: string, args: string, body: Uint8Array = NOTHING): number {
    const id = this.nextId++;
    if (body.length > Limits.callBodyBytes) return this.refuse(id, `request body over ${Limits.callBodyBytes} bytes`);
    if (args.length > Limits.callHeaderBytes / 3 && utf8Length(args) > Limits.callHeaderBytes)
      return this.refuse(id, `request over ${Limits.callHeaderBytes} bytes`);
    this.output.flush();
    this.open.add(id);
    this.channel.send(Kind.call, `{"id":${id},"op":${JSON.stringify(op)},"args":${wellFormedJson(args) || "{}"}}`, body);
    return id;
  }

  /** Answers on behalf of relay, for what need not or must not leave the guest. */
  answer(id: number, header: Omit<ReplyHeader, "id">, body: Uint8Array = NOTHING): void {
    this.queue.push({ kind: Kind.reply, header: JSON.stringify({ id, ...header }), body });
  }

  answered(header: Omit<ReplyHeader, "id">, body?: Uint8Array): number {
    const id = this.nextId++;
    this.open.add(id);
    this.answer(id, header, body);
    return id;
  }

  sync(op: string, args: string, body?: Uint8Array): Reply {
    return this.waitFor(this.start(op, args, body));
  }

  waitFor(id: number): Reply {
    this.output.flush();
    for (let at = 0; ; ) {
      for (; at < this.queue.length; at++) {
        const frame = this.queue[at]!;
        if (frame.kind !== Kind.reply || idOf(frame) !== id) continue;
        this.queue.splice(at, 1);
        if (!streams(frame)) this.open.delete(id);
        return frame;
      }
      this.accept(this.wait(-1) ?? closed());
    }
  }

  /** The next event of a call whose reply said that its body streams. */
  waitEvent(id: number): Reply {
    for (;;) {
      const at = this.queue.findIndex((frame) => frame.kind === Kind.event && idOf(frame) === id);
      const frame = at < 0 ? undefined : this.queue.splice(at, 1)[0];
      if (frame) return frame;
      this.accept(this.wait(-1) ?? closed());
    }
  }

  cancel(id: number): void {
    if (!this.open.has(id)) return;
    this.channel.send(Kind.cancel, `{"id":${id}}`);
  }

  /** The next queued frame for the guest, after waiting at most so long. A reply closes its call unless it streams on. */
  next(timeoutMs: number): Frame | undefined {
    if (this.queue.length === 0) {
      if (timeoutMs !== 0) this.output.flush();
      const frame = this.wait(timeoutMs);
      if (frame) this.accept(frame);
      else if (timeoutMs < 0) closed();
    }
    return this.queue.shift();
  }

  hasQueued(): boolean {
    return this.queue.length > 0;
  }

  close(id: number): void {
    this.open.delete(id);
  }

  /** Waits without delivering anything: what arrives meanwhile stays queued. */
  sleep(ms: number): void {
    const until = this.channel.now() + ms;
    this.output.flush();
    for (let left = ms; left > 0 && !this.interruptSeen; left = until - this.channel.now()) {
      const frame = this.wait(Math.ceil(left));
      if (frame) this.accept(frame);
    }
  }

  poll(): void {
    for (let frame = this.channel.receive(0); frame; frame = this.channel.receive(0)) this.accept(frame);
  }

  /** A run ended: nothing that was asked may answer into the next one. Ids never repeat, so late replies are dropped. */
  abandon(): void {
    for (const id of this.open) this.cancel(id);
    this.open.clear();
    this.queue.length = 0;
    this.interruptSeen = false;
  }

  /** As receive(). Relay hears of a wait only when it lasts: most replies come within it, and telling costs two messages. */
  private wait(timeoutMs: number): Frame | null {
    const brief = Limits.briefWaitMs;
    const ends = timeoutMs >= 0;
    const soon = this.channel.receive(ends ? Math.min(timeoutMs, brief) : brief);
    if (soon || (ends && timeoutMs <= brief)) return soon;
    this.channel.send(Kind.pace, '{"waits":true}');
    const frame = this.channel.receive(ends ? timeoutMs - brief : timeoutMs);
    this.channel.send(Kind.pace, '{"waits":false}');
    return frame;
  }

  private accept(frame: Frame): void {
    if (frame.kind === Kind.interrupt) this.interruptSeen = true;
    else if ((frame.kind === Kind.reply || frame.kind === Kind.event) && this.open.has(idOf(frame))) this.queue.push(frame);
  }

  private refuse(id: number, message: string): number {
    this.open.add(id);
    this.answer(id, { ok: false, error: { type: "ValidationError", message, errno: "EMSGSIZE" } satisfies WireError });
    return id;
  }
}

function streams(reply: Frame): boolean {
  if (!reply.header.includes('"streaming"')) return false;
  return (JSON.parse(reply.header) as { result?: { streaming?: unknown } }).result?.streaming === true;
}

function closed(): never {
  throw new Error("the run socket is closed");
}

export function idOf(frame: Frame): number {
  const quick = /^\{"id":(\d+)[,}]/.exec(frame.header);
  if (quick) return Number(quick[1]);
  try {
    const id = (JSON.parse(frame.header) as { id?: unknown }).id;
    return typeof id === "number" ? id : -1;
  } catch {
    return -1;
  }
}
