// QuickJS with the prelude inside it. Made once at boot; the zygote forks it, so a run finds everything evaluated.

import { QuickJS, EvalFlags, JSException, JSValueHandle } from "quickjs-wasi";

export interface EngineParts {
  quickjs: WebAssembly.Module;
  /** In this order: the address of each is fixed by those before it. */
  extensions: { name: string; wasm: WebAssembly.Module }[];
  preludeSource: string;
}

/** What the engine needs from the run that is going on; absent between runs. */
export interface EngineHooks {
  shouldStop(): boolean;
  onRejection(promise: JSValueHandle, reason: JSValueHandle, handled: boolean): void;
  normalize(base: string, specifier: string): string;
  load(path: string): string;
  wallClock(): number;
  now(): number;
  random(bytes: number): Uint8Array;
}

const ENTRIES = ["begin", "awaited", "finish", "describeError", "onReply", "onEvent", "onTimer", "builtinNames"] as const;
export type Entry = (typeof ENTRIES)[number];

/** QuickJS checks this against its own stack in linear memory; V8's stack below must be the larger one. */
const STACK_BYTES = 200 * 1024;
const GC_THRESHOLD_BYTES = 8 * 1024 * 1024;

export class Engine {
  readonly vm: QuickJS;
  private readonly entries: Record<Entry, JSValueHandle>;

  private constructor(vm: QuickJS, prelude: JSValueHandle) {
    this.vm = vm;
    this.entries = Object.fromEntries(ENTRIES.map((name) => [name, prelude.getProp(name)])) as Record<Entry, JSValueHandle>;
  }

  static async boot(parts: EngineParts, hooks: EngineHooks, bridge: Record<string, (...args: JSValueHandle[]) => JSValueHandle>): Promise<Engine> {
    const vm = await QuickJS.create({
      wasm: parts.quickjs,
      extensions: parts.extensions,
      maxStackSize: STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => hooks.shouldStop(),
      onUnhandledRejection: (promise, reason, handled) => hooks.onRejection(promise, reason, handled),
      moduleLoader: { normalize: (base, specifier) => hooks.normalize(base, specifier), load: (path) => hooks.load(path) },
      wasi: (memory) => wasiOf(memory, hooks),
    });
    keepHostStacksOut(vm);
    const install = vm.evalCode(parts.preludeSource, "relay:prelude");
    const functions = vm.newObject();
    for (const [name, fn] of Object.entries(bridgeOf(vm, bridge))) functions.setProp(name, fn);
    return new Engine(vm, vm.callFunction(install, vm.undefined, functions));
  }

  call(name: Entry, ...args: JSValueHandle[]): JSValueHandle {
    return this.vm.callFunction(this.entries[name], this.vm.undefined, ...args);
  }

  /** Strings and numbers in, text out. */
  ask(name: Entry, ...args: (string | number)[]): string {
    const handles = args.map((arg) => (typeof arg === "string" ? this.vm.newString(arg) : this.vm.newNumber(arg)));
    const result = this.call(name, ...handles);
    for (const handle of handles) handle.dispose();
    return result.consume((handle) => handle.toString());
  }

  evaluate(source: string, name: string): JSValueHandle {
    return this.vm.evalCode(source, name, EvalFlags.ASYNC);
  }

  /** What a settled promise was settled with. */
  resultOf(promise: JSValueHandle): JSValueHandle {
    const Handle = JSValueHandle as unknown as new (vm: QuickJS, ptr: number) => JSValueHandle;
    return new Handle(this.vm, exportsOf(this.vm).qjs_promise_result(pointerOf(promise)));
  }

  /** Collects once and lets the heap grow before the next time: a collection writes to every object, and so to every page. */
  settle(): void {
    this.vm.runGC();
    exportsOf(this.vm).qjs_set_gc_threshold(GC_THRESHOLD_BYTES);
  }

  memoryBytes(): number {
    return exportsOf(this.vm).memory.buffer.byteLength;
  }
}

export { JSException };

interface RawExports {
  memory: WebAssembly.Memory;
  qjs_promise_result(ptr: number): number;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_get_value_ptr(ptr: number): number;
  wasm_malloc(size: number): number;
  wasm_free(ptr: number): void;
  qjs_get_string_len(ptr: number, lengthPtr: number): number;
  qjs_free_cstring(ptr: number): void;
}

function exportsOf(vm: QuickJS): RawExports {
  return (vm as unknown as { _getExports(): RawExports })._getExports();
}

function pointerOf(handle: JSValueHandle): number {
  return (handle as unknown as { ptr: number }).ptr;
}

/** The address of the object behind a handle: equal for two handles of one object. */
export function identityOf(handle: JSValueHandle): number {
  return exportsOf(handle.vm).qjs_get_value_ptr(pointerOf(handle));
}

/** The UTF-8 of a guest string, copied once, without a host string in between. */
export function utf8Of(vm: QuickJS, handle: JSValueHandle): Uint8Array {
  const raw = exportsOf(vm);
  const lengthPtr = raw.wasm_malloc(4);
  if (lengthPtr === 0) throw new Error("out of memory");
  const text = raw.qjs_get_string_len(pointerOf(handle), lengthPtr);
  const length = new DataView(raw.memory.buffer).getUint32(lengthPtr, true);
  raw.wasm_free(lengthPtr);
  if (text === 0) return new Uint8Array(0);
  const bytes = new Uint8Array(raw.memory.buffer, text, length).slice();
  raw.qjs_free_cstring(text);
  return bytes;
}

function bridgeOf(vm: QuickJS, bridge: Record<string, (...args: JSValueHandle[]) => JSValueHandle>): Record<string, JSValueHandle> {
  const made: Record<string, JSValueHandle> = {};
  for (const [name, fn] of Object.entries(bridge)) made[name] = vm.newFunction(`relay_${name}`, fn);
  return made;
}

/** The library would hand the host's own stack to guests, with the paths in it. Theirs is made by the engine. */
function keepHostStacksOut(vm: QuickJS): void {
  const make = vm.newError.bind(vm);
  vm.newError = (error) => {
    if (typeof error === "string") return make(error);
    return make(error.name === "Error" ? error.message : ({ name: error.name, message: error.message } as Error));
  };
}

function wasiOf(memory: WebAssembly.Memory, hooks: EngineHooks): Record<string, (...args: any[]) => number> {
  return {
    clock_time_get(clock: number, _precision: bigint, out: number) {
      const ms = clock === 0 ? hooks.wallClock() : hooks.now();
      new DataView(memory.buffer).setBigUint64(out, BigInt(Math.floor(ms * 1e6)), true);
      return 0;
    },
    random_get(at: number, length: number) {
      new Uint8Array(memory.buffer, at, length).set(hooks.random(length));
      return 0;
    },
    fd_write: () => 8,
  };
}
