// The HTTP client behind a forward proxy that the environment names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../program.mjs';
import { forwardProxy, plainServer, secureServer, send } from './peers.mjs';

test('a plain request goes through the proxy, and the address hook sees the proxy', async (t) => {
  const [peer, proxy] = [await plainServer(t), await forwardProxy(t)];
  const [got] = await send({ url: `${peer.url}/a?b=c`, proxy: true }, { env: { http_proxy: proxy.url } });
  assert.equal(got.status, 200);
  assert.equal(got.headers.Via ?? got.headers.via, '1.1 test');
  assert.equal(JSON.parse(got.body).target, '/a?b=c');
  assert.deepEqual(proxy.seen, [`GET ${peer.url}/a?b=c`]);
  assert.deepEqual(got.addresses, [`127.0.0.1:${proxy.port}`]);
});

test('TLS goes through a tunnel, end to end, and still speaks HTTP/2', async (t) => {
  const [peer, proxy] = [await secureServer(t), await forwardProxy(t)];
  const [got] = await send({ url: peer.url, ca: peer.ca, proxy: true }, { env: { https_proxy: proxy.url } });
  assert.deepEqual([got.status, got.version], [200, '2']);
  assert.deepEqual(proxy.seen, [`CONNECT localhost:${peer.port}`]);
  const [untrusted] = await send({ url: peer.url, proxy: true }, { env: { https_proxy: proxy.url } });
  assert.match(untrusted.error.message, /certificate/i, 'the proxy vouches for nobody');
});

test('no_proxy and requests that want no proxy go directly', async (t) => {
  const [peer, proxy] = [await plainServer(t), await forwardProxy(t)];
  const direct = async (wish, env) => (await send({ url: peer.url, ...wish }, { env: { http_proxy: proxy.url, ...env } }))[0];
  assert.equal((await direct({ proxy: true }, { no_proxy: 'example.com,127.0.0.1' })).status, 200);
  assert.equal((await direct({ proxy: true }, { NO_PROXY: '*' })).status, 200);
  assert.equal((await direct({ proxy: false }, {})).status, 200);
  assert.deepEqual(proxy.seen, []);
  assert.equal((await direct({ proxy: true }, { no_proxy: 'example.com' })).status, 200);
  assert.equal(proxy.seen.length, 1);
});

test('credentials of the proxy reach the proxy and nobody else', async (t) => {
  const only = `Basic ${Buffer.from('user:secret').toString('base64')}`;
  const [plain, secure, proxy] = [await plainServer(t), await secureServer(t), await forwardProxy(t, { only })];
  const named = proxy.url.replace('//', '//user:secret@');
  const [a] = await send({ url: plain.url, proxy: true }, { env: { http_proxy: named } });
  assert.equal(a.status, 200);
  const [b] = await send({ url: secure.url, ca: secure.ca, proxy: true }, { env: { https_proxy: named } });
  assert.deepEqual(JSON.parse(b.body), { method: 'GET', bytes: 0 });
  const [refused] = await send({ url: secure.url, ca: secure.ca, proxy: true }, { env: { https_proxy: proxy.url } });
  assert.match(refused.error.message, /407/);
});

test('a proxy that is not there is an error, and nothing goes around it', async (t) => {
  const peer = await plainServer(t);
  const [got] = await send({ url: peer.url, proxy: true }, { env: { http_proxy: `http://127.0.0.1:${await freePort()}` } });
  assert.equal(got.status, undefined);
  assert.ok(got.error);
});
