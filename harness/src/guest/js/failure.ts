// An uncaught error as people read it: name, message, the user's frames; for syntax errors the line and a caret.

import type { JSValueHandle } from "quickjs-wasi";
import { clip } from "../text";
import { Limits } from "../wire";
import { JSException, type Engine } from "./engine";
import { TypeScriptError } from "./typescript";

export interface Failure {
  type: string;
  message: string;
  text: string;
  poisoned: boolean;
}

export interface Program {
  name: string;
  source: string;
  /** What the engine was given instead, when that is not the source. */
  stripped?: string;
}

export interface Place {
  line: number;
  column: number;
}

function isHandle(value: unknown): value is JSValueHandle {
  return typeof value === "object" && value !== null && "promiseState" in value;
}

export function failureOf(engine: Engine, error: unknown, program: Program): Failure {
  if (error instanceof TypeScriptError) return failure(error.name, error.message, `${caret(error, program)}\n\n${error.name}: ${error.message}`);
  const thrown = error instanceof JSException ? error.handle : isHandle(error) ? error : undefined;
  if (!thrown) return hostFailure(error);
  const { type, message, stack, frames } = describe(engine, thrown);
  const place = type === "SyntaxError" ? placeOf(frames ?? "", program.name) : undefined;
  return failure(type, message, place ? `${caret(place, program)}\n\n${type}: ${message}` : stack);
}

function failure(type: string, message: string, text: string): Failure {
  return { type, message: clip(message, Limits.errorBytes), text: clip(text, Limits.errorBytes), poisoned: false };
}

function describe(engine: Engine, thrown: JSValueHandle) {
  const description = engine.call("describeError", thrown).consume((handle) => handle.toString());
  return JSON.parse(description) as { type: string; message: string; stack: string; frames?: string };
}

/** Where in the program's own text the engine could not read on. */
export function syntaxPlace(engine: Engine, error: unknown, name: string): Place | undefined {
  if (!(error instanceof JSException)) return undefined;
  const { type, frames } = describe(engine, error.handle);
  return type === "SyntaxError" ? placeOf(frames ?? "", name) : undefined;
}

/** The engine itself gave up: V8's stack ran out below QuickJS, or memory did. Nothing in it may be trusted after that. */
function hostFailure(error: unknown): Failure {
  const name = error instanceof Error ? error.name : "Error";
  const message = error instanceof Error ? error.message : String(error);
  const type = /memory/i.test(message) ? "InternalError" : name;
  return { type, message: clip(message, Limits.errorBytes), text: clip(`${type}: ${message}`, Limits.errorBytes), poisoned: true };
}

function placeOf(frames: string, name: string): Place | undefined {
  const first = frames.split("\n")[0] ?? "";
  const at = first.lastIndexOf(`${name}:`);
  const place = at < 0 ? null : /^(\d+):(\d+)/.exec(first.slice(at + name.length + 1));
  return place ? { line: Number(place[1]), column: Number(place[2]) } : undefined;
}

/** `main.js:3` with the line and a caret. Where types were taken out of the line, the column is not the user's. */
function caret({ line, column }: Place, { name, source, stripped }: Program): string {
  const text = source.split("\n")[line - 1] ?? "";
  if (stripped !== undefined && stripped.split("\n")[line - 1] !== text) return `${name}:${line}\n${clip(text, 120)}`;
  const from = Math.max(0, column - 60);
  const shown = text.slice(from, from + 120);
  return `${name}:${line}\n${shown}\n${" ".repeat(Math.max(0, column - 1 - from))}^`;
}
