// Intl, and the methods of Date, Number, BigInt, String and Array that take a locale. The harness answers (../intl.ts); here
// is the shape that programs know. Nothing is asked before a program uses it.

import { host } from "./bridge";
import * as p from "./primordials";

type Options = Record<string, unknown> | undefined;

interface Asker {
  of: string;
  locales: string[] | undefined;
  options: Options;
}

function ask(asker: Asker, method: string, args: unknown[] = []): any {
  const { of, locales, options } = asker;
  const reply = p.jsonParse(host().intl(p.jsonStringify({ of, locales, options, method, args })));
  if (!reply.error) return reply.value;
  const { name, message } = reply.error;
  throw name === "RangeError" ? new RangeError(message) : name === "TypeError" ? new TypeError(message) : new p.NativeError(message);
}

function localesOf(locales: unknown): string[] | undefined {
  if (locales === undefined) return undefined;
  if (locales === null) throw new TypeError("Cannot convert undefined or null to object");
  const list = p.isArray(locales) ? locales : typeof locales === "object" && !(locales instanceof Locale) ? p.slice(locales as ArrayLike<unknown>) : [locales];
  for (const item of list) if (typeof item !== "string" && typeof item !== "object") throw new TypeError("Language ID should be string or object.");
  return list.length === 0 ? undefined : list.map(p.toText);
}

/** Plain members only; every option of Intl is a text, a number or a truth value. */
function optionsOf(options: unknown): Options {
  if (options === undefined) return undefined;
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  const out: Record<string, unknown> = {};
  for (const name in options as object) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined) out[name] = typeof value === "number" || typeof value === "boolean" ? value : p.toText(value);
  }
  return out;
}

function numeric(value: unknown): unknown {
  if (typeof value === "bigint") return { bigint: p.toText(value) };
  const number = typeof value === "number" ? value : Number(value);
  return p.isFinite(number) && !Object.is(number, -0) ? number : { number: Object.is(number, -0) ? "-0" : p.toText(number) };
}

function moment(value: unknown): unknown {
  return value === undefined ? p.dateNow() : numeric(Number(value));
}

/** Made once per object, so that wrong locales and options fail where they are given. */
class Formatter {
  readonly #asker: Asker;
  readonly #resolved: object;
  constructor(of: string, locales: unknown, options: unknown) {
    this.#asker = { of, locales: localesOf(locales), options: optionsOf(options) };
    this.#resolved = ask(this.#asker, "resolvedOptions");
  }
  static ask(self: Formatter, method: string, args: unknown[]): any {
    return ask(self.#asker, method, args);
  }
  static asker(self: Formatter): Asker {
    return self.#asker;
  }
  resolvedOptions(): object {
    return p.assign({}, this.#resolved);
  }
}
const askFor = Formatter.ask;
const askerOf = Formatter.asker;

/** Without a date it is now; parts carry texts only, so nothing of them has to be made again. */
class DateTimeFormat extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("DateTimeFormat", locales, options);
  }
  get format() {
    return (date?: unknown): string => askFor(this, "format", [moment(date)]);
  }
  formatToParts(date?: unknown): object[] {
    return askFor(this, "formatToParts", [moment(date)]);
  }
  formatRange(from: unknown, to: unknown): string {
    return askFor(this, "formatRange", [numeric(from), numeric(to)]);
  }
  formatRangeToParts(from: unknown, to: unknown): object[] {
    return askFor(this, "formatRangeToParts", [numeric(from), numeric(to)]);
  }
}

class NumberFormat extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("NumberFormat", locales, options);
  }
  get format() {
    return (value: unknown): string => askFor(this, "format", [numeric(value)]);
  }
  formatToParts(value: unknown): object[] {
    return askFor(this, "formatToParts", [numeric(value)]);
  }
}

class Collator extends Formatter {
  #compare: (a: unknown, b: unknown) => number;
  constructor(locales?: unknown, options?: unknown) {
    super("Collator", locales, options);
    const asker = askerOf(this);
    this.#compare = (a, b) => compare(asker, p.toText(a), p.toText(b));
  }
  get compare() {
    return this.#compare;
  }
}

class PluralRules extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("PluralRules", locales, options);
  }
  select(value: unknown): string {
    return askFor(this, "select", [numeric(value)]);
  }
}

class RelativeTimeFormat extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("RelativeTimeFormat", locales, options);
  }
  format(value: unknown, unit: unknown): string {
    return askFor(this, "format", [numeric(value), p.toText(unit)]);
  }
  formatToParts(value: unknown, unit: unknown): object[] {
    return askFor(this, "formatToParts", [numeric(value), p.toText(unit)]);
  }
}

function texts(list: Iterable<unknown>): string[] {
  const out: string[] = [];
  for (const item of list) {
    if (typeof item !== "string") throw new TypeError("Iterable yielded a value that is not a string");
    p.push(out, item);
  }
  return out;
}

class ListFormat extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("ListFormat", locales, options);
  }
  format(list: Iterable<unknown> = []): string {
    return askFor(this, "format", [texts(list)]);
  }
  formatToParts(list: Iterable<unknown> = []): object[] {
    return askFor(this, "formatToParts", [texts(list)]);
  }
}

class DisplayNames extends Formatter {
  constructor(locales: unknown, options: unknown) {
    if (options === undefined) throw new TypeError("Intl.DisplayNames needs options with a type");
    super("DisplayNames", locales, options);
  }
  of(code: unknown): string | undefined {
    return askFor(this, "of", [p.toText(code)]);
  }
}

interface Segment {
  segment: string;
  index: number;
  input: string;
  isWordLike?: boolean;
}

class Segmenter extends Formatter {
  constructor(locales?: unknown, options?: unknown) {
    super("Segmenter", locales, options);
  }
  segment(value: unknown): Iterable<Segment> & { containing(at?: number): Segment | undefined } {
    const input = p.toText(value);
    const found = (askFor(this, "segment", [input]) as Segment[]).map(({ segment, index, isWordLike }) => ({
      segment, index, input, ...(isWordLike === undefined ? {} : { isWordLike }),
    }));
    const containing = (at = 0) => found.find(({ segment, index }) => at >= index && at < index + segment.length);
    return { [Symbol.iterator]: () => found.values(), containing };
  }
}

class Locale {
  readonly #tag: string;
  constructor(tag: unknown, options?: unknown) {
    if (typeof tag !== "string" && !(typeof tag === "object" && tag !== null)) throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
    const { tag: text, ...fields } = ask({ of: "Locale", locales: undefined, options: optionsOf(options) }, "new", [p.toText(tag)]);
    this.#tag = text;
    p.assign(this, fields);
  }
  toString(): string {
    return this.#tag;
  }
  maximize(): Locale {
    return new Locale(ask({ of: "Locale", locales: undefined, options: undefined }, "maximize", [this.#tag]));
  }
  minimize(): Locale {
    return new Locale(ask({ of: "Locale", locales: undefined, options: undefined }, "minimize", [this.#tag]));
  }
}

let ranks: number[] | undefined;

/**
 * Two texts of printable ASCII in the order of English, without asking: a comparison is made thousands of times in one sort.
 * First by letter, then a small letter before the capital one; undefined when there is another character.
 */
function compareAscii(a: string, b: string): number | undefined {
  ranks ??= ask({ of: "ascii", locales: undefined, options: undefined }, "order") as number[];
  let byLetter = 0, byCase = 0;
  const length = p.max(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = at < a.length ? p.charCodeAt(a, at) : -1, y = at < b.length ? p.charCodeAt(b, at) : -1;
    if ((x !== -1 && (x < 32 || x > 126)) || (y !== -1 && (y < 32 || y > 126))) return undefined;
    if (byLetter !== 0 || x === y) continue;
    byLetter = x === -1 ? -1 : y === -1 ? 1 : ranks[x - 32]! - ranks[y - 32]!;
    if (byLetter === 0 && byCase === 0) byCase = y - x;
  }
  return byLetter !== 0 ? (byLetter < 0 ? -1 : 1) : byCase < 0 ? -1 : byCase > 0 ? 1 : 0;
}

function isEnglish({ locales, options }: Asker): boolean {
  return (locales === undefined || locales[0] === "en" || locales[0] === "en-US") && (options === undefined || p.objectKeys(options).length === 0);
}

function compare(asker: Asker, a: string, b: string): number {
  const quick = isEnglish(asker) ? compareAscii(a, b) : undefined;
  return quick ?? ask(asker, "compare", [a, b]);
}

/** These three make an object without `new`, too. */
function callable<T extends new (locales?: unknown, options?: unknown) => Formatter>(Class: T): T {
  const made = function (locales?: unknown, options?: unknown) {
    return new Class(locales, options);
  };
  p.defineProperty(made, "name", { value: Class.name, configurable: true });
  made.prototype = Class.prototype;
  p.hide(Class.prototype, "constructor", made);
  return made as unknown as T;
}

function makeIntl(): object {
  const classes: Record<string, any> = {
    DateTimeFormat: callable(DateTimeFormat), NumberFormat: callable(NumberFormat), Collator: callable(Collator),
    PluralRules, RelativeTimeFormat, ListFormat, DisplayNames, Segmenter, Locale,
  };
  const intl = {};
  for (const of of p.objectKeys(classes)) {
    p.hide(intl, of, classes[of]);
    p.defineProperty(classes[of].prototype, Symbol.toStringTag, { value: `Intl.${of}`, configurable: true });
    if (of !== "Locale")
      p.hide(classes[of], "supportedLocalesOf", (locales?: unknown, options?: unknown) =>
        ask({ of, locales: localesOf(locales), options: optionsOf(options) }, "supportedLocalesOf"));
  }
  p.hide(intl, "getCanonicalLocales", (locales?: unknown) =>
    locales === undefined ? [] : ask({ of: "Intl", locales: localesOf(locales), options: undefined }, "getCanonicalLocales"));
  p.hide(intl, "supportedValuesOf", (key: unknown) => ask({ of: "Intl", locales: undefined, options: undefined }, "supportedValuesOf", [p.toText(key)]));
  p.defineProperty(intl, Symbol.toStringTag, { value: "Intl", configurable: true });
  return intl;
}

const stringValue = p.uncurry(String.prototype.valueOf), numberValue = p.uncurry(Number.prototype.valueOf), bigintValue = p.uncurry(BigInt.prototype.valueOf);
const nativeUpper = p.uncurry(String.prototype.toUpperCase), nativeLower = p.uncurry(String.prototype.toLowerCase);

function withLocale(of: string, method: string, locales: unknown, options: unknown, value: unknown): any {
  return ask({ of, locales: localesOf(locales), options: optionsOf(options) }, method, [value]);
}

const dateMethods = ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].map((name) => ({
  [name](this: Date, locales?: unknown, options?: unknown): string {
    const time = p.dateValue(this) as number;
    return time === time ? withLocale("Date", name, locales, options, time) : "Invalid Date";
  },
}[name]!));

export function installIntl(): void {
  p.hide(globalThis, "Intl", makeIntl());
  for (const method of dateMethods) p.hide(Date.prototype, method.name, method);
  const methods: [object, Record<string, Function>][] = [
    [Number.prototype, { toLocaleString(this: number, l?: unknown, o?: unknown) { return withLocale("Number", "toLocaleString", l, o, numeric(numberValue(this))); } }],
    [BigInt.prototype, { toLocaleString(this: bigint, l?: unknown, o?: unknown) { return withLocale("BigInt", "toLocaleString", l, o, numeric(bigintValue(this))); } }],
    [Array.prototype, { toLocaleString(this: unknown[], l?: unknown, o?: unknown) { return p.join(p.slice(this).map((item: any) => (item === null || item === undefined ? "" : item.toLocaleString(l, o))), ","); } }],
    [String.prototype, {
      localeCompare(this: string, that: unknown, l?: unknown, o?: unknown) { return compare({ of: "Collator", locales: localesOf(l), options: optionsOf(o) }, p.toText(this), p.toText(that)); },
      toLocaleUpperCase(this: string, l?: unknown) { return l === undefined ? nativeUpper(this) : withLocale("String", "toLocaleUpperCase", l, undefined, stringValue(this)); },
      toLocaleLowerCase(this: string, l?: unknown) { return l === undefined ? nativeLower(this) : withLocale("String", "toLocaleLowerCase", l, undefined, stringValue(this)); },
    }],
  ];
  for (const [target, own] of methods) for (const name of p.objectKeys(own)) p.hide(target, name, own[name]);
}
