// Whole runs in a bare realm: refused capsules, layers, frames that lie, sessions, the shape of the result.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { bootChild } from "./stub_host.mjs";
import { StubRelay } from "./stub_relay.mjs";
import { zipOf } from "../zip_writer.mjs";

const layer = (id, files) => ({ id, format: "zip", data: Buffer.from(zipOf(files)) });
const text = (result) => `${result.stdout}${result.stderr}`;

describe("JavaScript child", () => {
  let child;
  before(async () => (child = await bootChild("js")));

  test("a refused capsule ends with 126 and runs nothing", () => {
    const result = child.run({ code: 'console.log("ran")', tamper: (h, body) => ((body[0] ^= 1), body) });
    assert.equal(result.done.exitCode, 126);
    assert.equal(result.done.error.type, "CapsuleRefused");
    assert.equal(text(result), "");
  });

  test("dependencies by import, by subpath, by require", () => {
    const deps = layer("deps", {
      "deps/index.json": JSON.stringify({ pad: "/deps/pad.mjs", "pad/sub": "/deps/pad+sub.mjs" }),
      "deps/bundle.mjs": 'import * as n0 from "node:path"; const load = (name) => { if (name === "pad") return { left: (s) => n0.basename("x/" + s) + "!" }; throw new Error("unknown " + name) }; globalThis[Symbol.for("relay.deps")] = load; export default load;',
      "deps/pad.mjs": 'import load from "/deps/bundle.mjs"; const m = load("pad"); export default m; export const left = m.left;',
      "deps/pad+sub.mjs": "export default 42;",
    });
    const code = 'import pad, { left } from "pad";\nimport sub from "pad/sub";\n[left("a"), pad.left("b"), sub, require("pad").left("c"), (await import("pad")).left("d")]';
    assert.deepEqual(child.run({ code, extraLayers: [deps] }).done.value, ["a!", "b!", 42, "c!", "d!"]);
  });

  test("a package's members can be imported by name when its module lists none", () => {
    const deps = layer("deps", {
      "deps/index.json": JSON.stringify({ whole: "/deps/whole.mjs", none: "/deps/none.mjs" }),
      "deps/whole.mjs": 'export const listed = "own"; export default Object.assign(() => 0, { listed: "not this", left: "l", "r-t": "r" });',
      "deps/none.mjs": "export const a = 1;",
    });
    const code = 'import { listed, left as l, "r-t" as r, absent } from "whole";\nimport { a, b } from "none";\n[listed, l, r, typeof absent, a, typeof b]';
    assert.deepEqual(child.run({ code, extraLayers: [deps] }).done.value, ["own", "l", "r", "undefined", 1, "undefined"]);
  });

  test("relative modules and data files of the code layer", () => {
    const lib = layer("lib", { "app/lib/util.mjs": 'export const twice = (n) => n * 2;\nexport { name } from "./name.mjs";', "app/lib/name.mjs": 'export const name = "lib";', "app/data.json": '{"n": 5}' });
    const code = 'import { twice, name } from "./lib/util.mjs";\nimport data from "./data.json" with { type: "json" };\nimport fs from "fs";\n[twice(data.n), name, fs.readFileSync("/app/data.json", "utf8"), fs.readdirSync("/app/lib")]';
    assert.deepEqual(child.run({ code, extraLayers: [lib] }).done.value, [10, "lib", '{"n": 5}', ["name.mjs", "util.mjs"]]);
  });

  test("replies to nobody, twice, or out of order change nothing", () => {
    const relay = new StubRelay();
    relay.push({ kind: 2, header: '{"id":999,"ok":true,"result":"forged"}' }, 1);
    relay.push({ kind: 3, header: '{"id":999,"event":"chunk"}', body: Buffer.from("x") }, 1);
    relay.push({ kind: 55, header: "{}" }, 1);
    relay.handlers["mcp.call"] = () => {
      relay.push({ kind: 2, header: JSON.stringify({ id: 12345, ok: true, result: "late" }) });
      return { result: { content: [{ type: "text", text: "real" }] } };
    };
    const result = child.run({ code: 'await new Promise((r) => setTimeout(r, 5)); await mcp.call("my-server", "x", {})', servers: ["my-server"] }, relay);
    assert.equal(result.done.value, "real");
  });

  test("an interrupt frame ends a waiting run with 130", () => {
    const relay = new StubRelay();
    const timer = { kind: 4, header: "{}" };
    relay.push(timer, 20);
    const result = child.run({ code: 'console.log("a"); await new Promise((r) => setTimeout(r, 5000)); console.log("b")' }, relay);
    assert.equal(result.done.exitCode, 130);
    assert.equal(result.stdout.toString(), "a\n");
  });

  test("an interrupt frame ends a busy run with 130", () => {
    const relay = new StubRelay();
    relay.push({ kind: 4, header: "{}" }, 30);
    const result = child.run({ code: 'console.log("a"); for (;;) {}' }, relay);
    assert.equal(result.done.exitCode, 130);
    assert.equal(result.stdout.toString(), "a\n");
  });

  test("a busy run's output leaves before it ends", () => {
    const relay = new StubRelay();
    relay.push({ kind: 4, header: "{}" }, 200);
    const result = child.run({ code: 'process.stdout.write("no newline"); for (;;) {}' }, relay);
    const first = relay.sent.findIndex((frame) => frame.kind === 17), done = relay.sent.findIndex((frame) => frame.kind === 20);
    assert.ok(first >= 0 && first < done);
    assert.equal(result.stdout.toString(), "no newline");
  });

  test("live input is asked for when the given bytes are used up", () => {
    const more = ["second\n", ""];
    const input = () => {
      const next = more.shift();
      return { result: { eof: next === "" }, body: Buffer.from(next) };
    };
    const result = child.run({ code: "[prompt(), prompt(), prompt()]", stdin: "first\n", handlers: { input }, tamper: (h) => void (h.stdinLive = true) });
    assert.deepEqual(result.done.value, ["first", "second", null]);
  });

  test("a run cannot see the one before through timers or late replies", () => {
    const slow = { slow: () => ({ result: "late", delayMs: 30 }) };
    child.run({ code: 'setTimeout(() => console.log("ghost"), 10); mcp.call("my-server", "slow", {ms: 20}).then(() => console.log("ghost")); process.exit(0)', servers: ["my-server"], handlers: slow });
    const result = child.run({ code: 'await new Promise((r) => setTimeout(r, 60)); "clean"' });
    assert.equal(text(result), "");
    assert.equal(result.done.value, "clean");
  });
});

describe("Python child", () => {
  let child;
  before(async () => (child = await bootChild("py")));

  test("a refused capsule ends with 126", () => {
    const result = child.run({ code: 'print("ran")', tamper: (h) => void (h.sig = "a.b.c") });
    assert.equal(result.done.exitCode, 126);
    assert.equal(text(result), "");
  });

  test("packages of the deps layer and modules beside the program", () => {
    const deps = layer("deps", { "site-packages/padlib/__init__.py": "from .core import left\n__version__ = '1.2'\n", "site-packages/padlib/core.py": "def left(s):\n    return s + '!'\n" });
    const mine = layer("mine", { "app/helper.py": "VALUE = 7\n", "app/data.txt": "text" });
    const code = 'import padlib, helper\n[padlib.left("a"), padlib.__version__, helper.VALUE, open("/app/data.txt").read()]';
    assert.deepEqual(child.run({ code, extraLayers: [deps, mine], reset: true }).done.value, ["a!", "1.2", 7, "text"]);
  });

  test("errors in imported modules keep their frames", () => {
    const mine = layer("mine", { "app/broken.py": "def f():\n    raise KeyError('deep')\n" });
    const result = child.run({ code: "import broken\nbroken.f()", extraLayers: [mine], reset: true });
    assert.match(result.stderr.toString(), /File "main.py", line 2[\s\S]*File "\/app\/broken.py", line 2, in f[\s\S]*KeyError: 'deep'/);
  });

  test("live input", () => {
    const input = () => ({ result: { eof: true }, body: Buffer.from("typed\n") });
    const result = child.run({ code: "[input(), input()]", stdin: "first\n", handlers: { input }, reset: true, tamper: (h) => void (h.stdinLive = true) });
    assert.deepEqual(result.done.value, ["first", "typed"]);
  });

  test("unread input does not reach the next run", () => {
    child.run({ code: "input()", stdin: "one\ntwo\nthree\n" });
    const result = child.run({ code: "import sys\nsys.stdin.read()" });
    assert.equal(result.done.value, "");
  });

  test("a closed or replaced stdout is whole again in the next run", () => {
    child.run({ code: "import sys\nsys.stdout.close()\nsys.stderr = None" });
    const result = child.run({ code: "import sys\nprint('out')\nprint('err', file=sys.stderr)" });
    assert.equal(result.stdout.toString(), "out\n");
    assert.equal(result.stderr.toString(), "err\n");
  });
});
