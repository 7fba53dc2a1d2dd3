// `relay capsule build|inspect|verify|run`: sealed by one command, judged and run by the others.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run } from '../program.mjs';

const greeting = 'console.log(process.argv.slice(2).join("+"), process.env.WHO, process.cwd());';

async function build(t, { source = greeting, name = 'main.js', flags = [], config = {}, output = 'made' } = {}) {
  const { cwd } = configured(t, config);
  writeFileSync(join(cwd, name), source);
  const built = await run('relay', ['capsule', 'build', name, '-o', output, ...flags], { cwd });
  return { cwd, ...built, capsule: (...args) => run('relay', ['capsule', ...args], { cwd }) };
}

test('what is built is sound, and runs with the arguments it was sealed with', async (t) => {
  const { code, stdout, stderr, capsule } = await build(t, { flags: ['--arg', 'a', '--arg', '--b', '--env', 'WHO=me', '--cwd', '/tmp'] });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^[0-9a-f]{64}\n$/);
  const verified = await capsule('verify', 'made');
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /^signature {2}good, key [0-9a-f]{16}\nlayer code {2}good, \d+ bytes\ncapsule [0-9a-f]{64}\n$/);
  assert.ok(verified.stdout.endsWith(stdout));
  assert.deepEqual(await capsule('run', 'made'), { code: 0, signal: null, stdout: 'a+--b me /tmp\n', stderr: '' });
});

test('the same source gives the same bytes, whoever builds it again', async (t) => {
  const { cwd, stdout, capsule } = await build(t);
  const again = await capsule('build', 'main.js', '-o', 'again');
  assert.equal(again.stdout, stdout);
  for (const file of readdirSync(join(cwd, 'made'))) assert.deepEqual(readFileSync(join(cwd, 'again', file)), readFileSync(join(cwd, 'made', file)), file);
});

test('inspect shows the manifest, the layers and the signature', async (t) => {
  const { capsule, stdout: name } = await build(t, { source: 'print("hi")', name: 'main.py' });
  const { code, stdout } = await capsule('inspect', 'made');
  assert.equal(code, 0);
  assert.ok(stdout.startsWith(`capsule ${name}`));
  for (const part of ['"language": "py"', 'layer code: main.py, 11 bytes, sha256 ', '  /app/main.py', 'signature ey']) assert.ok(stdout.includes(part), `${part} in ${stdout}`);
});

test('a capsule names its runtime as quickjs or pyodide, whatever the language of its source', async (t) => {
  for (const [name, source, runtime] of [['main.js', '1', /^quickjs@\d/], ['typed.ts', 'const x: number = 1; x', /^quickjs@\d/], ['main.py', '1', /^pyodide@\d/]]) {
    const { cwd } = await build(t, { source, name });
    assert.match(JSON.parse(readFileSync(join(cwd, 'made', 'capsule.json'), 'utf8')).runtime.id, runtime, name);
  }
});

test('a Python capsule runs, with its stdin and its exit code', async (t) => {
  const { cwd } = await build(t, { source: 'import sys\nprint(sys.stdin.read().upper(), end="")\nsys.exit(7)', name: 'main.py' });
  const { code, stdout } = await run('relay', ['capsule', 'run', 'made'], { cwd, input: 'shout', seconds: 120 });
  assert.deepEqual({ code, stdout }, { code: 7, stdout: 'SHOUT' });
});

test('a changed layer, manifest or signature is refused by verify and by run', async (t) => {
  const changes = {
    'main.js': (text) => text.replace('WHO', 'YOU'),
    'capsule.json': (text) => text.replace('"timeoutMs":60000', '"timeoutMs":90000'),
    'capsule.json ': (text) => text.replace(/"sig":"(.*)\.\.(.)/, (_, head, first) => `"sig":"${head}..${first === 'A' ? 'B' : 'A'}`),
  };
  for (const [file, change] of Object.entries(changes)) {
    const { cwd, capsule } = await build(t);
    const path = join(cwd, 'made', file.trim());
    const before = readFileSync(path, 'utf8');
    assert.notEqual(change(before), before);
    writeFileSync(path, change(before));
    const verified = await capsule('verify', 'made');
    assert.equal(verified.code, 1, `${file}: ${verified.stdout}`);
    assert.ok(verified.stderr.length > 10);
    const ran = await capsule('run', 'made');
    assert.equal(ran.code, 1, `${file}: ${ran.stderr}`);
    assert.equal(ran.stdout, '', 'nothing of it ran');
  }
});

test('a capsule of a rotated key still verifies and runs; one of a stranger does not', async (t) => {
  const { cwd, capsule } = await build(t, { flags: ['--arg', 'x'] });
  assert.equal((await run('relay', ['keys', 'rotate'], { cwd })).code, 0);
  assert.equal((await capsule('verify', 'made')).code, 0);
  assert.equal((await capsule('run', 'made')).stdout, 'x undefined /\n');
  const stranger = configured(t, {});
  const refused = await run('relay', ['capsule', 'verify', join(cwd, 'made')], { cwd: stranger.cwd });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /key/);
});

test("a capsule's own policy holds, and this configuration can only narrow it", async (t) => {
  const endless = { source: 'for (;;);', config: { policy: { limits: { timeoutMs: 700 } } } };
  const { cwd, capsule } = await build(t, endless);
  assert.equal((await capsule('run', 'made')).code, 124);
  writeFileSync(join(cwd, 'relay.config.json'), '{}');
  assert.equal((await capsule('run', 'made')).code, 124, 'the limit is sealed inside');
  const free = await build(t, { source: 'for (;;);' });
  const narrowed = await free.capsule('run', 'made', '--timeout', '700');
  assert.equal(narrowed.code, 124, narrowed.stderr);
});

test('a capsule whose run a rule wants confirmed runs with --yes, and says so without it', async (t) => {
  const { capsule } = await build(t, { source: 'console.log("ran")', config: { policy: { rules: [{ tool: 'run_js', effect: 'confirm' }] } } });
  const asked = await capsule('run', 'made');
  assert.deepEqual([asked.code, asked.stdout], [126, '']);
  assert.match(asked.stderr, /repeat the command with --yes/);
  assert.equal((await capsule('run', '--yes', 'made')).stdout, 'ran\n');
});

test('what cannot be done exits 2 and says why', async (t) => {
  const { cwd, capsule } = await build(t);
  mkdirSync(join(cwd, 'empty'));
  writeFileSync(join(cwd, 'main.rb'), 'puts 1');
  for (const [args, says] of [
    [['build', 'main.js', '-o', 'made'], /exists already/],
    [['build', 'main.rb'], /\.mts or \.py/],
    [['build', 'gone.js'], /gone\.js/],
    [['build', 'main.js', '--env', 'nonsense', '-o', 'x'], /NAME=VALUE/],
    [['build', 'main.js', '--npm', 'file:../x', '-o', 'x'], /file:/],
    [['build', 'made', '-o', 'x'], /\.mts or \.py/],
    [['build'], /script is required/],
    [['run', 'empty'], /empty is no capsule: it has no capsule\.json/],
    [['verify', 'empty'], /empty is no capsule: it has no capsule\.json/],
    [['inspect', 'gone'], /there is no gone: name a directory/],
    [['verify', 'main.js'], /main\.js is no capsule/],
    [['verify'], /capsule is required/],
    [['run', 'f'.repeat(64)], /capsule\.json/],
  ]) {
    const { code, stderr } = await capsule(...args);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, says);
  }
  assert.ok(!existsSync(join(cwd, 'x')));
});

test('a stored capsule can be named by its hash', async (t) => {
  const { cwd } = configured(t, {});
  writeFileSync(join(cwd, 'main.js'), '21 * 2');
  assert.equal((await run('relay', ['run', 'main.js'], { cwd })).code, 0);
  const [hash] = readdirSync(join(cwd, '.relay', 'capsules')).filter((name) => /^[0-9a-f]{64}$/.test(name));
  assert.ok(hash, 'the run left its capsule');
  assert.equal((await run('relay', ['capsule', 'verify', hash], { cwd })).code, 0);
});
