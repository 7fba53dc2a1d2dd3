// The modules a program may import or require without bringing them: shims of Node's own, by name, with or without `node:`.

import { Buffer } from "./buffer";
import { format } from "./console";
import { EventEmitter } from "./emitter";
import { fs, promises } from "./files";
import { customInspect, inspect } from "./inspect";
import { host } from "./bridge";
import { process } from "./process";
import * as path from "./path";
import { performance } from "./performance";
import * as timers from "./timers";
import * as p from "./primordials";
import { assert } from "./assert";
import { cryptoModule } from "./crypto";
import { mcp } from "./mcp";
import { missingMember } from "./missing_members";
import { stream } from "./node_stream";

function promisify(fn: (...args: any[]) => void) {
  if (fn === (timers.setTimeout as unknown)) return timers.sleep;
  return (...args: unknown[]) =>
    new Promise((resolve, reject) => fn(...args, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value))));
}

function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

const util = {
  inspect: Object.assign(inspect, { custom: customInspect }),
  format: (...args: unknown[]) => format(args),
  promisify,
  isDeepStrictEqual,
  inherits: (child: Function, parent: Function) => void Object.setPrototypeOf(child.prototype, parent.prototype),
  deprecate: (fn: unknown) => fn,
  types: { isPromise: (value: unknown) => value instanceof Promise, isDate: (value: unknown) => value instanceof Date },
  stripVTControlCharacters: (text: string) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ""),
  TextEncoder,
  TextDecoder,
};

const os = {
  EOL: "\n",
  platform: () => "linux",
  type: () => "Linux",
  arch: () => "wasm32",
  release: () => "0",
  hostname: () => "relay",
  tmpdir: () => "/tmp",
  homedir: () => "/tmp",
  cpus: () => [],
  totalmem: () => 0,
  freemem: () => 0,
  uptime: () => process.uptime(),
  userInfo: () => ({ username: "guest", uid: 65534, gid: 65534, homedir: "/tmp", shell: null }),
};

const url = {
  URL,
  get URLSearchParams() {
    return URLSearchParams;
  },
  fileURLToPath: (value: string | URL) => decodeURIComponent(new URL(String(value)).pathname),
  pathToFileURL: (value: string) => new URL("file://" + path.resolve(value)),
};

const querystring = {
  parse: (text: string) => Object.fromEntries(new URLSearchParams(text) as unknown as Iterable<[string, string]>),
  stringify: (value: object) => new URLSearchParams(value).toString(),
};

const readline = {
  createInterface: ({ input }: { input: AsyncIterable<unknown> }) => {
    const lines = linesOf(input);
    const emitter = new EventEmitter();
    return Object.assign(emitter, {
      [Symbol.asyncIterator]: () => lines,
      close: () => void emitter.emit("close"),
      on(event: string, listener: (...args: unknown[]) => void) {
        EventEmitter.prototype.on.call(emitter, event, listener);
        if (event === "line") void (async () => {
          for await (const line of lines) emitter.emit("line", line);
          emitter.emit("close");
        })();
        return this;
      },
    });
  },
};

async function* linesOf(input: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of input) {
    const parts = (rest + (typeof chunk === "string" ? chunk : p.fromUtf8(chunk as Uint8Array))).split(/\r?\n/);
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest) yield rest;
}

const timersPromises = { setTimeout: timers.sleep, setImmediate: (value: unknown) => timers.sleep(0, value), scheduler: { wait: timers.sleep } };

export const builtins: Record<string, any> = Object.assign(p.create(null), {
  fs,
  "fs/promises": promises,
  path: Object.assign({}, path, { posix: path }),
  "path/posix": path,
  os,
  util,
  url,
  events: EventEmitter,
  buffer: { Buffer, constants: { MAX_LENGTH: 0x7fffffff } },
  process,
  timers: { ...timers },
  "timers/promises": timersPromises,
  assert,
  "assert/strict": assert,
  crypto: cryptoModule,
  querystring,
  readline,
  "readline/promises": readline,
  perf_hooks: { performance },
  string_decoder: {
    StringDecoder: class {
      #decoder = new TextDecoder();
      write(bytes: Uint8Array): string {
        return this.#decoder.decode(bytes, { stream: true });
      }
      end(): string {
        return this.#decoder.decode();
      }
    },
  },
  stream,
  mcp,
});

/** The module, or with a second argument its member, which must be there. */
export function builtin(specifier: string, member?: string): unknown {
  const name = specifier.startsWith("node:") ? specifier.slice(5) : specifier;
  const module = builtins[name];
  if (member === undefined || member in module) return member === undefined ? module : module[member];
  throw new SyntaxError(missingMember(name, member, p.objectKeys(module)));
}

/** Export names per builtin, so that `import { readFile } from "fs"` links. */
export function builtinNames(): Record<string, string[]> {
  const out: Record<string, string[]> = {};
  for (const name of Object.keys(builtins)) {
    const value = builtins[name];
    const keys = name === "mcp" ? [] : Object.keys(value).concat(typeof value === "function" ? Object.getOwnPropertyNames(value) : []);
    out[name] = [...new Set(keys)].filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default" && key !== "prototype");
  }
  return out;
}

const loaded: Record<string, { exports: any }> = p.create(null);

/** The deps layer's bundle leaves its loader here; it throws for what it does not have. */
function fromDeps(specifier: string): { exports: any } | undefined {
  const load = (globalThis as any)[Symbol.for("relay.deps")];
  if (typeof load !== "function" || /^\.{0,2}\//.test(specifier)) return undefined;
  return { exports: load(specifier) };
}

/** CommonJS for the files of a capsule, and for the shims. */
export function requireFrom(base: () => string) {
  const require = (specifier: string): any => {
    const known = builtin(String(specifier));
    if (known !== undefined) return known;
    const dependency = fromDeps(String(specifier));
    if (dependency) return dependency.exports;
    const file = host().resolve(base(), String(specifier));
    if (loaded[file]) return loaded[file].exports;
    const module = { exports: {} as any, id: file, filename: file };
    loaded[file] = module;
    const source = host().source(file);
    if (file.endsWith(".json")) return (module.exports = p.jsonParse(source));
    const wrapper = globalThis.eval(`(function(exports,require,module,__filename,__dirname){${source}\n})\n//# sourceURL=${file}`);
    wrapper.call(module.exports, module.exports, requireFrom(() => file), module, file, path.dirname(file));
    return module.exports;
  };
  return Object.assign(require, { resolve: (specifier: string) => host().resolve(base(), specifier), cache: loaded });
}
