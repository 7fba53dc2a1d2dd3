// node:assert, the part programs use.

import { inspect } from "./inspect";

export class AssertionError extends Error {
  override name = "AssertionError";
  readonly code = "ERR_ASSERTION";
  constructor(message: string, readonly actual?: unknown, readonly expected?: unknown) {
    super(message);
  }
}

function fail(message: unknown, fallback: string, actual?: unknown, expected?: unknown): never {
  if (message instanceof Error) throw message;
  throw new AssertionError(message === undefined ? fallback : String(message), actual, expected);
}

function same(a: any, b: any, strict: boolean): boolean {
  if (Object.is(a, b) || (!strict && a == b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Map && b instanceof Map) return a.size === b.size && [...a].every(([key, value]) => b.has(key) && same(value, b.get(key), strict));
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((value) => b.has(value));
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key], strict));
}

function matches(error: any, expected: any): boolean {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === "function") return expected.prototype !== undefined && error instanceof expected ? true : expected(error) === true;
  return Object.keys(expected).every((key) => (expected[key] instanceof RegExp ? expected[key].test(error[key]) : same(error[key], expected[key], true)));
}

export const assert = Object.assign(
  (value: unknown, message?: unknown): void => {
    if (!value) fail(message, `The expression evaluated to a falsy value: ${inspect(value)}`, value, true);
  },
  {
    AssertionError,
    ok: (value: unknown, message?: unknown) => assert(value, message),
    equal: (a: unknown, b: unknown, message?: unknown) => void (a == b || fail(message, `${inspect(a)} == ${inspect(b)}`, a, b)),
    notEqual: (a: unknown, b: unknown, message?: unknown) => void (a != b || fail(message, `${inspect(a)} != ${inspect(b)}`, a, b)),
    strictEqual: (a: unknown, b: unknown, message?: unknown) =>
      void (Object.is(a, b) || fail(message, `Expected values to be strictly equal:\n\n${inspect(a)} !== ${inspect(b)}\n`, a, b)),
    notStrictEqual: (a: unknown, b: unknown, message?: unknown) => void (!Object.is(a, b) || fail(message, "Expected values to differ", a, b)),
    deepEqual: (a: unknown, b: unknown, message?: unknown) =>
      void (same(a, b, false) || fail(message, `Expected values to be loosely deep-equal:\n\n${inspect(a)}\n\nshould equal\n\n${inspect(b)}`, a, b)),
    deepStrictEqual: (a: unknown, b: unknown, message?: unknown) =>
      void (same(a, b, true) || fail(message, `Expected values to be strictly deep-equal:\n${inspect(a)}\n\nshould equal\n\n${inspect(b)}`, a, b)),
    notDeepStrictEqual: (a: unknown, b: unknown, message?: unknown) => void (!same(a, b, true) || fail(message, "Expected values to differ", a, b)),
    match: (text: string, pattern: RegExp, message?: unknown) => void (pattern.test(text) || fail(message, `${inspect(text)} does not match ${pattern}`)),
    fail: (message?: unknown) => fail(message, "Failed"),
    throws(run: () => unknown, expected?: unknown, message?: unknown) {
      try {
        run();
      } catch (error) {
        if (!matches(error, typeof expected === "string" ? undefined : expected)) throw error;
        return;
      }
      fail(message, "Missing expected exception.");
    },
    async rejects(run: Promise<unknown> | (() => Promise<unknown>), expected?: unknown, message?: unknown) {
      try {
        await (typeof run === "function" ? run() : run);
      } catch (error) {
        if (!matches(error, typeof expected === "string" ? undefined : expected)) throw error;
        return;
      }
      fail(message, "Missing expected rejection.");
    },
  },
) as any;
assert.strict = assert;
