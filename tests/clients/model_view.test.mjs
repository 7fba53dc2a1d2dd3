// What a model reads of a result. Clients differ: Claude Code and mcporter hand over the structured content and the blocks that
// are no text, and the text only of errors; others hand over the content blocks. Twelve typical calls through the official SDK,
// which also checks every structure against the tool's output schema; both forms keep to the budget and say how to get the rest.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { atEnd, serve, temporaryDirectory } from '../program.mjs';
import { entries } from '../upstream/servers.mjs';

const budget = 64 * 1024;
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const numbers = Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join('');

const textOf = ({ content }) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
// As Claude Code does it.
const structureOf = (result) => (result.isError || !result.structuredContent ? textOf(result) : JSON.stringify(result.structuredContent));
const blocksOf = ({ content }) => content.filter(({ type }) => type !== 'text' && type !== 'resource_link');

let client;
const ending = [];
const lifetime = { after: (work) => ending.push(work) };

before(async () => {
  const directory = temporaryDirectory(lifetime);
  writeFileSync(join(directory, 'numbers.txt'), numbers);
  writeFileSync(join(directory, 'dot.png'), png);
  writeFileSync(join(directory, 'big.txt'), 'x'.repeat(200_000));
  const server = await serve(lifetime, { config: {
    toolsets: ['code', 'files'], mounts: [{ name: 'p', path: directory }], mcps: [{ expose: 'tools', ...entries.filesystem(directory) }],
  } });
  client = new Client({ name: 'model-view', version: '1' });
  atEnd(lifetime, () => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(server.endpoint)));
  await client.listTools();  // from here on the SDK checks structures against the output schemas
});
after(async () => { for (const work of ending.reverse()) await work(); });

// Calls, checks that both forms fit and that neither has more than the other, and gives what a model reads.
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  for (const [form, read] of [['structure', structureOf(result)], ['text', textOf(result)]])
    assert.ok(Buffer.byteLength(read) <= budget, `${name} ${form}: ${Buffer.byteLength(read)} bytes`);
  return { result, structure: result.structuredContent, model: structureOf(result), text: textOf(result), blocks: blocksOf(result) };
}

// Follows `rest` with the tool that it names until nothing is left; gives everything behind the first part.
async function readRest(rest) {
  let path = rest.match(/call read with path (relay:\/\/results\/\S+)/)?.[1];
  assert.ok(path, rest);
  let text = '';
  for (let pages = 0, args = { path }; args; ++pages) {
    assert.ok(pages < 50, 'the pages come to an end');
    const { structure } = await call('read', args);
    text += structure.content;
    args = structure.truncated ? { path: path.replace(/\?.*/, ''), offset: structure.nextOffset } : undefined;
  }
  return text;
}

test('a short value is only what the program gave', async () => {
  const { model, result } = await call('run_js', { code: '6 * 7' });
  assert.equal(model, '{"exitCode":0,"value":42}');
  assert.deepEqual(Object.keys(result._meta).filter((key) => ['usage', 'runId', 'executor'].includes(key)).sort(), ['executor', 'runId', 'usage']);
  assert.equal(result._meta.executor, 'local');
});

test('20,000 lines: both forms are cut, and read gives the rest', async () => {
  const { structure, text } = await call('run_js', { code: 'for (let i = 0; i < 20000; i++) console.log(i)' });
  assert.equal(structure.truncated, true);
  assert.match(structure.rest, new RegExp(`stdout: ${structure.stdout.length} of ${numbers.length} bytes shown`));
  assert.ok(structure.stdout.length > 40_000, `${structure.stdout.length} bytes are shown`);
  assert.equal(structure.stdout + await readRest(structure.rest), numbers);
  assert.match(text, /\[TRUNCATED - 108890 bytes total, \d+ shown; call read with path relay:\/\/results\/\S+\?offset=\d+ /);
  const shown = text.slice(0, text.indexOf('\n\n[TRUNCATED'));
  assert.equal(shown + await readRest(text), numbers);
});

for (const [tool, code] of [['run_js', '"v".repeat(300000)'], ['run_py', '"v" * 300000']])
  test(`${tool}: a long value is kept whole, with the right total`, async () => {
    const { structure, text } = await call(tool, { code });
    assert.match(structure.rest, /value: \d+ of 300000 bytes shown/);
    assert.equal(structure.value + await readRest(structure.rest), 'v'.repeat(300_000));
    assert.match(text, /TRUNCATED - 3000\d\d bytes total/);
  });

for (const [tool, code] of [['run_js', 'Array.from({length: 30000}, (_, i) => ({ i }))'], ['run_py', '[{"i": i} for i in range(30000)]']])
  test(`${tool}: a long list is kept whole and cut between items`, async () => {
    const { structure, text } = await call(tool, { code });
    assert.match(structure.rest, new RegExp(`value: ${structure.value.length} of 30000 items shown`));
    const rest = await readRest(structure.rest);
    assert.deepEqual([...structure.value, ...JSON.parse(`[${rest}`)].at(-1), { i: 29_999 });
    assert.equal(structure.value.length + JSON.parse(`[${rest}`).length, 30_000);
    assert.match(await readRest(text), /29999\}?\]?\s*\}?\s*\]?$/);
  });

test('an error is its text: what went wrong stands first', async () => {
  const { model, result } = await call('run_js', { code: 'console.log("so far"); throw new TypeError("no such thing")' });
  assert.equal(result.isError, true);
  assert.match(model, /^exit: 1\nerror:\nTypeError: no such thing/);
  assert.match(model, /stdout:\nso far/);
});

test('an image is a block, and its bytes are nowhere else', async () => {
  const { model, blocks } = await call('run_js', { code: `await display(new Uint8Array([${[...png]}]))` });
  assert.deepEqual(blocks.map(({ type, mimeType }) => [type, mimeType]), [['image', 'image/png']]);
  assert.equal(model, '{"exitCode":0}');
});

test('a table arrives as rows', async () => {
  const { structure } = await call('run_py', { code: '[{"city": "Oslo", "people": 700000}, {"city": "Rome", "people": 2800000}]' });
  assert.deepEqual(structure, { exitCode: 0, value: [{ city: 'Oslo', people: 700_000 }, { city: 'Rome', people: 2_800_000 }] });
});

test('a file is read to the end in pages that fit', async () => {
  const first = await call('read', { path: '/host/p/numbers.txt' });
  assert.equal(first.structure.truncated, true);
  assert.equal(first.structure.rest, `read on with offset=${first.structure.nextOffset}`);
  assert.ok(first.text.endsWith(`read on with offset=${first.structure.nextOffset}]`));
  const second = await call('read', { path: '/host/p/numbers.txt', offset: first.structure.nextOffset });
  assert.equal(first.structure.content + second.structure.content, numbers);
  assert.equal(second.structure.truncated, undefined);
});

test('a binary file is a block that can be shown', async () => {
  const { model, blocks } = await call('read', { path: '/host/p/dot.png', encoding: 'binary' });
  assert.equal(model, `{"size":${png.length}}`);
  assert.deepEqual(blocks, [{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }]);
});

test('a search with many hits says how many there are and how to see more', async () => {
  const few = await call('search', { pattern: '7', paths: ['/host/p'] });
  assert.equal(few.structure.matches.length, 100);
  assert.equal(few.structure.truncated, true);
  assert.match(few.structure.rest, /maxResults/);
  const many = await call('search', { pattern: '7', paths: ['/host/p'], maxResults: 10_000 });
  assert.match(many.structure.rest, /matches: \d+ of \d+ items shown/);
  assert.ok(many.structure.matches.length > 500);
  const none = await call('search', { pattern: 'zebra', paths: ['/host/p'] });
  assert.deepEqual([none.structure.truncated, none.structure.rest], [false, undefined]);
});

test('the result of an upstream tool is cut in both forms and still fits its schema', async () => {
  const { structure, text, result } = await call('filesystem__read_text_file', { path: join((await roots())[0], 'big.txt') });
  assert.ok(!result.isError);
  const rest = structure.rest ?? result._meta.rest;
  assert.equal(structure.content + await readRest(rest), 'x'.repeat(200_000));
  assert.match(text, /TRUNCATED - 200000 bytes total/);
});
const roots = async () => [textOf(await client.callTool({ name: 'filesystem__list_allowed_directories', arguments: {} })).trim().split('\n').at(-1)];

test('artifacts are named with their sizes', async () => {
  const { structure, text } = await call('run_js', { code: 'const fs = require("fs"); fs.writeFileSync("/out/report.csv", "a,b\\n1,2\\n"); undefined' });
  assert.deepEqual(structure, { exitCode: 0, artifacts: [{ path: '/out/report.csv', bytes: 8, type: 'text/csv' }] });
  assert.match(text, /artifact:\n\/out\/report.csv \(8 bytes, text\/csv\)/);
});

test('stderr that reached its limit says so', async () => {
  const { structure, text } = await call('run_js', { code: 'console.error("e".repeat(5000))', policy: { limits: { stdoutBytes: 1000 } } });
  assert.equal(structure.truncated, true);
  assert.match(structure.rest, /^stderr reached the limit/);
  assert.match(text, /stderr truncated/);
});
