// How a run ended, as plain text for the harness: the value as JSON when it is JSON, its inspection always, errors with the
// user's frames. Only captured built-ins are used: the program may have replaced everything else.

import { errorText, inspect, isError, nameOf, userFrames } from "./inspect";
import * as p from "./primordials";

export interface Finished {
  json?: string;
  text?: string;
  exitCode?: number;
}

/** JSON keeps these as they are; anything else in the value would come back changed, so it is given as text. */
function isPlain(value: unknown, depth: number, budget: { left: number }): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return p.isFinite(value);
  if (typeof value !== "object" || depth <= 0 || budget.left-- <= 0) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return true;
  if (p.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth - 1, budget)) return false;
    return true;
  }
  const prototype = p.getPrototypeOf(value);
  if (prototype !== null && p.getPrototypeOf(prototype) !== null) return false;
  if (p.objectText(value) !== "[object Object]") return false;
  const keys = p.objectKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const field = (value as Record<string, unknown>)[keys[i]!];
    if (field !== undefined && !isPlain(field, depth - 1, budget)) return false;
  }
  return true;
}

/** For values that are JSON and short: nothing is left out. */
const whole = { depth: null, maxArrayLength: Infinity, maxStringLength: Infinity };

/** `textBytes` is for the inspection of a value that is also given as JSON, `bytes` for either when it is the only form. */
export function finish(value: unknown, depth: number, bytes: number, textBytes: number): Finished {
  const out: Finished = p.create(null);
  if (value === undefined) return out;
  try {
    if (isPlain(value, depth, { left: 2_000_000 })) {
      const json = p.jsonStringify(value);
      if (typeof json === "string" && json.length <= bytes) out.json = json;
    }
  } catch {
    // A getter threw, or the value is too deep: the text below is what there is.
  }
  // JSON that is too long to be read at a glance is all there is: it is whole, and relay gives it in pages.
  if (out.json !== undefined && (typeof value !== "object" || out.json.length > textBytes)) return out;
  try {
    const text = typeof value === "string" ? value : out.json === undefined ? inspect(value) : inspect(value, whole);
    out.text = text.length > bytes ? `${p.stringSlice(text, 0, bytes)}… [cut, ${text.length} characters in all]` : text;
  } catch {
    out.text = "[value cannot be shown]";
  }
  return out;
}

/** {type, message, stack} as JSON; stack is the whole text a person reads. */
export function describeError(error: unknown): string {
  if (!isError(error)) {
    let text = "";
    try {
      text = inspect(error);
    } catch {
      text = "[value cannot be shown]";
    }
    return p.jsonStringify({ type: "Error", message: `Uncaught ${text}`, stack: `Uncaught ${text}` });
  }
  let type = "Error", message = "", stack = "", frames = "";
  try {
    type = p.toText(error.name ?? nameOf(error));
    message = p.toText(error.message);
    frames = userFrames(p.toText(error.stack ?? ""));
    stack = p.hasOwn(error, "cause") || p.objectKeys(error).length > 0 ? inspect(error) : errorText(error);
  } catch {
    stack = message || type;
  }
  return p.jsonStringify({ type, message, stack, frames });
}
