// Clients hear when a file changes, however they are connected: each test runs over HTTP and stdio, in both eras.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve, temporaryDirectory, until } from '../program.mjs';
import { another, connect, kinds } from './clients.mjs';

const uri = (path) => `relay://files/${encodeURIComponent(path.slice(1))}`;

function mounted(t) {
  const dir = temporaryDirectory(t);
  writeFileSync(join(dir, 'watched.txt'), 'one');
  writeFileSync(join(dir, 'other.txt'), 'one');
  mkdirSync(join(dir, 'folder'));
  mkdirSync(join(dir, 'secret'));
  writeFileSync(join(dir, 'secret', 'key'), 'x');
  return { dir, config: { mounts: [{ name: 'p', path: dir, mode: 'rw', deny: ['secret'] }] } };
}

const updates = (client, which) => client.heard.filter(({ method, params }) => method === 'notifications/resources/updated' && params.uri === which).length;

for (const kind of kinds) {
  test(`${kind}: a file that is written, replaced and removed is reported`, async (t) => {
    const { dir, config } = mounted(t);
    const client = await connect(t, kind, { config });
    const watched = uri('/host/p/watched.txt');
    assert.deepEqual((await client.listen([watched])).honoured, [watched]);
    writeFileSync(join(dir, 'watched.txt'), 'two');
    await client.waitForUpdate(watched);
    const seen = updates(client, watched);
    writeFileSync(join(dir, 'new'), 'three');
    renameSync(join(dir, 'new'), join(dir, 'watched.txt'));
    await until('a report of the replacement', () => updates(client, watched) > seen, { seconds: 40 });
    const then = updates(client, watched);
    rmSync(join(dir, 'watched.txt'));
    await until('a report of the removal', () => updates(client, watched) > then, { seconds: 40 });
  });

  test(`${kind}: a write through the tool is a change like any other`, async (t) => {
    const client = await connect(t, kind);
    await client.done('write', { path: '/tmp/f', content: '1' });
    await client.listen([uri('/tmp/f')]);
    await client.done('write', { path: '/tmp/f', content: '2', mode: 'overwrite' });
    await client.waitForUpdate(uri('/tmp/f'));
  });

  test(`${kind}: a directory tells which names come and go`, async (t) => {
    const { dir, config } = mounted(t);
    const client = await connect(t, kind, { config });
    await client.listen([uri('/host/p/folder')]);
    writeFileSync(join(dir, 'folder', 'new'), 'x');
    await client.waitForUpdate(uri('/host/p/folder'));
  });

  test(`${kind}: only what was asked for is reported`, async (t) => {
    const { dir, config } = mounted(t);
    const client = await connect(t, kind, { config });
    await client.listen([uri('/host/p/watched.txt')]);
    writeFileSync(join(dir, 'other.txt'), 'two');
    writeFileSync(join(dir, 'watched.txt'), 'two');
    await client.waitForUpdate(uri('/host/p/watched.txt'));
    assert.equal(updates(client, uri('/host/p/other.txt')), 0);
  });

  test(`${kind}: what is not there, denied, virtual or nobody's is refused`, async (t) => {
    const { config } = mounted(t);
    const client = await connect(t, kind, { config });
    const uris = [uri('/host/p/nothing'), uri('/host/p/secret/key'), uri('/host'), uri('/etc/passwd'), 'relay://files/%zz', 'http://example.com/', 'relay://nothing/x'];
    assert.deepEqual((await client.listen(uris)).honoured, []);
  });

  test(`${kind}: after unsubscribing there is silence`, async (t) => {
    const { dir, config } = mounted(t);
    const client = await connect(t, kind, { config });
    const { close } = await client.listen([uri('/host/p/watched.txt')]);
    writeFileSync(join(dir, 'watched.txt'), 'two');
    await client.waitForUpdate(uri('/host/p/watched.txt'));
    await close();
    client.heard.length = 0;
    const second = kind.endsWith('http') ? await another(t, client.endpoint, kind.split(' ')[0]) : client;
    await second.listen([uri('/host/p/other.txt')]);
    writeFileSync(join(dir, 'watched.txt'), 'three');
    writeFileSync(join(dir, 'other.txt'), 'three');
    await second.waitForUpdate(uri('/host/p/other.txt'));
    assert.equal(updates(client, uri('/host/p/watched.txt')), 0);
  });

  test(`${kind}: a file in /out changes the list of resources, and the list has it`, async (t) => {
    const client = await connect(t, kind);
    const before = (await client.call('resources/list')).resources.map(({ uri: one }) => one);
    assert.ok(!before.includes(uri('/out/plot.png')));
    if (kind.startsWith('modern')) await client.listen([], { list: true });
    await client.done('write', { path: '/out/plot.png', content: 'aGVsbG8=', encoding: 'base64' });
    await client.waitFor('a change of the list', ({ method }) => method === 'notifications/resources/list_changed');
    const listed = (await client.call('resources/list')).resources.find((one) => one.uri === uri('/out/plot.png'));
    assert.deepEqual({ name: listed.name, mimeType: listed.mimeType, size: listed.size }, { name: 'plot.png', mimeType: 'image/png', size: 5 });
  });
}

test('a file that is written in a loop does not flood its subscriber', async (t) => {
  const { dir, config } = mounted(t);
  const client = await connect(t, 'modern http', { config });
  const watched = uri('/host/p/watched.txt');
  await client.listen([watched]);
  for (let i = 0; i < 5000; ++i) writeFileSync(join(dir, 'watched.txt'), String(i));
  await client.waitForUpdate(watched);
  await client.done('write', { path: '/host/p/end.txt', content: 'x' });
  const { honoured } = await (await another(t, client.endpoint)).listen([uri('/host/p/end.txt')]);
  assert.equal(honoured.length, 1);
  assert.ok(updates(client, watched) < 1000, `${updates(client, watched)} reports of 5000 writes`);
});

test('several clients watch one file, and one that leaves takes nothing from the others', async (t) => {
  const { dir, config } = mounted(t);
  const first = await connect(t, 'legacy http', { config });
  const second = await another(t, first.endpoint, 'legacy');
  const third = await another(t, first.endpoint, 'modern');
  const watched = uri('/host/p/watched.txt');
  for (const client of [first, second, third]) assert.equal((await client.listen([watched])).honoured.length, 1);
  assert.equal((await first.end()).status, 204);
  writeFileSync(join(dir, 'watched.txt'), 'two');
  await second.waitForUpdate(watched);
  await third.waitForUpdate(watched);
});

test('a session has at most 256 subscriptions', async (t) => {
  const client = await connect(t, 'legacy http');
  for (let i = 0; i < 256; ++i) await client.done('write', { path: `/tmp/f${i}`, content: '' });
  const uris = Array.from({ length: 256 }, (_, i) => uri(`/tmp/f${i}`));
  assert.equal((await client.listen(uris)).honoured.length, 256);
  await client.done('write', { path: '/tmp/more', content: '' });
  assert.deepEqual((await client.listen([uri('/tmp/more')])).honoured, []);
  assert.equal((await client.listen([uris[0]])).honoured.length, 1, 'one that it has already is fine');
});

test('sessions with their own workspace hear of their own files only', async (t) => {
  const first = await connect(t, 'legacy http', { config: { workspace: 'session' } });
  const second = await another(t, first.endpoint, 'legacy');
  for (const client of [first, second]) {
    await client.done('write', { path: '/tmp/same', content: '1' });
    await client.listen([uri('/tmp/same')]);
  }
  await first.done('write', { path: '/tmp/same', content: '2', mode: 'overwrite' });
  await first.waitForUpdate(uri('/tmp/same'));
  await second.done('write', { path: '/tmp/end', content: '1' });
  await second.listen([uri('/tmp/end')]);
  await second.done('write', { path: '/tmp/end', content: '2', mode: 'overwrite' });
  await second.waitForUpdate(uri('/tmp/end'));
  assert.equal(updates(second, uri('/tmp/same')), 0);
});

test('the workspace of a session goes with the session', async (t) => {
  const client = await connect(t, 'legacy http', { config: { workspace: 'session' } });
  await client.done('write', { path: '/tmp/f', content: '1' });
  const workspaces = () => readdirSync(join(client.cwd, '.relay', 'workspace')).filter((name) => name.startsWith('session-'));
  assert.equal(workspaces().length, 1);
  await client.end();
  await until('the workspace to go', () => workspaces().length === 0, { seconds: 40 });
});

test('subscribing is audited like reading, and a deny rule covers both', async (t) => {
  const server = await serve(t, { config: { toolsets: ['files'], policy: { deny: ['forbidden'] } } });
  const client = await another(t, server.endpoint);
  await client.done('write', { path: '/tmp/open', content: '1' });
  writeFileSync(join(server.cwd, '.relay', 'workspace', 'shared', 'tmp', 'forbidden'), 'x');
  const { honoured } = await client.listen([uri('/tmp/open'), uri('/tmp/forbidden')]);
  assert.deepEqual(honoured, [uri('/tmp/open')]);
});
