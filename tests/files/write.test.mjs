// The write tool over MCP: create, append, overwrite; whole or not at all; and where nothing may be written.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../program.mjs';
import { another, connect, kinds } from './clients.mjs';

function mounts(t, more = {}) {
  const rw = temporaryDirectory(t), ro = temporaryDirectory(t), outside = temporaryDirectory(t);
  writeFileSync(join(outside, 'victim'), 'untouched');
  symlinkSync(join(outside, 'victim'), join(rw, 'link'));
  symlinkSync(outside, join(rw, 'away'));
  return { rw, ro, outside, config: { mounts: [{ name: 'rw', path: rw, mode: 'rw', deny: ['*.lock'] }, { name: 'ro', path: ro }], ...more } };
}

for (const kind of kinds) {
  test(`${kind}: create, append, overwrite`, async (t) => {
    const { rw, config } = mounts(t);
    const client = await connect(t, kind, { config });
    assert.deepEqual(await client.done('write', { path: '/host/rw/f', content: 'one\n' }), { path: '/host/rw/f', bytesWritten: 4, size: 4, created: true });
    assert.match(await client.refused('write', { path: '/host/rw/f', content: 'x' }), /EEXIST.*overwrite or append/s);
    assert.equal((await client.done('write', { path: '/host/rw/f', content: 'two\n', mode: 'append' })).size, 8);
    assert.equal((await client.done('write', { path: '/host/rw/new', content: 'x', mode: 'append' })).created, true);
    const result = await client.tool('write', { path: '/host/rw/f', content: '/w==', encoding: 'base64', mode: 'overwrite' });
    assert.deepEqual([...readFileSync(join(rw, 'f'))], [255]);
    const link = result.content.find(({ type }) => type === 'resource_link');
    assert.equal((await client.call('resources/read', { uri: link.uri })).contents[0].blob, '/w==');
  });
}

test('overwriting replaces the file at once, keeps its mode, and leaves nothing beside it', async (t) => {
  const { rw, config } = mounts(t);
  const client = await connect(t, 'modern http', { config });
  writeFileSync(join(rw, 'script.sh'), 'old');
  chmodSync(join(rw, 'script.sh'), 0o751);
  const before = statSync(join(rw, 'script.sh')).ino;
  await client.done('write', { path: '/host/rw/script.sh', content: 'new', mode: 'overwrite' });
  const after = statSync(join(rw, 'script.sh'));
  assert.notEqual(after.ino, before, 'another file took its place');
  assert.equal(after.mode & 0o7777, 0o751);
  assert.deepEqual(readdirSync(rw).sort(), ['away', 'link', 'script.sh']);
});

test('a reader never sees half of a file that is overwritten', async (t) => {
  const { rw, config } = mounts(t);
  const client = await connect(t, 'modern http', { config });
  const contents = ['a'.repeat(200_000), 'b'.repeat(200_000)];
  await client.done('write', { path: '/host/rw/f', content: contents[0] });
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 40; ++i) await client.done('write', { path: '/host/rw/f', content: contents[i % 2], mode: 'overwrite' });
    writing = false;
  })();
  let seen = 0;
  while (writing) {
    const text = readFileSync(join(rw, 'f'), 'utf8');
    assert.ok(contents.includes(text), `${text.length} bytes: ${text.slice(0, 5)}…${text.slice(-5)}`);
    ++seen;
    await new Promise((done) => setImmediate(done));
  }
  await writer;
  assert.ok(seen > 10);
});

test('parents are made on request only', async (t) => {
  const client = await connect(t, 'modern http');
  assert.match(await client.refused('write', { path: '/tmp/a/b/c', content: 'x' }), /ENOENT.*parents/s);
  await client.done('write', { path: '/tmp/a/b/c', content: 'x', parents: true });
  assert.equal((await client.done('read', { path: '/tmp/a/b/c' })).content, 'x');
});

test('where nothing may be written', async (t) => {
  const { rw, ro, outside, config } = mounts(t);
  mkdirSync(join(rw, 'folder'));
  const client = await connect(t, 'modern http', { config });
  const rows = [
    ['read-only mount', '/host/ro/f', /EROFS/],
    ['the root', '/f', /EROFS|ENOENT/],
    ['beside the mounts', '/host/f', /ENOENT|EROFS/],
    ['outside', '/etc/cron.d/x', /ENOENT|EROFS/],
    ['by dots', '/host/rw/../../etc/x', /ENOENT|EROFS/],
    ['denied name', '/host/rw/x.lock', /EACCES/],
    ['a directory', '/host/rw/folder', /EISDIR/],
    ['slash at the end', '/tmp/f/', /EISDIR/],
    ['through a file', '/host/rw/link/x', /ENOTDIR|EXDEV/],
    ['through a link that leads out', '/host/rw/link', /EXDEV/],
    ['into a directory behind a link', '/host/rw/away/new', /EXDEV/],
    ['made-up files', '/mcps/x', /ENOENT|EROFS/],
    ['NUL', '/tmp/a\0b', /EINVAL/],
    ['long name', `/tmp/${'n'.repeat(300)}`, /ENAMETOOLONG/],
  ];
  for (const [what, path, expected] of rows)
    for (const mode of ['overwrite', 'append', 'create']) assert.match(await client.refused('write', { path, content: 'x', mode }), mode === 'create' && (what.includes('link') || what === 'a directory') ? /EXDEV|EEXIST|ENOTDIR/ : expected, `${what}, ${mode}`);
  assert.deepEqual(readdirSync(ro), []);
  assert.equal(readFileSync(join(outside, 'victim'), 'utf8'), 'untouched');
  assert.deepEqual(readdirSync(outside), ['victim']);
});

test('base64 that is none is refused before anything is written', async (t) => {
  const client = await connect(t, 'modern http');
  assert.match(await client.refused('write', { path: '/tmp/f', content: 'a===', encoding: 'base64' }), /base64/);
  assert.match(await client.refused('read', { path: '/tmp/f' }), /ENOENT/);
});

test('the quota counts /tmp and /out together, and what is deleted or replaced is paid back', async (t) => {
  const client = await connect(t, 'modern http', { config: { workspaceQuotaBytes: 1048576 } });
  const half = 'x'.repeat(500_000);
  await client.done('write', { path: '/tmp/a', content: half });
  await client.done('write', { path: '/out/b', content: half });
  assert.match(await client.refused('write', { path: '/tmp/c', content: half }), /ENOSPC/);
  assert.match(await client.refused('write', { path: '/tmp/a', content: half, mode: 'append' }), /ENOSPC/);
  await client.done('write', { path: '/tmp/a', content: 'small', mode: 'overwrite' });
  await client.done('write', { path: '/tmp/c', content: half });
});

test('the quota counts what an earlier server left', async (t) => {
  const first = await connect(t, 'modern stdio', { config: { workspaceQuotaBytes: 1048576 } });
  await first.done('write', { path: '/tmp/a', content: 'x'.repeat(900_000) });
  assert.ok(existsSync(join(first.cwd, '.relay/workspace/shared/tmp/a')));
  await first.server.stop();
  const { start } = await import('../program.mjs');
  const again = start(t, 'relay', ['stdio', '-c', join(first.cwd, 'relay.config.json')], { cwd: first.cwd, input: 'pipe' });
  const { modernRequest } = await import('../mcp.mjs');
  const { until } = await import('../program.mjs');
  again.child.stdin.write(`${modernRequest('tools/call', { name: 'write', arguments: { path: '/out/b', content: 'y'.repeat(900_000) } }, { id: 1 }).body}\n`);
  await until('an answer', () => again.stdout.includes('\n'), { seconds: 40 });
  assert.match(again.stdout, /ENOSPC/);
});

test('a shared workspace is one for all clients', async (t) => {
  const first = await connect(t, 'legacy http');
  await first.done('write', { path: '/tmp/f', content: 'mine' });
  for (const era of ['legacy', 'modern']) assert.equal((await (await another(t, first.endpoint, era)).done('read', { path: '/tmp/f' })).content, 'mine');
});

test('with workspace: session each session has its own, and a client that nothing tells from others has none', async (t) => {
  const first = await connect(t, 'legacy http', { config: { workspace: 'session' } });
  const second = await another(t, first.endpoint, 'legacy');
  const modern = await another(t, first.endpoint, 'modern');
  await first.done('write', { path: '/tmp/f', content: 'first' });
  assert.match(await second.refused('read', { path: '/tmp/f' }), /ENOENT/);
  assert.match(await modern.refused('read', { path: '/tmp/f' }), /ENOENT/);
  assert.match(await modern.refused('write', { path: '/tmp/f', content: 'modern' }), /needs an MCP session/);
  assert.equal((await first.done('read', { path: '/tmp/f' })).content, 'first');
  assert.equal((await second.done('search', { pattern: 'first' })).totalMatches, 0);
});
