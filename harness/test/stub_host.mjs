// A bare V8 realm with the zygote's `host` object: the bundles run in it as they do in relay-zygote.

import { readFileSync, writeFileSync } from "node:fs";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";
import vm from "node:vm";
import { StubRelay, startFrame } from "./stub_relay.mjs";

// Optimising Pyodide in the background would cost more than all tests together.
v8.setFlagsFromString("--no-wasm-tier-up");

const here = dirname(fileURLToPath(import.meta.url));
export const runtimeDir = process.env.RELAY_RUNTIME_DIR ?? join(here, "../../build/runtime");
const compiled = new Map();

function compileWasm(name) {
  if (!compiled.has(name)) compiled.set(name, new WebAssembly.Module(readFileSync(join(runtimeDir, name))));
  return compiled.get(name);
}

/** Boots a bundle. The relay may be exchanged between runs of a session: pass it to run(). */
export async function bootChild(language, { makeCache = false } = {}) {
  let relay = new StubRelay();
  const forward = {};
  for (const name of Object.keys(relay.channel())) forward[name] = (...args) => relay.channel()[name](...args);
  const realm = vm.createContext(Object.create(null));
  const module = vm.runInContext("WebAssembly.Module", realm);
  const host = {
    ...forward,
    readFile: (name) => new Uint8Array(readFileSync(join(runtimeDir, name))),
    readText: (name) => readFileSync(join(runtimeDir, name), "utf8"),
    compileWasm: (name) => Object.setPrototypeOf(compileWasm(name), module.prototype),
    practise: (header, body) => relay.push({ kind: 1, header, body: Buffer.from(body) }),
    drainMicrotasks: () => {},
    log: (text) => process.env.HARNESS_LOG && console.error(text),
    runtimeDir,
    makeCache,
    writeFile: (name, bytes) => writeFileSync(join(runtimeDir, name), bytes),
  };
  realm.host = host;
  vm.runInContext(readFileSync(join(runtimeDir, `zygote-${language}.js`), "utf8"), realm, { filename: `zygote-${language}.js` });
  const harness = realm.relayHarness;
  await harness.boot();
  return {
    realm,
    /** One run: the child reads the start frame, and returns when the queue is empty afterwards. */
    run(options, useRelay = new StubRelay(options)) {
      relay = useRelay;
      relay.push(startFrame({ language, ...options }));
      harness.serve();
      return { ...relay.result(), relay };
    },
  };
}
