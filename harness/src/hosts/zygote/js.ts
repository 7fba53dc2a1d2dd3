// zygote-js.js: boots QuickJS with the prelude, then serves runs in each forked child.

import { host } from "./platform";
import preludeSource from "relay:prelude";
import { JsRunner } from "../../guest/js/runner";
import { serve } from "../../guest/serve";
import warmFrames from "relay:warm";
import { queuePractice, type Harness } from "./host";

const EXTENSIONS = ["url", "encoding", "headers", "crypto", "structured-clone"];

let runner: JsRunner;

function practise(frames = warmFrames.js): void {
  queuePractice(host, frames);
  harness.serve();
}

const harness: Harness = {
  async boot() {
    const extensions = EXTENSIONS.map((name) => ({ name, wasm: host.compileWasm(`quickjs-${name}.wasm`) }));
    const parts = { quickjs: host.compileWasm("quickjs.wasm"), extensions, preludeSource };
    runner = await JsRunner.boot(host, parts, { relay: "1", quickjs: "0.17.0", node: "20.0.0" });
    practise();
    runner.settle();
  },
  practise: () => practise(),
  rehearse: () => practise(warmFrames.js.slice(0, 1)),
  serve: () => serve(host, runner),
};
(globalThis as { relayHarness?: Harness }).relayHarness = harness;
