// SIGTERM with work in flight: calls end with an answer, streams end whole, the program exits 0, nobody is left.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initialize, initializeMessage, legacyPost, messagesOf, modernRequest, openStream, request } from '../mcp.mjs';
import { atEnd, configured, Program, program, run, serve, start, until, stateOf } from '../program.mjs';

const moody = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'moody_server.py');
const quiet = { toolsets: ['files', 'admin'] };
const running = { toolsets: ['code', 'files', 'admin'] };
// SIGKILL follows after this; the server's own grace is 30 s, and none of these cases needs it.
const grace = 20_000;

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} ends an idle server with exit 0`, async (t) => {
    const server = await serve(t, { config: quiet });
    assert.deepEqual(await server.stop({ grace, signal }), { code: 0, signal: null });
    await server.assertNothingLeft();
  });
}

test('SIGTERM completes open streams of both eras instead of cutting them', async (t) => {
  const server = await serve(t, { config: quiet });
  const session = await initialize(server.endpoint);
  const legacy = await openStream(server.endpoint, { headers: { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } });
  assert.equal(legacy.status, 200);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const modern = await openStream(server.endpoint, listen);
  await until('the acknowledgement', () => modern.text.includes('notifications/subscriptions/acknowledged'));
  const how = await server.stop({ grace });
  assert.deepEqual(how, { code: 0, signal: null });
  assert.deepEqual([await legacy.ended, await modern.ended], ['complete', 'complete']);
  const last = messagesOf({ headers: modern.headers, body: modern.text }).at(-1);
  assert.equal(last.result?.resultType, 'complete', modern.text);
});

test('SIGTERM cancels a call in flight, which still gets an answer', async (t) => {
  const server = await serve(t, { config: running });
  await callTool(server.endpoint, 'run_js', { code: '1' });
  const call = callTool(server.endpoint, 'run_js', { code: 'console.log("begun"); await new Promise((r) => setTimeout(r, 50000))', policy: { limits: { timeoutMs: 55000 } } })
    .then((result) => ({ result }), (error) => ({ error }));
  await until('a run to be under way', async () => {
    const info = await callTool(server.endpoint, 'server_info');
    return JSON.stringify(info.structuredContent).match(/"(running|active|activeRuns|runsActive)":1/);
  });
  const how = await server.stop({ grace });
  assert.deepEqual(how, { code: 0, signal: null });
  const { result, error } = await call;
  assert.ok(result?.isError || error?.message.startsWith('tools/call: '), `an answer, not a cut connection: ${error ?? JSON.stringify(result)}`);
  await server.assertNothingLeft();
});

// A call of one client that has to wait for ever: what it waits for, and the tool call.
const sleep = { name: 'run_js', arguments: { code: 'await new Promise((r) => setTimeout(r, 50000))', policy: { limits: { timeoutMs: 55000 } } } };
const waits = [
  ['a run', { toolsets: ['code', 'admin'] }, sleep],
  ['a place in the queue', { toolsets: ['code', 'admin'], executor: { maxConcurrentRuns: 1 } }, sleep, sleep],
  ['an upstream server', { toolsets: ['admin'], mcps: [{ name: 'm', command: 'python3', args: [moody, 'hang', '1'], expose: 'tools' }] }, { name: 'm__echo', arguments: { text: 'x' } }],
  ['its turn at an upstream server', { toolsets: ['admin'], mcps: [{ name: 'm', command: 'python3', args: [moody, 'hang', '1'], expose: 'tools', maxConcurrent: 1 }] }, { name: 'm__echo', arguments: { text: 'x' } }, { name: 'm__echo', arguments: { text: 'y' } }],
];
// How a client calls: gives the answer to the one request, however it comes.
const ways = {
  modern: async (server, params) => messagesOf(await request(server.endpoint, modernRequest('tools/call', params))).at(-1),
  legacy: async (server, params) => {
    const session = await initialize(server.endpoint);
    return messagesOf(await legacyPost(server.endpoint, { id: 7, method: 'tools/call', params }, { session })).at(-1);
  },
  'HTTP+SSE': async (server, params) => {
    const stream = await openStream(`${server.url}/sse`);
    await until('the endpoint', () => stream.text.includes('event: endpoint'));
    const to = new URL(stream.text.match(/^data: (\S+)$/m)[1], server.url).href;
    const post = (message) => request(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    await post({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } } });
    await until('the handshake', () => stream.text.includes('"id":1'));
    await post({ method: 'notifications/initialized' });
    await post({ id: 7, method: 'tools/call', params });
    await stream.ended;
    return messagesOf({ headers: stream.headers, body: stream.text.replace(/^event: endpoint\r?\n.*$/m, '') }).find(({ id }) => id === 7);
  },
};

for (const [what, config, ...calls] of waits) {
  for (const [era, call] of Object.entries(ways)) {
    test(`SIGTERM answers a ${era} call that waits for ${what}`, async (t) => {
      const server = await serve(t, { config });
      const answers = calls.map((params) => call(server, params));
      await until('the calls to be under way', async () => {
        const { body } = await request(`${server.url}/metrics`);
        return Number(body.match(/^relay_calls_open (\d+)$/m)[1]) === calls.length;
      }, { seconds: 60 });
      assert.deepEqual(await server.stop({ grace }), { code: 0, signal: null });
      for (const answer of await Promise.all(answers)) assert.match(answer?.error?.message ?? JSON.stringify(answer), /the server is stopping/);
      await server.assertNothingLeft();
    });
  }
}

test('SIGTERM answers calls over stdio', async (t) => {
  const { cwd, file } = configured(t, { toolsets: ['code'] });
  const relay = start(t, 'relay', ['stdio', '-c', file], { cwd, input: 'pipe' });
  const say = (message) => relay.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  say(initializeMessage);
  await until('the handshake', () => relay.stdout.includes('"id":1'), { seconds: 60 });
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/call', params: { ...sleep, arguments: { ...sleep.arguments, code: `console.log('begun'); ${sleep.arguments.code}` }, _meta: { progressToken: 1 } } });
  await until('the run to begin', () => relay.stdout.includes('begun'), { seconds: 60 });
  assert.deepEqual(await relay.stop({ grace }), { code: 0, signal: null });
  const answer = relay.stdout.trim().split('\n').map((line) => JSON.parse(line)).find(({ id }) => id === 2);
  assert.match(answer?.error?.message ?? 'no answer', /the server is stopping/);
});

test('connections that only wait do not hold the server up', async (t) => {
  const server = await serve(t, { config: quiet });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => new Promise((resolve) => {
    const socket = net.connect(server.port, '127.0.0.1', () => resolve(socket));
    socket.on('error', () => {});
  })));
  sockets.slice(10).forEach((socket) => socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le'));
  assert.deepEqual(await server.stop({ grace }), { code: 0, signal: null });
  sockets.forEach((socket) => socket.destroy());
});

test('SIGKILL leaves no process behind, and the next start works on the same state', async (t) => {
  const first = await serve(t, { config: running });
  await callTool(first.endpoint, 'run_js', { code: '1' });
  assert.ok(first.observe().length > 0, 'sandboxes wait below the server');
  await first.stop({ signal: 'SIGKILL' });
  await first.assertNothingLeft();
  const second = new Program(program('relay'), ['serve', '-c', first.file, '--bind', '127.0.0.1', '--port', '0', '--no-open'], { cwd: first.cwd });
  atEnd(t, () => second.stop());
  const { url } = await second.waitForLog('listening', { seconds: 60 });
  assert.equal((await request(`${url}/healthz`)).status, 200);
  await callTool(`${url}/mcp`, 'run_js', { code: '1' });
  await second.stop();
  assert.ok(existsSync(join(stateOf(first.cwd), 'audit.jsonl')));
  const verdict = await run('relay', ['audit', 'verify', '-c', first.file], { cwd: first.cwd });
  assert.equal(verdict.code, 0, verdict.stdout + verdict.stderr);
});
