// The harness's side of the prelude's bridge: handles in, handles out. Each function serves the run that is going on.

import type { JSValueHandle, QuickJS } from "quickjs-wasi";
import { answerFromLayers } from "../layer_files";
import type { Modules } from "./modules";
import type { RunState } from "./state";
import { mendSurrogates } from "../text";
import { digest, digestNames } from "./digests";
import { utf8Of } from "./engine";
import { answerIntl } from "./intl";

type Fn = (...args: JSValueHandle[]) => JSValueHandle;

export interface BridgeOwner {
  vm(): QuickJS;
  state(): RunState;
  modules(): Modules;
}

function bytesOf(vm: QuickJS, handle: JSValueHandle | undefined): Uint8Array | undefined {
  if (!handle || handle.isUndefined) return undefined;
  if (handle.isString) return mendSurrogates(utf8Of(vm, handle));
  return handle.toUint8Array();
}

/** Starts a request; file operations on the capsule's own files are answered here. */
function start(state: RunState, op: string, args: string, body: Uint8Array | undefined): number {
  const local = answerFromLayers(state.tree, op, args);
  if (local) return state.context.calls.answered(local.header, local.body);
  return state.context.calls.start(op, args, body);
}

export function makeBridge(owner: BridgeOwner): Record<string, Fn> {
  const none = () => owner.vm().undefined;
  const requests = requestFunctions(owner);
  return {
    ...requests,
    write(fd, data) {
      const bytes = bytesOf(owner.vm(), data);
      if (bytes) owner.state().context.output.write(fd!.toNumber() === 2 ? "stderr" : "stdout", bytes);
      return none();
    },
    setTimer(id, ms, keepsAlive) {
      const { timers, context } = owner.state();
      timers.set(id!.toNumber(), context.channel.now() + ms!.toNumber(), keepsAlive!.toString() === "true");
      return none();
    },
    clearTimer(id) {
      owner.state().timers.clear(id!.toNumber());
      return none();
    },
    now: () => owner.vm().newNumber(owner.state().context.channel.now()),
    random: (count) => owner.vm().newUint8Array(owner.state().context.channel.random(count!.toNumber())),
    stdin: (limit) => owner.vm().newUint8Array(owner.state().stdin.read(limit!.toNumber())),
    exit(code) {
      owner.state().exitCode ??= code!.toNumber();
      return none();
    },
    sleep(ms) {
      owner.state().context.calls.sleep(ms!.toNumber());
      return none();
    },
    resolve: (base, specifier) => owner.vm().newString(owner.modules().resolve(base!.toString(), specifier!.toString())),
    mapFrames: (stack) => owner.vm().newString(owner.state().sourceMap?.apply(stack!.toString()) ?? stack!.toString()),
    digest: (algorithm, data, key) => owner.vm().newUint8Array(digest(algorithm!.toString(), data!.toUint8Array(), bytesOf(owner.vm(), key))),
    digestNames: () => owner.vm().newString(digestNames.join()),
    intl: (question) => owner.vm().newString(answerIntl(question!.toString())),
    source: (path) => owner.vm().newString(owner.modules().source(path!.toString())),
  };
}

function requestFunctions(owner: BridgeOwner): Record<string, Fn> {
  return {
    start(op, args, body) {
      const id = start(owner.state(), op!.toString(), args!.toString(), bytesOf(owner.vm(), body));
      return owner.vm().newNumber(id);
    },
    sync(op, args, body) {
      const state = owner.state();
      const reply = state.context.calls.waitFor(start(state, op!.toString(), args!.toString(), bytesOf(owner.vm(), body)));
      state.lastBody = reply.body;
      return owner.vm().newString(reply.header);
    },
    takeBody() {
      const state = owner.state();
      const body = state.lastBody;
      state.lastBody = undefined;
      return body ? owner.vm().newUint8Array(body) : owner.vm().undefined;
    },
    cancel(id) {
      owner.state().context.calls.cancel(id!.toNumber());
      return owner.vm().undefined;
    },
    close(id) {
      owner.state().context.calls.close(id!.toNumber());
      return owner.vm().undefined;
    },
  };
}
