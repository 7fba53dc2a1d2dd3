// The guest environment inside QuickJS. Evaluated once, before the fork; every child starts with all of it in place.

import { connect, host, type Bridge, type RunConfig } from "./bridge";
import { Buffer } from "./buffer";
import { console, resetConsole } from "./console";
import { getRandomValues, installCrypto } from "./crypto";
import { display } from "./display";
import { AbortController, AbortSignal, CustomEvent, Event, EventTarget } from "./events";
import { fetch, Request, Response } from "./fetch";
import { fs } from "./files";
import { configureMcp, mcp, MCPError } from "./mcp";
import { builtin, builtinNames, requireFrom } from "./modules";
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
    mcp, MCPError, display, fs, global: globalThis, self: globalThis,
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

/** sfc32, seeded afresh in each child: forked engines would otherwise all draw the same numbers. */
function seededRandom(): () => number {
  const seed = new Uint32Array(4);
  getRandomValues(seed);
  let a = seed[0]!, b = seed[1]!, c = seed[2]!, d = seed[3]! | 1;
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
}

function begin(configText: string): void {
  const config = p.jsonParse(configText) as RunConfig;
  process.configure(config);
  resetConsole();
  configureMcp(config.servers, globalThis);
  p.hide(Math, "random", seededRandom());
  p.hide(globalThis, "require", requireFrom(config.entry));
  const started = host().now();
  p.hide(globalThis, "performance", { now: () => host().now() - started, timeOrigin: p.dateNow(), mark: () => {}, measure: () => {} });
}

/** The value out of `{value}`, which is how an async script's completion arrives. */
function finishScript(completion: any, depth: number, bytes: number, textBytes: number): string {
  return finish(completion?.value, depth, bytes, textBytes);
}

export function install(bridge: Bridge): object {
  connect(bridge);
  installCrypto();
  installUrl();
  const all = globals();
  for (const name of p.objectKeys(all)) p.hide(globalThis, name, all[name]);
  p.defineProperty(globalThis, BUILTIN, { value: builtin });
  return {
    begin,
    finish: finishScript,
    describeError,
    onReply,
    onEvent,
    onTimer: timers.fireTimer,
    builtinNames: () => p.jsonStringify(builtinNames()),
    exitCode: () => (typeof process.exitCode === "number" ? process.exitCode : 0),
    beforeExit: (code: number) => {
      if (process.listenerCount("exit") > 0) process.emit("exit", code);
    },
  };
}
