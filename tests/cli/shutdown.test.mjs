// SIGTERM with work in flight: calls end with an answer, streams end whole, the program exits 0, nobody is left.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initialize, messagesOf, modernRequest, openStream, request } from '../mcp.mjs';
import { atEnd, Program, program, run, serve, until, stateOf } from '../program.mjs';

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
