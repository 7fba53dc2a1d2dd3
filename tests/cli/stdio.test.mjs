// `relay stdio` as a bare pipe: only protocol on stdout, only log lines on stderr, and an end when stdin ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modernRequest } from '../mcp.mjs';
import { configured, run, start, until } from '../program.mjs';

const config = { toolsets: ['files', 'admin'] };
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const initialize = line({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } } });
const initialized = line({ method: 'notifications/initialized' });
const modern = (method, params, id) => `${modernRequest(method, params, { id }).body}\n`;

async function converse(t, input) {
  const { cwd, file } = configured(t, config);
  const { code, signal, stdout, stderr } = await run('relay', ['stdio', '-c', file], { cwd, input });
  assert.deepEqual([code, signal], [0, null], stderr);
  for (const text of stderr.split('\n').filter(Boolean)) assert.doesNotThrow(() => JSON.parse(text), text);
  const replies = stdout.split('\n').filter(Boolean).map((text) => JSON.parse(text));
  return { replies, byId: (id) => replies.find((reply) => reply.id === id) };
}

test('everything that was asked before stdin ended is answered, then relay exits 0', async (t) => {
  const { byId } = await converse(t, initialize + initialized + line({ id: 2, method: 'tools/list' }) + line({ id: 3, method: 'tools/call', params: { name: 'server_info', arguments: {} } }));
  assert.equal(byId(1).result.serverInfo.name, 'relay');
  assert.ok(byId(2).result.tools.some(({ name }) => name === 'server_info'));
  assert.ok(byId(3).result.structuredContent.version);
});

test('the modern era needs no handshake', async (t) => {
  const { byId } = await converse(t, modern('server/discover', {}, 'a') + modern('tools/call', { name: 'server_info', arguments: {} }, 'b'));
  assert.ok(byId('a').result.supportedVersions.includes('2026-07-28'));
  assert.equal(byId('b').result.resultType, 'complete');
});

test('an empty stdin is a short conversation', async (t) => {
  assert.deepEqual((await converse(t, '')).replies, []);
});

test('garbage between messages is answered with parse errors and otherwise ignored', async (t) => {
  const { replies, byId } = await converse(t, `${initialize}${initialized}not json\n\n{"jsonrpc":"2.0"\n${'['.repeat(100_000)}\n${line({ id: 9, method: 'ping' })}`);
  assert.ok(byId(9).result, 'the conversation goes on');
  assert.ok(replies.filter(({ error }) => error?.code === -32700).length >= 1);
});

test('a line without its end is not taken for a message', async (t) => {
  const { replies } = await converse(t, initialize + initialized + line({ id: 2, method: 'ping' }).slice(0, -2));
  assert.equal(replies.find(({ id }) => id === 2), undefined);
});

test('ids come back as they were sent', async (t) => {
  const ids = [0, -7, 'text', '', '\u00e9\n"', 2 ** 40];
  const { replies } = await converse(t, initialize + initialized + ids.map((id) => line({ id, method: 'ping' })).join(''));
  for (const id of ids) assert.ok(replies.some((reply) => reply.id === id), JSON.stringify(id));
});

test('SIGTERM ends relay stdio while stdin is still open', async (t) => {
  const { cwd, file } = configured(t, config);
  const server = start(t, 'relay', ['stdio', '-c', file], { cwd, input: 'pipe' });
  server.child.stdin.write(initialize);
  await until('the handshake', () => server.stdout.includes('serverInfo'));
  assert.deepEqual(await server.stop({ grace: 15_000 }), { code: 0, signal: null });
});

test('a reader that went away ends relay stdio without a crash', async (t) => {
  const { cwd, file } = configured(t, config);
  const server = start(t, 'relay', ['stdio', '-c', file], { cwd, input: 'pipe' });
  server.child.stdin.on('error', () => {});
  server.child.stdin.write(initialize);
  await until('the handshake', () => server.stdout.includes('serverInfo'));
  server.child.stdout.destroy();
  for (let i = 0; i < 50; ++i) server.child.stdin.write(line({ id: i, method: 'tools/list' }));
  server.child.stdin.end();
  const { signal } = await server.exit;
  assert.ok(signal === null || signal === 'SIGPIPE', `ended by ${signal}`);
});
