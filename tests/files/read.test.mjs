// The read tool over MCP: content in three encodings, pages by bytes and lines, directories, stat, and every way to ask wrongly.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv';
import { temporaryDirectory } from '../program.mjs';
import { connect, kinds } from './clients.mjs';

function project(t) {
  const dir = temporaryDirectory(t);
  const write = (name, content) => writeFileSync(join(dir, name), content);
  mkdirSync(join(dir, 'src'));
  mkdirSync(join(dir, 'secrets'));
  write('README.md', 'h\u00e4llo\n');
  write('src/main.cc', 'int main() {}\n');
  write('secrets/key.pem', 'PRIVATE');
  write('lines.txt', Array.from({ length: 1000 }, (_, i) => `line ${i + 1}\n`).join(''));
  write('mixed.txt', 'a\u00e4\u20ac\u{1f600}'.repeat(2000));
  write('latin.txt', Buffer.from([0x68, 0xe4, 0x6c, 0x6c, 0x6f]));
  write('blob.bin', Buffer.from(Array.from({ length: 256 }, (_, i) => i)));
  write('dot.png', Buffer.from('iVBORw0KGgo=', 'base64'));
  write('empty', '');
  symlinkSync('/etc/passwd', join(dir, 'out-link'));
  symlinkSync('README.md', join(dir, 'in-link'));
  symlinkSync('loop', join(dir, 'loop'));
  symlinkSync('/etc', join(dir, 'etc'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  return { dir, config: { mounts: [{ name: 'p', path: dir, deny: ['secrets', '*.pem'] }] } };
}

for (const kind of kinds) {
  test(`${kind}: a file, a part of it, a directory, a stat`, async (t) => {
    const { config } = project(t);
    const client = await connect(t, kind, { config });
    assert.deepEqual(await client.done('read', { path: '/host/p/README.md' }), { content: 'h\u00e4llo\n', encoding: 'utf-8', size: 7 });
    assert.equal((await client.tool('read', { path: '/host/p/README.md' })).content[0].text, 'h\u00e4llo\n');
    assert.equal((await client.done('read', { path: '/host/p/lines.txt', line: 500, lines: 2 })).content, 'line 500\nline 501\n');
    const { entries } = await client.done('read', { path: '/host/p' });
    assert.deepEqual(entries.find(({ name }) => name === 'src'), { name: 'src', type: 'dir' });
    assert.ok(!entries.some(({ name }) => name === 'secrets'), 'what is denied is not listed');
    const stat = await client.done('read', { path: '/host/p/README.md', stat: true });
    assert.equal(stat.size, 7);
    assert.equal(stat.type, 'file');
  });
}

test('what is structured keeps to the schema that tools/list shows', async (t) => {
  const { config } = project(t);
  const client = await connect(t, 'modern http', { config });
  const { tools } = await client.call('tools/list');
  const ajv = new Ajv({ strict: false });
  const checks = Object.fromEntries(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema)]));
  const calls = [
    ['read', { path: '/host/p/README.md' }], ['read', { path: '/host/p' }], ['read', { path: '/' }], ['read', { path: '/host/p/src', stat: true }],
    ['read', { path: '/host/p/blob.bin', encoding: 'base64' }], ['read', { path: '/host/p/dot.png', encoding: 'binary' }],
    ['read', { path: '/host/p/lines.txt', line: 3, lines: 4 }], ['read', { path: '/host/p/empty' }],
    ['write', { path: '/tmp/x', content: 'x' }], ['write', { path: '/tmp/x', content: 'x', mode: 'append' }],
    ['search', { pattern: 'main' }], ['search', { pattern: 'line', context: 1, maxResults: 2 }], ['search', { pattern: 'main', filesOnly: true }],
    ['search', { pattern: 'nowhere to be found' }],
  ];
  for (const [name, args] of calls) {
    const structured = await client.done(name, args);
    assert.ok(checks[name](structured), `${name} ${JSON.stringify(args)}: ${JSON.stringify(checks[name].errors)}`);
  }
});

test('encodings: utf-8 replaces what it must and says so, base64 is exact, binary can be shown', async (t) => {
  const { config } = project(t);
  const client = await connect(t, 'modern http', { config });
  const lossy = await client.tool('read', { path: '/host/p/latin.txt' });
  assert.equal(lossy.structuredContent.content, 'h\ufffdllo');
  assert.match(lossy.content[0].text, /not valid UTF-8/);
  const exact = await client.done('read', { path: '/host/p/blob.bin', encoding: 'base64' });
  assert.deepEqual([...Buffer.from(exact.content, 'base64')], Array.from({ length: 256 }, (_, i) => i));
  const image = await client.tool('read', { path: '/host/p/dot.png', encoding: 'binary' });
  const shown = image.content.find(({ type }) => type === 'image');
  assert.deepEqual({ mimeType: shown.mimeType, data: shown.data }, { mimeType: 'image/png', data: 'iVBORw0KGgo=' });
  const other = await client.tool('read', { path: '/host/p/blob.bin', encoding: 'binary' });
  assert.equal(other.content.find(({ type }) => type === 'resource').resource.mimeType, 'application/octet-stream');
});

test('pages by offset join to the whole file, and none begins or ends inside a character', async (t) => {
  const { config } = project(t);
  const client = await connect(t, 'modern http', { config });
  for (const maxBytes of [5, 7, 64, 1000, 100_000]) {
    let text = '', offset = 0, pages = 0;
    for (; offset !== undefined && pages < 5000; ++pages) {
      const page = await client.done('read', { path: '/host/p/mixed.txt', offset, maxBytes });
      assert.ok(!page.content.includes('\ufffd'), `a whole character at ${offset} by ${maxBytes}`);
      assert.equal(page.size, 20_000);
      text += page.content;
      offset = page.nextOffset;
      if (maxBytes < 1000 && pages > 60) break;  // enough of the small ones
    }
    if (maxBytes >= 1000) assert.equal(text, 'a\u00e4\u20ac\u{1f600}'.repeat(2000));
    else assert.ok('a\u00e4\u20ac\u{1f600}'.repeat(2000).startsWith(text));
  }
});

test('an offset inside a character moves to where one starts', async (t) => {
  const { config } = project(t);
  const client = await connect(t, 'modern http', { config });
  for (let offset = 0; offset < 10; ++offset) {
    const { content } = await client.done('read', { path: '/host/p/mixed.txt', offset, maxBytes: 40 });
    assert.ok(!content.includes('\ufffd'), `${offset}: ${content}`);
  }
});

test('pages by line say where to go on, and the end is the end', async (t) => {
  const { config } = project(t);
  const client = await connect(t, 'modern http', { config });
  let line = 1, text = '';
  for (let pages = 0; line !== undefined && pages < 20; ++pages) {
    const page = await client.done('read', { path: '/host/p/lines.txt', line, lines: 300 });
    text += page.content;
    line = page.nextLine;
  }
  assert.equal(text, Array.from({ length: 1000 }, (_, i) => `line ${i + 1}\n`).join(''));
  assert.match(await client.refused('read', { path: '/host/p/lines.txt', line: 5000 }), /only 1000 lines/);
});

test('a large file is cut, says so, and its middle is read without reading the rest', async (t) => {
  const { dir, config } = project(t);
  const huge = join(dir, 'huge');
  writeFileSync(huge, '');
  truncateSync(huge, 50 * 1024 ** 3);
  const client = await connect(t, 'modern http', { config });
  const page = await client.done('read', { path: '/host/p/huge', offset: 49 * 1024 ** 3, maxBytes: 10, encoding: 'base64' });
  assert.deepEqual({ content: page.content, size: page.size, next: page.nextOffset }, { content: Buffer.alloc(10).toString('base64'), size: 50 * 1024 ** 3, next: 49 * 1024 ** 3 + 10 });
  writeFileSync(join(dir, 'long.txt'), 'x'.repeat(300_000));
  const long = await client.tool('read', { path: '/host/p/long.txt' });
  assert.ok(long.content[0].text.length < 70_000);
  assert.match(long.content[0].text, /read on with offset=65024/);
  assert.equal(long.structuredContent.content.length, 65_024);
  assert.equal(long.structuredContent.size, 300_000);
});

test('bad input gets a sentence and an errno, never a crash and never a host path', async (t) => {
  const { dir, config } = project(t);
  const client = await connect(t, 'modern http', { config });
  const rows = [
    ['nothing there', '/host/p/nothing', /ENOENT/],
    ['outside of the tree', '/etc/passwd', /ENOENT/],
    ['dots', '/host/p/../../../etc/passwd', /ENOENT/],
    ['dots out of a mount', '/host/p/../q/x', /ENOENT/],
    ['a device of the host', '/dev/zero', /ENOENT/],
    ['relative', 'README.md', /EINVAL/],
    ['empty', '', /ENOENT/],
    ['NUL', '/host/p/README.md\0.png', /EINVAL/],
    ['long name', `/host/p/${'n'.repeat(256)}`, /ENAMETOOLONG/],
    ['long path', `/host/p${'/d'.repeat(3000)}`, /ENAMETOOLONG/],
    ['file as directory', '/host/p/README.md/x', /ENOTDIR/],
    ['slash behind a file', '/host/p/README.md/', /ENOTDIR/],
    ['pipe', '/host/p/pipe', /EACCES/],
    ['link that leads out', '/host/p/out-link', /EXDEV/],
    ['through a link that leads out', '/host/p/etc/passwd', /EXDEV/],
    ['loop', '/host/p/loop', /ELOOP/],
    ['denied directory', '/host/p/secrets/key.pem', /EACCES/],
    ['denied by spelling', '/host/p//src/../secrets/./key.pem', /EACCES/],
  ];
  for (const [what, path, expected] of rows) {
    const text = await client.refused('read', { path });
    assert.match(text, expected, what);
    assert.ok(!text.includes(dir), `${what}: ${text}`);
  }
  assert.equal((await client.done('read', { path: '/host//p/./src/../in-link' })).content, 'h\u00e4llo\n');
});

test('arguments of the wrong kind are named', async (t) => {
  const client = await connect(t, 'modern http');
  for (const args of [{}, { path: 7 }, { path: '/tmp', encoding: 'utf-16' }, { path: '/tmp', offset: 'x' }, { path: '/tmp', extra: 1 }])
    assert.match(await client.refused('read', args), /ValidationError|InvalidParams/i, JSON.stringify(args));
});

test('/dev is no way in: a mounted device is refused without being opened', async (t) => {
  const client = await connect(t, 'modern http', { config: { mounts: [{ name: 'dev', path: '/dev' }] } });
  for (const name of ['zero', 'null', 'tty', 'random']) assert.match(await client.refused('read', { path: `/host/dev/${name}` }), /EACCES|ENOENT|ENXIO/, name);
});
