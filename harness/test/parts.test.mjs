// The host-independent parts, one by one: text codecs, inflate, zip, capsule check, script preparation, output, calls.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { randomBytes } from "node:crypto";
import { build } from "esbuild";
import { StubRelay, startFrame } from "./stub_relay.mjs";
import { zipOf } from "../zip_writer.mjs";

const source = join(dirname(fileURLToPath(import.meta.url)), "../src/guest");
let parts;

before(async () => {
  const names = ["text", "inflate", "zip", "capsule", "layers", "layer_files", "output", "calls", "timers", "js/source", "js/source_map"];
  const contents = names.map((name) => `export * from "./${name}";`).join("\n");
  const outfile = join(mkdtempSync(join(tmpdir(), "harness-")), "parts.mjs");
  await build({ stdin: { contents, resolveDir: source, loader: "ts" }, bundle: true, format: "esm", outfile, logLevel: "error" });
  parts = await import(outfile);
});

describe("text", () => {
  test("UTF-8 agrees with the platform's, lone surrogates and broken bytes included", () => {
    for (const text of ["", "plain", "é€😀", "a\ud800b", "\udc00", "x".repeat(20000) + "😀"]) {
      assert.deepEqual(parts.encodeUtf8(text), new TextEncoder().encode(text));
      assert.equal(parts.decodeUtf8(parts.encodeUtf8(text)), new TextDecoder().decode(new TextEncoder().encode(text)));
    }
    for (let i = 0; i < 300; i++) {
      const bytes = new Uint8Array(randomBytes(1 + (i % 24)).map((b) => (i % 3 ? b | 0x80 : b)));
      assert.equal(parts.decodeUtf8(bytes), new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), Buffer.from(bytes).toString("hex"));
    }
  });
  test("escaped lone surrogates become U+FFFD, everything else stays", () => {
    const texts = ["\ud800", "a\udc00b", "\ud83d\ude00", "\ud800\ud83d\ude00", "\ude00\ud83d", "\\ud800", "\\\ud800", '"\\', "\ud83d\\ude00"];
    for (const text of texts) {
      const escape = (unit) => "\\u" + unit.charCodeAt(0).toString(16).toUpperCase();
      const json = JSON.stringify({ [text]: [text] });
      for (const written of [json, json.replace(/[\ud800-\udfff]/g, escape)])
        assert.deepEqual(JSON.parse(parts.wellFormedJson(written)), { [text.toWellFormed()]: [text.toWellFormed()] }, written);
    }
    const plain = '{"a":"\\u00e9"}';
    assert.equal(parts.wellFormedJson(plain), plain);
  });
  test("surrogates in an engine's bytes become U+FFFD", () => {
    const mended = (...bytes) => Buffer.from(parts.mendSurrogates(new Uint8Array(bytes))).toString("hex");
    assert.equal(mended(0xed, 0xa0, 0x80), "efbfbd");
    assert.equal(mended(0x61, 0xed, 0xbf, 0xbf, 0x62, 0xed, 0xb0, 0x80), "61efbfbd62efbfbd");
    assert.equal(mended(0xed, 0x9f, 0xbf), "ed9fbf", "U+D7FF is a character");
    assert.equal(mended(0xed, 0x9f, 0xbf, 0xed, 0xa0, 0x80), "ed9fbfefbfbd");
    assert.equal(mended(0xed, 0xa0), "eda0");
    assert.equal(mended(), "");
  });
  test("base64", () => {
    for (let size = 0; size < 20; size++) {
      const bytes = randomBytes(size);
      assert.equal(parts.encodeBase64(bytes), bytes.toString("base64"));
    }
  });
  test("clip keeps characters whole", () => {
    assert.equal(parts.clip("short", 100), "short");
    const cut = parts.clip("€".repeat(100), 100);
    assert.ok(Buffer.byteLength(cut) <= 100 && cut.endsWith("[cut]") && !cut.includes("\ufffd"));
  });
});

describe("inflate", () => {
  test("unpacks what zlib packs, at every level", () => {
    const samples = [Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(100000, "abc"), randomBytes(70000), Buffer.from("the quick brown fox ".repeat(500))];
    for (const data of samples) for (const level of [0, 1, 6, 9]) assert.deepEqual(Buffer.from(parts.inflateRaw(deflateRawSync(data, { level }), data.length)), data);
  });
  test("a bomb ends at its declared size", () => {
    const bomb = deflateRawSync(Buffer.alloc(10_000_000));
    assert.throws(() => parts.inflateRaw(bomb, 1000), /longer than declared|outside/);
    assert.throws(() => parts.inflateRaw(bomb, 10_000_001), /shorter/);
  });
  test("broken data throws, never hangs", () => {
    const good = deflateRawSync(Buffer.from("hello hello hello hello"));
    for (let cut = 0; cut < good.length; cut++) assert.throws(() => parts.inflateRaw(good.subarray(0, cut), 23));
    for (let i = 0; i < 500; i++) {
      try {
        parts.inflateRaw(randomBytes(40), 200);
      } catch (error) {
        assert.match(error.message, /deflate/);
      }
    }
  });
});

describe("zip", () => {
  test("reads stored and packed entries", () => {
    const entries = parts.readZip(zipOf({ "a.txt": "one", "deep/b.txt": "two".repeat(1000) }));
    assert.deepEqual(entries.map((e) => [e.name, Buffer.from(e.read()).toString().length]), [["a.txt", 3], ["deep/b.txt", 3000]]);
  });
  test("refuses paths that leave the root", () => {
    for (const name of ["../x", "a/../../x", "/etc/passwd", "a\\..\\b", "a\0b"]) assert.throws(() => parts.readZip(zipOf({ [name]: "x" })), /path/);
  });
  test("refuses what is not a zip, or lies about it", () => {
    assert.throws(() => parts.readZip(new Uint8Array(10)), /not a zip/);
    const zip = zipOf({ "a.txt": "hello" });
    for (let cut = 1; cut < zip.length; cut += 7) assert.throws(() => parts.readZip(zip.subarray(0, cut)).map((e) => e.read()));
  });
  test("a layer may not bring relay's own folders", () => {
    const layer = (files) => ({ id: "deps", format: "zip", bytes: zipOf(files) });
    assert.throws(() => parts.LayerTree.from([layer({ "tmp/x": "1" })]), /may not bring/);
    const tree = parts.LayerTree.from([layer({ "deps/index.json": "{}", "deps/lib/a.mjs": "1" })]);
    assert.deepEqual(tree.names("/deps").sort(), ["index.json", "lib"]);
    assert.equal(parts.answerFromLayers(tree, "fs.write", '{"path":"/deps/x"}').header.error.errno, "EROFS");
    assert.equal(parts.answerFromLayers(tree, "fs.read", '{"path":"/deps/../tmp/x"}'), undefined);
  });
});

describe("capsule", () => {
  const open = (tamper, language = "js") => parts.openCapsule(new StubRelay().channel(), startFrame({ language: "js", code: "1", stdin: "in", tamper }), language, new Map());
  test("opens what is signed", () => {
    const capsule = open();
    assert.equal(Buffer.from(capsule.stdin).toString(), "in");
    assert.equal(capsule.entry.path, "/app/main.js");
  });
  const refusals = {
    "a changed layer": [(h, body) => ((body[0] ^= 1), body), /another hash/],
    "a changed manifest": [(h) => void (h.manifest = h.manifest.replace('"cwd":"/tmp"', '"cwd":"/etc"')), /does not match/],
    "an added space": [(h) => void (h.manifest += " "), /does not match/],
    "a layer that was never sent": [(h) => void (h.layers[0].held = true), /not held here/],
    "no signature": [(h) => void (h.sig = ""), /compact JWS/],
    "alg none": [(h) => void (h.sig = Buffer.from('{"alg":"none"}').toString("base64url") + ".."), /not EdDSA/],
    "another payload": [(h) => void (h.sig = h.sig.replace("..", ".e30.")), /something else/],
    "another key": [(h) => void (h.key = Buffer.alloc(44).toString("base64")), /no Ed25519 key/],
    "a missing layer": [(h) => void (h.layers = []), /was not sent/],
    "an extra layer": [(h) => void h.layers.push({ id: "more", bytes: 0 }), /not in the manifest/],
    "a layer that is too long": [(h) => void (h.layers[0].bytes = 1e9), /cut short/],
    "a negative layer": [(h) => void (h.layers[0].bytes = -1), /cut short/],
    "no manifest": [(h) => void delete h.manifest, /no manifest/],
  };
  for (const [name, [tamper, reason]] of Object.entries(refusals)) test(`refuses ${name}`, () => assert.throws(() => open(tamper), reason));
  test("refuses another language", () => assert.throws(() => open(undefined, "py"), /it is for js/));
});

describe("script preparation", () => {
  const plain = (code) => parts.prepareScript(code, { repeatable: false, isBuiltin: (name) => name.startsWith("node:") });
  const session = (code) => parts.prepareScript(code, { repeatable: true, isBuiltin: () => false });
  test("rewrites imports and keeps the lines", () => {
    assert.equal(plain('import fs from "fs"'), ';const {default: fs} = await import("fs")');
    assert.equal(plain("import {\n a,\n b as c\n} from 'x';\nlast").split("\n").length, 5);
    assert.equal(plain('import * as p from "p"'), ';const p = await import("p")');
    assert.equal(plain('import "side"'), ';await import("side")');
    assert.equal(plain('import { default as d } from "x"'), ';const {default: d} = await import("x")');
  });
  test("a name that a module does not list is taken from its default", () => {
    assert.equal(plain('import { a } from "x"'), ';const {a = (await import("x")).default?.a} = await import("x")');
    assert.equal(plain('import d, { a as b } from "x"'), ';const {default: d, a: b = (await import("x")).default?.a} = await import("x")');
    assert.equal(plain('import { "a-b" as c } from "x"'), ';const {"a-b": c = (await import("x")).default?.["a-b"]} = await import("x")');
    assert.equal(plain('import { a, // one, two\n b /* three */ } from "x"'), plain('import { a, b\n } from "x"'));
  });
  test("leaves alone what only looks like an import", () => {
    for (const code of ['const x = "import y from \'z\'"', '`\nimport a from "b"\n`', '// import a from "b"', '/* \nimport a from "b"\n*/ 1', 'await import("x")', "obj.import", "/import x from 'y'/.test(s)", 'f(() => {\n import_("x") })'])
      assert.equal(plain(code), code);
  });
  test("exports lose their keyword", () => {
    assert.equal(plain("export const a = 1;").trim(), "const a = 1;");
    assert.equal(plain("export default 5").trim(), "5");
    assert.match(plain("const a = 1; export { a };"), /^const a = 1; +;$/);
    assert.match(plain("export default function () {}"), /var _default = function \(\) \{\}/);
  });
  test("in sessions top-level declarations can be repeated, inner ones stay", () => {
    assert.equal(session("const a = 1; { const b = 2; } for (const c of d) { let e }"), "var   a = 1; { const b = 2; } for (const c of d) { let e }");
    assert.equal(session("let {x, y} = z\nclass K {}"), "var {x, y} = z\nvar K = class K {}");
    assert.equal(session("`${(() => { const q = 1; return q })()}`; let r"), "`${(() => { const q = 1; return q })()}`; var r");
  });
});

describe("output", () => {
  test("frames are at most 64 KiB, order between streams is kept, nothing is lost", () => {
    const relay = new StubRelay();
    const output = new parts.Output(relay.channel());
    output.write("stdout", Buffer.alloc(200_000, "a"));
    output.write("stderr", Buffer.from("e\n"));
    output.write("stdout", Buffer.from("b"));
    output.flush();
    assert.ok(relay.sent.every((f) => f.body.length <= 65536));
    assert.deepEqual(relay.sent.map((f) => f.header.stream), ["stdout", "stdout", "stdout", "stdout", "stderr", "stdout"]);
    assert.equal(relay.result().stdout.length, 200_001);
  });
  test("a flood of lines is coalesced", () => {
    const relay = new StubRelay();
    const channel = { ...relay.channel(), now: () => 0 };
    const output = new parts.Output(channel);
    for (let i = 0; i < 20000; i++) output.write("stdout", Buffer.from("line\n"));
    output.flush();
    assert.equal(relay.result().stdout.length, 100_000);
    assert.ok(relay.sent.length < 300, `${relay.sent.length} frames`);
  });
});

describe("calls", () => {
  const setup = (handlers) => {
    const relay = new StubRelay({ handlers });
    const channel = relay.channel();
    return { relay, calls: new parts.Calls(channel, new parts.Output(channel)) };
  };
  test("a synchronous call waits for its own reply while others queue", () => {
    const { calls } = setup({ fast: () => ({ result: "fast" }), slow: () => ({ result: "slow", delayMs: 10 }) });
    const first = calls.start("fast", "{}");
    assert.equal(JSON.parse(calls.sync("slow", "{}").header).result, "slow");
    assert.equal(parts.idOf(calls.next(0)), first);
  });
  test("relay hears of waits that last, and of no others", () => {
    const paces = (handlers, act) => {
      const { relay, calls } = setup(handlers);
      act(calls);
      return relay.sent.filter(({ kind }) => kind === 21).map(({ header }) => header.waits);
    };
    assert.deepEqual(paces({ fast: () => ({ result: 1 }) }, (calls) => calls.sync("fast", "{}")), []);
    assert.deepEqual(paces({}, (calls) => calls.next(5)), []);
    assert.deepEqual(paces({ slow: () => ({ result: 1, delayMs: 40 }) }, (calls) => calls.sync("slow", "{}")), [true, false]);
    assert.deepEqual(paces({}, (calls) => calls.sleep(40)), [true, false]);
    assert.deepEqual(paces({}, (calls) => calls.next(40)), [true, false]);
  });
  test("frames nobody asked for are dropped", () => {
    const { relay, calls } = setup({});
    relay.push({ kind: 2, header: '{"id":99,"ok":true}' });
    relay.push({ kind: 3, header: '{"id":-1}' });
    relay.push({ kind: 77, header: "{}" });
    relay.push({ kind: 2, header: "not json" });
    assert.equal(calls.next(1), undefined);
  });
  test("too large a request is refused here, with an errno", () => {
    const { relay, calls } = setup({});
    const reply = JSON.parse(calls.sync("fs.write", "{}", new Uint8Array(9 * 1024 * 1024)).header);
    assert.equal(reply.error.errno, "EMSGSIZE");
    assert.equal(relay.sent.length, 0);
  });
  test("what a finished run left open cannot answer into the next", () => {
    const { relay, calls } = setup({ slow: () => ({ result: 1, delayMs: 5 }) });
    calls.start("slow", "{}");
    calls.abandon();
    assert.deepEqual(relay.sent.at(-1), { kind: 19, header: { id: 1 }, body: Buffer.alloc(0) });
    assert.equal(calls.next(20), undefined);
  });
});

describe("timers", () => {
  test("due order, then arrival; keep-alive counts", () => {
    const timers = new parts.Timers();
    timers.set(1, 10, true);
    timers.set(2, 5, true);
    timers.set(3, 5, false);
    assert.equal(timers.wait(0), 5);
    assert.deepEqual([timers.take(20), timers.take(20), timers.take(20), timers.take(20)], [2, 3, 1, undefined]);
    timers.set(4, 1, false);
    assert.equal(timers.keepAlive, false);
  });
});

describe("source map", () => {
  const two = ["export function first() {", "  throw new Error('first');", "}"].join("\n");
  const files = { "entry.ts": 'import { first } from "./lib/first";\n\nfirst();\n', "lib/first.ts": two };
  async function bundled() {
    const folder = mkdtempSync(join(tmpdir(), "harness-map-"));
    mkdirSync(join(folder, "lib"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const made = await build({ entryPoints: [join(folder, "entry.ts")], bundle: true, format: "cjs", outfile: join(folder, "out.js"), sourcemap: "external", write: false });
    const text = (ending) => made.outputFiles.find(({ path }) => path.endsWith(ending)).text;
    return { code: text(".js"), map: text(".map") };
  }
  test("finds the file and the line that a bundled statement came from", async () => {
    const { code, map } = await bundled();
    const line = code.split("\n").findIndex((one) => one.includes("throw new")) + 1;
    const found = new parts.SourceMap(map).find(line, 5);
    assert.deepEqual([found.source, found.line], ["lib/first.ts", 2]);
    const call = code.split("\n").findIndex((one) => /^\s*first\(\);/.test(one)) + 1;
    const at = new parts.SourceMap(map).find(call, 3);
    assert.deepEqual([at.source, at.line], ["entry.ts", 3]);
  });
  test("frames of the bundle are replaced, others stay", async () => {
    const { code, map } = await bundled();
    const line = code.split("\n").findIndex((one) => one.includes("throw new")) + 1;
    const stack = `    at first (/deps/bundle.mjs:${line}:9)\n    at main.js:3:1\n    at x (/deps/bundle.mjs:99999:1)`;
    const [top, own, unknown] = new parts.SourceMap(map).apply(stack).split("\n");
    assert.match(top, /^ {4}at first \(lib\/first\.ts:2:\d+\)$/);
    assert.deepEqual([own, unknown], ["    at main.js:3:1", "    at x (/deps/bundle.mjs:99999:1)"]);
  });
  test("numbers are read as they were written", () => {
    assert.deepEqual(parts.decodeSegment("AAAA"), [0, 0, 0, 0]);
    assert.deepEqual(parts.decodeSegment("gBjB"), [16, -17]);
    assert.deepEqual(parts.decodeSegment("+/////D"), [2147483647]);
    assert.deepEqual(parts.decodeSegment("//////D"), [-2147483647]);
    assert.deepEqual(parts.decodeSegment("A!"), []);
  });
  test("a map that is no map does no harm", () => {
    assert.equal(new parts.SourceMap("{}").apply("at /deps/bundle.mjs:1:1"), "at /deps/bundle.mjs:1:1");
    assert.throws(() => new parts.SourceMap("not JSON"));
  });
});
