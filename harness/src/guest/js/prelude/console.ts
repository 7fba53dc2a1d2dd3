// console, Node-like: log to stdout, warn and error to stderr, groups, counters, timers, tables.

import { host } from "./bridge";
import { errorText, inspect, isError } from "./inspect";
import * as p from "./primordials";

let indent = "";
const counts: Record<string, number> = p.create(null);
const timers: Record<string, number> = p.create(null);

/** printf-like, as in Node: %s %d %i %f %j %o %O %c %%. */
export function format(args: ArrayLike<unknown>): string {
  let out = "";
  let next = 0;
  if (typeof args[0] === "string") {
    next = 1;
    out = args.length === 1 ? args[0] : p.replaceText(args[0], /%[sdifjoOc%]/g, (mark: string) => {
      if (mark === "%%") return "%";
      return next < args.length ? formatOne(mark, args[next++]) : mark;
    });
  }
  for (let i = next; i < args.length; i++) {
    const arg = args[i];
    out += (i > 0 ? " " : "") + (typeof arg === "string" ? arg : inspect(arg));
  }
  return out;
}

function formatOne(mark: string, value: unknown): string {
  if (mark === "%s") return typeof value === "string" ? value : typeof value === "object" && value !== null && !isError(value) ? inspect(value, { depth: 0 }) : typeof value === "bigint" ? `${value}n` : isError(value) ? errorText(value) : p.toText(value);
  if (mark === "%d") return typeof value === "bigint" ? `${value}n` : p.toText(Number(value));
  if (mark === "%i") return p.toText(parseInt(p.toText(value), 10));
  if (mark === "%f") return p.toText(parseFloat(p.toText(value)));
  if (mark === "%j") return p.jsonStringify(value) ?? "undefined";
  if (mark === "%c") return "";
  return inspect(value, mark === "%o" ? { depth: 4 } : {});
}

function print(fd: number, text: string): void {
  if (indent !== "") text = indent + p.join(p.split(text, "\n"), "\n" + indent);
  host().write(fd, text + "\n");
}

function table(data: unknown, columns?: string[]): void {
  if (typeof data !== "object" || data === null) return print(1, inspect(data));
  const rows = rowsOf(data);
  const heads = ["(index)"];
  let hasValues = false;
  for (const [, row] of rows) {
    if (typeof row !== "object" || row === null) hasValues = true;
    else for (const key of p.objectKeys(row)) if (!heads.includes(key) && (!columns || columns.includes(key))) heads.push(key);
  }
  if (hasValues) heads.push("Values");
  const cells = rows.map(([index, row]) => heads.map((head, i) => cell(index, row, head, i, hasValues && i === heads.length - 1)));
  print(1, drawTable(heads, cells));
}

function rowsOf(data: object): [string, unknown][] {
  if (data instanceof Map) return [...data.entries()].map(([key, value]) => [inspect(key), value]);
  if (data instanceof Set) return [...data.values()].map((value, i) => [String(i), value]);
  return p.objectKeys(data).map((key) => [key, (data as Record<string, unknown>)[key]]);
}

function cell(index: string, row: unknown, head: string, column: number, isValue: boolean): string {
  if (column === 0) return index;
  if (isValue) return typeof row !== "object" || row === null ? inspect(row) : "";
  if (typeof row !== "object" || row === null || !p.hasOwn(row, head)) return "";
  return inspect((row as Record<string, unknown>)[head], { depth: 0 });
}

function drawTable(heads: string[], cells: string[][]): string {
  const widths = heads.map((head, i) => cells.reduce((width, row) => p.max(width, row[i]!.length), head.length) + 2);
  const line = (left: string, middle: string, right: string) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const row = (texts: string[]) => "│" + texts.map((text, i) => " " + p.padEnd(text, widths[i]! - 1)).join("│") + "│";
  return [line("┌", "┬", "┐"), row(heads), line("├", "┼", "┤"), ...cells.map(row), line("└", "┴", "┘")].join("\n");
}

function elapsed(label: string): string | undefined {
  const from = timers[label];
  if (from === undefined) {
    print(2, `Warning: No such label '${label}' for console.time()`);
    return undefined;
  }
  const ms = host().now() - from;
  return ms >= 1000 ? `${label}: ${(ms / 1000).toFixed(3)}s` : `${label}: ${ms.toFixed(3)}ms`;
}

export const console = {
  log: (...args: unknown[]) => print(1, format(args)),
  info: (...args: unknown[]) => print(1, format(args)),
  debug: (...args: unknown[]) => print(1, format(args)),
  warn: (...args: unknown[]) => print(2, format(args)),
  error: (...args: unknown[]) => print(2, format(args)),
  dir: (value: unknown, options?: object) => print(1, inspect(value, options)),
  dirxml: (...args: unknown[]) => print(1, format(args)),
  table,
  trace(...args: unknown[]) {
    const text = errorText(new p.NativeError(format(args)));
    print(2, "Trace" + p.stringSlice(text, 5));
  },
  assert(condition: unknown, ...args: unknown[]) {
    if (!condition) print(2, args.length ? `Assertion failed: ${format(args)}` : "Assertion failed");
  },
  count: (label = "default") => print(1, `${label}: ${(counts[label] = (counts[label] ?? 0) + 1)}`),
  countReset: (label = "default") => void (counts[label] = 0),
  group(...args: unknown[]) {
    if (args.length) print(1, format(args));
    indent += "  ";
  },
  groupCollapsed: (...args: unknown[]) => console.group(...args),
  groupEnd: () => void (indent = p.stringSlice(indent, 2)),
  time: (label = "default") => void (timers[label] = host().now()),
  timeLog(label = "default", ...args: unknown[]) {
    const text = elapsed(label);
    if (text) print(1, args.length ? `${text} ${format(args)}` : text);
  },
  timeEnd(label = "default") {
    const text = elapsed(label);
    if (text) print(1, text);
    delete timers[label];
  },
};

export function resetConsole(): void {
  indent = "";
}
