// The search tool over MCP: every parameter, the totals, what is left out, and a search that is too large for anybody's patience.
import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { modernRequest, request } from '../mcp.mjs';
import { temporaryDirectory, until } from '../program.mjs';
import { another, connect, kinds } from './clients.mjs';

function project(t, files) {
  const dir = temporaryDirectory(t);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return { dir, config: { mounts: [{ name: 'p', path: dir, deny: ['secrets'] }] } };
}

const sources = {
  'src/a.cc': 'one\nint needle = 1;\nthree\n',
  'src/b.h': 'Needle\nneedle needle\n',
  'docs/deep/er/notes.md': 'a needle in hay\n',
  'build/out.cc': 'needle\n',
  '.gitignore': 'build/\n*.log\n!keep.log\n',
  'x.log': 'needle\n',
  'keep.log': 'needle\n',
  '.hidden': 'needle\n',
  'secrets/key': 'needle\n',
  'binary': Buffer.from('needle\0needle'),
  'crlf.txt': 'needle\r\nlast needle',
};
const places = ({ matches }) => matches.map(({ path, line, column }) => `${path.replace('/host/p/', '')}:${line}:${column}`);

for (const kind of kinds) {
  test(`${kind}: says where, in order, with totals`, async (t) => {
    const { config } = project(t, sources);
    const client = await connect(t, kind, { config });
    const result = await client.tool('search', { pattern: 'needle', paths: ['/host/p'] });
    assert.deepEqual(places(result.structuredContent), ['crlf.txt:1:1', 'crlf.txt:2:6', 'docs/deep/er/notes.md:1:3', 'keep.log:1:1', 'src/a.cc:2:5', 'src/b.h:2:1']);
    assert.deepEqual({ totalMatches: result.structuredContent.totalMatches, truncated: result.structuredContent.truncated }, { totalMatches: 6, truncated: false });
    assert.equal(result.structuredContent.matches[0].text, 'needle');
    assert.match(result.content[0].text, /src\/a\.cc\n  2:5: int needle = 1;/);
    const link = result.content.find(({ type, uri }) => type === 'resource_link' && uri.includes('a.cc'));
    assert.equal((await client.call('resources/read', { uri: link.uri })).contents[0].text, sources['src/a.cc']);
  });
}

test('every parameter does what it says', async (t) => {
  const { config } = project(t, { ...sources, 'regex.txt': 'a.b\naxb\n', 'src/deep/c.cc': 'needle\n' });
  const client = await connect(t, 'modern http', { config });
  const search = async (args) => places(await client.done('search', { pattern: 'needle', paths: ['/host/p'], ...args }));
  const rows = [
    ['paths', { paths: ['/host/p/src'] }, ['src/a.cc:2:5', 'src/b.h:2:1', 'src/deep/c.cc:1:1']],
    ['one file as a path', { paths: ['/host/p/src/b.h'] }, ['src/b.h:2:1']],
    ['paths within paths count once', { paths: ['/host/p/src', '/host/p/src/a.cc', '/host/p/src/'] }, ['src/a.cc:2:5', 'src/b.h:2:1', 'src/deep/c.cc:1:1']],
    ['filePattern by name', { filePattern: '*.cc' }, ['src/a.cc:2:5', 'src/deep/c.cc:1:1']],
    ['filePattern with braces', { filePattern: '*.{h,md}' }, ['docs/deep/er/notes.md:1:3', 'src/b.h:2:1']],
    ['filePattern with a path', { filePattern: 'src/*.cc' }, ['src/a.cc:2:5']],
    ['filePattern at any depth', { filePattern: 'src/**/*.cc' }, ['src/a.cc:2:5', 'src/deep/c.cc:1:1']],
    ['any case', { caseSensitive: false, filePattern: '*.h' }, ['src/b.h:1:1', 'src/b.h:2:1']],
    ['literal', { pattern: 'a.b', literal: true }, ['regex.txt:1:1']],
    ['regex', { pattern: 'a.b' }, ['regex.txt:1:1', 'regex.txt:2:1']],
    ['anchors', { pattern: '^needle$', filePattern: 'crlf.txt' }, []],
    ['includeIgnored', { includeIgnored: true, filePattern: '{.hidden,*.log,out.cc,binary}' }, ['.hidden:1:1', 'build/out.cc:1:1', 'keep.log:1:1', 'x.log:1:1']],
  ];
  for (const [what, args, expected] of rows) assert.deepEqual(await search(args), expected, what);
});

test('context lines, files only, and the first few of many', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${String(i).padStart(3, '0')}`, 'x\nhit\ny\nhit\n']));
  const { config } = project(t, many);
  const client = await connect(t, 'modern http', { config });
  const one = await client.done('search', { pattern: 'hit', context: 1, maxResults: 1 });
  assert.deepEqual({ ...one.matches[0], path: undefined }, { path: undefined, line: 2, column: 1, text: 'hit', before: ['x'], after: ['y'] });
  assert.deepEqual({ total: one.totalMatches, truncated: one.truncated }, { total: 600, truncated: true });
  const first = await client.done('search', { pattern: 'hit', maxResults: 5 });
  const again = await client.done('search', { pattern: 'hit', maxResults: 5 });
  assert.deepEqual(first.matches, again.matches, 'the same question, the same answer');
  assert.deepEqual(first.matches.map(({ path }) => path), ['/host/p/d0/f000', '/host/p/d0/f000', '/host/p/d0/f007', '/host/p/d0/f007', '/host/p/d0/f014']);
  const files = await client.done('search', { pattern: 'hit', filesOnly: true, maxResults: 1000 });
  assert.equal(files.matches.length, 300);
  assert.deepEqual(files.matches[0], { path: '/host/p/d0/f000' });
});

test('long lines are shown around the match, and a result stays small', async (t) => {
  const { config } = project(t, { long: `${'a'.repeat(100_000)}needle${'b'.repeat(100_000)}\n` });
  const client = await connect(t, 'modern http', { config });
  const { matches } = await client.done('search', { pattern: 'needle' });
  assert.equal(matches[0].column, 100_001);
  assert.ok(matches[0].text.includes('needle') && matches[0].text.length < 500);
});

test('bad questions get a sentence', async (t) => {
  const { config } = project(t, sources);
  const client = await connect(t, 'modern http', { config });
  const rows = [
    [{ pattern: '' }, /empty/], [{ pattern: '(' }, /regular expression.*literal/s], [{ pattern: '(?=x)' }, /regular expression/], [{ pattern: 'a\nb' }, /newline/],
    [{ pattern: 'x'.repeat(5000) }, /too long/], [{ pattern: 'x', filePattern: '{a,b}'.repeat(12) }, /alternatives/], [{ pattern: 'x', paths: ['/host/p/nothing'] }, /ENOENT/],
    [{ pattern: 'x', paths: ['relative'] }, /EINVAL/], [{ pattern: 'x', paths: ['/host/p/secrets'] }, /EACCES/], [{ pattern: 'x', paths: ['/host/p/a\0'] }, /EINVAL/],
  ];
  for (const [args, expected] of rows) assert.match(await client.refused('search', args), expected, JSON.stringify(args).slice(0, 80));
});

// A tree that no search ends by itself in: sparse files of zeros up front, of which each NUL would stop the scan, will not do; so
// text, as much as is quick to make, times many names for it.
function largeTree(t) {
  const dir = temporaryDirectory(t);
  writeFileSync(join(dir, 'huge'), 'text without what is looked for\n'.repeat(1000));
  const line = `${'lorem ipsum dolor sit amet '.repeat(3)}\n`;
  const block = line.repeat(Math.floor((32 << 20) / line.length));
  for (let i = 0; i < 12; ++i) writeFileSync(join(dir, `block${i}`), block);
  return { dir, config: { toolsets: ['files', 'admin'], mounts: [{ name: 'p', path: dir }] } };
}
const slow = { pattern: '(l.{0,60}){8}(z|q)\\d', caseSensitive: false };  // linear, but at a crawl, and no literal to look for

test('while searches crawl, everybody else is answered; and a cancelled search ends', async (t) => {
  const { config } = largeTree(t);
  const client = await connect(t, 'modern http', { config });
  const gone = new AbortController();
  const searches = Array.from({ length: 5 }, (_, i) => request(client.endpoint, { ...modernRequest('tools/call', { name: 'search', arguments: slow }, { id: 900 + i }), signal: gone.signal }).then(() => 'answered', () => 'gone'));
  const cpu = () => client.server.cpuSeconds();
  await until('the searches to run', () => cpu() > 0.5, { seconds: 60 });
  let ended = false;
  Promise.race(searches).then(() => { ended = true; });
  let answered = 0;
  for (let i = 0; i < 20 && !ended; ++i) {
    await (await another(t, client.endpoint)).done('read', { path: '/host/p/huge', maxBytes: 100 });
    await client.done('server_info');
    ++answered;
  }
  assert.ok(answered >= 5, `${answered} other calls were answered while searches ran`);
  gone.abort();
  assert.deepEqual(await Promise.all(searches), Array(5).fill('gone'));
  // Nobody waits any more: the threads must come to rest, long before the searches could have ended.
  await until('the searches to stop', async () => {
    const before = cpu();
    await sleep(400);
    return cpu() - before < 0.05;
  }, { seconds: 60 });
  assert.equal((await client.done('search', { pattern: 'looked for', maxResults: 1, paths: ['/host/p/huge'] })).totalMatches, 1000);
});

test('legacy stdio: notifications/cancelled ends a search', async (t) => {
  const { config } = largeTree(t);
  const client = await connect(t, 'legacy stdio', { config });
  client.ask('tools/call', { name: 'search', arguments: slow }, 'slow');
  await until('the search to run', () => client.server.cpuSeconds() > 0.5, { seconds: 60 });
  client.say({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
  await until('the search to stop', async () => {
    const before = client.server.cpuSeconds();
    await sleep(400);
    return client.server.cpuSeconds() - before < 0.05;
  }, { seconds: 60 });
  assert.ok((await client.call('ping')) !== undefined);
});

test('a single file of 50 GB neither blocks nor fills memory', async (t) => {
  const dir = temporaryDirectory(t);
  writeFileSync(join(dir, 'sparse'), 'needle\n');
  truncateSync(join(dir, 'sparse'), 50 * 1024 ** 3);
  const client = await connect(t, 'modern http', { config: { mounts: [{ name: 'p', path: dir }] } });
  const { matches } = await client.done('search', { pattern: 'needle', includeIgnored: true });
  assert.ok(matches.length <= 1);
  assert.ok(client.server.residentMegabytes() < 200);
});

test('without a pattern it finds files by name, binary ones too', async (t) => {
  const { config } = project(t, { 'src/a.cc': 'a', 'src/b.h': 'b', 'src/blob.cc': Buffer.from([0, 1]), 'src/deep/c.cc': 'c', 'build/d.cc': 'd', '.gitignore': 'build/\n' });
  const client = await connect(t, 'modern http', { config });
  const found = async (args) => (await client.done('search', { paths: ['/host/p'], ...args })).matches.map(({ path }) => path.replace('/host/p/', ''));
  assert.deepEqual(await found({ filePattern: '*.cc' }), ['src/a.cc', 'src/blob.cc', 'src/deep/c.cc']);
  assert.deepEqual(await found({ filePattern: 'src/*.{cc,h}' }), ['src/a.cc', 'src/b.h', 'src/blob.cc']);
  assert.deepEqual(await found({ filePattern: '*.cc', maxResults: 1 }), ['src/a.cc']);
  const { content } = await client.tool('search', { paths: ['/host/p/src/deep'] });
  assert.match(content[0].text, /^\/host\/p\/src\/deep\/c.cc\n\[1 files in 1 files searched\]$/);
});
