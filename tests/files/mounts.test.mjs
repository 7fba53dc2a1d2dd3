// What of the host is seen: mounts by configuration and by flag, their rules, policy.filesystem, and files as resources.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { configured, run, temporaryDirectory } from '../program.mjs';
import { connect, kinds } from './clients.mjs';

const uri = (path) => `relay://files/${encodeURIComponent(path.slice(1))}`;

function tree(t) {
  const dir = temporaryDirectory(t);
  for (const folder of ['src', 'secrets', 'Src']) mkdirSync(join(dir, folder));
  for (const [name, text] of [['src/a.js', 'a'], ['src/b.txt', 'b'], ['secrets/key', 'k'], ['Src/c.js', 'c'], ['.env', 'E=1'], ['src/.env', 'E=2'], ['x.pem', 'p']])
    writeFileSync(join(dir, name), text);
  symlinkSync('src', join(dir, 'alias'));
  symlinkSync('secrets', join(dir, 'innocent'));
  return dir;
}
const names = async (client, path) => (await client.done('read', { path })).entries.map(({ name }) => name);

for (const flag of ['--mount']) {
  test(`${flag} DIR[:name][:rw]`, async (t) => {
    const dir = tree(t), work = tree(t), plain = tree(t);
    const client = await connect(t, 'modern http', { flags: [flag, `${dir}:code`, flag, `${work}:work:rw`, flag, plain] });
    assert.deepEqual(await names(client, '/host'), ['code', 'work', basename(plain)].sort());
    assert.match(await client.refused('write', { path: '/host/code/new', content: 'x' }), /EROFS/);
    await client.done('write', { path: '/host/work/new', content: 'x' });
    assert.equal(readFileSync(join(work, 'new'), 'utf8'), 'x');
    assert.equal((await client.done('read', { path: `/host/${basename(plain)}/src/a.js` })).content, 'a');
  });
}

test('a mount that is not there is said at start, with its place in the configuration', async (t) => {
  const { file, cwd } = configured(t, { mounts: [{ name: 'x', path: './nowhere' }] });
  const { code, stderr } = await run('relay', ['serve', '-c', file, '--port', '0', '--no-open'], { cwd });
  assert.equal(code, 2);
  assert.match(stderr, /mounts\[0\]\.path/);
  const flag = await run('relay', ['serve', '--mount', join(cwd, 'nowhere'), '--port', '0', '--no-open'], { cwd });
  assert.equal(flag.code, 2);
});

test('allow and deny: deny beats allow, names count by whole parts and by case', async (t) => {
  const dir = tree(t);
  const client = await connect(t, 'modern http', { config: { mounts: [{ name: 'p', path: dir, allow: ['src/**', '/.env'], deny: ['.env', '*.txt'] }] } });
  assert.deepEqual(await names(client, '/host/p'), ['src']);
  assert.deepEqual(await names(client, '/host/p/src'), ['a.js']);
  assert.equal((await client.done('read', { path: '/host/p/src/a.js' })).content, 'a');
  for (const path of ['/host/p/.env', '/host/p/src/.env', '/host/p/src/b.txt', '/host/p/secrets/key', '/host/p/Src/c.js', '/host/p/x.pem'])
    assert.match(await client.refused('read', { path }), /EACCES/, path);
  assert.equal((await client.done('search', { pattern: '.', includeIgnored: true })).totalMatches, 1);
});

test('a link is judged by where it leads', async (t) => {
  const dir = tree(t);
  const client = await connect(t, 'modern http', { config: { mounts: [{ name: 'p', path: dir, deny: ['secrets'] }, { name: 'strict', path: dir, symlinks: 'never' }] } });
  assert.equal((await client.done('read', { path: '/host/p/alias/a.js' })).content, 'a');
  assert.match(await client.refused('read', { path: '/host/p/innocent/key' }), /EACCES/);
  assert.match(await client.refused('read', { path: '/host/strict/alias/a.js' }), /ELOOP/);
});

test('policy.filesystem narrows what tools see, and never widens', async (t) => {
  const dir = tree(t);
  const config = { mounts: [{ name: 'p', path: dir }], policy: { filesystem: { readonly: ['/host/p/src', '/tmp'], writable: ['/tmp/w'] } } };
  const client = await connect(t, 'modern http', { config });
  assert.deepEqual(await names(client, '/host/p'), ['src']);
  assert.equal((await client.done('read', { path: '/host/p/src/a.js' })).content, 'a');
  assert.match(await client.refused('read', { path: '/host/p/x.pem' }), /EACCES/);
  assert.match(await client.refused('write', { path: '/host/p/src/new', content: 'x' }), /EROFS/);
  assert.match(await client.refused('write', { path: '/tmp/f', content: 'x' }), /EROFS/);
  assert.match(await client.refused('write', { path: '/tmp/wide', content: 'x' }), /EROFS/);
  assert.match(await client.refused('write', { path: '/out/f', content: 'x' }), /EACCES/);
  await client.done('write', { path: '/tmp/w/f', content: 'x', parents: true });
  assert.equal((await client.done('search', { pattern: '[a-z]', paths: ['/host'] })).totalMatches, 2);
  assert.match(await client.refused('search', { pattern: 'x', paths: ['/out'] }), /EACCES/);
});

for (const kind of kinds) {
  test(`${kind}: files are resources, by list and by template`, async (t) => {
    const dir = tree(t);
    const client = await connect(t, kind, { config: { mounts: [{ name: 'p', path: dir, mode: 'rw', deny: ['secrets'] }] } });
    const { resources } = await client.call('resources/list');
    const uris = resources.map((one) => one.uri);
    for (const path of ['/host/p', '/tmp', '/out']) assert.ok(uris.includes(uri(path)), path);
    assert.equal(new Set(uris).size, uris.length, 'each once');
    const { resourceTemplates } = await client.call('resources/templates/list');
    assert.equal(resourceTemplates.filter(({ uriTemplate }) => uriTemplate === 'relay://files/{path}').length, 1);
    assert.deepEqual((await client.call('resources/read', { uri: uri('/host/p/src/a.js') })).contents, [{ uri: uri('/host/p/src/a.js'), mimeType: 'text/javascript', text: 'a' }]);
    const listing = JSON.parse((await client.call('resources/read', { uri: uri('/host/p') })).contents[0].text);
    const next = listing.entries.find(({ name }) => name === 'src').uri;
    assert.ok(JSON.parse((await client.call('resources/read', { uri: next })).contents[0].text).entries.some(({ name }) => name === 'a.js'));
    for (const bad of [uri('/host/p/nothing'), uri('/host/p/secrets/key'), 'relay://files/%', 'relay://files/etc%2Fpasswd', uri('/host/p/../../etc/passwd')])
      await assert.rejects(client.call('resources/read', { uri: bad }), undefined, bad);
  });
}
