// Event, EventTarget, AbortController: the DOM's small event model, as fetch needs it.

import { setTimeout } from "./timers";
import { hide } from "./primordials";

export class Event {
  readonly type: string;
  readonly cancelable: boolean;
  readonly timeStamp = Date.now();
  defaultPrevented = false;
  target: EventTarget | null = null;
  currentTarget: EventTarget | null = null;
  stopped = false;
  constructor(type: string, init: { cancelable?: boolean } = {}) {
    this.type = String(type);
    this.cancelable = init.cancelable === true;
    hide(this, "stopped", false);
  }
  preventDefault(): void {
    if (this.cancelable) this.defaultPrevented = true;
  }
  stopPropagation(): void {}
  stopImmediatePropagation(): void {
    this.stopped = true;
  }
}

export class CustomEvent extends Event {
  readonly detail: unknown;
  constructor(type: string, init: { cancelable?: boolean; detail?: unknown } = {}) {
    super(type, init);
    this.detail = init.detail ?? null;
  }
}

type Handler = ((event: Event) => void) | { handleEvent(event: Event): void };

export class EventTarget {
  #handlers = new Map<string, { handler: Handler; once: boolean }[]>();
  addEventListener(type: string, handler: Handler | null, options?: boolean | { once?: boolean; signal?: AbortSignal }): void {
    if (!handler) return;
    const list = this.#handlers.get(type) ?? [];
    if (list.some((item) => item.handler === handler)) return;
    const settings = typeof options === "object" ? options : {};
    this.#handlers.set(type, [...list, { handler, once: settings.once === true }]);
    settings.signal?.addEventListener("abort", () => this.removeEventListener(type, handler));
  }
  removeEventListener(type: string, handler: Handler | null): void {
    this.#handlers.set(type, (this.#handlers.get(type) ?? []).filter((item) => item.handler !== handler));
  }
  dispatchEvent(event: Event): boolean {
    event.target = event.currentTarget = this;
    const property = (this as Record<string, unknown>)["on" + event.type];
    if (typeof property === "function") property.call(this, event);
    for (const { handler, once } of this.#handlers.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, handler);
      if (typeof handler === "function") handler.call(this, event);
      else handler.handleEvent(event);
      if (event.stopped) break;
    }
    return !event.defaultPrevented;
  }
}

const SECRET = Symbol("abort");

export class AbortSignal extends EventTarget {
  aborted = false;
  reason: unknown = undefined;
  onabort: ((event: Event) => void) | null = null;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
  [SECRET](reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException("This operation was aborted", "AbortError");
    this.dispatchEvent(new Event("abort"));
  }
  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    signal[SECRET](reason);
    return signal;
  }
  static timeout(ms: number): AbortSignal {
    const signal = new AbortSignal();
    const fire = () => signal[SECRET](new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    setTimeout(fire, ms).unref();
    return signal;
  }
  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const made = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) made[SECRET](signal.reason);
      else signal.addEventListener("abort", () => made[SECRET](signal.reason), { once: true });
    }
    return made;
  }
}

export class AbortController {
  readonly signal = new AbortSignal();
  abort(reason?: unknown): void {
    this.signal[SECRET](reason);
  }
}
