// The guest environment inside QuickJS. Evaluated once, before the fork; every child starts with all of it in place.

import { connect, host, type Bridge, type RunConfig } from "./bridge";
import { Buffer } from "./buffer";
import { console, resetConsole } from "./console";
import { getRandomValues, installCrypto } from "./crypto";
import { display } from "./display";
import { AbortController, AbortSignal, CustomEvent, Event, EventTarget } from "./events";
import { fetch, Request, Response } from "./fetch";
import { fs } from "./files";
import { installIntl } from "./intl";
import { configureMcp, mcp, MCPError } from "./mcp";
import { builtin, builtinNames, requireFrom } from "./modules";
import { beginPerformance, performance } from "./performance";
import * as p from "./primordials";
import { process } from "./process";
import { onEvent, onReply } from "./requests";
import { Blob, File, ReadableStream } from "./streams";
import * as timers from "./timers";
import { installUrl } from "./url";
import { describeError, finish } from "./values";

const BUILTIN = Symbol.for("relay.builtin");

function globals(): Record<string, unknown> {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = timers;
  return {
    console, process, Buffer, fetch, Request, Response, Event, EventTarget, CustomEvent, AbortController, AbortSignal,
    ReadableStream, Blob, File, setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate,
    mcp, MCPError, display, fs, performance, global: globalThis, self: globalThis,
    prompt: (text?: string) => readLine(text),
  };
}

/** One line of stdin, without its end; null when there is none. */
function readLine(text?: string): string | null {
  if (text) host().write(1, text);
  const bytes: number[] = [];
  for (let next = host().stdin(1); next.length > 0; next = host().stdin(1)) {
    if (next[0] === 10) return p.fromUtf8(p.NativeUint8Array.from(bytes));
    p.push(bytes, next[0]!);
  }
  return bytes.length ? p.fromUtf8(p.NativeUint8Array.from(bytes)) : null;
}

/** sfc32, seeded afresh in each run that draws: forked engines would otherwise all draw the same numbers. */
class Random {
  #seed: Uint32Array | undefined;

  forget(): void {
    this.#seed = undefined;
  }
  draw(): number {
    this.#seed ??= this.#fresh();
    return ((this.#next(this.#seed) >>> 5) * 67108864 + (this.#next(this.#seed) >>> 6)) / 9007199254740992;
  }
  #fresh(): Uint32Array {
    const seed = getRandomValues(new NativeUint32Array(4));
    seed[3]! |= 1;
    for (let i = 0; i < 12; i++) this.#next(seed);
    return seed;
  }
  #next(s: Uint32Array): number {
    const t = (s[0]! + s[1]! + s[3]!) | 0;
    s[3]!++;
    s[0] = s[1]! ^ (s[1]! >>> 9);
    s[1] = s[2]! + (s[2]! << 3);
    s[2] = ((s[2]! << 21) | (s[2]! >>> 11)) + t;
    return t >>> 0;
  }
}

const NativeUint32Array = Uint32Array;
const random = new Random();
let entry = "/";

/** Every run begins here, so only what differs between runs is done here. */
function begin(configText: string): void {
  const config = p.jsonParse(configText) as RunConfig;
  process.configure(config);
  resetConsole();
  configureMcp(config.servers, globalThis);
  random.forget();
  entry = config.entry;
  beginPerformance(config.now, config.wallClock);
}

/** When the program's value is a promise: a promise of the same completion with what that one gives. */
function awaited(completion: any): Promise<{ value: unknown }> | undefined {
  const promise = completion?.value;
  if (!(promise instanceof p.NativePromise)) return undefined;
  try {
    return p.promiseThen(promise, (value: unknown) => ({ value }));
  } catch {
    return undefined; // has the prototype of a promise and is none
  }
}

/** The value out of `{value}`, which is how an async script's completion arrives; then the end of the process, as the program sees it. */
function finishScript(completion: any, depth: number, bytes: number, textBytes: number): string {
  const finished = finish(completion?.value, depth, bytes, textBytes);
  finished.exitCode = (typeof process.exitCode === "number" ? process.exitCode : 0) & 255;
  if (process.listenerCount("exit") > 0) process.emit("exit", finished.exitCode);
  return p.jsonStringify(finished);
}

export function install(bridge: Bridge): object {
  connect(bridge);
  installCrypto();
  installUrl();
  installIntl();
  const all = globals();
  for (const name of p.objectKeys(all)) p.hide(globalThis, name, all[name]);
  p.hide(globalThis, "require", requireFrom(() => entry));
  p.hide(Math, "random", () => random.draw());
  p.defineProperty(globalThis, BUILTIN, { value: builtin });
  return {
    begin,
    awaited,
    finish: finishScript,
    describeError,
    onReply,
    onEvent,
    onTimer: timers.fireTimer,
    builtinNames: () => p.jsonStringify(builtinNames()),
  };
}
