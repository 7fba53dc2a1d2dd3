// The `events` module: enough of EventEmitter for programs and packages that expect Node's. The run's own exit event goes
// through it, so it uses captured built-ins.

import * as p from "./primordials";

type Listener = (...args: any[]) => void;
type Key = string | symbol;

function originalOf(listener: Listener): Listener {
  return (listener as { listener?: Listener }).listener ?? listener;
}

export class EventEmitter {
  #listeners: Record<Key, Listener[]> = p.create(null);
  static EventEmitter = EventEmitter;
  static defaultMaxListeners = 10;

  static once(emitter: EventEmitter, event: string): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      emitter.once(event, (...args) => resolve(args));
      if (event !== "error") emitter.once("error", reject);
    });
  }

  on(event: Key, listener: Listener): this {
    p.push((this.#listeners[event] ??= []), listener);
    return this;
  }
  addListener(event: Key, listener: Listener): this {
    return this.on(event, listener);
  }
  prependListener(event: Key, listener: Listener): this {
    this.#listeners[event] = [listener, ...(this.#listeners[event] ?? [])];
    return this;
  }
  once(event: Key, listener: Listener): this {
    const wrapped: Listener & { listener?: Listener } = (...args) => {
      this.off(event, wrapped);
      p.apply(listener, this, args);
    };
    wrapped.listener = listener;
    return this.on(event, wrapped);
  }
  off(event: Key, listener: Listener): this {
    const list = this.#listeners[event] ?? [];
    let at = list.length - 1;
    while (at >= 0 && list[at] !== listener && originalOf(list[at]!) !== listener) at--;
    const kept: Listener[] = [];
    for (let i = 0; i < list.length; i++) if (i !== at) p.push(kept, list[i]!);
    this.#listeners[event] = kept;
    return this;
  }
  removeListener(event: Key, listener: Listener): this {
    return this.off(event, listener);
  }
  removeAllListeners(event?: Key): this {
    if (event === undefined) this.#listeners = p.create(null);
    else delete this.#listeners[event];
    return this;
  }
  emit(event: Key, ...args: any[]): boolean {
    const list = p.slice(this.#listeners[event] ?? []);
    if (list.length === 0) {
      if (event === "error") throw args[0] instanceof Error ? args[0] : new Error(`Unhandled error. (${String(args[0])})`);
      return false;
    }
    for (let i = 0; i < list.length; i++) p.apply(list[i]!, this, args);
    return true;
  }
  listeners(event: Key): Listener[] {
    return p.slice(this.#listeners[event] ?? []);
  }
  listenerCount(event: Key): number {
    return this.#listeners[event]?.length ?? 0;
  }
  eventNames(): Key[] {
    return p.ownKeys(this.#listeners);
  }
  setMaxListeners(): this {
    return this;
  }
}
