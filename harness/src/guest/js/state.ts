// What belongs to one run of guest JavaScript, as the bridge and the loop share it.

import type { JSValueHandle } from "quickjs-wasi";
import type { RunContext } from "../serve";
import type { LayerTree } from "../layers";
import type { Stdin } from "../stdin";
import { Timers } from "../timers";
import { identityOf } from "./engine";
import { SourceMap } from "./source_map";

const POLL_MS = 25;

export class RunState {
  readonly timers = new Timers();
  exitCode: number | undefined;
  lastBody: Uint8Array | undefined;
  /** By the promise's address; the promise is held so that the address stays its own. */
  private readonly rejections = new Map<number, { promise: JSValueHandle; reason: JSValueHandle }>();
  private polled: number;
  private mapped: SourceMap | null | undefined;

  constructor(readonly context: RunContext, readonly tree: LayerTree, readonly stdin: Stdin) {
    this.polled = context.channel.now();
  }

  /** Asked by the engine every few thousand steps. A busy guest's output leaves here, and an interrupt is noticed. */
  shouldStop(): boolean {
    if (this.exitCode !== undefined) return true;
    const now = this.context.channel.now();
    if (now - this.polled < POLL_MS) return false;
    this.polled = now;
    this.context.output.flush();
    this.context.calls.poll();
    if (this.context.calls.interrupted) this.exitCode = 130;
    return this.exitCode !== undefined;
  }

  /** Of the dependencies' bundle, when the capsule brings one. */
  get sourceMap(): SourceMap | undefined {
    if (this.mapped === undefined) this.mapped = SourceMap.of(this.tree) ?? null;
    return this.mapped ?? undefined;
  }

  noteRejection(promise: JSValueHandle, reason: JSValueHandle, handled: boolean): void {
    if (handled) this.rejections.delete(identityOf(promise));
    else this.rejections.set(identityOf(promise), { promise: promise.dup(), reason: reason.dup() });
  }

  /** The first rejection nobody took care of by the end of a turn. */
  takeRejection(): JSValueHandle | undefined {
    for (const { reason } of this.rejections.values()) return reason;
    return undefined;
  }
}
