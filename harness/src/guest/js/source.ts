// Prepares the user's program for QuickJS. It runs as an async global script, not as a module, because only a script has
// a completion value and leaves its declarations for the session's next run. So static imports become `await import`,
// exports lose their keyword, and in sessions top-level let, const and class become repeatable. Lines never move.

export interface ScriptOptions {
  /** Let a later run of the session declare the same names again. */
  repeatable: boolean;
  /** Whether a module is one of Node's that this sandbox has. */
  isBuiltin(specifier: string): boolean;
}

interface Edit {
  from: number;
  to: number;
  text: string;
}

const REGEX_AFTER = /(?:^|[=(,;:!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield))\s*$/;

/** Walks over the code at bracket depth 0, calling back at each word that may start a statement. */
class Scanner {
  at = 0;
  private depth = 0;
  private statement = true;
  constructor(readonly code: string) {}

  *words(): Generator<{ word: string; from: number }> {
    const { code } = this;
    while (this.at < code.length) {
      const char = code[this.at]!;
      if (char === "/" && this.skipCommentOrRegex()) continue;
      if (char === '"' || char === "'") this.skipString(char);
      else if (char === "`") this.skipTemplate();
      else if (/[\w$\u0080-\uffff]/.test(char)) yield* this.word();
      else this.punctuation(char);
    }
  }

  private *word(): Generator<{ word: string; from: number }> {
    const from = this.at;
    const match = /[\w$\u0080-\uffff]+/y;
    match.lastIndex = from;
    const word = match.exec(this.code)![0];
    this.at = from + word.length;
    const starts = this.depth === 0 && (this.statement || this.afterNewline(from));
    this.statement = false;
    if (starts) yield { word, from };
  }

  private afterNewline(from: number): boolean {
    const before = this.code.slice(Math.max(0, from - 200), from);
    const gap = /(\S?)([ \t]*(?:\/\/[^\n]*)?(?:\r?\n\s*)+)$/.exec(before);
    return gap !== null && !/[=(,:?&|+\-*%<>.]/.test(gap[1]!);
  }

  private punctuation(char: string): void {
    this.at++;
    if (char === "(" || char === "[" || char === "{") this.depth++;
    else if (char === ")" || char === "]" || char === "}") this.depth = Math.max(0, this.depth - 1);
    if (char === ";" || char === "}") this.statement = true;
    else if (!/\s/.test(char)) this.statement = false;
  }

  private skipCommentOrRegex(): boolean {
    const { code } = this;
    if (code[this.at + 1] === "/") this.at = endOf(code, code.indexOf("\n", this.at));
    else if (code[this.at + 1] === "*") this.at = endOf(code, code.indexOf("*/", this.at + 2), 2);
    else if (REGEX_AFTER.test(code.slice(Math.max(0, this.at - 60), this.at))) this.skipRegex();
    else return false;
    return true;
  }

  private skipRegex(): void {
    let inClass = false;
    for (this.at++; this.at < this.code.length; this.at++) {
      const char = this.code[this.at];
      if (char === "\\") this.at++;
      else if (char === "[") inClass = true;
      else if (char === "]") inClass = false;
      else if (char === "\n" || (char === "/" && !inClass)) break;
    }
    this.at++;
    this.statement = false;
  }

  private skipString(quote: string): void {
    for (this.at++; this.at < this.code.length; this.at++) {
      const char = this.code[this.at];
      if (char === "\\") this.at++;
      else if (char === quote || char === "\n") break;
    }
    this.at++;
    this.statement = false;
  }

  private skipTemplate(): void {
    for (this.at++; this.at < this.code.length; this.at++) {
      const char = this.code[this.at];
      if (char === "\\") this.at++;
      else if (char === "`") break;
      else if (char === "$" && this.code[this.at + 1] === "{") this.skipHole();
    }
    this.at++;
    this.statement = false;
  }

  private skipHole(): void {
    const inner = new Scanner(this.code);
    inner.at = this.at + 2;
    for (let depth = 1; inner.at < this.code.length; ) {
      const char = this.code[inner.at]!;
      if (char === "}" && --depth === 0) break;
      if (char === "{") depth++;
      if (char === "/" && inner.skipCommentOrRegex()) continue;
      if (char === '"' || char === "'") inner.skipString(char);
      else if (char === "`") inner.skipTemplate();
      else inner.at++;
    }
    this.at = inner.at;
  }
}

function endOf(code: string, found: number, extra = 0): number {
  return found < 0 ? code.length : found + extra;
}

/** `import type {` is TypeScript, and no default named type. */
const IMPORT = /import\s*(?!type\s*\{)(?:([\w$]+)\s*(?:,\s*)?)?(?:\*\s*as\s+([\w$]+)\s*|\{([^}]*)\}\s*)?(?:from\s*)?("[^"\n]*"|'[^'\n]*')(\s*with\s*\{[^}]*\})?/y;

const COMMENTS = /\/\*[^]*?\*\/|\/\/[^\n]*/g;

function importEdit(code: string, from: number, { isBuiltin }: ScriptOptions): Edit | undefined {
  IMPORT.lastIndex = from;
  const match = IMPORT.exec(code);
  if (!match) return undefined;
  const [whole, standard, star, named, specifier] = match;
  const load = `await import(${specifier})`;
  const otherwise = isBuiltin(specifier!.slice(1, -1)) ? memberOfBuiltin(specifier!) : memberOfDefault(load);
  const parts: string[] = [];
  if (standard) parts.push(`default: ${standard}`);
  for (const item of (named ?? "").replace(COMMENTS, "").split(",")) if (item.trim()) parts.push(namedPart(item.trim(), otherwise));
  let text = load;
  if (star) text = standard ? `const ${star} = ${load}, ${standard} = ${star}.default` : `const ${star} = ${load}`;
  else if (parts.length) text = `const {${parts.join(", ")}} = ${load}`;
  return { from, to: from + whole.length, text: ";" + text + "\n".repeat(whole.split("\n").length - 1) };
}

/**
 * A name that the module does not list is taken from its default, as bundlers do: what a CommonJS package such as lodash
 * puts together at run time is not in the list.
 */
function memberOfDefault(load: string) {
  return (name: string) => `(${load}).default?.${/^["']/.test(name) ? `[${name}]` : name}`;
}

/** A name that a module of Node's does not have here is an error, with advice. */
function memberOfBuiltin(specifier: string) {
  return (name: string) => `globalThis[Symbol.for("relay.builtin")](${specifier}, ${/^["']/.test(name) ? name : JSON.stringify(name)})`;
}

function namedPart(item: string, otherwise: (name: string) => string): string {
  const [name, local] = item.split(/\s+as\s+/) as [string, string?];
  if (name === "default") return `default: ${local}`;
  return `${local ? `${name}: ${local}` : name} = ${otherwise(name)}`;
}

function exportEdit(code: string, from: number): Edit | undefined {
  const rest = code.slice(from, from + 4000);
  const list = /^export\s*(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})(?:\s*from\s*(?:"[^"\n]*"|'[^'\n]*'))?/.exec(rest);
  if (list) return { from, to: from + list[0].length, text: list[0].replace(/[^\n]/g, " ") };
  const unnamed = /^export(\s+)default(?=\s+(?:async\s+)?(?:function\s*\*?\s*\(|class\s*(?:extends\b|\{)))/.exec(rest);
  if (unnamed) return { from, to: from + unnamed[0].length, text: "var _default =" };
  const keyword = /^export(?:\s+default)?(?=\s)/.exec(rest);
  return keyword ? { from, to: from + keyword[0].length, text: keyword[0].replace(/[^\n]/g, " ") } : undefined;
}

function declarationEdit(code: string, word: string, from: number): Edit | undefined {
  if (word === "let" || word === "const") {
    const follows = /^(?:let|const)\s+[\w$[{\u0080-\uffff]/.test(code.slice(from, from + 200));
    return follows ? { from, to: from + word.length, text: word === "let" ? "var" : "var  " } : undefined;
  }
  const name = /^class\s+([\w$\u0080-\uffff]+)/.exec(code.slice(from, from + 300))?.[1];
  return name && name !== "extends" ? { from, to: from, text: `var ${name} = ` } : undefined;
}

export function prepareScript(code: string, options: ScriptOptions): string {
  const { repeatable } = options;
  if (code.startsWith("#!")) code = "//" + code.slice(2);
  if (!repeatable && !/\b(?:import|export)\b/.test(code)) return code;
  const edits: Edit[] = [];
  const scanner = new Scanner(code);
  for (const { word, from } of scanner.words()) {
    const edit = editFor(code, word, from, options);
    if (!edit) continue;
    edits.push(repeatable && word === "import" ? { ...edit, text: edit.text.replace(/^;const/, ";var") } : edit);
    scanner.at = Math.max(scanner.at, edit.to);
  }
  return apply(code, edits);
}

function editFor(code: string, word: string, from: number, options: ScriptOptions): Edit | undefined {
  if (word === "import") return importEdit(code, from, options);
  if (word === "export") return exportEdit(code, from);
  if (options.repeatable && (word === "let" || word === "const" || word === "class")) return declarationEdit(code, word, from);
  return undefined;
}

function apply(code: string, edits: Edit[]): string {
  let out = "";
  let at = 0;
  for (const { from, to, text } of edits) {
    out += code.slice(at, from) + text;
    at = to;
  }
  return out + code.slice(at);
}
