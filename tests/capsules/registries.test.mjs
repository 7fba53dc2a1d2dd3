// Registries that are not on the open network: on this machine by name, and behind the proxy of a company.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { atEnd, serve } from '../program.mjs';
import { patient, registry } from './support.mjs';

const files = { 'package.json': '{}', 'index.js': 'module.exports = "found";' };

async function found(server) {
  const result = await callTool(server.endpoint, 'run_js', { code: 'import x from "plain"; x', npm: { dependencies: { plain: '1.0.0' } } });
  assert.ok(!result.isError, result.content[0].text);
  return result.structuredContent.value;
}

test('a registry that a name of this machine leads to', async (t) => {
  const local = await registry(t, { plain: files }, { host: 'localhost' });
  const server = await serve(t, { config: patient, env: local.env });
  assert.equal(await found(server), 'found');
});

test('a registry that only the proxy of this machine can reach', async (t) => {
  const local = await registry(t, { plain: files }, { host: 'registry.example' });
  const asked = [];
  const proxy = http.createServer().on('connect', (request, socket) => {
    asked.push([request.url, request.headers['proxy-authorization']]);
    const registrySide = net.connect(local.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    registrySide.pipe(socket).pipe(registrySide);
    for (const end of [socket, registrySide]) end.on('error', () => {});
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  atEnd(t, () => new Promise((done) => proxy.close(done)));
  const env = { ...local.env, http_proxy: `http://me:secret@127.0.0.1:${proxy.address().port}`, no_proxy: 'other.example' };
  const server = await serve(t, { config: patient, env });
  assert.equal(await found(server), 'found');
  assert.ok(asked.length > 0);
  for (const [url, authorization] of asked) {
    assert.equal(url, `registry.example:${local.port}`);
    assert.equal(authorization, `Basic ${Buffer.from('me:secret').toString('base64')}`);
  }
});
