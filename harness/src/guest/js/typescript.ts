// TypeScript to JavaScript, in the harness itself: types go, every line stays where it was. Plain JavaScript never comes
// here: the callers ask for it when a file's name says so, or when a program cannot be read as JavaScript.

import { transform } from "sucrase";

/** The program is neither JavaScript nor TypeScript; line and column count from 1 in the user's text. */
export class TypeScriptError extends Error {
  override name = "SyntaxError";
  constructor(message: string, readonly line: number, readonly column: number) {
    super(message);
  }
}

/** `f<string>(x)` is an ordinary expression in JavaScript, with a meaning that nobody wants. */
const TYPE_ARGUMENTS = /[\w$]<(?:string|number|boolean|unknown|any|never|void|object|bigint|Record<|Array<)[^()=;\n]*>\(/;
const NAMESPACE = /^[ \t]*(?:export[ \t]+)?(?:namespace|module)[ \t]+[\w$.]+\s*\{/gm;

export function isTypeScriptName(path: string): boolean {
  return /\.[mc]?ts$/.test(path);
}

/** Whether a program of no known name has to be read as TypeScript although JavaScript might accept it. */
export function hasTypeArguments(source: string): boolean {
  return source.includes(">(") && TYPE_ARGUMENTS.test(source);
}

export function stripTypes(source: string): string {
  let code: string;
  try {
    code = transform(source, { transforms: ["typescript"], disableESTransforms: true }).code;
  } catch (error) {
    throw placed(error);
  }
  refuseNamespaces(source, code);
  return code;
}

/** A namespace with values in it would vanish like a type. */
function refuseNamespaces(source: string, code: string): void {
  const kept = new Set(code.match(NAMESPACE));
  for (const match of source.matchAll(NAMESPACE)) {
    if (kept.has(match[0])) continue;
    const line = source.slice(0, match.index).split("\n").length;
    throw new TypeScriptError("namespaces are not available in this sandbox: use a module or an object", line, 1);
  }
}

function placed(error: unknown): TypeScriptError {
  const { message, loc } = error as { message: string; loc?: { line: number; column: number } };
  return new TypeScriptError(message.replace(/ \(\d+:\d+\)$/, ""), loc?.line ?? 1, loc?.column ?? 1);
}
