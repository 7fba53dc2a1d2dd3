// Which configuration a command reads when none is named, and where a project's files go when it cannot be written.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run, stateOf, temporaryDirectory } from '../program.mjs';

const isRoot = process.getuid() === 0;
const stranger = 65534;
const asStranger = isRoot ? ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups'] : [];

function below(cwd, ...names) {
  const path = join(cwd, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

test('a command in a subdirectory reads the configuration above it, and the nearest one', async (t) => {
  const { cwd, file } = configured(t, {});
  const deep = below(cwd, 'a', 'b', 'c');
  const found = await run('relay', ['check-config'], { cwd: deep });
  assert.deepEqual([found.code, found.stdout], [0, `${file}: fine\n`]);
  const nearer = join(cwd, 'a', 'relay.config.json');
  writeFileSync(nearer, '{}');
  assert.equal((await run('relay', ['check-config'], { cwd: deep })).stdout, `${nearer}: fine\n`);
});

test('relative paths and the project directory are those of the configuration that was found', async (t) => {
  const { cwd } = configured(t, { mounts: [{ name: 'docs', path: 'docs' }] });
  writeFileSync(join(below(cwd, 'docs'), 'x.txt'), 'found');
  const deep = below(cwd, 'a');
  const { code, stdout, stderr } = await run('relay', ['run', '-e', 'console.log(require("fs").readFileSync("/host/docs/x.txt", "utf8"))'], { cwd: deep });
  assert.deepEqual([code, stdout], [0, 'found\n'], stderr);
  assert.ok(existsSync(join(cwd, '.relay')) && !existsSync(join(deep, '.relay')));
});

test('mcp add in a subdirectory edits the configuration above', async (t) => {
  const { cwd, file } = configured(t, {});
  const deep = below(cwd, 'a');
  assert.equal((await run('relay', ['mcp', 'add', 'one', 'true'], { cwd: deep })).code, 0);
  assert.match(readFileSync(file, 'utf8'), /"one"/);
  assert.ok(!existsSync(join(deep, 'relay.config.json')));
});

test('the search ends at the home directory', async (t) => {
  const { cwd } = configured(t, {});
  const home = below(cwd, 'home');
  const deep = below(home, 'work');
  assert.match((await run('relay', ['check-config'], { cwd: deep, env: { HOME: home } })).stdout, /^embedded defaults: fine/);
  writeFileSync(join(home, 'relay.config.json'), '{}');
  assert.match((await run('relay', ['check-config'], { cwd: deep, env: { HOME: home } })).stdout, new RegExp(`^${join(home, 'relay.config.json')}`));
});

test('a configuration above that belongs to another user is not read', { skip: !isRoot && 'needs root' }, async (t) => {
  const { cwd, file } = configured(t, {});
  const deep = below(cwd, 'a');
  chownSync(file, stranger, stranger);
  assert.match((await run('relay', ['check-config'], { cwd: deep })).stdout, /^embedded defaults: fine/);
  assert.match((await run('relay', ['check-config'], { cwd })).stdout, /relay\.config\.json: fine/, 'in the working directory it counts');
});

// A directory that this user cannot write to, and a state directory that it can.
function readOnly(t) {
  const { cwd } = configured(t, {});
  const state = stateOf(cwd);
  mkdirSync(state);
  if (isRoot) chownSync(state, stranger, stranger);
  chmodSync(cwd, 0o555);
  return { cwd, state };
}

test('run works in a directory that cannot be written', async (t) => {
  const { cwd, state } = readOnly(t);
  const { code, stdout, stderr } = await run('relay', ['run', '-e', 'console.log(1 + 1)'], { cwd, wrap: asStranger });
  assert.deepEqual([code, stdout], [0, '2\n'], stderr);
  assert.ok(!existsSync(join(cwd, '.relay')));
  assert.ok(existsSync(join(state, 'project')));
});

test('stdio works in a directory that cannot be written', async (t) => {
  const { cwd } = readOnly(t);
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } };
  const { code, stdout, stderr } = await run('relay', ['stdio'], { cwd, wrap: asStranger, input: JSON.stringify(hello) + '\n' });
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout.split('\n')[0]).result.serverInfo.name, 'relay');
});
