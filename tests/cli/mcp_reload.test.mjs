// A changed configuration is picked up while relay runs; a broken one changes nothing.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, callTool } from '../mcp.mjs';
import { run, serve, start, configured, until } from '../program.mjs';

const fixture = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'moody_server.py');
const moody = (name) => ({ name, command: 'python3', args: [fixture, 'steady'], expose: 'tools' });
const toolNames = async (server) => (await ask(server.endpoint, 'tools/list', {})).tools.map(({ name }) => name);

test('serve: servers that are added, changed and removed come and go without a restart', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'], gateway: { listTimeoutMs: 120_000 }, mcps: [moody('a')] } });
  assert.equal((await callTool(server.endpoint, 'a__echo', { text: 'x' })).content[0].text, 'x');
  const pids = server.observe().map(({ pid }) => pid).filter((pid) => pid !== server.pid);
  assert.ok(pids.length > 0);
  assert.equal((await run('relay', ['mcp', 'add', 'b', '--expose', 'tools', '--', 'python3', fixture, 'steady'], { cwd: server.cwd })).code, 0);
  await until('b to be there', async () => (await toolNames(server)).includes('b__echo'), { seconds: 60 });
  assert.equal((await callTool(server.endpoint, 'b__echo', { text: 'y' })).content[0].text, 'y');
  assert.ok(pids.every((pid) => server.observe().some((one) => one.pid === pid)), 'a keeps its process');
  const line = await server.waitForLog('read the configuration again');
  assert.equal(line.added, 'b');

  assert.equal((await run('relay', ['mcp', 'remove', 'a'], { cwd: server.cwd })).code, 0);
  await until('a to be gone', async () => !(await toolNames(server)).includes('a__echo'), { seconds: 60 });
  await until('its process to end', () => pids.every((pid) => !server.observe().some((one) => one.pid === pid)), { seconds: 60 });
  assert.equal((await callTool(server.endpoint, 'b__echo', { text: 'z' })).content[0].text, 'z');
});

test('serve: a broken configuration is refused with all its problems, and what needs a restart is named', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'], gateway: { listTimeoutMs: 120_000 }, mcps: [moody('a')] } });
  writeFileSync(server.file, JSON.stringify({ mcps: [{ name: 'a' }], polcy: {} }));
  await server.waitForLog('the configuration stays as it was', { seconds: 60 });
  assert.ok(server.logs().filter(({ msg }) => msg === 'the changed configuration has a problem').length >= 1);
  assert.equal((await callTool(server.endpoint, 'a__echo', { text: 'x' })).content[0].text, 'x');
  writeFileSync(server.file, JSON.stringify({ toolsets: ['admin'], gateway: { listTimeoutMs: 120_000 }, policy: { mode: 'readonly' }, mcps: [moody('a')] }));
  writeFileSync(server.file, JSON.stringify({ toolsets: ['admin'], server: { maxConnections: 7 }, gateway: { listTimeoutMs: 120_000 }, policy: { mode: 'readonly' }, mcps: [moody('a')] }));
  const line = await until('the connections to be named', () => server.logs().find(({ msg, needsRestart }) => msg === 'read the configuration again' && needsRestart), { seconds: 60 });
  assert.match(line.needsRestart, /server/);
});

test('SIGHUP reads the configuration again', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'] } });
  server.child.kill('SIGHUP');
  await server.waitForLog('read the configuration again', { seconds: 60 });
  assert.equal((await ask(server.endpoint, 'tools/list', {})).tools.length > 0, true);
});

test('stdio: a server that is added appears', async (t) => {
  const { cwd, file } = configured(t, { toolsets: ['admin'], gateway: { listTimeoutMs: 120_000 } });
  const relay = start(t, 'relay', ['stdio', '-c', file], { cwd, input: 'pipe' });
  relay.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } })}\n`);
  await until('the handshake', () => relay.stdout.includes('"id":1'), { seconds: 60 });
  relay.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  assert.equal((await run('relay', ['mcp', 'add', 'late', '--expose', 'tools', '--', 'python3', fixture, 'steady'], { cwd })).code, 0);
  await relay.waitForLog('read the configuration again', { seconds: 60 });
  relay.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'late__echo', arguments: { text: 'here' } } })}\n`);
  await until('the answer', () => relay.stdout.split('\n').some((line) => line.includes('"id":2') && line.includes('here')), { seconds: 150 });
});
