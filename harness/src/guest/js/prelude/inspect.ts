// Values as text, the way Node prints them: what a model expects to read from console.log.

import { host } from "./bridge";
import * as p from "./primordials";

export interface InspectOptions {
  depth?: number | null;
  compact?: boolean;
  breakLength?: number;
  maxArrayLength?: number;
  maxStringLength?: number;
  sorted?: boolean;
}

export const customInspect = Symbol.for("nodejs.util.inspect.custom");
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const MAX_KEYS = 100;

class Inspector {
  private readonly seen: object[] = [];
  private readonly circular: object[] = [];
  private budget = 200_000;
  constructor(private readonly options: Required<Omit<InspectOptions, "depth">> & { depth: number }) {}

  show(value: unknown, depth: number, indent: number): string {
    if (typeof value === "string") return this.quoted(value);
    if (typeof value === "bigint") return p.toText(value) + "n";
    if (typeof value === "symbol") return p.symbolText(value);
    if (typeof value === "number") return 1 / value === -Infinity ? "-0" : p.toText(value);
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return p.toText(value);
    return this.object(value as object, depth, indent);
  }

  private quoted(text: string): string {
    const over = text.length - this.options.maxStringLength;
    if (over > 0) return this.quoted(p.stringSlice(text, 0, this.options.maxStringLength)) + `... ${over} more characters`;
    const quote = p.indexOf(text, "'") < 0 ? "'" : p.indexOf(text, '"') < 0 ? '"' : p.indexOf(text, "`") < 0 ? "`" : "'";
    let out = quote;
    for (let i = 0; i < text.length; i++) out += escaped(text[i]!, quote);
    return out + quote;
  }

  private object(value: object, depth: number, indent: number): string {
    for (let i = 0; i < this.seen.length; i++) if (this.seen[i] === value) return this.reference(value);
    if (this.budget-- <= 0) return "[...]";
    const custom = customOf(value);
    if (custom !== undefined) return typeof custom === "string" ? custom : this.show(custom, depth, indent);
    const name = nameOf(value);
    const error = isError(value);
    if (depth > this.options.depth && !error && typeof value !== "function") return p.isArray(value) ? "[Array]" : `[${name || "Object"}]`;
    p.push(this.seen, value);
    const text = this.body(value, name, depth, indent);
    this.seen.length--;
    for (let i = 0; i < this.circular.length; i++) if (this.circular[i] === value) return `<ref *${i + 1}> ` + text;
    return text;
  }

  private reference(value: object): string {
    for (let i = 0; i < this.circular.length; i++) if (this.circular[i] === value) return `[Circular *${i + 1}]`;
    p.push(this.circular, value);
    return `[Circular *${this.circular.length}]`;
  }

  private body(value: object, name: string, depth: number, indent: number): string {
    if (p.isArray(value)) return this.list(value, name === "Array" ? "" : `${name}(${value.length}) `, depth, indent);
    if (typeof value === "function") return this.fields(value, functionTitle(value), depth, indent);
    if (isError(value)) return this.fields(value, errorText(value), depth, indent, "error");
    const special = this.special(value, name, depth, indent);
    if (special !== undefined) return special;
    return this.fields(value, name === "Object" ? "" : name || "[Object: null prototype]", depth, indent, "record");
  }

  private special(value: object, name: string, depth: number, indent: number): string | undefined {
    const typed = attempt(() => p.typedTag(value));
    if (typed) return this.list(value as ArrayLike<unknown>, `${name}(${(value as ArrayLike<unknown>).length}) `, depth, indent);
    const size = attempt(() => p.mapSize(value));
    if (size !== undefined) return this.map(value, `${name}(${size}) `, depth, indent);
    const count = attempt(() => p.setSize(value));
    if (count !== undefined) return this.set(value, `${name}(${count}) `, depth, indent);
    const bytes = attempt(() => p.arrayBufferLength(value));
    if (bytes !== undefined) return `${name} { byteLength: ${bytes} }`;
    if (value instanceof RegExp) return attempt(() => p.regexText(value)) ?? name;
    if (value instanceof Date) return attempt(() => p.dateText(value)) ?? "Invalid Date";
    if (value instanceof Promise) return this.fields(value, "Promise", depth, indent, "record");
    if (value instanceof Number || value instanceof String || value instanceof Boolean)
      return `[${name}: ${this.show((value as { valueOf(): unknown }).valueOf(), depth, indent)}]`;
    return undefined;
  }

  private list(list: ArrayLike<unknown>, prefix: string, depth: number, indent: number): string {
    const parts: string[] = [];
    const shown = p.min(list.length, this.options.maxArrayLength);
    for (let i = 0, holes = 0; i < shown; i++) {
      if (!p.hasOwn(list as object, i)) {
        holes++;
        if (i + 1 < shown && !p.hasOwn(list as object, i + 1)) continue;
        p.push(parts, `<${holes} empty item${holes > 1 ? "s" : ""}>`);
        holes = 0;
      } else p.push(parts, this.show(list[i], depth + 1, indent + 2));
    }
    const rest = list.length - shown;
    if (rest > 0) p.push(parts, `... ${rest} more item${rest > 1 ? "s" : ""}`);
    if (p.isArray(list)) this.addFields(parts, list, depth, indent, true);
    return this.wrap(parts, prefix + "[", "]", indent, list.length > 6);
  }

  private map(map: object, prefix: string, depth: number, indent: number): string {
    const parts: string[] = [];
    p.mapForEach(map, (value, key) => {
      if (parts.length < MAX_KEYS) p.push(parts, `${this.show(key, depth + 1, indent + 2)} => ${this.show(value, depth + 1, indent + 2)}`);
    });
    return this.wrap(parts, prefix + "{", "}", indent, false);
  }

  private set(set: object, prefix: string, depth: number, indent: number): string {
    const parts: string[] = [];
    p.setForEach(set, (value) => {
      if (parts.length < MAX_KEYS) p.push(parts, this.show(value, depth + 1, indent + 2));
    });
    return this.wrap(parts, prefix + "{", "}", indent, false);
  }

  private fields(value: object, title: string, depth: number, indent: number, kind?: "record" | "error"): string {
    const parts: string[] = [];
    this.addFields(parts, value, depth, indent, false, kind === "error");
    if (parts.length === 0 && kind !== "record") return title;
    return this.wrap(parts, title === "" ? "{" : title + " {", "}", indent, false);
  }

  private addFields(parts: string[], value: object, depth: number, indent: number, skipIndexes: boolean, isError = false): void {
    const keys = p.objectKeys(value);
    if (this.options.sorted) p.sort(keys);
    const symbols = p.getOwnPropertySymbols(value);
    let shown = 0;
    for (let i = 0; i < keys.length + symbols.length; i++) {
      const key: string | symbol = i < keys.length ? keys[i]! : symbols[i - keys.length]!;
      if (skipIndexes && typeof key === "string" && p.regexTest(/^\d+$/, key)) continue;
      if (isError && (key === "stack" || key === "message" || key === "cause")) continue;
      const field = p.getOwnPropertyDescriptor(value, key);
      if (!field || !field.enumerable) continue;
      if (++shown > MAX_KEYS) continue;
      p.push(parts, `${keyText(key)}: ${this.field(field, depth, indent)}`);
    }
    if (isError && p.hasOwn(value, "cause")) p.push(parts, `[cause]: ${this.show((value as Error).cause, depth + 1, indent + 2)}`);
    if (shown > MAX_KEYS) p.push(parts, `... ${shown - MAX_KEYS} more`);
  }

  private field(field: PropertyDescriptor, depth: number, indent: number): string {
    if (field.get) return field.set ? "[Getter/Setter]" : "[Getter]";
    if (field.set) return "[Setter]";
    return this.show(field.value, depth + 1, indent + 2);
  }

  private wrap(parts: string[], open: string, close: string, indent: number, group: boolean): string {
    if (parts.length === 0) return open + close;
    let total = open.length + parts.length;
    let lines = false;
    for (let i = 0; i < parts.length; i++) {
      total += parts[i]!.length + 1;
      if (p.indexOf(parts[i]!, "\n") >= 0) lines = true;
    }
    if (!lines && (total + indent <= this.options.breakLength - 4 || this.options.compact) && !(group && parts.length > 6 && total > 72))
      return `${open} ${p.join(parts, ", ")} ${close}`;
    const pad = "\n" + p.repeat(" ", indent + 2);
    return `${open}${pad}${p.join(group && !lines ? rows(parts) : parts, "," + pad)}\n${p.repeat(" ", indent)}${close}`;
  }
}

/** Long lists of short items read better as a grid. */
function rows(parts: string[]): string[] {
  let width = 0;
  for (let i = 0; i < parts.length; i++) width = p.max(width, parts[i]!.length + 2);
  const columns = p.max(1, p.min(16, p.floor(72 / width)));
  if (columns === 1) return parts;
  const out: string[] = [];
  for (let i = 0; i < parts.length; i += columns) p.push(out, p.join(p.slice(parts, i, i + columns), ", "));
  return out;
}

function escaped(char: string, quote: string): string {
  if (char === quote || char === "\\") return "\\" + char;
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  if (char === "\r") return "\\r";
  const code = p.charCodeAt(char, 0);
  if (code < 32 || code === 127) return "\\x" + p.stringSlice("0" + code.toString(16).toUpperCase(), -2);
  return char;
}

function keyText(key: string | symbol): string {
  if (typeof key === "symbol") return `[${p.symbolText(key)}]`;
  return p.regexTest(IDENTIFIER, key) ? key : `'${p.replaceText(key, /['\\\n]/g, (c: string) => (c === "\n" ? "\\n" : "\\" + c))}'`;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function customOf(value: object): unknown {
  const method = attempt(() => (value as Record<symbol, unknown>)[customInspect]);
  if (typeof method !== "function") return undefined;
  return attempt(() => p.apply(method, value, [2, {}, inspect])) ?? undefined;
}

function parentOf(value: object): object | null {
  return attempt<object | null>(() => p.getPrototypeOf(value)) ?? null;
}

export function nameOf(value: object): string {
  for (let at: object | null = value, hops = 0; at && hops < 20; at = parentOf(at), hops++) {
    const field = attempt(() => p.getOwnPropertyDescriptor(at!, "constructor"));
    const name = field && typeof field.value === "function" ? attempt(() => field.value.name) : undefined;
    if (typeof name === "string" && name) return name;
  }
  return "";
}

export function isError(value: unknown): value is Error {
  return attempt(() => value instanceof p.NativeError || p.objectText(value) === "[object Error]") ?? false;
}

function functionTitle(fn: Function): string {
  const source = attempt(() => p.functionText(fn)) ?? "";
  const name = attempt(() => fn.name);
  if (p.startsWith(source, "class")) return `[class ${name || "(anonymous)"}${extendsText(fn)}]`;
  const kind = p.startsWith(source, "async") ? "AsyncFunction" : p.regexTest(/^(?:async\s+)?function\s*\*/, source) ? "GeneratorFunction" : "Function";
  return name ? `[${kind}: ${name}]` : `[${kind} (anonymous)]`;
}

function extendsText(fn: Function): string {
  const parent = attempt(() => p.getPrototypeOf(fn)) as Function | undefined;
  const name = parent && parent !== Function.prototype ? attempt(() => parent.name) : "";
  return name ? ` extends ${name}` : "";
}

/** The headline and the user's frames, as V8 would write them. */
export function errorText(error: Error): string {
  const name = p.toText(attempt(() => error.name) ?? "Error");
  const message = p.toText(attempt(() => error.message) ?? "");
  const head = message ? `${name}: ${message}` : name;
  const stack = userFrames(p.toText(attempt(() => error.stack) ?? ""));
  return stack ? `${head}\n${stack}` : head;
}

/** QuickJS stacks carry frames only; ours and native ones are noise to the reader. */
export function userFrames(stack: string): string {
  const lines = p.split(stack, "\n");
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (!p.startsWith(line, "    at ") || p.indexOf(line, "relay:") >= 0 || p.indexOf(line, "(native)") >= 0) continue;
    if (kept.length < 12) p.push(kept, p.replaceText(line, / at <eval> \((.*)\)$/, " at $1"));
  }
  const frames = p.join(kept, "\n");
  return p.indexOf(frames, "/deps/bundle.mjs:") >= 0 ? host().mapFrames(frames) : frames;
}

export function inspect(value: unknown, options: InspectOptions = {}): string {
  const depth = options.depth === null ? Infinity : options.depth ?? 2;
  const inspector = new Inspector({ compact: false, breakLength: 80, maxArrayLength: 100, maxStringLength: 10000, sorted: false, ...options, depth });
  return inspector.show(value, 0, 0);
}
