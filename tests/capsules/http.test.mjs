// GET /capsules/:hash/:file over real HTTP: whole, in ranges, not again, and not for strangers.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, request } from '../mcp.mjs';
import { serve, until, stateOf } from '../program.mjs';

const source = 'console.log("kept"); // ' + 'x'.repeat(500);

// A server that has run one program, and the hash under which it kept its capsule.
async function withCapsule(t, options = {}) {
  const server = await serve(t, options);
  const ran = await callTool(server.endpoint, 'run_js', { code: source }, options.token ? { token: readFileSync(join(stateOf(server.cwd), 'token'), 'utf8').trim() } : {});
  assert.equal(ran.structuredContent.exitCode, 0);
  const root = join(server.cwd, '.relay', 'capsules');
  const find = () => readdirSync(root).find((name) => /^[0-9a-f]{64}$/.test(name) && existsSync(join(root, name, 'capsule.json')));
  const hash = await until('the capsule to be kept', find);
  return Object.assign(server, { hash, file: (name, headers = {}, method = 'GET') => request(`${server.url}/capsules/${hash}/${name}`, { headers, method }) });
}

test('the manifest and the code, whole, with a type, a tag and for ever', async (t) => {
  const { file, hash } = await withCapsule(t);
  const manifest = await file('capsule.json');
  assert.equal(manifest.status, 200);
  assert.match(manifest.headers['content-type'], /^application\/json/);
  assert.equal(manifest.headers.etag, `"${hash}"`);
  assert.match(manifest.headers['cache-control'], /immutable/);
  assert.equal(manifest.headers['accept-ranges'], 'bytes');
  const { sig, ...unsigned } = JSON.parse(manifest.body);
  assert.match(sig, /^ey.*\.\..+/);
  const text = manifest.body.replace(/,"sig":"[^"]*"\}$/, '}');
  assert.equal(createHash('sha256').update(text).digest('hex'), hash, 'the name is the hash of what is signed');
  const code = await file('main.js');
  assert.equal(code.body, source);
  assert.equal(code.headers.etag, `"${unsigned.fsLayers[0].sha256}"`);
});

test('one range is honoured, an unsatisfiable one is 416, several give the whole', async (t) => {
  const { file } = await withCapsule(t);
  const total = source.length;
  for (const [range, status, body, contentRange] of [
    ['bytes=0-6', 206, source.slice(0, 7), `bytes 0-6/${total}`],
    ['bytes=9-', 206, source.slice(9), `bytes 9-${total - 1}/${total}`],
    ['bytes=-4', 206, source.slice(-4), `bytes ${total - 4}-${total - 1}/${total}`],
    ['bytes=0-99999', 206, source, `bytes 0-${total - 1}/${total}`],
    [`bytes=${total}-`, 416, '', `bytes */${total}`],
    ['bytes=0-1,3-4', 200, source, undefined],
    ['bytes=x', 200, source, undefined],
  ]) {
    const answer = await file('main.js', { range });
    assert.deepEqual([answer.status, answer.body, answer.headers['content-range']], [status, body, contentRange], range);
  }
});

test('a tag that is known is 304; a range of another version is the whole', async (t) => {
  const { file } = await withCapsule(t);
  const { etag } = (await file('main.js')).headers;
  for (const tag of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
    const known = await file('main.js', { 'if-none-match': tag });
    assert.deepEqual([known.status, known.body], [304, ''], tag);
  }
  assert.equal((await file('main.js', { 'if-none-match': '"other"' })).status, 200);
  assert.equal((await file('main.js', { range: 'bytes=0-1', 'if-range': etag })).status, 206);
  assert.equal((await file('main.js', { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
});

test('HEAD has the head alone', async (t) => {
  const { file } = await withCapsule(t);
  const answer = await file('main.js', {}, 'HEAD');
  assert.deepEqual([answer.status, answer.body, answer.headers['content-length']], [200, '', String(source.length)]);
});

test('nothing but the files of a capsule can be had', async (t) => {
  const { url, hash } = await withCapsule(t);
  const flipped = (hash[0] === '0' ? '1' : '0') + hash.slice(1);
  for (const path of [
    `${flipped}/capsule.json`, `${hash}/passwd`, `${hash}/..%2f..%2faudit.jsonl`, `${hash}/%2e%2e`, `..%2fkeys/signing.key`, `%2e%2e/audit.jsonl`,
    `${hash.toUpperCase()}/capsule.json`, `${hash.slice(1)}/capsule.json`, `.layers/${hash}`, `${hash}/.`, `${hash}/fs.deps.zip`, `${hash}%00/capsule.json`,
    `${hash}/capsule.json/x`, `keys/signing.key`,
  ]) {
    const answer = await request(`${url}/capsules/${path}`);
    assert.ok([400, 404].includes(answer.status), `${path}: ${answer.status}`);
    assert.ok(!/PRIVATE|seq|root:/.test(answer.body), `${path}: ${answer.body}`);
  }
});

test('a web page, a foreign Host and a stranger without the token get nothing', async (t) => {
  const open = await withCapsule(t);
  for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { host: `evil.example:${open.port}` }]) {
    const answer = await open.file('main.js', headers);
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.ok(!answer.body.includes('kept'));
  }
  const closed = await withCapsule(t, { flags: ['--no-open', '--no-ui', '--auth', 'token'], token: true });
  assert.equal((await closed.file('main.js')).status, 401);
  const token = readFileSync(join(stateOf(closed.cwd), 'token'), 'utf8').trim();
  assert.equal((await closed.file('main.js', { authorization: `Bearer ${token}` })).body, source);
});
