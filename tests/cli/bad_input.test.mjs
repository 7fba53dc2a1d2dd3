// Bytes that no client should send, at a real socket: each gets a refusal or a closed door, and the server goes on.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { initialize, modernRequest, openStream, request } from '../mcp.mjs';
import { openFiles } from '../processes.mjs';
import { serve, until } from '../program.mjs';

const config = { toolsets: ['files', 'admin'] };
const host = 'Host: 127.0.0.1\r\n';

// Sends the bytes, gives all that came back until the server closed or the patience ended.
function exchange(port, bytes, { patience = 2000, half = false } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => (half ? socket.end(bytes) : socket.write(bytes)));
    let answer = '';
    const finish = (closed) => { socket.destroy(); resolve({ answer, closed, statuses: [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, s]) => Number(s)) }); };
    const timer = setTimeout(() => finish(false), patience);
    socket.setEncoding('latin1').on('data', (text) => (answer += text)).on('error', () => {});
    socket.on('close', () => { clearTimeout(timer); finish(true); });
  });
}

// what · bytes · statuses that may come back (none: closed without a word is fine)
const garbage = [
  ['no HTTP at all', 'hello there\r\n\r\n', [400]],
  ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex'), [400]],
  ['control bytes in the request line', 'GET /\x00\x01 HTTP/1.1\r\n' + host + '\r\n', [400]],
  ['an unknown version', 'GET / HTTP/9.9\r\n' + host + '\r\n', [400, 505]],
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', [400, 403, 421]],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n', [400, 403]],
  ['two lengths that disagree', 'POST /mcp HTTP/1.1\r\n' + host + 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello', [400]],
  ['a length and chunks at once', 'POST /mcp HTTP/1.1\r\n' + host + 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', [400]],
  ['a negative length', 'POST /mcp HTTP/1.1\r\n' + host + 'Content-Length: -1\r\n\r\n', [400]],
  ['a length beyond every limit', 'POST /mcp HTTP/1.1\r\n' + host + 'Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n', [413]],
  ['a chunk size that overflows', 'POST /mcp HTTP/1.1\r\n' + host + 'Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n', [400, 413]],
  ['headers without end', 'GET / HTTP/1.1\r\n' + host + `X: ${'a'.repeat(200_000)}`, [400, 413, 431]],
  ['ten thousand headers', 'GET / HTTP/1.1\r\n' + host + 'A: b\r\n'.repeat(10_000) + '\r\n', [400, 413, 431]],
  ['a folded header', 'GET /healthz HTTP/1.1\r\n' + host + 'X: a\r\n b\r\n\r\n', [200, 400]],
  ['a path that climbs', 'GET /../../etc/passwd HTTP/1.1\r\n' + host + '\r\n', [400, 404]],
  ['an absolute target elsewhere', 'GET http://evil.example/ HTTP/1.1\r\n' + host + '\r\n', [400, 403, 404]],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\n' + host + '\r\n', [400, 403, 404, 405, 501]],
  ['TRACE', 'TRACE / HTTP/1.1\r\n' + host + '\r\n', [400, 404, 405, 501]],
];

test('garbage on a connection is refused, and the next client is served', async (t) => {
  const server = await serve(t, { config });
  for (const [what, bytes, allowed] of garbage) {
    await t.test(what, async () => {
      const { statuses } = await exchange(server.port, bytes);
      for (const status of statuses) assert.ok(allowed.includes(status), `${what}: ${statuses}`);
      assert.equal((await request(`${server.url}/healthz`)).status, 200);
    });
  }
});

test('pipelined requests are answered in order, and garbage behind them ends the connection', async (t) => {
  const server = await serve(t, { config });
  const good = 'GET /healthz HTTP/1.1\r\n' + host + '\r\n';
  const missing = 'GET /missing HTTP/1.1\r\n' + host + '\r\n';
  assert.deepEqual((await exchange(server.port, good + missing + good)).statuses, [200, 404, 200]);
  const { statuses, closed } = await exchange(server.port, good + '\x00\x01\x02 garbage\r\n\r\n' + good);
  assert.ok(closed);
  assert.deepEqual(statuses.filter((status) => status === 200), [200]);
});

test('a half-closed client still gets its answer', async (t) => {
  const server = await serve(t, { config });
  const { statuses } = await exchange(server.port, 'GET /healthz HTTP/1.1\r\n' + host + '\r\n', { half: true });
  assert.deepEqual(statuses, [200]);
});

test('bodies that are no JSON-RPC get an error and not a crash', async (t) => {
  const server = await serve(t, { config });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const bodies = ['', '{', 'null', '[]', '"text"', '[[[[', '{"jsonrpc":"1.0","id":1,"method":"x"}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '['.repeat(100_000), '{"a":'.repeat(50_000), Buffer.from([0xff, 0xfe, 0x7b, 0x7d]), `{"jsonrpc":"2.0","id":1,"method":"${'m'.repeat(100_000)}"}`,
    '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'];
  for (const body of bodies) {
    const { status } = await request(server.endpoint, { method: 'POST', headers, body });
    assert.ok(status >= 200 && status < 500, `${String(body).slice(0, 60)} gave ${status}`);
  }
  assert.equal((await request(server.endpoint, { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' })).status, 415);
  assert.equal((await request(`${server.url}/healthz`)).status, 200);
});

test('a body over the limit is refused while it still comes', async (t) => {
  const server = await serve(t, { config });
  const { status } = await request(server.endpoint, { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': String(64 << 20) }, body: Buffer.alloc(64 << 20, 0x20) })
    .catch((error) => ({ status: error.code }));
  assert.ok([413, 'EPIPE', 'ECONNRESET'].includes(status), String(status));
  assert.equal((await request(`${server.url}/healthz`)).status, 200);
});

test('two thousand idle event streams leave room for calls, and go away whole', async (t) => {
  const server = await serve(t, { config });
  const before = openFiles(server.pid).length;
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const streams = [];
  const sessions = [];
  for (let i = 0; i < 1000; ++i) sessions.push(await initialize(server.endpoint));
  for (let i = 0; i < 20; ++i) {
    streams.push(...await Promise.all(Array.from({ length: 50 }, () => openStream(server.endpoint, listen))));
    streams.push(...await Promise.all(sessions.slice(i * 50, i * 50 + 50).map((session) =>
      openStream(server.endpoint, { headers: { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } }))));
  }
  assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
  assert.equal(streams.length, 2000);
  assert.ok(openFiles(server.pid).length >= before + 2000);
  assert.equal((await request(`${server.url}/healthz`)).status, 200);
  streams.forEach((stream) => stream.close());
  await until('the descriptors to come back', () => openFiles(server.pid).length <= before + 5);
});

test('clients that write one byte and wait do not keep others out', async (t) => {
  const server = await serve(t, { config });
  const slow = await Promise.all(Array.from({ length: 200 }, () => new Promise((resolve) => {
    const socket = net.connect(server.port, '127.0.0.1', () => { socket.write('G'); resolve(socket); });
    socket.on('error', () => {});
  })));
  await sleep(100);
  assert.equal((await request(`${server.url}/healthz`)).status, 200);
  slow.forEach((socket) => socket.destroy());
});
