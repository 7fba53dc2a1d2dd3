// The names that CommonJS packages export, found as Node.js finds them: cjs-module-lexer reads the source and runs nothing of it.
// esbuild's metafile says which file a specifier stands for. Paths in it are relative to `directory`, where node_modules is.

import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { init, parse } from "cjs-module-lexer";

await init();

/** Specifier → names, for every CommonJS file that the entry requires. */
export function commonjsNames(metafile, entry, directory) {
  const finder = new NameFinder(metafile.inputs, realpathSync(directory));
  const found = {};
  for (const { path, original, external } of metafile.inputs[entry].imports)
    if (!external && finder.isCommonjs(path)) found[original ?? path] = [...finder.namesOf(path)].sort();
  return found;
}

class NameFinder {
  constructor(inputs, directory) {
    this.inputs = inputs;
    this.directory = directory;
  }

  /** A file that esbuild left out is taken for CommonJS: one that is not has no names for the lexer. */
  isCommonjs(path) {
    return path.startsWith("node_modules/") && !path.endsWith(".json") && this.inputs[path]?.format !== "esm";
  }

  namesOf(root) {
    const names = new Set();
    const seen = new Set([root]);
    for (const path of seen) {
      const { exports, reexports } = this.lex(path);
      for (const name of exports) names.add(name);
      for (const specifier of reexports) {
        const target = this.resolve(path, specifier);
        if (target !== undefined && this.isCommonjs(target)) seen.add(target);
      }
    }
    return names;
  }

  /** A source that the lexer cannot read has no names, only a default: Node.js decides the same. */
  lex(path) {
    try {
      return parse(readFileSync(join(this.directory, path), "utf8"));
    } catch {
      return { exports: [], reexports: [] };
    }
  }

  /**
   * esbuild's answer where it has one, because that is the file in the bundle. It has none for a branch that
   * it removed (`if (process.env.NODE_ENV !== "production")`), and the lexer may have chosen that branch.
   */
  resolve(from, specifier) {
    const bundled = this.inputs[from]?.imports.find(({ original, external }) => original === specifier && !external);
    if (bundled) return bundled.path;
    try {
      return relative(this.directory, createRequire(join(this.directory, from)).resolve(specifier));
    } catch {
      return undefined;
    }
  }
}
