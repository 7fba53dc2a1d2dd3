// Compiles the bundle of a run's dependencies to the engine's bytecode: node compile-bundle.mjs ENGINE SOURCE OUTPUT.
// Nothing of the source is run. Line numbers stay, the source text does not: what a function prints as is "[native code]".

import { readFileSync, writeFileSync } from "node:fs";
import { QuickJS, EvalFlags, CompileFlags } from "quickjs-wasi";
import { BUNDLE_PATH } from "../../guest/js/source_map";

const [engine, source, output] = process.argv.slice(2);
const wasm = await WebAssembly.compile(readFileSync(engine));
// What the bundle imports is there when it runs; here a name is enough.
const vm = await QuickJS.create({ wasm, moduleLoader: { normalize: (_base, name) => name, load: () => "export default {};" } });
writeFileSync(output, vm.compile(readFileSync(source, "utf8"), BUNDLE_PATH, EvalFlags.TYPE_MODULE, CompileFlags.STRIP_SOURCE));
