// Pyodide's loader knows a "shell" platform: global functions read, load and readbuffer, and os.system for entropy. This
// module gives it those, and the compiled module in place of WebAssembly bytes.

import { encodeBase64 } from "../../guest/text";
import { host } from "./platform";

const WASM = "pyodide.asm.wasm";
const MARK = 8;
const SIGNALS = "_Py_CheckEmscriptenSignals_Helper";
const CLOSE_MS = 0.5;
const SKIPPED = 63;
const scope = globalThis as unknown as Record<string, unknown>;

const plain = (path: string) => path.replace(/^(?:\.\/)+/, "");

/** `head -cN /dev/urandom | base64`, which is how the loader asks a shell for N random bytes. */
function system(_program: string, args: string[]): string {
  const count = Number(/-c(\d+)/.exec(args.join(" "))?.[1] ?? 0);
  return encodeBase64(host.random(count));
}

/** Python asks for signals every few thousand steps, and in the midst of everything that might take long, which includes making
 *  text of a number: often enough to cost more than what it does in between. Questions that follow closely are answered here. */
function seldom(ask: () => number): () => number {
  let skip = 0, stride = 0, asked = 0;
  return () => {
    if (skip-- > 0) return 0;
    const now = host.now();
    skip = stride = now - asked < CLOSE_MS ? Math.min(2 * stride + 1, SKIPPED) : 0;
    asked = now;
    return ask();
  };
}

/** The loader instantiates bytes; ours are a mark that stands for the module compiled ahead of time. */
function instantiateCompiled(): void {
  const native = WebAssembly.instantiate;
  const replaced = async (source: unknown, imports: { env?: Record<string, unknown> }) => {
    if (!(source instanceof Uint8Array) || source.length !== MARK) return native(source as Uint8Array, imports);
    const { env } = imports;
    if (typeof env?.[SIGNALS] === "function") env[SIGNALS] = seldom(env[SIGNALS] as () => number);
    const module = host.compileWasm(WASM);
    return { module, instance: await native(module, imports) };
  };
  WebAssembly.instantiate = replaced as typeof native;
}

scope.read = (path: string) => host.readText(plain(path));
scope.load = () => {
  throw new Error("load is not available");
};
scope.readbuffer = (path: string) => (plain(path) === WASM ? new ArrayBuffer(MARK) : host.readFile(plain(path)));
scope.os = { system };
scope.location = "relay:/";
scope.setTimeout = () => 0;
scope.clearTimeout = () => {};
scope.setInterval = () => 0;
scope.clearInterval = () => {};
scope.URL = class URL {
  constructor(readonly href: string) {}
};
instantiateCompiled();

/** After boot: nothing may be read any more, and no guest needs these names. */
export function removeShell(): void {
  for (const name of ["read", "load", "readbuffer", "location"]) delete scope[name];
}
