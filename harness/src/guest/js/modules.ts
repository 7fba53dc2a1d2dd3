// Finds what `import` and `require` name: shims by their name, the capsule's own files by path, packages in its layers.

import { normalizePath, type LayerFile, type LayerTree } from "../layers";
import { decodeUtf8 } from "../text";

const PACKAGE_FOLDERS = ["/app/node_modules", "/deps/node_modules", "/deps"];
const SUFFIXES = ["", ".js", ".mjs", ".cjs", ".json", "/index.js", "/index.mjs"];

export class Modules {
  private tree: LayerTree | undefined;
  private packages: Record<string, string> = {};
  private entry = { name: "main.js", path: "/app/main.js" };
  constructor(private readonly builtins: Record<string, string[]>) {}

  use(tree: LayerTree, entryName: string, entryPath: string): void {
    this.tree = tree;
    this.packages = packagesOf(tree);
    this.entry = { name: entryName, path: entryPath };
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
    const from = base === this.entry.name ? this.entry.path : base;
    const folder = from.slice(0, from.lastIndexOf("/")) || "/";
    if (Object.hasOwn(this.packages, specifier)) return this.packages[specifier]!;
    const relative = /^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..";
    const places = relative ? [normalizePath(specifier, folder)] : PACKAGE_FOLDERS.map((root) => `${root}/${specifier}`);
    for (const place of places) {
      const found = this.fileAt(place);
      if (found) return found;
    }
    throw new Error(missing(specifier, relative));
  }

  load(name: string): string {
    if (name.startsWith("relay:builtin/")) return this.shim(name.slice("relay:builtin/".length));
    const text = this.source(name);
    return name.endsWith(".json") ? `export default ${text}` : text;
  }

  source(path: string): string {
    const file = this.tree?.file(path);
    if (!file) throw new Error(`Cannot find module '${path}'`);
    return decodeUtf8(file.read());
  }

  private fileAt(place: string): string | undefined {
    for (const suffix of SUFFIXES) if (this.tree?.file(place + suffix)) return place + suffix;
    const manifest = this.tree?.file(`${place}/package.json`);
    if (!manifest) return undefined;
    const main = mainOf(decodeUtf8(manifest.read()));
    return main ? this.fileAt(normalizePath(main, place)) : undefined;
  }

  private shim(name: string): string {
    const names = (this.builtins[name] ?? []).filter((key) => !RESERVED.has(key));
    const exported = names.map((key) => `export const ${key} = m[${JSON.stringify(key)}];`).join("");
    return `const m = globalThis[Symbol.for("relay.builtin")](${JSON.stringify(name)});export default m;${exported}`;
  }
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

/** Of Node, which a guest is not given. */
const NODE_ONLY = new Set(
  ("async_hooks child_process cluster dgram diagnostics_channel dns domain http http2 https inspector module net os perf_hooks punycode querystring " +
    "readline repl string_decoder sys tls trace_events tty v8 vm wasi worker_threads zlib").split(" "),
);

function missing(specifier: string, relative: boolean): string {
  if (NODE_ONLY.has(bare(specifier).split("/")[0]!)) return `Node's module '${bare(specifier)}' is not available in this sandbox`;
  if (relative) return `Cannot find module '${specifier}'`;
  return `Cannot find package '${specifier}': name it in the run's npm.dependencies to have it installed`;
}
