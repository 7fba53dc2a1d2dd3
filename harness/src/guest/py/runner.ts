// One run of Python. The interpreter is synchronous from our side: one call in, everything happens inside it, text comes out.

import type { Capsule } from "../capsule";
import { LayerTree } from "../layers";
import type { RunContext, Runner } from "../serve";
import { Stdin } from "../stdin";
import { decodeUtf8, encodeUtf8 } from "../text";
import { Limits, type Channel, type Outcome, type WireError } from "../wire";
import { hostModule, type PyProxy } from "./host_module";
import { LIBRARY_LOADER } from "./imports";
import { sealRoot, type Seal } from "./root_seal";
import { RelayFs, type EmscriptenFs } from "./relayfs";

interface DirectoryMaker extends EmscriptenFs {
  chmod(path: string, mode: number): void;
}

/** The parts of Pyodide's interface we use. */
export interface PyodideApi {
  runPython(code: string): any;
  makeMemorySnapshot(): Uint8Array;
  registerJsModule(name: string, module: object): void;
  unregisterJsModule(name: string): void;
  setStdin(options: { read(buffer: Uint8Array): number }): void;
  setStdout(options: { write(buffer: Uint8Array): number }): void;
  setStderr(options: { write(buffer: Uint8Array): number }): void;
  setInterruptBuffer(buffer: object): void;
  pyimport(name: string): any;
  FS: DirectoryMaker;
  _module: { HEAP8: Int8Array; HEAP32: Int32Array; __Py_emscripten_signal_clock?: number };
}

export interface PyState {
  context: RunContext;
  stdin: Stdin;
}

const POLL_MS = 25;
const POLL_STEPS = 5000;
const SIGINT = 2;
const MOUNTS = ["/tmp", "/out", "/host", "/mcps"];
const LIBRARY = "/lib/relay";
const TIME_ZONES = "/lib/tzdata.zip";

/** What the interpreter finds besides its standard library. */
export interface PyLibrary {
  /** Path to source text. */
  modules: Record<string, string>;
  /** The package tzdata, as a zip. */
  timeZones: Uint8Array;
}

export class PyRunner implements Runner {
  readonly language = "py";
  private state: PyState | undefined;
  private readonly files: RelayFs;
  private run_!: PyProxy;
  private seeded = false;
  private seal!: Seal;

  private constructor(private readonly pyodide: PyodideApi) {
    this.files = new RelayFs(pyodide.FS);
  }

  /** The standard modules are already imported, by now or by the snapshot. */
  static boot(channel: Channel, pyodide: PyodideApi, library: PyLibrary): PyRunner {
    const runner = new PyRunner(pyodide);
    for (const [path, text] of Object.entries(library.modules)) runner.put(`${LIBRARY}/${path}`, encodeUtf8(text));
    runner.put(TIME_ZONES, library.timeZones);
    runner.connectStreams();
    pyodide.registerJsModule("_relay_host", hostModule(() => runner.state, channel));
    const limits = { depth: Limits.valueDepth, bytes: Limits.valueBytes, text: Limits.valueTextBytes, error: Limits.errorBytes - 100 };
    pyodide.runPython(LIBRARY_LOADER);
    pyodide.pyimport("_relay_run").prepare(JSON.stringify(limits));
    pyodide.pyimport("_relay_patch").install();
    runner.run_ = pyodide.pyimport("_relay_run").run;
    pyodide.setInterruptBuffer(runner.watch(channel));
    for (const mount of MOUNTS) runner.files.mountAt(mount);
    runner.seal = sealRoot(pyodide.FS, LIBRARY);
    return runner;
  }

  /** After a practice run: no variable of it is left, and the next run draws a seed of its own. */
  forget(): void {
    this.pyodide.pyimport("_relay_run").forget();
    this.seeded = false;
  }

  /** After the practice runs, before the first fork. */
  settle(): void {
    this.pyodide.pyimport("_relay_run").settle();
  }

  run(capsule: Capsule, context: RunContext): Outcome {
    const { entry, header } = capsule;
    const tree = LayerTree.from(capsule.layers);
    for (const path of tree.paths()) this.put(path, tree.file(path)!.read());
    const main = tree.file(entry.path);
    if (!main) throw new Error(`the capsule has no entry ${entry.path}`);
    this.state = { context, stdin: new Stdin(capsule.stdin, header.stdinLive === true, context.calls) };
    this.files.use(context.calls);
    const config = {
      ...entry, source: decodeUtf8(main.read()), servers: header.servers ?? [], reset: header.reset === true,
      reseed: !this.seeded, hasInput: capsule.stdin.length > 0 || header.stdinLive === true,
    };
    this.seeded = true;
    this.seal.closed = true;
    try {
      return { ...outcomeOf(this.run_(JSON.stringify(config))), memPeakBytes: this.memoryBytes() };
    } catch (error) {
      return this.fatal(error);
    } finally {
      this.seal.closed = false;
      this.state = undefined;
      this.files.use(undefined);
    }
  }

  /** Python itself died: the stack under it ran out, or memory did. The child must not be used again. */
  private fatal(error: unknown): Outcome {
    const text = String((error as Error)?.message ?? error);
    if (/call stack/i.test(text)) return this.dead("RecursionError", "the interpreter's stack is exhausted", 1);
    if (/memory/i.test(text)) return this.dead("MemoryError", "the interpreter ran out of memory", 137);
    return this.dead("FatalError", `the interpreter stopped: ${text.trim().split("\n").pop()}`, 1);
  }

  private dead(type: string, message: string, exitCode: number): Outcome {
    this.state?.context.output.write("stderr", encodeUtf8(`${type}: ${message}\n`));
    return { exitCode, error: { type, message }, memPeakBytes: this.memoryBytes(), poisoned: true };
  }

  private memoryBytes(): number {
    return this.pyodide._module.HEAP8.byteLength;
  }

  private put(path: string, bytes: Uint8Array): void {
    this.pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")) || "/");
    this.pyodide.FS.writeFile(path, bytes);
  }

  /** Python looks at this "buffer" every few thousand steps. A busy program's output leaves then, and an interrupt is seen. */
  private watch(channel: Channel): object {
    let polled = 0;
    const look = (): number => {
      this.slowDownPolling();
      const state = this.state;
      const now = state ? channel.now() : 0;
      if (!state || now - polled < POLL_MS) return 0;
      polled = now;
      state.context.output.flush();
      state.context.calls.poll();
      return state.context.calls.interrupted ? SIGINT : 0;
    };
    return Object.defineProperty({}, "0", { get: look, set: () => {} });
  }

  /** Python would look every 50 steps, which costs a tenth of its speed; its counter is set to more after each look. */
  private slowDownPolling(): void {
    const { HEAP32, __Py_emscripten_signal_clock: clock } = this.pyodide._module;
    if (clock) HEAP32[clock >> 2] = POLL_STEPS;
  }

  private connectStreams(): void {
    const writer = (stream: "stdout" | "stderr") => ({
      write: (bytes: Uint8Array) => {
        this.state?.context.output.write(stream, bytes);
        return bytes.length;
      },
    });
    this.pyodide.setStdout(writer("stdout"));
    this.pyodide.setStderr(writer("stderr"));
    this.pyodide.setStdin({
      read: (buffer: Uint8Array) => {
        const bytes = this.state?.stdin.read(buffer.length) ?? new Uint8Array(0);
        buffer.set(bytes);
        return bytes.length;
      },
    });
  }
}

interface PythonOutcome {
  exitCode: number;
  valueJson?: string;
  valueText?: string;
  error?: WireError;
}

function outcomeOf(text: unknown): PythonOutcome {
  return JSON.parse(String(text)) as PythonOutcome;
}
