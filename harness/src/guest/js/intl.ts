// Intl for guests: QuickJS has none, the engine around it has a whole one, with the data of ICU. The guest's side
// (prelude/intl.ts) sends one JSON text per question; nothing but texts, numbers and lists crosses over. Formatters are kept
// for the process, since making one costs far more than using it.

interface Question {
  /** A constructor of Intl, or Date, Number, BigInt, String for their methods that take a locale. */
  of: string;
  locales?: string | string[];
  options?: Record<string, unknown>;
  method: string;
  args: unknown[];
}

const FORMATTERS_MAX = 200;
const DEFAULT_LOCALE = "en-US";
const formatters = new Map<string, any>();

/** Options that this engine does not know and would pass over, which would make the answer wrong. */
const UNKNOWN_OPTIONS = ["roundingMode", "roundingPriority", "roundingIncrement", "trailingZeroDisplay"];

const CALLS: Record<string, readonly string[]> = {
  DateTimeFormat: ["format", "formatToParts", "formatRange", "formatRangeToParts", "resolvedOptions"],
  NumberFormat: ["format", "formatToParts", "resolvedOptions"],
  Collator: ["compare", "resolvedOptions"],
  PluralRules: ["select", "resolvedOptions"],
  RelativeTimeFormat: ["format", "formatToParts", "resolvedOptions"],
  ListFormat: ["format", "formatToParts", "resolvedOptions"],
  DisplayNames: ["of", "resolvedOptions"],
  Segmenter: ["segment", "resolvedOptions"],
};

export function answerIntl(text: string): string {
  const question = JSON.parse(text) as Question;
  try {
    return JSON.stringify({ value: answer(question, question.args.map(argument)) });
  } catch (error) {
    const { name, message } = error as Error;
    return JSON.stringify({ error: { name, message } });
  }
}

/** Numbers that JSON has no word for come as {"number": text}, integers of any size as {"bigint": text}. */
function argument(value: unknown): any {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { number, bigint } = value as { number?: string; bigint?: string };
  return bigint !== undefined ? BigInt(bigint) : number === "-0" ? -0 : Number(number);
}

function answer({ of, locales, options, method, args }: Question, values: any[]): unknown {
  const known = optionsFor(of, options);
  const where = locales ?? DEFAULT_LOCALE;
  if (method === "supportedLocalesOf") return constructorOf(of).supportedLocalesOf(locales ?? [], options);
  switch (of) {
    case "Intl":
      return method === "supportedValuesOf" ? (Intl as any).supportedValuesOf(values[0]) : (Intl as any).getCanonicalLocales(locales);
    case "Locale":
      return localeOf(String(values[0]), options, method);
    case "Date":
      return (new Date(values[0]) as any)[localeMethod(method)](where, known);
    case "Number":
    case "BigInt":
      return formatter("NumberFormat", where, known).format(values[0]);
    case "String":
      return method === "toLocaleUpperCase" ? String(args[0]).toLocaleUpperCase(where) : String(args[0]).toLocaleLowerCase(where);
    case "ascii":
      return asciiOrder();
  }
  if (!CALLS[of]!.includes(method)) throw new TypeError(`Intl.${of} has no ${method} here`);
  const given = formatter(of, where, known)[method](...values);
  return of === "Segmenter" && method === "segment" ? [...given].map(({ segment, index, isWordLike }: any) => ({ segment, index, isWordLike })) : given;
}

function constructorOf(of: string): any {
  if (!Object.hasOwn(CALLS, of)) throw new TypeError(`Intl.${of} is not available in this sandbox`);
  return (Intl as any)[of];
}

function localeMethod(method: string): string {
  return method === "toLocaleDateString" || method === "toLocaleTimeString" ? method : "toLocaleString";
}

/** The local time zone of a run is UTC, whatever the machine's is. */
function optionsFor(of: string, options: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  for (const name of UNKNOWN_OPTIONS) if (options?.[name] !== undefined) throw new RangeError(`Intl's option ${name} is not available in this sandbox`);
  if (typeof options?.useGrouping === "string") options.useGrouping = groupingOf(options.useGrouping);
  if ((of === "DateTimeFormat" || of === "Date") && options?.timeZone === undefined) return { ...options, timeZone: "UTC" };
  return options;
}

function groupingOf(value: string): boolean {
  if (value === "auto" || value === "always" || value === "true") return true;
  if (value === "false") return false;
  throw new RangeError(`Intl's option useGrouping: "${value}" is not available in this sandbox`);
}

function formatter(of: string, locales: string | string[], options: object | undefined): any {
  const key = JSON.stringify([of, locales, options]);
  let made = formatters.get(key);
  if (made) return made;
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  formatters.set(key, (made = new (constructorOf(of))(locales, options)));
  return made;
}

const LOCALE_FIELDS = ["baseName", "language", "script", "region", "calendar", "collation", "caseFirst", "hourCycle", "numberingSystem", "numeric"];

function localeOf(tag: string, options: object | undefined, method: string): unknown {
  const locale = new Intl.Locale(tag, options) as any;
  if (method === "maximize" || method === "minimize") return locale[method]().toString();
  return { tag: locale.toString(), ...Object.fromEntries(LOCALE_FIELDS.map((name) => [name, locale[name]])) };
}

/** For each printable character of ASCII its rank among letters of the same kind: equal for both cases of a letter. */
function asciiOrder(): number[] {
  const characters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
  const { compare } = new Intl.Collator(DEFAULT_LOCALE, { sensitivity: "base" });
  const sorted = [...characters].sort(compare);
  const ranks = new Map<string, number>();
  sorted.forEach((character, at) => ranks.set(character, at > 0 && compare(sorted[at - 1]!, character) === 0 ? ranks.get(sorted[at - 1]!)! : at));
  return characters.map((character) => ranks.get(character)!);
}
