// Finds what `import` and `require` name: shims by their name, the capsule's own files by path, packages in its layers.

import { normalizePath, type LayerFile, type LayerTree } from "../layers";
import { decodeUtf8 } from "../text";
import type { Calls } from "../calls";
import type { ReplyHeader } from "../wire";
import { isTypeScriptName, stripTypes, TypeScriptError } from "./typescript";

const PACKAGE_FOLDERS = ["/app/node_modules", "/deps/node_modules", "/deps"];
const SUFFIXES = ["", ".js", ".mjs", ".ts", ".mts", ".cjs", ".json", "/index.js", "/index.mjs", "/index.ts"];
/** Folders of relay's tree; the other ones are the capsule's. */
const SHARED = /^\/(?:host|tmp|out)\//;

/** What finding a module takes besides the capsule: the way to relay's files, and where the program stands. */
export interface ModuleWorld {
  tree: LayerTree;
  calls: Calls;
  entry: string;
  cwd: string;
}

export class Modules {
  private world: ModuleWorld | undefined;
  private packages: Record<string, string> = {};
  private entryName = "main.js";
  /** Texts of shared files that were found and not yet loaded. */
  private readonly found = new Map<string, string>();
  constructor(private readonly builtins: Record<string, string[]>) {}

  use(world: ModuleWorld, entryName: string): void {
    this.world = world;
    this.packages = packagesOf(world.tree);
    this.entryName = entryName;
    this.found.clear();
  }

  /** The packages whose names the program has in quotes. */
  packagesIn(source: string): string[] {
    return Object.keys(this.packages).filter((name) => source.includes(`"${name}"`) || source.includes(`'${name}'`));
  }

  isBuiltin(name: string): boolean {
    return Object.hasOwn(this.builtins, bare(name));
  }

  /** The canonical name under which QuickJS caches the module. */
  normalize(base: string, specifier: string): string {
    if (this.isBuiltin(specifier)) return `relay:builtin/${bare(specifier)}`;
    return this.resolve(base, specifier);
  }

  resolve(base: string, specifier: string): string {
    if (Object.hasOwn(this.packages, specifier)) return this.packages[specifier]!;
    const relative = /^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..";
    const places = relative ? this.foldersOf(base).map((folder) => normalizePath(specifier, folder)) : PACKAGE_FOLDERS.map((root) => `${root}/${specifier}`);
    for (const place of new Set(places)) {
      const found = SHARED.test(place) ? this.sharedAt(place) : this.fileAt(place);
      if (found) return found;
    }
    throw new Error(missing(specifier, relative));
  }

  load(name: string): string {
    if (name.startsWith("relay:builtin/")) return this.shim(name.slice("relay:builtin/".length));
    const text = this.source(name);
    if (name.endsWith(".json")) return `export default ${text}`;
    return isCommonJs(name, text) ? `export default globalThis.require(${JSON.stringify(name)})` : text;
  }

  /** JavaScript, or JSON, as the file's name says. */
  source(path: string): string {
    const text = SHARED.test(path) ? this.sharedText(path) : this.world?.tree.file(path)?.read();
    if (text === undefined) throw new Error(`Cannot find module '${path}'`);
    const source = typeof text === "string" ? text : decodeUtf8(text);
    return isTypeScriptName(path) ? stripped(source, path) : source;
  }

  /** What a relative specifier is relative to. The program itself has no folder of its own but the working directory. */
  private foldersOf(base: string): string[] {
    const folder = (path: string) => path.slice(0, path.lastIndexOf("/")) || "/";
    const { entry, cwd } = this.world!;
    return base === this.entryName || base === entry ? [folder(entry), cwd] : [folder(base)];
  }

  private fileAt(place: string): string | undefined {
    const { tree } = this.world!;
    for (const suffix of SUFFIXES) if (tree.file(place + suffix)) return place + suffix;
    const manifest = tree.file(`${place}/package.json`);
    if (!manifest) return undefined;
    const main = mainOf(decodeUtf8(manifest.read()));
    return main ? this.fileAt(normalizePath(main, place)) : undefined;
  }

  /** TypeScript imports its own files by the names that they would have once they are compiled. */
  private sharedAt(place: string): string | undefined {
    const typed = /\.m?js$/.test(place) ? [place.replace(/js$/, "ts")] : [];
    for (const path of [...SUFFIXES.map((suffix) => place + suffix), ...typed]) {
      const text = this.readShared(path);
      if (text === undefined) continue;
      this.found.set(path, text);
      return path;
    }
    return undefined;
  }

  private sharedText(path: string): string | undefined {
    const text = this.found.get(path) ?? this.readShared(path);
    this.found.delete(path);
    return text;
  }

  /** The whole file, from relay, under the run's own policy; nothing when there is none. */
  private readShared(path: string): string | undefined {
    const parts: Uint8Array[] = [];
    for (let offset = 0, eof = false; !eof; ) {
      const { header, body } = this.world!.calls.sync("fs.read", JSON.stringify({ path, offset }));
      const { ok, result, error } = JSON.parse(header) as ReplyHeader;
      if (!ok && ABSENT.has(error?.errno ?? "")) return undefined;
      if (!ok) throw new Error(error?.message ?? `cannot read ${path}`);
      parts.push(body);
      offset += body.length;
      eof = body.length === 0 || (result as { eof?: boolean }).eof !== false;
    }
    return decodeUtf8(joined(parts));
  }

  private shim(name: string): string {
    const names = (this.builtins[name] ?? []).filter((key) => !RESERVED.has(key));
    const exported = names.map((key) => `export const ${key} = m[${JSON.stringify(key)}];`).join("");
    return `const m = globalThis[Symbol.for("relay.builtin")](${JSON.stringify(name)});export default m;${exported}`;
  }
}

const ABSENT = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) whole.set(part, at), (at += part.length);
  return whole;
}

function stripped(source: string, path: string): string {
  try {
    return stripTypes(source);
  } catch (error) {
    if (!(error instanceof TypeScriptError)) throw error;
    throw new SyntaxError(`${path}:${error.line}: ${error.message}`);
  }
}

/** A file that exports in Node's older way and has neither import nor export. */
function isCommonJs(path: string, text: string): boolean {
  if (path.endsWith(".cjs")) return true;
  return path.endsWith(".js") && /\bmodule\.exports\b|\bexports\.[\w$]+\s*=/.test(text) && !/^\s*(?:import|export)\b/m.test(text);
}

const RESERVED = new Set(["m", "default", "delete", "function", "class", "new", "in", "import", "export", "length", "name"]);

/** The deps layer's own index: bare specifier to module path. */
function packagesOf(tree: LayerTree): Record<string, string> {
  const index = tree.file("/deps/index.json");
  if (!index) return {};
  let packages = indexed.get(index);
  if (!packages) indexed.set(index, (packages = JSON.parse(decodeUtf8(index.read())) as Record<string, string>));
  return packages;
}
const indexed = new WeakMap<LayerFile, Record<string, string>>();

function bare(name: string): string {
  return name.startsWith("node:") ? name.slice(5) : name;
}

function mainOf(text: string): string | undefined {
  try {
    const { exports, module, main } = JSON.parse(text) as { exports?: unknown; module?: string; main?: string };
    return entryOf(exports) ?? module ?? main;
  } catch {
    return undefined;
  }
}

function entryOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const table = exports as Record<string, unknown>;
  for (const key of [".", "import", "module", "default", "require"]) {
    const found = key in table ? entryOf(table[key]) : undefined;
    if (found) return found;
  }
  return undefined;
}

const NO_SERVER = "a run cannot open sockets; use fetch";
const NO_PROCESS = "there are no other processes and no threads here";

/** Of Node, which a guest is not given, and what to do instead. */
const NODE_ONLY: Record<string, string> = {
  http: "use fetch", https: "use fetch", http2: "use fetch", net: NO_SERVER, tls: NO_SERVER, dgram: NO_SERVER, dns: NO_SERVER,
  child_process: NO_PROCESS, cluster: NO_PROCESS, worker_threads: NO_PROCESS, zlib: "use a package such as fflate (npm.dependencies)",
  async_hooks: "pass the value as an argument", sqlite: "use Python's sqlite3 in run_py", test: "use assert", punycode: "use the package punycode (npm.dependencies)",
  diagnostics_channel: "", domain: "", inspector: "", module: "use import or require", repl: "", sys: "use util", trace_events: "", tty: "", v8: "",
  vm: "use new Function", wasi: "",
};

function missing(specifier: string, relative: boolean): string {
  const name = bare(specifier).split("/")[0]!;
  const instead = Object.hasOwn(NODE_ONLY, name) && !relative ? NODE_ONLY[name]! : undefined;
  if (instead !== undefined) return `Node's module '${bare(specifier)}' is not available in this sandbox${instead && `: ${instead}`}`;
  if (relative) return `Cannot find module '${specifier}'`;
  return `Cannot find package '${specifier}': name it in the run's npm.dependencies to have it installed`;
}
