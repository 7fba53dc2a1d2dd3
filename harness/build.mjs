// Builds what relay-zygote loads at boot: the two bundles and the runtimes' own files, checked against runtime.lock; and the
// two scripts that relay runs when it makes a layer of dependencies.
// Usage: node build.mjs OUTPUT_DIRECTORY [--update-lock]

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { timeZones } from "./time_zones.mjs";
import { warmFrames } from "./warm_frames.mjs";
import { mergeDataSegments } from "./wasm_segments.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const lockPath = join(here, "runtime.lock");

/** Runtime file → where it comes from, and what is done to it on the way. */
const RUNTIME_FILES = {
  "quickjs.wasm": ["quickjs-wasi/quickjs.wasm"],
  "quickjs-url.wasm": ["quickjs-wasi/extensions/url/url.so", mergeDataSegments],
  "quickjs-encoding.wasm": ["quickjs-wasi/extensions/encoding/encoding.so"],
  "quickjs-headers.wasm": ["quickjs-wasi/extensions/headers/headers.so"],
  "quickjs-crypto.wasm": ["quickjs-wasi/extensions/crypto/crypto.so"],
  "quickjs-structured-clone.wasm": ["quickjs-wasi/extensions/structured-clone/structured-clone.so"],
  "pyodide.asm.mjs": ["pyodide/pyodide.asm.mjs"],
  "pyodide.asm.wasm": ["pyodide/pyodide.asm.wasm"],
  "python_stdlib.zip": ["pyodide/python_stdlib.zip"],
  "pyodide-lock.json": ["pyodide/pyodide-lock.json"],
};

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Leaves a file alone whose content is already right: its time stamp drives other builds. */
function writeIfChanged(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(bytes))) return;
  writeFileSync(path, bytes);
}

function readLock() {
  const lines = existsSync(lockPath) ? readFileSync(lockPath, "utf8").split("\n") : [];
  return Object.fromEntries(lines.filter((line) => line && !line.startsWith("#")).map((line) => line.split(/\s+/).reverse()));
}

function copyRuntime(output, update) {
  const lock = readLock();
  const hashes = [];
  for (const [name, [source, change]] of Object.entries(RUNTIME_FILES)) {
    const original = readFileSync(join(modules, source));
    const hash = sha256(original);
    if (!update && lock[name] !== hash) throw new Error(`${name}: SHA-256 is ${hash}, runtime.lock says ${lock[name]}`);
    hashes.push(`${hash}  ${name}`);
    writeIfChanged(join(output, name), change ? change(original) : original);
  }
  if (update) writeFileSync(lockPath, `# SHA-256 of each runtime file as its package ships it; build.mjs refuses others.\n${hashes.join("\n")}\n`);
}

async function preludeText() {
  const entry = join(here, "src/guest/js/prelude/main.ts");
  const result = await build({
    entryPoints: [entry], bundle: true, write: false, format: "iife", globalName: "prelude", target: "es2022",
    supported: { "class-private-field": true, "class-private-method": true }, legalComments: "none", minifyWhitespace: true,
  });
  return `(function(){${result.outputFiles[0].text};return prelude.install})()`;
}

function pythonFiles() {
  const folder = join(here, "src/guest/py/python");
  const files = {};
  if (!existsSync(folder)) return files;
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    if (String(name).endsWith(".py")) files[relative(folder, join(folder, String(name)))] = readFileSync(join(folder, String(name)), "utf8");
  }
  return files;
}

const makers = { "relay:prelude": preludeText, "relay:python": pythonFiles, "relay:warm": warmFrames };

/** `relay:…` modules are texts made at build time. */
const texts = {
  name: "relay-texts",
  setup(plugin) {
    plugin.onResolve({ filter: /^relay:/ }, ({ path }) => ({ path, namespace: "relay" }));
    plugin.onLoad({ filter: /.*/, namespace: "relay" }, async ({ path }) => {
      return { contents: JSON.stringify(await makers[path]()), loader: "json" };
    });
  },
};

/** Evaluating text on behalf of C code is the one thing in Emscripten's runtime that a guest could turn on us. */
function withoutEval(source) {
  const changed = source.replace(/function _emscripten_run_script(?:_string|_int)?\(ptr\)\{ptr>>>=0;/g, (head) => `${head}throw new Error("not available");`);
  if (changed === source) throw new Error("pyodide.asm.mjs no longer has _emscripten_run_script: look at it again");
  return changed;
}

const SYSTEM_CALL = /function (?:___syscall_|_fd_)\w+\([^]*?\}\w+\.sig=/g;
/** libc tries another way when it sees these: a call that does not exist, a flag that fcntl does not know. */
const ENOSYS = "52";
const FAILURE = /return( |-)(e\.errno|\d+)(?=[;}])/g;

/** Every system call that fails says so with Emscripten's number; the harness gives the numbers of Linux (linux_errno.ts). */
function withNumbering(source) {
  let marked = 0;
  const changed = source.replace(SYSTEM_CALL, (call) =>
    call.replace(FAILURE, (whole, sign, number) => {
      const isError = number === "e.errno" || (sign === "-" && number !== "1" && number !== ENOSYS && !call.startsWith("function ___syscall_fcntl"));
      marked += isError ? 1 : 0;
      return isError ? `return${sign}relayNumber(${number})` : whole;
    }));
  if (marked < 60) throw new Error(`pyodide.asm.mjs has ${marked} failing system calls: look at it again`);
  return `let relayNumbers=[];function relayNumber(number){return relayNumbers[number]??number}\n${changed}
globalThis.relayNumbering = (numbers) => { relayNumbers = numbers; };`;
}

/** pyodide.asm.mjs as a script of its own: whatever it evaluates sees its scope, not the harness's. */
async function pyodideModule() {
  const path = join(modules, "pyodide/pyodide.asm.mjs");
  const contents = withNumbering(withoutEval(readFileSync(path, "utf8")));
  const result = await build({
    stdin: { contents: `${contents}\nglobalThis.relayPyodideModule = _createPyodideModule;`, resolveDir: dirname(path) },
    bundle: true, write: false, format: "iife", target: "es2022", charset: "utf8", logLevel: "error", external: ["node:*", "ws"],
    define: { "import.meta.url": '"relay:bundle"' }, logOverride: { "direct-eval": "silent" },
  });
  return result.outputFiles[0].text;
}

export async function buildBundle(language, output) {
  const entry = join(here, `src/hosts/zygote/${language}.ts`);
  if (!existsSync(entry)) return;
  const result = await build({
    entryPoints: [entry], bundle: true, write: false, format: "iife", target: "es2022", charset: "utf8",
    plugins: [texts], legalComments: "none", minifyWhitespace: language === "js", logLevel: "error", external: ["node:*", "ws"],
    define: { "import.meta.url": '"relay:bundle"' },
  });
  const first = language === "py" ? await pyodideModule() : "";
  writeIfChanged(join(output, `zygote-${language}.js`), first + result.outputFiles[0].text);
}

/** What relay runs, with the node that npm runs on, after it has bundled dependencies: script → its folder below src/hosts. */
const SCRIPTS = { "compile-bundle.mjs": "compiler", "commonjs-names.mjs": "names" };

async function buildScript(name, folder, output) {
  const result = await build({
    entryPoints: [join(here, "src/hosts", folder, "main.mjs")], bundle: true, write: false, format: "esm", platform: "node", target: "node18",
    legalComments: "none", logLevel: "error",
  });
  writeIfChanged(join(output, name), result.outputFiles[0].text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = process.argv[2];
  if (!output) {
    console.error("usage: node build.mjs OUTPUT_DIRECTORY [--update-lock]");
    process.exit(2);
  }
  mkdirSync(output, { recursive: true });
  copyRuntime(output, process.argv.includes("--update-lock"));
  writeIfChanged(join(output, "tzdata.zip"), timeZones());
  await buildBundle("js", output);
  await buildBundle("py", output);
  for (const [name, folder] of Object.entries(SCRIPTS)) await buildScript(name, folder, output);
}
