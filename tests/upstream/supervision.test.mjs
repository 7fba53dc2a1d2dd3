// Servers that crash, hang, print rubbish, flood stderr, or sit in a cage, behind a running relay: each costs only its own calls, every
// failed call says why, and nothing is left when relay ends.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd, serve, temporaryDirectory, until } from '../program.mjs';
import { callTool } from '../mcp.mjs';
import { alive, describe } from '../processes.mjs';

const fixtures = join(import.meta.dirname, 'fixtures');
const scripted = (name, more = {}) => ({
  name, command: '/usr/bin/python3', args: [join(fixtures, 'scripted_server.py'), ...(more.options ?? [])], expose: 'tools', ...more.entry,
});
const textOf = (result) => result.content[0].text;

test('a crash is explained without secrets, and the next call finds a new process', async (t) => {
  const { endpoint } = await serve(t, {
    config: { mcps: [scripted('s', { entry: { env: { SECRET: '${env:MY_SECRET_TOKEN}' } } }), scripted('other')] },
    env: { MY_SECRET_TOKEN: 'sesame-open-please' },
  });
  await until('the tools', () => callTool(endpoint, 's__echo', { text: 'up' }).then(() => true, () => false), { seconds: 60 });
  const crash = await callTool(endpoint, 's__crash');
  assert.equal(crash.isError, true);
  assert.match(textOf(crash), /server s went away during the call: it exited with code 3; .*the disk of \*\*\* is on fire/);
  assert.doesNotMatch(textOf(crash), /sesame/);
  assert.equal(textOf(await callTool(endpoint, 's__echo', { text: 'again' })), 'again');
  assert.equal(textOf(await callTool(endpoint, 'other__echo', { text: 'untouched' })), 'untouched');
});

test('rubbish, floods and silence cost nothing but themselves', async (t) => {
  const { endpoint } = await serve(t, { config: { mcps: [scripted('s', { entry: { callTimeoutMs: 2000 } }), scripted('other')] } });
  await until('the tools', () => callTool(endpoint, 's__echo', { text: 'up' }).then(() => true, () => false), { seconds: 60 });
  assert.equal(textOf(await callTool(endpoint, 's__garbage')), 'survived');
  const [hang, echo] = await Promise.all([callTool(endpoint, 's__hang'), callTool(endpoint, 'other__echo', { text: 'meanwhile' })]);
  assert.equal(hang.isError, true);
  assert.match(textOf(hang), /server s: no answer to tools\/call/);
  assert.equal(textOf(echo), 'meanwhile');
});

test('a caged server has its declared paths, its declared host, and nothing else', async (t) => {
  const web = createServer((request, response) => response.end(`you said ${request.url}`));
  await new Promise((done) => web.listen(0, '127.0.0.1', done));
  atEnd(t, () => new Promise((done) => web.close(done)));
  const host = `127.0.0.1:${web.address().port}`;
  const folder = temporaryDirectory(t);
  for (const name of ['in', 'out', 'secret']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), `content of ${name}`);
  }
  const sandbox = { read: [fixtures, join(folder, 'in')], write: [join(folder, 'out')], hosts: [host] };
  const { endpoint } = await serve(t, { config: { mcps: [scripted('caged', { entry: { sandbox } })] } });
  const tell = async (tool, args) => textOf(await callTool(endpoint, `caged__${tool}`, args));
  await until('the tools', () => tell('echo', { text: 'up' }).then(() => true, () => false), { seconds: 60 });
  assert.equal(await tell('read', { path: join(folder, 'in/file') }), 'content of in');
  assert.match(await tell('write', { path: join(folder, 'in/new') }), /Read-only file system/);
  assert.equal(await tell('write', { path: join(folder, 'out/new') }), 'ok');
  assert.equal(readFileSync(join(folder, 'out/new'), 'utf8'), 'written');
  assert.match(await tell('read', { path: join(folder, 'secret/file') }), /^FileNotFoundError/);
  assert.equal(await tell('processes', {}), '[1, 2]');
  assert.equal(await tell('get', { url: `http://${host}/path` }), 'you said /path');
  assert.match(await tell('get', { url: 'http://evil.test/' }), /403/);
  assert.match(await tell('connect', { host: '127.0.0.1', port: web.address().port }), /^ConnectionRefusedError/);
});

test('a server\'s process that left its session does not outlive a relay that is killed', async (t) => {
  const server = await serve(t, { config: { mcps: [scripted('s')] } });
  await until('the tools', () => callTool(server.endpoint, 's__echo', { text: 'up' }).then(() => true, () => false), { seconds: 60 });
  const detached = describe(Number(textOf(await callTool(server.endpoint, 's__detach'))));
  assert.ok(alive(detached));
  await server.stop({ signal: 'SIGKILL' });
  await until('its end', () => !alive(detached));
});

test('a caged server that takes too much is ended by name, and its neighbour goes on', async (t) => {
  const sandbox = { read: [fixtures], limits: { memMb: 160, pids: 40 } };
  const server = await serve(t, { config: { toolsets: ['admin'], mcps: [scripted('caged', { entry: { sandbox } }), scripted('other')] } });
  const tell = async (tool, args) => textOf(await callTool(server.endpoint, tool, args));
  await until('the tools', () => tell('caged__echo', { text: 'up' }).then(() => true, () => false), { seconds: 60 });
  const { upstreams } = (await callTool(server.endpoint, 'server_info', {})).structuredContent;
  const { cage } = upstreams.servers.find(({ name }) => name === 'caged');
  const taken = await tell('caged__allocate', { megabytes: 4096 });
  assert.match(taken, cage.memory === 'group' ? /was killed: memory limit of 160 MB/ : /MemoryError/);
  assert.equal(await tell('caged__bomb', {}), 'Resource temporarily unavailable');
  assert.equal(await tell('other__echo', { text: 'untouched' }), 'untouched');
});
