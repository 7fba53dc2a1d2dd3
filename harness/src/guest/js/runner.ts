// One run of JavaScript: evaluate, then turn the loop (jobs, timers, replies) until nothing is left to wait for.

import type { JSValueHandle } from "quickjs-wasi";
import type { Capsule } from "../capsule";
import { LayerTree } from "../layers";
import type { RunContext, Runner } from "../serve";
import { Stdin } from "../stdin";
import { decodeUtf8, encodeUtf8 } from "../text";
import { Kind, Limits, type Channel, type Outcome, type WireError } from "../wire";
import { idOf } from "../calls";
import { Engine, type EngineParts } from "./engine";
import { makeBridge } from "./bridge";
import { failureOf, syntaxPlace, type Failure, type Program } from "./failure";
import { Modules } from "./modules";
import { prepareScript } from "./source";
import { BUNDLE_PATH } from "./source_map";
import { RunState } from "./state";
import { hasTypeArguments, isTypeScriptName, stripTypes, TypeScriptError } from "./typescript";

const PROMISE_FULFILLED = 1;
const PROMISE_REJECTED = 2;

export class JsRunner implements Runner {
  readonly language = "js";
  private engine!: Engine;
  private modules = new Modules({});
  private state: RunState | undefined;
  /** The hash of the packages that this engine has evaluated. */
  private loaded = "";

  private constructor(private readonly versions: Record<string, string>) {}

  static async boot(channel: Channel, parts: EngineParts, versions: Record<string, string>): Promise<JsRunner> {
    const runner = new JsRunner(versions);
    const owner = { vm: () => runner.engine.vm, state: () => runner.current(), modules: () => runner.modules };
    runner.engine = await Engine.boot(parts, runner.hooks(channel), makeBridge(owner));
    runner.modules = new Modules(JSON.parse(runner.engine.ask("builtinNames")) as Record<string, string[]>);
    return runner;
  }

  /** After the practice runs, before the first fork. */
  settle(): void {
    this.engine.settle();
  }

  run(capsule: Capsule, context: RunContext): Outcome {
    const tree = LayerTree.from(capsule.layers);
    const stdin = new Stdin(capsule.stdin, capsule.header.stdinLive === true, context.calls);
    const state = (this.state = new RunState(context, tree, stdin));
    try {
      return this.evaluate(capsule, state);
    } finally {
      this.state = undefined;
    }
  }

  private evaluate(capsule: Capsule, state: RunState): Outcome {
    const path = capsule.entry.path;
    const name = path.slice(path.lastIndexOf("/") + 1) || "main.js";
    const file = state.tree.file(path);
    if (!file) throw new Error(`the capsule has no entry ${path}`);
    const source = decodeUtf8(file.read());
    this.modules.use({ tree: state.tree, calls: state.context.calls, entry: path, cwd: capsule.entry.cwd }, name);
    this.begin(capsule, path, state.context.channel);
    const program: Program = { name, source };
    try {
      this.loadBundle(capsule, state, source);
      if (capsule.header.prepare) return this.prepare(state, source);
      return this.turn(state, this.start(program, Boolean(capsule.header.session)));
    } catch (error) {
      return this.failed(state, failureOf(this.engine, error, program));
    }
  }

  /** What cannot be read as JavaScript is tried as TypeScript; so plain JavaScript pays nothing for it. */
  private start(program: Program, repeatable: boolean): JSValueHandle {
    const { name, source } = program;
    const evaluate = (code: string) => this.engine.evaluate(prepareScript(code, { repeatable, isBuiltin: (module) => this.modules.isBuiltin(module) }), name);
    if (isTypeScriptName(name) || hasTypeArguments(source)) return evaluate((program.stripped = stripTypes(source)));
    try {
      return evaluate(source);
    } catch (error) {
      const stripped = this.withoutTypes(program, error);
      if (stripped === undefined) throw error;
      return evaluate((program.stripped = stripped));
    }
  }

  /** Nothing when the program is no TypeScript. Of two readings that both fail, the one that got further is reported. */
  private withoutTypes({ name, source }: Program, error: unknown): string | undefined {
    const place = syntaxPlace(this.engine, error, name);
    if (!place) return undefined;
    try {
      const stripped = stripTypes(source);
      return stripped === source ? undefined : stripped;
    } catch (refused) {
      if (!(refused instanceof TypeScriptError)) throw refused;
      if (refused.line > place.line || (refused.line === place.line && refused.column > place.column)) throw refused;
      return undefined;
    }
  }

  private begin({ entry, header }: Capsule, path: string, channel: Channel): void {
    const { argv, env, cwd } = entry;
    const { versions } = this;
    const config = { argv, env, cwd, entry: path, servers: header.servers ?? [], versions, now: channel.now(), wallClock: channel.wallClock() };
    this.engine.ask("begin", JSON.stringify(config));
  }

  /** The compiled bundle stands in for its source, which the engine would read for longer than most programs run. Without it
   *  only require() needs the bundle ahead of time; import finds it by itself. */
  private loadBundle({ layers }: Capsule, state: RunState, source: string): void {
    const packages = layers.filter((layer) => layer.format === "zip").map((layer) => layer.sha256).join();
    if (packages === this.loaded) return;
    const compiled = state.tree.file(`${BUNDLE_PATH}.qbc`);
    if (compiled && /\b(?:import|require)\b/.test(source)) this.engine.vm.evalBytecode(compiled.read()).dispose();
    else if (source.includes("require(") && state.tree.file(BUNDLE_PATH)) this.engine.evaluate(`await import("${BUNDLE_PATH}")`, "relay:deps");
    else return;
    this.drain(state);
    this.loaded = packages;
  }

  /** Evaluates the packages that the program names. Those that fail, or still wait for something, cannot be loaded ahead of a run. */
  private prepare(state: RunState, source: string): Outcome {
    const imports = this.modules.packagesIn(source).map((name) => `import(${JSON.stringify(name)})`);
    const completion = this.engine.evaluate(`await Promise.all([${imports.join()}]), undefined`, "relay:deps");
    this.drain(state);
    const { context, timers } = state;
    const waits = context.calls.pending > 0 || context.calls.hasQueued() || timers.keepAlive;
    const done = completion.promiseState === PROMISE_FULFILLED && !waits;
    completion.dispose();
    context.channel.rest?.();
    return { exitCode: done ? 0 : 1, memPeakBytes: this.engine.memoryBytes() };
  }

  /** The loop. Each round: jobs, then what they left behind, then one timer or reply, or wait for one. A promise as the
   *  program's value is waited for like an await; one that nothing settles is the value itself. */
  private turn(state: RunState, script: JSValueHandle): Outcome {
    const { calls, channel } = state.context;
    let completion = script;
    for (;;) {
      this.drain(state);
      if (state.exitCode !== undefined) return this.exited(state.exitCode);
      if (completion === script && script.promiseState === PROMISE_FULFILLED) {
        const value = this.engine.call("awaited", this.engine.resultOf(script));
        if (!value.isUndefined) {
          completion = value;
          continue;
        }
      }
      const settled = completion.promiseState;
      const rejected = settled === PROMISE_REJECTED ? this.engine.resultOf(completion) : state.takeRejection();
      if (rejected) throw rejected;
      const due = state.timers.take(channel.now());
      if (due !== undefined) this.engine.ask("onTimer", due);
      else if (calls.hasQueued() || calls.pending > 0 || state.timers.keepAlive || (state.timers.wait(0) >= 0 && settled === 0)) this.deliver(state);
      else if (settled === PROMISE_FULFILLED) return this.finished(completion);
      else return completion === script ? this.stuck(state) : this.finished(script);
    }
  }

  private deliver(state: RunState): void {
    const frame = state.context.calls.next(state.timers.wait(state.context.channel.now()));
    if (!frame || state.context.calls.interrupted) {
      if (state.context.calls.interrupted) state.exitCode = 130;
      return;
    }
    const { vm } = this.engine;
    const id = vm.newNumber(idOf(frame)), header = vm.newString(frame.header), body = vm.newUint8Array(frame.body);
    this.engine.call(frame.kind === Kind.reply ? "onReply" : "onEvent", id, header, body).dispose();
    id.dispose(), header.dispose(), body.dispose();
  }

  private drain(state: RunState): void {
    try {
      this.engine.vm.executePendingJobs();
    } catch (error) {
      if (state.exitCode === undefined) throw error;
    }
  }

  private finished(completion: JSValueHandle): Outcome {
    const value = this.engine.resultOf(completion);
    const { vm } = this.engine;
    const limits = [Limits.valueDepth, Limits.valueBytes, Limits.valueTextBytes].map((limit) => vm.newNumber(limit));
    const text = this.engine.call("finish", value, ...limits).consume((handle) => handle.toString());
    const { json, text: valueText, exitCode } = JSON.parse(text) as { json?: string; text?: string; exitCode: number };
    const fits = json !== undefined && (json.length * 3 <= Limits.valueBytes || encodeUtf8(json).length <= Limits.valueBytes);
    return { exitCode, valueJson: fits ? json : undefined, valueText, memPeakBytes: this.engine.memoryBytes() };
  }

  private exited(exitCode: number): Outcome {
    return { exitCode, memPeakBytes: this.engine.memoryBytes() };
  }

  /** Node's exit code 13: the program awaits something that nothing can settle. */
  private stuck(state: RunState): Outcome {
    const message = "unsettled top-level await: nothing is left that could settle it";
    state.context.output.write("stderr", encodeUtf8(`Warning: ${message}\n`));
    return { exitCode: 13, error: { type: "Error", message }, memPeakBytes: this.engine.memoryBytes() };
  }

  private failed(state: RunState, failure: Failure): Outcome {
    if (state.exitCode !== undefined) return this.exited(state.exitCode);
    state.context.output.write("stderr", encodeUtf8(failure.text + "\n"));
    const error: WireError = { type: failure.type, message: failure.message, stack: failure.text };
    return { exitCode: 1, error, memPeakBytes: this.engine.memoryBytes(), poisoned: failure.poisoned };
  }

  private current(): RunState {
    if (!this.state) throw new Error("no run is going on");
    return this.state;
  }

  private hooks(channel: Channel) {
    return {
      shouldStop: () => this.state?.shouldStop() ?? false,
      onRejection: (promise: JSValueHandle, reason: JSValueHandle, handled: boolean) => this.state?.noteRejection(promise, reason, handled),
      normalize: (base: string, specifier: string) => this.modules.normalize(base, specifier),
      load: (path: string) => this.modules.load(path),
      wallClock: () => channel.wallClock(),
      now: () => channel.now(),
      random: (bytes: number) => channel.random(bytes),
    };
  }
}
