// Layers of dependencies: their bytecode is what runs, damage is noticed and mended, and traces lead to the sources. The packages
// come from a registry that the test serves.
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run, serve } from '../program.mjs';
import { patient, registry, runJs, serveAgain } from './support.mjs';

const speaker = { 'index.js': 'exports.speak = function speak() {\n  return "spoken";\n};\n' };
const ask = 'import { speak } from "speaker"; JSON.stringify([speak(), speak.toString().includes("spoken")])';
const npm = { dependencies: { speaker: '1.0.0' } };

const onlyLayer = (server) => {
  const found = globSync(join(server.cwd, '.relay/deps/layers/*/fs.deps.zip'));
  assert.equal(found.length, 1, String(found));
  return found[0];
};

test("a layer's bytecode is what runs: its functions have no source text", async (t) => {
  const local = await registry(t, { speaker });
  const server = await serve(t, { config: patient, env: local.env });
  const { value, stderr, error } = await runJs(server, ask, { npm });
  assert.equal(value, '["spoken",false]', stderr + JSON.stringify(error));
  assert.ok(readFileSync(onlyLayer(server)).includes('deps/bundle.mjs.qbc'), 'the layer has bytecode');

  const mapped = await serve(t, { config: { ...patient, npm: { sourcemaps: true } }, env: local.env });
  assert.equal((await runJs(mapped, ask, { npm })).value, '["spoken",true]', 'with source maps the source is read');
  assert.ok(!readFileSync(onlyLayer(mapped)).includes('deps/bundle.mjs.qbc'));
});

test('bytecode that was damaged on disk is noticed, made again and never run', async (t) => {
  const local = await registry(t, { speaker });
  const server = await serve(t, { config: patient, env: local.env });
  assert.equal((await runJs(server, ask, { npm })).value, '["spoken",false]');
  const path = onlyLayer(server);
  const sound = readFileSync(path);
  const damaged = Buffer.from(sound);
  const at = damaged.indexOf('deps/bundle.mjs.qbc') + 'deps/bundle.mjs.qbc'.length + 40;
  damaged[at] ^= 0xff;
  writeFileSync(path, damaged);

  const later = await serveAgain(t, server, local.env);
  assert.equal((await runJs(later, ask, { npm })).value, '["spoken",false]');
  assert.ok(readFileSync(onlyLayer(later)).equals(sound), 'the layer is whole again');
});

// A package that counts how often it was loaded, and tells what it saw then.
const witness = {
  'index.js': 'globalThis.loads = (globalThis.loads ?? 0) + 1;\nexports.seen = { loads: globalThis.loads, env: process.env.MODE ?? null, at: Date.now() };\n',
};
const chatty = { 'index.js': 'console.log("loaded");\nexports.word = "x";\n' };

test('a child that has loaded the packages waits for the next run with them, and serves it alone', async (t) => {
  const local = await registry(t, { witness });
  const server = await serve(t, { config: patient, env: local.env });
  const code = 'import { seen } from "witness"; const began = performance.timeOrigin; globalThis.left = (globalThis.left ?? 0) + 1; JSON.stringify({ ...seen, before: seen.at < began, left })';
  const once = async (args = {}) => JSON.parse((await runJs(server, code, { npm: { dependencies: { witness: '1.0.0' } }, ...args })).value);
  const results = [await once()];
  assert.equal(results[0].before, false, 'the first run loads them itself');
  // A second later at most the successor waits; loading it takes milliseconds.
  for (let i = 0; i < 20 && !results.at(-1).before; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    results.push(await once());
  }
  assert.equal(results.at(-1).before, true, JSON.stringify(results));
  for (const { loads, left } of results) assert.deepEqual({ loads, left }, { loads: 1, left: 1 }, 'loaded once, used once');
  assert.equal((await once({ env: { MODE: 'test' } })).env, 'test', 'packages that look at the environment see the one of the run');
});

test('packages that print while they are loaded print in every run', async (t) => {
  const local = await registry(t, { chatty });
  const server = await serve(t, { config: patient, env: local.env });
  for (let i = 0; i < 4; i++) {
    const { stdout } = await runJs(server, 'import { word } from "chatty"; console.log(word)', { npm: { dependencies: { chatty: '1.0.0' } } });
    assert.equal(stdout, 'loaded\nx\n');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
});

// The engine's places: what is made by `new` stands for it, and a call's first argument for the call.
function placeOf(text, token) {
  const before = text.slice(0, text.indexOf(token)).split('\n');
  assert.ok(text.includes(token));
  return `${before.length}:${before.at(-1).length + 1}`;
}

const thrower = {
  'index.js': 'const { check } = require("./lib/check.js");\n\nmodule.exports = function outer(value) {\n  return check(value);\n};\n',
  'lib/check.js': '// A comment that a bundler drops.\nfunction check(value) {\n  if (value > 1)\n      throw new RangeError("too much");\n  return value;\n}\nexports.check = check;\n',
};
const program = ['import outer from "thrower";', '', 'function mine(value) {', '  const first = 1;', '  return first +', '    outer(value);', '}', 'mine(2);', ''].join('\n');

test('with --sourcemaps every frame names file, line and column of what people wrote', async (t) => {
  const local = await registry(t, { thrower });
  const { cwd } = configured(t, patient);
  writeFileSync(join(cwd, 'main.mjs'), program);
  const built = await run('relay', ['capsule', 'build', 'main.mjs', '--npm', 'thrower@1.0.0', '--sourcemaps', '-o', 'made'], { cwd, env: local.env, seconds: 200 });
  assert.equal(built.code, 0, built.stderr);
  const { code, stderr } = await run('relay', ['capsule', 'run', 'made'], { cwd, seconds: 120 });
  assert.equal(code, 1);
  assert.ok(stderr.includes('RangeError: too much'), stderr);
  const frames = [...stderr.matchAll(/at (\S+) \((\S+)\)/g)].map(([, name, place]) => [name, place.replace(/^.*node_modules/, 'node_modules')]);
  const expected = [
    ['check', `node_modules/thrower/lib/check.js:${placeOf(thrower['lib/check.js'], 'RangeError("too')}`],
    ['outer', `node_modules/thrower/index.js:${placeOf(thrower['index.js'], 'value);')}`],
    ['mine', `main.mjs:${placeOf(program, 'value);')}`],
  ];
  assert.deepEqual(frames.slice(0, 3), expected, stderr);
});
