// The HTTP client against a server that speaks HTTP/2 over TLS.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secureServer, send } from './peers.mjs';

test('HTTP/2 is spoken where the peer offers it', async (t) => {
  const peer = await secureServer(t);
  const [got] = await send({ url: peer.url, ca: peer.ca, headers: { Authorization: 'Bearer t' } });
  assert.deepEqual([got.status, got.version, got.headers['x-secret']], [200, '2', 'kept']);
  assert.deepEqual(JSON.parse(got.body), { method: 'GET', bytes: 0, authorization: 'Bearer t' });
});

test('many requests share one connection', async (t) => {
  const peer = await secureServer(t);
  const all = await send({ url: peer.url, ca: peer.ca, times: [1, 40, 1] });
  assert.equal(all.length, 42);
  for (const one of all) assert.deepEqual([one.status, one.version], [200, '2']);
  assert.equal(peer.sessions, 1);
});

test('bodies go up in pieces and come down whole', async (t) => {
  const peer = await secureServer(t);
  const [up] = await send({ url: peer.url, ca: peer.ca, method: 'POST', body: 'x'.repeat(50_000), pieces: 40 });
  assert.deepEqual(JSON.parse(up.body), { method: 'POST', bytes: 2_000_000 });
  const [down] = await send({ url: `${peer.url}/large`, ca: peer.ca });
  assert.equal(down.body.length, 8 << 20);
  const [events] = await send({ url: `${peer.url}/events`, ca: peer.ca });
  assert.equal(events.body, 'data: 1\n\ndata: 2\n\n');
});

test('limits and broken streams are errors, not short bodies', async (t) => {
  const peer = await secureServer(t);
  const fate = async (path, more = {}) => (await send({ url: peer.url + path, ca: peer.ca, ...more }))[0];
  assert.equal((await fate('/large', { maxBodyBytes: 1 << 20 })).error.type, 'OutputLimitExceeded');
  const cut = await fate('/cut');
  assert.equal(cut.status, 200);
  assert.ok(cut.error, 'a body that ends in the middle');
  assert.equal(cut.body, undefined);
  assert.ok((await fate('/reset')).error);
  assert.equal((await fate('/')).status, 200, 'the peer is still there');
});

test('a certificate that nobody vouches for is refused', async (t) => {
  const peer = await secureServer(t);
  const [got] = await send({ url: peer.url });
  assert.match(got.error.message, /certificate/i);
  assert.equal(got.status, undefined);
});
