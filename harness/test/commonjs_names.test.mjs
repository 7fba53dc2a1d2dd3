// The names of CommonJS packages: what the finder says is compared with what this very Node.js exports.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { commonjsNames } from "../src/hosts/names/commonjs_names.mjs";

/** Writes the files below node_modules, bundles the packages as relay does, and gives what both sides find in them. */
async function namesIn(t, files, specifiers) {
  const folder = mkdtempSync(join(tmpdir(), "harness-names-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    writeFileSync(join(folder, "node_modules", name), text);
  }
  const entry = "entry.cjs";
  writeFileSync(join(folder, entry), specifiers.map((name) => `require(${JSON.stringify(name)});`).join("\n"));
  const { metafile } = await build({
    entryPoints: [entry], absWorkingDir: folder, bundle: true, write: false, metafile: true, format: "cjs", platform: "browser",
    conditions: ["import", "module"], define: { "process.env.NODE_ENV": '"production"' }, outfile: "out.cjs", logLevel: "error",
  });
  return { folder, found: commonjsNames(metafile, entry, folder) };
}

async function exportedByNode(folder, file) {
  const names = Object.keys(await import(pathToFileURL(join(folder, "node_modules", file))));
  return names.filter((name) => name !== "default" && name !== "module.exports").sort();
}

const packages = {
  assigned: "exports.one = 1; module.exports.two = 2; exports['three'] = 3;",
  literal: "const four = 4, five = 5; module.exports = { four, five, 'six': 6 };",
  defined: "Object.defineProperty(exports, '__esModule', { value: true }); Object.defineProperty(exports, 'seven', { enumerable: true, get: function () { return 7; } });",
  annotated: "const x = {}; module.exports = x; 0 && (module.exports = { eight, nine });",
  whole: "module.exports = require('./lib/inner.js');",
  spread: "module.exports = { ...require('./lib/inner.js'), own: 1 };",
  star: "var __exportStar = (m, e) => { for (const k in m) e[k] = m[k]; }; __exportStar(require('./lib/inner.js'), exports); exports.beside = 1;",
  other: "module.exports = require('assigned');",
  circle: "exports.mine = 1; __export(require('./lib/back.js')); function __export(m) { for (const k in m) exports[k] = m[k]; }",
  branches: "if (process.env.NODE_ENV === 'production') { module.exports = require('./lib/inner.js'); } else { module.exports = require('./lib/more.js'); }",
  computed: "function f() {} module.exports = f; f.hidden = 1; for (const k of ['a']) exports[k] = 1;",
  compared: "if (exports.no == 1) module.yes = 2; const text = 'exports.quoted = 1'; // exports.comment = 1\n",
  empty: "",
};

const files = Object.fromEntries(Object.entries(packages).flatMap(([name, text]) => [
  [`${name}/package.json`, JSON.stringify({ name, main: "index.js" })], [`${name}/index.js`, text],
  [`${name}/lib/inner.js`, "exports.inner = 1; exports.deep = require('./deeper.js');"], [`${name}/lib/deeper.js`, "exports.deeper = 1;"],
  [`${name}/lib/more.js`, "exports.inner = 1; exports.more = 2;"], [`${name}/lib/back.js`, "exports.back = 1; module.exports = require('../index.js');"],
]));

describe("names of CommonJS packages", () => {
  for (const name of Object.keys(packages))
    test(`agree with Node.js: ${name}`, async (t) => {
      const { folder, found } = await namesIn(t, files, [name]);
      assert.deepEqual(found[name].filter((one) => one !== "default"), await exportedByNode(folder, `${name}/index.js`));
    });

  test("are found through re-exports, also of a branch that the bundle leaves out", async (t) => {
    const { found } = await namesIn(t, files, ["whole", "star", "other", "branches"]);
    assert.deepEqual(found.whole, ["deep", "inner"]);
    assert.deepEqual(found.star, ["beside", "deep", "inner"]);
    assert.deepEqual(found.other, ["one", "three", "two"]);
    assert.deepEqual(found.branches, ["inner", "more"]);
  });

  test("are not looked for in ES modules and JSON", async (t) => {
    const { found } = await namesIn(t, {
      "modern/package.json": '{"type":"module","exports":"./i.js"}', "modern/i.js": "export const a = 1;",
      "data/package.json": '{"main":"d.json"}', "data/d.json": '{"a":1}',
    }, ["modern", "data"]);
    assert.deepEqual(found, {});
  });

  test("are empty for a source that the lexer cannot read", async (t) => {
    const { folder, found } = await namesIn(t, { "odd/index.js": "exports.a = 1; module.exports = require('./gone.js');", "odd/gone.js": "exports.b = 1;" }, ["odd"]);
    assert.deepEqual(found.odd, ["a", "b"]);
    writeFileSync(join(folder, "node_modules/odd/gone.js"), "exports.b = 1; `");
    const inputs = { "entry.cjs": { imports: [{ path: "node_modules/odd/gone.js", original: "odd" }] }, "node_modules/odd/gone.js": { format: "cjs", imports: [] } };
    assert.deepEqual(commonjsNames({ inputs }, "entry.cjs", folder), { odd: [] });
  });

  test("are never read from files outside of node_modules", async (t) => {
    const { folder } = await namesIn(t, { "out/index.js": "" }, ["out"]);
    writeFileSync(join(folder, "secret.js"), "exports.secret = 1;");
    symlinkSync(join(folder, "secret.js"), join(folder, "node_modules/out/link.js"));
    writeFileSync(join(folder, "node_modules/out/index.js"), "__exportStar(require('../../secret.js')); __exportStar(require('./link.js')); exports.fine = 1;");
    const inputs = { "entry.cjs": { imports: [{ path: "node_modules/out/index.js", original: "out" }] }, "node_modules/out/index.js": { format: "cjs", imports: [] } };
    assert.deepEqual(commonjsNames({ inputs }, "entry.cjs", folder), { out: ["fine"] });
  });
});
