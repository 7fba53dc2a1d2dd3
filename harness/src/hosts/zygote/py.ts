// zygote-py.js: boots Pyodide with the guest's Python modules, then serves runs in each forked child.

import { host } from "./platform";
import { removeShell } from "./shell";
import pythonFiles from "relay:python";
import { loadPyodide } from "pyodide/pyodide.mjs";
import { PyRunner, type PyodideApi } from "../../guest/py/runner";
import { guardedGlobals, poisonCodeGeneration } from "../../guest/py/globals";
import { serve } from "../../guest/serve";
import type { Harness } from "./host";

/** pyodide.asm.mjs is a bundle of its own, before this one: what it evaluates must not see our variables. */
const scope = globalThis as unknown as { relayPyodideModule?: unknown; relayHarness?: Harness };
const createPyodideModule = scope.relayPyodideModule;
delete scope.relayPyodideModule;

let runner: PyRunner;

const harness: Harness = {
  async boot() {
    const pyodide = (await loadPyodide({
      indexURL: "./",
      createPyodideModule,
      jsglobals: guardedGlobals(),
      lockFileContents: host.readText("pyodide-lock.json"),
      env: { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1", LANG: "C.UTF-8" },
      stdin: () => null,
      stdout: () => {},
      stderr: (text: string) => host.log(text),
      checkAPIVersion: false,
    })) as unknown as PyodideApi;
    runner = PyRunner.boot(host, pyodide, pythonFiles);
    removeShell();
    poisonCodeGeneration();
    runner.warm(host);
  },
  warm: () => runner.warm(host),
  serve: () => serve(host, runner),
};
scope.relayHarness = harness;
