// Real packages from the registry that this machine's npm uses, through run_js: imported, required, cached, refused.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { messagesOf, modernRequest, request } from '../mcp.mjs';
import { configured, run, serve, temporaryDirectory } from '../program.mjs';
import { failure, patient, runJs, serveAgain, watchedNpm } from './support.mjs';

const dependencies = {
  lodash: '4.17.21', 'date-fns': '4.1.0', zod: '3.24.1', mathjs: '14.0.1', cheerio: '1.0.0', uuid: '11.0.5', 'csv-parse': '5.6.0', marked: '15.0.6',
};

const imported = {
  lodash: ['import _, { chunk } from "lodash"; JSON.stringify([chunk([1, 2, 3], 2), _.VERSION])', '[[[1,2],[3]],"4.17.21"]'],
  'date-fns': ['import { format, addDays } from "date-fns"; format(addDays(new Date(2024, 1, 28), 1), "yyyy-MM-dd")', '2024-02-29'],
  zod: ['import { z } from "zod"; String([z.object({ a: z.number() }).safeParse({ a: "x" }).success, z.string().parse("y")])', 'false,y'],
  mathjs: ['import { evaluate, unit } from "mathjs"; String([evaluate("sqrt(16) + 2"), unit("5 cm").toNumber("mm")])', '6,50'],
  cheerio: ['import * as cheerio from "cheerio"; cheerio.load("<p>a<b>c</b></p>")("b").text()', 'c'],
  uuid: ['import { v5, validate } from "uuid"; String([validate(v5("x", v5.DNS)), v5("x", v5.DNS)])', 'true,2e54cd4a-0000-5000-8000-000000000000'],
  'csv-parse': ['import { parse } from "csv-parse/sync"; JSON.stringify(parse("a,b\\n1,2\\n", { columns: true }))', '[{"a":"1","b":"2"}]'],
  marked: ['import { marked } from "marked"; marked.parse("# hi").trim()', '<h1>hi</h1>'],
};

const required = {
  lodash: ['require("lodash").camelCase("a b")', 'aB'],
  'date-fns': ['const { addMonths, getMonth } = require("date-fns"); String(getMonth(addMonths(new Date(2024, 0, 31), 1)))', '1'],
  zod: ['const { z } = require("zod"); z.enum(["a", "b"]).parse("b")', 'b'],
  mathjs: ['const math = require("mathjs"); String(math.det([[1, 2], [3, 4]]))', '-2'],
  cheerio: ['const { load } = require("cheerio"); load("<i>x</i>")("i").length + ""', '1'],
  uuid: ['const { version, NIL } = require("uuid"); NIL.length + ""', '36'],
  'csv-parse': ['const { parse } = require("csv-parse/sync"); parse("x,y\\n").length + ""', '1'],
  marked: ['const { marked } = require("marked"); marked.parseInline("*e*")', '<em>e</em>'],
};

// One installation serves them all: every test after the first is a run with dependencies that are there.
test('packages are imported and required, and npm is asked once', async (t) => {
  const tools = watchedNpm(join(temporaryDirectory(t), 'bin'));
  const server = await serve(t, { config: patient, env: tools.env });
  const value = async (on, code) => {
    const { value: found, stderr, error, exitCode } = await runJs(on, code, { npm: { dependencies } });
    assert.equal(exitCode, 0, `${code}: ${stderr} ${JSON.stringify(error)}`);
    return found;
  };
  for (const [name, [code, expected]] of Object.entries(imported))
    await t.test(`import ${name}`, async () => {
      const found = await value(server, code);
      if (name === 'uuid') assert.match(found, /^true,[0-9a-f]{8}-/);
      else assert.equal(found, expected);
    });
  for (const [name, [code, expected]] of Object.entries(required))
    await t.test(`require ${name}`, async () => assert.equal(await value(server, code), expected));
  await t.test('import and require give one instance', async () => {
    assert.equal(await value(server, 'import _ from "lodash"; String(_ === require("lodash"))'), 'true');
  });
  assert.equal(tools.calls(server), 1, 'npm ran for the first call alone');

  await t.test('a server that starts later finds them too, with an npm that cannot run', async () => {
    tools.breakDown();
    const later = await serveAgain(t, server, tools.env);
    assert.equal(await value(later, imported.lodash[0]), imported.lodash[1]);
    assert.equal(await value(later, required.marked[0]), required.marked[1]);
    assert.equal(tools.calls(later), 1, 'nobody asked it');
    const text = await failure(later, 'run_js', { code: '1', npm: { dependencies: { 'is-odd': '3.0.1' } } });
    assert.match(text, /DepsResolutionFailed/);
    assert.equal(tools.calls(later), 2, 'what is not there still needs npm, and says that it is broken');
  });
});

test('what cannot be had says which package and why', async (t) => {
  const server = await serve(t, { config: patient });
  for (const [names, says] of [
    [{ bcrypt: '5.1.1' }, "DepsResolutionFailed: 'bcrypt' is a native addon ("],
    [{ 'get-port': '7.1.0' }, "DepsResolutionFailed: 'get-port' needs the Node.js built-in module 'net', which a sandbox does not have"],
    [{ 'relay-a-name-that-nobody-took': '1.0.0' }, "DepsResolutionFailed: npm cannot find 'relay-a-name-that-nobody-took@1.0.0' in the registry"],
  ]) {
    const text = await failure(server, 'run_js', { code: '1', npm: { dependencies: names } });
    assert.ok(text.includes(says), `${says}\n${text}`);
    assert.ok(!text.includes(server.cwd), 'no path of this machine');
    assert.ok(!/https?:\/\/(?!<registry>)[^ ]*registry/.test(text), `no address of a registry: ${text}`);
  }
});

test("the configuration's own packages and lockfile are there for every run", async (t) => {
  const { cwd, file } = configured(t, {});
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', dependencies: { 'is-number': '^7.0.0' } }));
  const locked = await run('/usr/bin/env', ['npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd, seconds: 120 });
  const lock = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8'));
  writeFileSync(file, JSON.stringify({ ...patient, npm: { dependencies: { 'is-number': '^7.0.0' }, lockfile: 'package-lock.json' } }));
  writeFileSync(join(cwd, 'main.mjs'), 'import isNumber from "is-number"; console.log(isNumber("5"));');
  const ran = await run('relay', ['run', 'main.mjs'], { cwd, seconds: 200 });
  assert.equal(ran.stdout, 'true\n', ran.stderr + JSON.stringify(locked));

  // A hash that does not fit what the registry has: the lockfile binds.
  lock.packages['node_modules/is-number'].integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
  writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify(lock));
  const refused = await run('relay', ['run', 'main.mjs'], { cwd, seconds: 200 });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /DepsResolutionFailed/);

  writeFileSync(file, JSON.stringify({ npm: { dependencies: { 'is-number': '^7.0.0' }, lockfile: 'gone.json' } }));
  const missing = await run('relay', ['run', 'main.mjs'], { cwd });
  assert.notEqual(missing.code, 0);
  assert.match(missing.stderr, /npm\.lockfile: cannot read .*gone\.json/);
});

test('a build that takes more than a second reports its progress to the client', async (t) => {
  const tools = watchedNpm(join(temporaryDirectory(t), 'bin'));
  const server = await serve(t, { config: patient, env: tools.env });
  tools.become("setTimeout(() => { console.error('no such thing'); process.exit(1); }, 4000);");
  const call = modernRequest('tools/call', { name: 'run_js', arguments: { code: '1', npm: { dependencies: { lodash: '4.17.21' } } }, _meta: { progressToken: 'p' } });
  const messages = messagesOf(await request(server.endpoint, call));
  const progress = messages.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
  assert.ok(progress.length >= 2, JSON.stringify(messages));
  assert.match(progress[0].message, /^npm install \(\d s\)$/);
  assert.equal(progress[0].progressToken, 'p');
  assert.ok(progress[1].progress > progress[0].progress);
});

test('with --sourcemaps a trace through a package names its own files and lines', async (t) => {
  const { cwd } = configured(t, patient);
  writeFileSync(join(cwd, 'main.mjs'), [
    'import { parse } from "csv-parse/sync";', 'function mine() {', '  return parse("a,b\\n1,2,3\\n");', '}', 'mine();', ''].join('\n'));
  const plain = await run('relay', ['capsule', 'build', 'main.mjs', '--npm', 'csv-parse@5.6.0', '-o', 'plain'], { cwd, seconds: 200 });
  assert.equal(plain.code, 0, plain.stderr);
  const mapped = await run('relay', ['capsule', 'build', 'main.mjs', '--npm', 'csv-parse@5.6.0', '--sourcemaps', '-o', 'mapped'], { cwd, seconds: 200 });
  assert.equal(mapped.code, 0, mapped.stderr);
  const without = await run('relay', ['capsule', 'run', 'plain'], { cwd, seconds: 120 });
  assert.ok(without.stderr.includes('main.mjs:3:'), without.stderr);
  assert.ok(!without.stderr.includes('node_modules/csv-parse'), without.stderr);
  const { code, stderr } = await run('relay', ['capsule', 'run', 'mapped'], { cwd, seconds: 120 });
  assert.equal(code, 1);
  assert.ok(stderr.includes('main.mjs:3:'), `the program's own line: ${stderr}`);
  const frame = /node_modules\/csv-parse\/(\S+?):(\d+):(\d+)/.exec(stderr);
  assert.ok(frame, stderr);
  assert.ok(!stderr.includes('/deps/bundle.mjs'), stderr);
});
