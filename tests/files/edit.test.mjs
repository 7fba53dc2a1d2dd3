// The edit tool over MCP: what it changes and shows, what it refuses, and that rules about write hold for it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../program.mjs';
import { connect, kinds } from './clients.mjs';

for (const kind of kinds) {
  test(`${kind}: an edit changes one place and shows it`, async (t) => {
    const dir = temporaryDirectory(t);
    writeFileSync(join(dir, 'main.py'), 'import os\n\nx = 1\ny = 2\n');
    const client = await connect(t, kind, { config: { mounts: [{ name: 'p', path: dir, mode: 'rw' }] } });
    const result = await client.tool('edit', { path: '/host/p/main.py', oldText: 'x = 1', newText: 'x = 10' });
    const diff = '@@ -1,4 +1,4 @@\n import os\n \n-x = 1\n+x = 10\n y = 2\n';
    assert.deepEqual(result.structuredContent, { path: '/host/p/main.py', replaced: 1, size: 24, diff });
    assert.equal(result.content[0].text, `replaced 1 place in /host/p/main.py (24 bytes now)\n${diff}`);
    assert.equal(readFileSync(join(dir, 'main.py'), 'utf8'), 'import os\n\nx = 10\ny = 2\n');
  });
}

test('what does not fit is refused, and the file stays as it was', async (t) => {
  const client = await connect(t, 'modern http');
  await client.done('write', { path: '/tmp/f', content: 'a b a\n' });
  const edit = (more) => client.refused('edit', { path: '/tmp/f', oldText: 'a', newText: 'c', ...more });
  assert.match(await edit({}), /2 times in \/tmp\/f, not 1; .* set count to 2/);
  assert.match(await edit({ count: 3 }), /2 times .* not 3/);
  assert.match(await edit({ oldText: 'A' }), /not in \/tmp\/f/);
  assert.match(await edit({ oldText: '' }), /empty/);
  assert.match(await edit({ newText: 'a' }), /the same/);
  assert.match(await edit({ path: '/tmp/none' }), /ENOENT/);
  assert.match(await edit({ path: '/tmp' }), /EISDIR/);
  assert.equal((await client.done('read', { path: '/tmp/f' })).content, 'a b a\n');
  assert.equal((await client.done('edit', { path: '/tmp/f', oldText: 'a', newText: 'c', count: 2 })).replaced, 2);
  assert.equal((await client.done('read', { path: '/tmp/f' })).content, 'c b c\n');
});

test('whoever may not write may not edit', async (t) => {
  const dir = temporaryDirectory(t);
  for (const name of ['free', 'ruled', 'listed', 'secret']) writeFileSync(join(dir, name), 'x');
  const client = await connect(t, 'modern stdio', { config: {
    mounts: [{ name: 'rw', path: dir, mode: 'rw' }, { name: 'ro', path: dir }],
    policy: { deny: ['^write /host/rw/listed', 'password'], rules: [{ effect: 'deny', tool: 'write', path: '/host/rw/ruled' }] },
  } });
  const edit = (path, newText = 'y') => ({ path, oldText: 'x', newText });
  assert.match(await client.refused('edit', edit('/host/ro/free')), /EROFS/);
  for (const name of ['ruled', 'listed']) assert.match(await client.refused('edit', edit(`/host/rw/${name}`)), /DENIED/i, name);
  assert.match(await client.refused('edit', edit('/host/rw/secret', 'password')), /DENIED/i);
  for (const name of ['free', 'ruled', 'listed', 'secret']) assert.equal(readFileSync(join(dir, name), 'utf8'), 'x', name);
  await client.done('edit', edit('/host/rw/free'));
  const off = await connect(t, 'modern stdio', { config: { tools: { write: { enabled: false } } } });
  assert.deepEqual((await off.call('tools/list')).tools.map(({ name }) => name).sort(), ['read', 'search']);
});

test('guarded mode treats an edit like a write', async (t) => {
  const dir = temporaryDirectory(t);
  writeFileSync(join(dir, 'f'), 'x');
  const client = await connect(t, 'modern stdio', { config: { mounts: [{ name: 'm', path: dir, mode: 'rw' }], policy: { mode: 'guarded' } } });
  assert.match(await client.refused('edit', { path: '/host/m/f', oldText: 'x', newText: 'y' }), /guarded|DENIED/i);
  await client.done('write', { path: '/tmp/f', content: 'x' });
  await client.done('edit', { path: '/tmp/f', oldText: 'x', newText: 'y' });
});
