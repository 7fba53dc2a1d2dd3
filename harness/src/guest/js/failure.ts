// An uncaught error as people read it: name, message, the user's frames; for syntax errors the line and a caret.

import type { JSValueHandle } from "quickjs-wasi";
import { clip } from "../text";
import { Limits } from "../wire";
import { JSException, type Engine } from "./engine";

export interface Failure {
  type: string;
  message: string;
  text: string;
  poisoned: boolean;
}

export interface Program {
  name: string;
  source: string;
}

function isHandle(value: unknown): value is JSValueHandle {
  return typeof value === "object" && value !== null && "promiseState" in value;
}

export function failureOf(engine: Engine, error: unknown, program: Program): Failure {
  const thrown = error instanceof JSException ? error.handle : isHandle(error) ? error : undefined;
  if (!thrown) return hostFailure(error);
  const description = engine.call("describeError", thrown).consume((handle) => handle.toString());
  const { type, message, stack, frames } = JSON.parse(description) as { type: string; message: string; stack: string; frames?: string };
  const syntax = type === "SyntaxError" ? caret(frames ?? "", program) : undefined;
  const text = syntax ? `${syntax}\n\n${type}: ${message}` : stack;
  return { type, message: clip(message, Limits.errorBytes), text: clip(text, Limits.errorBytes), poisoned: false };
}

/** The engine itself gave up: V8's stack ran out below QuickJS, or memory did. Nothing in it may be trusted after that. */
function hostFailure(error: unknown): Failure {
  const name = error instanceof Error ? error.name : "Error";
  const message = error instanceof Error ? error.message : String(error);
  const type = /memory/i.test(message) ? "InternalError" : name;
  return { type, message: clip(message, Limits.errorBytes), text: clip(`${type}: ${message}`, Limits.errorBytes), poisoned: true };
}

/** `main.js:3` with the line and a caret, when the error is in the program's own text. */
function caret(frames: string, { name, source }: Program): string | undefined {
  const first = frames.split("\n")[0] ?? "";
  const at = first.lastIndexOf(`${name}:`);
  const place = at < 0 ? null : /^(\d+):(\d+)/.exec(first.slice(at + name.length + 1));
  if (!place) return undefined;
  const line = Number(place[1]), column = Number(place[2]);
  const text = source.split("\n")[line - 1] ?? "";
  const from = Math.max(0, column - 60);
  const shown = text.slice(from, from + 120);
  return `${name}:${line}\n${shown}\n${" ".repeat(Math.max(0, column - 1 - from))}^`;
}
