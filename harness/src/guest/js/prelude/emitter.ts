// The `events` module: enough of EventEmitter for programs and packages that expect Node's.

type Listener = (...args: any[]) => void;

export class EventEmitter {
  #listeners = new Map<string | symbol, Listener[]>();
  static EventEmitter = EventEmitter;
  static defaultMaxListeners = 10;

  static once(emitter: EventEmitter, event: string): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      emitter.once(event, (...args) => resolve(args));
      if (event !== "error") emitter.once("error", reject);
    });
  }

  on(event: string | symbol, listener: Listener): this {
    const list = this.#listeners.get(event);
    if (list) list.push(listener);
    else this.#listeners.set(event, [listener]);
    return this;
  }
  addListener(event: string | symbol, listener: Listener): this {
    return this.on(event, listener);
  }
  prependListener(event: string | symbol, listener: Listener): this {
    this.#listeners.set(event, [listener, ...(this.#listeners.get(event) ?? [])]);
    return this;
  }
  once(event: string | symbol, listener: Listener): this {
    const wrapped: Listener & { listener?: Listener } = (...args) => {
      this.off(event, wrapped);
      listener.apply(this, args);
    };
    wrapped.listener = listener;
    return this.on(event, wrapped);
  }
  off(event: string | symbol, listener: Listener): this {
    const list = this.#listeners.get(event) ?? [];
    const at = list.findLastIndex((item) => item === listener || (item as { listener?: Listener }).listener === listener);
    if (at >= 0) this.#listeners.set(event, list.toSpliced(at, 1));
    return this;
  }
  removeListener(event: string | symbol, listener: Listener): this {
    return this.off(event, listener);
  }
  removeAllListeners(event?: string | symbol): this {
    if (event === undefined) this.#listeners.clear();
    else this.#listeners.delete(event);
    return this;
  }
  emit(event: string | symbol, ...args: any[]): boolean {
    const list = this.#listeners.get(event);
    if (!list || list.length === 0) {
      if (event === "error") throw args[0] instanceof Error ? args[0] : new Error(`Unhandled error. (${String(args[0])})`);
      return false;
    }
    for (const listener of list.slice()) listener.apply(this, args);
    return true;
  }
  listeners(event: string | symbol): Listener[] {
    return (this.#listeners.get(event) ?? []).slice();
  }
  listenerCount(event: string | symbol): number {
    return this.#listeners.get(event)?.length ?? 0;
  }
  eventNames(): (string | symbol)[] {
    return [...this.#listeners.keys()];
  }
  setMaxListeners(): this {
    return this;
  }
}
