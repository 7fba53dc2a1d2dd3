// zygote-py.js: boots Pyodide with the guest's Python modules, then serves runs in each forked child.

import { host } from "./platform";
import { removeShell } from "./shell";
import pythonFiles from "relay:python";
import { loadPyodide, version } from "pyodide/pyodide.mjs";
import { PyRunner, type PyodideApi } from "../../guest/py/runner";
import { guardedGlobals, poisonCodeGeneration } from "../../guest/py/globals";
import { IMPORTS } from "../../guest/py/imports";
import { ERRNO, linuxNumbers, useLinuxErrno } from "../../guest/py/linux_errno";
import { encodeUtf8 } from "../../guest/text";
import { serve } from "../../guest/serve";
import warmFrames from "relay:warm";
import { queuePractice, type Harness } from "./host";

/** pyodide.asm.mjs is a bundle of its own, before this one: what it evaluates must not see our variables. */
const scope = globalThis as unknown as { relayPyodideModule?: unknown; relayNumbering?: (numbers: number[]) => void; relayHarness?: Harness };
const createPyodideModule = scope.relayPyodideModule;
const numberSystemCalls = scope.relayNumbering!;
delete scope.relayPyodideModule;
delete scope.relayNumbering;

let runner: PyRunner;

/** A snapshot fits exactly one Pyodide with one list of imports and one set of globals; its name says which. */
const snapshotKey = [version, IMPORTS, JSON.stringify(ERRNO), ...Object.keys(guardedGlobals())].join(" ");
const snapshotName = `pyodide-${host.sha256(encodeUtf8(snapshotKey)).slice(0, 16)}.snapshot`;

function readSnapshot(): Uint8Array | undefined {
  if (host.makeCache) return undefined;
  try {
    return host.readFile(snapshotName);
  } catch {
    return undefined;
  }
}

async function load(options: object): Promise<PyodideApi> {
  const common = {
    indexURL: "./",
    createPyodideModule,
    jsglobals: guardedGlobals(),
    lockFileContents: host.readText("pyodide-lock.json"),
    env: { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1", LANG: "C.UTF-8" },
    stdin: () => null,
    stdout: () => {},
    stderr: (text: string) => host.log(text),
    checkAPIVersion: false,
  };
  return (await loadPyodide({ ...common, ...options })) as PyodideApi;
}

/** Pyodide keeps its options; 30 MB of them would be page tables that every fork copies. */
function forgetSnapshot(pyodide: PyodideApi): PyodideApi {
  const { config } = (pyodide as unknown as { _api: { config: Record<string, unknown> } })._api;
  config._loadSnapshot = undefined;
  return pyodide;
}

/** From the snapshot when there is one, else from the start; a set-up boot leaves the snapshot for the next. */
async function loadInterpreter(): Promise<PyodideApi> {
  const snapshot = readSnapshot();
  if (snapshot) {
    try {
      return forgetSnapshot(await load({ _loadSnapshot: snapshot }));
    } catch (error) {
      host.log(`the Python snapshot cannot be used, booting without it: ${String(error)}`);
    }
  }
  const pyodide = await load({ _makeSnapshot: host.makeCache === true });
  useLinuxErrno(pyodide);
  pyodide.runPython(IMPORTS);
  if (host.makeCache && host.writeFile) host.writeFile(snapshotName, pyodide.makeMemorySnapshot());
  return pyodide;
}

function practise(frames = warmFrames.py): void {
  queuePractice(host, frames);
  harness.serve();
  runner.forget();
}

const harness: Harness = {
  async boot() {
    const interpreter = await loadInterpreter();
    numberSystemCalls(linuxNumbers());
    runner = PyRunner.boot(host, interpreter, { modules: pythonFiles, timeZones: host.readFile("tzdata.zip") });
    removeShell();
    poisonCodeGeneration();
    practise();
    runner.settle();
  },
  practise: () => practise(),
  rehearse: () => practise(warmFrames.py.slice(0, 1)),
  serve: () => serve(host, runner),
};
scope.relayHarness = harness;
