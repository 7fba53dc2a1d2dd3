// What people see while a command waits, and which variables reach an upstream server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanEnvironment, configured, program, run, stateOf } from '../program.mjs';

const server = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'scripted_server.py');
const slow = { mcps: [{ name: 'slow', command: 'sh', args: ['-c', `echo fetching >&2; sleep 3; exec python3 ${server}`] }] };

// stdout and stderr of a command on a terminal of its own.
const onTerminal = (cwd, ...args) =>
  spawnSync('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', program('relay'), ...args], { cwd, encoding: 'utf8', input: '', env: cleanEnvironment({ RELAY_STATE: stateOf(cwd) }) }).stdout;

test('mcp test says on a terminal what it waits for, and removes the line at the end', async (t) => {
  const { cwd } = configured(t, slow);
  const seen = onTerminal(cwd, 'mcp', 'test', 'slow');
  assert.match(seen, /waiting \d s for slow \(starting\)/);
  assert.match(seen, /\r\x1b\[Kslow: works/);
});

test('without a terminal nothing is said while it waits', async (t) => {
  const { cwd } = configured(t, slow);
  const { code, stdout, stderr } = await run('relay', ['mcp', 'test', 'slow'], { cwd });
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stdout + stderr, /waiting/);
});

test('a run that begins at once says nothing on a terminal', async (t) => {
  const { cwd } = configured(t, { log: { level: 'error' } });
  assert.equal(onTerminal(cwd, 'run', '-e', 'console.log(1)'), '1\r\n');
});

const ours = { NODE_EXTRA_CA_CERTS: '/etc/corp.pem', HTTPS_PROXY: 'http://proxy.example:3128', npm_config_registry: 'http://npm.example/', PIP_INDEX_URL: 'http://pip.example/', AWS_SECRET_ACCESS_KEY: 'sesame' };
const seenBy = async (cwd) => JSON.parse((await run('relay', ['mcp', 'call', 'one', 'env'], { cwd, env: ours })).stdout);

test('certificates, proxies and registries reach an upstream server, and nothing else does', async (t) => {
  const { cwd } = configured(t, { mcps: [{ name: 'one', command: 'python3', args: [server], env: { PIP_INDEX_URL: 'http://own.example/' } }] });
  const seen = await seenBy(cwd);
  for (const name of ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'npm_config_registry']) assert.equal(seen[name], ours[name], name);
  assert.equal(seen.PIP_INDEX_URL, 'http://own.example/', 'the entry wins');
  assert.equal(seen.AWS_SECRET_ACCESS_KEY, undefined);
});

test('a server in a sandbox gets none of them', async (t) => {
  const { cwd } = configured(t, { mcps: [{ name: 'one', command: '/usr/bin/python3', args: [server], sandbox: { read: [join(server, '..')] } }] });
  const seen = await seenBy(cwd);
  for (const name of Object.keys(ours)) assert.notEqual(seen[name], ours[name], name);
});
