// What Python's `_relay_wire` calls: strings, numbers and bytes only, so that no object of ours crosses over.

import type { Channel } from "../wire";
import { Kind } from "../wire";
import { idOf } from "../calls";
import type { PyState } from "./runner";

export type PyProxy = any;

/** Bytes of a Python object that offers a buffer; None arrives as undefined. */
function bytesOf(value: PyProxy | undefined): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Uint8Array) return value;
  const view = value.getBuffer("u8");
  const bytes = (view.data as Uint8Array).slice();
  view.release();
  return bytes;
}

export function hostModule(state: () => PyState | undefined, channel: Channel): object {
  let body: Uint8Array | undefined;
  const calls = () => {
    const current = state();
    if (!current) throw new Error("no run is going on");
    return current.context.calls;
  };
  const keep = (reply: { header: string; body: Uint8Array }): string => {
    body = reply.body.length > 0 ? reply.body : undefined;
    return reply.header;
  };
  return {
    start: (op: string, args: string, data?: PyProxy) => calls().start(String(op), String(args), bytesOf(data)),
    wait_for: (id: number) => keep(calls().waitFor(Number(id))),
    wait_event: (id: number) => keep(calls().waitEvent(Number(id))),
    next: (timeoutMs: number) => {
      const frame = calls().next(Number(timeoutMs));
      return frame ? `${frame.kind === Kind.reply ? 2 : 3} ${idOf(frame)} ${keep(frame)}` : undefined;
    },
    take_body: () => {
      const taken = body;
      body = undefined;
      return taken;
    },
    cancel: (id: number) => calls().cancel(Number(id)),
    close: (id: number) => calls().close(Number(id)),
    sleep: (ms: number) => calls().sleep(Number(ms)),
    pending: () => state()?.context.calls.pending ?? 0,
    now: () => channel.now(),
    random: (count: number) => channel.random(Number(count)),
  };
}
