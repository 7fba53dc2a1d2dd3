// The life of a child: wait for a start, check the capsule, run it, say how it ended; again if relay keeps the child for
// a session. Returns when the socket closes.

import { openCapsule, type Capsule, type HeldLayers } from "./capsule";
import { Calls } from "./calls";
import { Output } from "./output";
import { clip, encodeUtf8, wellFormedJson } from "./text";
import { Kind, Limits, type Channel, type Frame, type Outcome, type ReplyHeader, type WireError } from "./wire";

export interface RunContext {
  channel: Channel;
  output: Output;
  calls: Calls;
}

/** One language. `run` never throws for what the guest did; what it throws is our own failure. */
export interface Runner {
  readonly language: "js" | "py";
  run(capsule: Capsule, context: RunContext): Outcome;
}

export function serve(channel: Channel, runner: Runner): void {
  const output = new Output(channel);
  const context = { channel, output, calls: new Calls(channel, output) };
  const known: HeldLayers = new Map();
  for (;;) {
    const frame = nextStart(channel);
    if (!frame) return;
    const cpuBefore = channel.cpuMs();
    const outcome = runOne(frame, runner, context, known);
    context.calls.abandon();
    output.flush();
    channel.send(Kind.done, doneHeader(outcome, channel, cpuBefore));
    if (outcome.poisoned) return;
  }
}

function nextStart(channel: Channel): Frame | null {
  for (;;) {
    const frame = channel.receive(-1);
    if (!frame || frame.kind === Kind.start) return frame;
  }
}

function runOne(frame: Frame, runner: Runner, context: RunContext, known: HeldLayers): Outcome {
  let capsule: Capsule;
  try {
    capsule = openCapsule(context.channel, frame, runner.language, known);
  } catch (error) {
    return { exitCode: 126, error: plainError(error), memPeakBytes: 0 };
  }
  const misplaced = missingDirectory(capsule.entry.cwd, context);
  if (misplaced) {
    context.output.write("stderr", encodeUtf8(`${misplaced}\n`));
    return { exitCode: 1, error: { type: "ValidationError", message: misplaced }, memPeakBytes: 0 };
  }
  try {
    return runner.run(capsule, context);
  } catch (error) {
    return { exitCode: 1, error: plainError(error), memPeakBytes: 0, poisoned: true };
  }
}

/** Every run has these; only others have to be looked for. */
const PRESENT = new Set(["/", "/tmp", "/out", "/host", "/app"]);

/** Why the program cannot start in its working directory. */
function missingDirectory(cwd: string, { calls }: RunContext): string | undefined {
  if (PRESENT.has(cwd)) return undefined;
  const { ok, result, error } = JSON.parse(calls.sync("fs.stat", JSON.stringify({ path: cwd })).header) as ReplyHeader;
  if (ok && (result as { type?: string }).type === "dir") return undefined;
  return `cwd: ${ok ? `${cwd} is no directory` : error?.message ?? `${cwd} does not exist`}; name a directory below /tmp, /out or /host`;
}

export function plainError(error: unknown): WireError {
  if (error instanceof Error) return { type: error.name, message: clip(error.message, Limits.errorBytes) };
  return { type: "Error", message: clip(String(error), Limits.errorBytes) };
}

function doneHeader(outcome: Outcome, channel: Channel, cpuBefore: number): string {
  const memPeakMb = channel.memPeakMb?.() ?? outcome.memPeakBytes / 1048576;
  const usage = { cpuMs: Math.round((channel.cpuMs() - cpuBefore) * 1000) / 1000, memPeakMb: Math.round(memPeakMb * 10) / 10 };
  const { exitCode, valueText, error } = outcome;
  const rest = JSON.stringify({ exitCode, valueText, error: error && boundedError(error), usage });
  return wellFormedJson(outcome.valueJson === undefined ? rest : `{"value":${outcome.valueJson},${rest.slice(1)}`);
}

function boundedError(error: WireError): WireError {
  const cut = (text: string) => clip(text, Limits.errorBytes);
  return { ...error, type: clip(error.type, 200), message: cut(error.message), stack: error.stack && cut(error.stack) };
}
