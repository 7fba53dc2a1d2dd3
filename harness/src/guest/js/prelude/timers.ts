// Timers are kept by the harness, which wakes us with the id; here live the callbacks.

import { host } from "./bridge";
import * as p from "./primordials";
import { customInspect } from "./inspect";

interface Entry {
  fn: (...args: unknown[]) => void;
  args: unknown[];
  every: number | undefined;
  timeout: Timeout;
}

let nextId = 1;
const entries: Record<number, Entry> = p.create(null);

export class Timeout {
  #id: number;
  #ms: number;
  constructor(id: number, ms: number) {
    this.#id = id;
    this.#ms = ms;
  }
  ref(): this {
    if (entries[this.#id]) host().setTimer(this.#id, this.#ms, true);
    return this;
  }
  unref(): this {
    if (entries[this.#id]) host().setTimer(this.#id, this.#ms, false);
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    return this.ref();
  }
  close(): this {
    clear(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
  [customInspect](): string {
    return `Timeout { id: ${this.#id} }`;
  }
}

function add(fn: unknown, ms: unknown, args: unknown[], repeats: boolean): Timeout {
  if (typeof fn !== "function") throw new TypeError('The "callback" argument must be of type function');
  const wait = Number(ms);
  const delay = wait >= 1 && wait <= 2147483647 ? wait : 1;
  const id = nextId++;
  const timeout = new Timeout(id, delay);
  entries[id] = { fn: fn as Entry["fn"], args, every: repeats ? delay : undefined, timeout };
  host().setTimer(id, delay, true);
  return timeout;
}

export function setTimeout(fn: unknown, ms?: unknown, ...args: unknown[]): Timeout {
  return add(fn, ms, args, false);
}
export function setInterval(fn: unknown, ms?: unknown, ...args: unknown[]): Timeout {
  return add(fn, ms, args, true);
}
export function setImmediate(fn: unknown, ...args: unknown[]): Timeout {
  if (typeof fn !== "function") throw new TypeError('The "callback" argument must be of type function');
  const id = nextId++;
  const timeout = new Timeout(id, 0);
  entries[id] = { fn: fn as Entry["fn"], args, every: undefined, timeout };
  host().setTimer(id, 0, true);
  return timeout;
}
function clear(timer: unknown): void {
  if (timer === undefined || timer === null) return;
  const id = Number(timer);
  delete entries[id];
  host().clearTimer(id);
}
export { clear as clearTimeout, clear as clearInterval, clear as clearImmediate };

/** Called by the harness when a timer is due. What the callback throws is the run's uncaught error. */
export function fireTimer(id: number): void {
  const entry = entries[id];
  if (!entry) return;
  if (entry.every === undefined) delete entries[id];
  else host().setTimer(id, entry.every, true);
  p.apply(entry.fn, entry.timeout, entry.args);
}

export function sleep(ms: number, value?: unknown): Promise<unknown> {
  return new p.NativePromise((resolve) => setTimeout(() => resolve(value), ms));
}
