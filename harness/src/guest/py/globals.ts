// What Python's `js` module shows: harmless constructors, and nothing that leads to the harness or compiles text.

const SAFE = ["Object", "Array", "Map", "Set", "Promise", "Error", "TypeError", "RangeError", "Uint8Array", "Int8Array", "Uint16Array",
  "Int16Array", "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "ArrayBuffer", "DataView", "Symbol", "BigInt", "Number",
  "String", "Boolean", "Date", "Math", "JSON", "RegExp", "WeakRef", "Infinity", "NaN", "undefined", "setTimeout", "clearTimeout",
  "setInterval", "clearInterval", "TextEncoder", "TextDecoder", "console"];

export function guardedGlobals(): object {
  const scope = globalThis as unknown as Record<string, unknown>;
  const refuse = () => {
    throw new Error("not available in this sandbox");
  };
  const made: Record<string, unknown> = { eval: refuse, fetch: refuse, AbortController: class {}, AbortSignal: class {}, Request: class {}, XMLHttpRequest: undefined };
  for (const name of SAFE) made[name] = scope[name];
  made.globalThis = made;
  made.self = made;
  return made;
}

/** Any JavaScript object leads to its constructor's constructor, and that compiled text. No longer. */
export function poisonCodeGeneration(): void {
  const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const fn of kinds) {
    const prototype = Object.getPrototypeOf(fn) as object;
    Object.defineProperty(prototype, "constructor", { value: undefined, writable: false, configurable: false });
  }
  const scope = globalThis as unknown as Record<string, unknown>;
  const refused = function () {
    throw new Error("compiling text is not available here");
  };
  const hollow = Object.defineProperty(refused.bind(null), "prototype", { value: Function.prototype });
  scope.Function = hollow;
  scope.eval = refused;
}
