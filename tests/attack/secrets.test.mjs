// Secrets that Relay gives to servers come back to nobody: an upstream server tells them in every place where it can put text,
// and clients, programs, logs, records and files have none of them.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, ask, legacyPost, initialize, messagesOf, request } from '../mcp.mjs';
import { atEnd, configured, run, serve, until } from '../program.mjs';
import { listen } from './telltale.mjs';

const telltale = join(import.meta.dirname, 'telltale.mjs');
// One that needs no escaping, and one that every format spells differently.
const plain = 'plainSecret0123456789';
const odd = 'odd "secret"/with <&> é and \\ too';
const spellings = [plain, odd, JSON.stringify(odd).slice(1, -1), encodeURIComponent(odd), new URLSearchParams({ a: odd }).toString().slice(2)];

function assertUntold(text, where) {
  for (const one of spellings) assert.ok(!text.includes(one), `${where} tells ${one}: ${text.slice(Math.max(0, text.indexOf(one) - 200), text.indexOf(one) + 100)}`);
  for (const base64 of text.match(/[A-Za-z0-9+/_-]{24,}={0,2}/g) ?? [])
    for (const one of [plain, odd]) assert.ok(!Buffer.from(base64, 'base64').toString('utf8').includes(one), `${where} tells ${one} in base64`);
}

const processEntry = (more = {}) => ({
  name: 'told', command: process.execPath, args: [telltale, '--token', '${env:PLAIN}'], env: { ODD: '${env:ODD}', PREFIXED: 'x-${env:PLAIN}-y' }, expose: 'both', ...more,
});

async function withTelltale(t, { config = {}, entry = processEntry(), ...more } = {}) {
  return serve(t, { config: { toolsets: ['files', 'code'], mcps: [entry], ...config }, env: { PLAIN: plain, ODD: odd }, ...more });
}

// Everything that a client can get of the server, as the bytes it gets.
async function everything(endpoint) {
  const session = await initialize(endpoint);
  let id = 1;
  const bodies = [];
  const post = async (method, params = {}) => {
    const answer = await legacyPost(endpoint, { id: ++id, method, params }, { session });
    bodies.push(answer.body);
    return messagesOf(answer).at(-1);
  };
  await post('logging/setLevel', { level: 'debug' });
  for (const list of ['tools/list', 'resources/list', 'prompts/list']) await post(list);
  for (const name of ['told__result', 'told__error', 'told__failure'])
    await post('tools/call', { name, arguments: {}, _meta: { progressToken: `p${id}` } });
  await post('resources/read', { uri: 'told://x' });
  await post('prompts/get', { name: 'told__p' });
  return bodies;
}

test('a process that tells its environment and arguments tells clients no secret', async (t) => {
  const server = await withTelltale(t);
  const bodies = await everything(server.endpoint);
  for (const body of bodies) assertUntold(body, 'an answer');
  const all = bodies.join('\n');
  assert.match(all, /PREFIXED=x-\*\*\*-y/, 'what is no secret comes through');
  assert.match(all, /--token \*\*\*/, 'references are resolved in arguments');
  assert.match(all, /-32050/, "the server's own error comes through");
  assert.match(all, /"progress":1/);
});

test('an endpoint that tells its headers and path tells clients no secret', async (t) => {
  const web = await listen();
  atEnd(t, web.close);
  const entry = { name: 'told', endpoint: `http://127.0.0.1:${web.port}/\${env:PLAIN}/mcp`, headers: { authorization: 'Bearer ${env:PLAIN}' }, expose: 'both' };
  const server = await withTelltale(t, { entry });
  const bodies = await everything(server.endpoint);
  for (const body of bodies) assertUntold(body, 'an answer');
  assert.match(bodies.join('\n'), /authorization=Bearer \*\*\*/);
  assert.match(bodies.join('\n'), /path=\/\*\*\*\/mcp/, 'references are resolved in addresses');
});

test('programs get answers without secrets too, and no file of the state or the cache has one', async (t) => {
  const server = await withTelltale(t);
  const code = 'const seen = await mcp.told.result({}); let said; try { await mcp.told.error({}) } catch (error) { said = String(error) } console.log(JSON.stringify([seen, said]));';
  const result = await callTool(server.endpoint, 'run_js', { code });
  assert.ok(!result.isError, JSON.stringify(result));
  assertUntold(JSON.stringify(result), 'a program');
  assert.match(JSON.stringify(result), /\*\*\*/);
  await server.stop();
  for (const place of [server.state, server.cwd])
    for (const path of readdirSync(place, { recursive: true }).map((name) => join(place, name)))
      if (statSync(path).isFile()) assertUntold(readFileSync(path, 'utf8'), path);
});

test('logs and the audit log have no secret, also when a client sends one', async (t) => {
  const server = await withTelltale(t, { config: { log: { level: 'debug' }, policy: { deny: [] } } });
  await callTool(server.endpoint, 'told__result', { harmless: `before ${plain} after`, [plain]: odd, list: [odd] });
  await callTool(server.endpoint, 'read', { path: `/host/${plain}` }).catch(() => {});
  await ask(server.endpoint, 'tools/call', { name: `no_${plain}`, arguments: {} }).catch(() => {});
  await server.stop();
  const lines = readFileSync(join(server.state, 'audit.jsonl'), 'utf8');
  assert.match(lines, /before \[REDACTED\] after/);
  assertUntold(lines, 'the audit log');
  assertUntold(server.stderr, 'the log');
  const log = readFileSync(join(server.state, 'mcp/logs/told.log'), 'utf8');
  assert.match(log, /\*\*\*/);
  assertUntold(log, "the server's log");
  const verified = await run('relay', ['audit', 'verify', '-c', server.file], { cwd: server.cwd });
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});

test('a capsule that holds a secret is run and not kept; others are kept', async (t) => {
  const server = await withTelltale(t);
  await callTool(server.endpoint, 'told__result', {});  // the server has started, so its secrets are known
  const capsules = join(server.cwd, '.relay/capsules');
  const kept = () => readdirSync(capsules).filter((name) => /^[0-9a-f]{64}$/.test(name));
  const ran = async (args) => {
    const result = await callTool(server.endpoint, 'run_js', args);
    assert.ok(!result.isError, JSON.stringify(result));
  };
  await ran({ code: `console.log(${JSON.stringify(plain)}.length)` });
  await ran({ code: 'console.log(process.env.X.length)', env: { X: `a ${odd}` } });
  await ran({ code: 'console.log(process.env.API_KEY.length)', env: { API_KEY: 'neverSeenBefore1' } });
  await ran({ code: 'console.log(1) // ghp_0123456789abcdefghijklmnopqrstuvwxyzAB' });
  await ran({ code: 'console.log(process.argv.length)', args: ['--password', 'neverSeenBefore2'] });
  // One that comes while another is being written is not kept, so it comes again.
  await until('the harmless capsule', async () => {
    await ran({ code: 'console.log("harmless")', env: { LEVEL: 'debug' } });
    return kept().length > 0;
  }, { every: 50 });
  const texts = kept().flatMap((name) => readdirSync(join(capsules, name)).map((file) => readFileSync(join(capsules, name, file), 'utf8')));
  assert.match(texts.join('\n'), /harmless/);
  for (const text of texts) {
    assertUntold(text, 'a capsule');
    assert.doesNotMatch(text, /neverSeenBefore|ghp_/);
  }
});

test('policy.redactSecrets off passes answers on as they are, and logs stay clean', async (t) => {
  const server = await withTelltale(t, { config: { policy: { redactSecrets: false } } });
  const result = await callTool(server.endpoint, 'told__result', {});
  assert.equal(result.structuredContent.ODD, odd);
  await server.stop();
  assertUntold(readFileSync(join(server.state, 'mcp/logs/told.log'), 'utf8'), "the server's log");
});

test('a secret of a changed configuration is known before its server can tell it', async (t) => {
  const server = await withTelltale(t, { entry: processEntry({ env: {}, args: [telltale] }) });
  await callTool(server.endpoint, 'told__result', {});
  writeFileSync(join(server.cwd, 'new_secret'), 'changedSecret42\n');
  const replaced = await run('relay', ['mcp', 'add', 'told', '--replace', '--expose', 'both', '-e', 'NEW=${file:new_secret}', '-c', server.file, '--', process.execPath, telltale], { cwd: server.cwd });
  assert.equal(replaced.code, 0, replaced.stderr);
  const result = await until('the changed server', async () => {
    const answer = await callTool(server.endpoint, 'told__result', {}).catch(() => undefined);
    return answer?.structuredContent?.NEW !== undefined && answer;
  });
  assert.equal(result.structuredContent.NEW, '***');
  assert.ok(!JSON.stringify(result).includes('changedSecret42'));
});

test('the bearer token is removed from what servers answer and from logs', async (t) => {
  const server = await withTelltale(t, { flags: ['--no-open', '--no-ui', '--auth', 'token'], config: { log: { level: 'debug' } } });
  const token = readFileSync(join(server.state, 'token'), 'utf8').trim();
  const session = await callTool(server.endpoint, 'told__result', { said: token }, { token });
  assert.ok(session.content);
  await request(`${server.url}/${token}`, { headers: { authorization: `Bearer ${token}` } });
  await server.stop();
  assert.ok(!readFileSync(join(server.state, 'audit.jsonl'), 'utf8').includes(token));
  assert.ok(!server.stderr.includes(token));
});

test('mcp list and mcp import show no secret of a command line', async (t) => {
  const words = ['server', '--api-key', 'literalSecret1', '--token=literalSecret2', '--header', 'Authorization: Bearer literalSecret3', '--from', '${secret:kept}', 'https://u:literalSecret4@h/x'];
  const { cwd, file } = configured(t, { mcps: [{ name: 'a', command: 'npx', args: words }] });
  for (const flags of [[], ['--json']]) {
    const listed = await run('relay', ['mcp', 'list', ...flags, '-c', file], { cwd });
    assert.equal(listed.code, 0, listed.stderr);
    assert.doesNotMatch(listed.stdout, /literalSecret/);
    assert.match(listed.stdout, /\$\{secret:kept\}/);
  }
  const other = configured(t, {});
  writeFileSync(join(other.cwd, 'theirs.json'), JSON.stringify({ mcpServers: { b: { command: 'npx', args: words } } }));
  const imported = await run('relay', ['mcp', 'import', '--from', 'theirs.json', '--yes', '-c', other.file], { cwd: other.cwd });
  assert.equal(imported.code, 0, imported.stderr);
  assert.doesNotMatch(imported.stdout + imported.stderr, /literalSecret/);
  const [added] = JSON.parse(readFileSync(other.file, 'utf8')).mcps;
  assert.deepEqual(added.args.slice(1, 6), ['--api-key', '${secret:b.api-key}', '--token=${secret:b.token}', '--header', 'Authorization: Bearer ${secret:b.Authorization}']);
});

test('secrets that are too short to be removed are named by check-config and doctor', async (t) => {
  const { cwd, file } = configured(t, { mcps: [{ name: 'a', command: 'x', args: ['${env:PIN}', '${env:LONG}'], env: { P: '${env:PIN}' } }] });
  const env = { PIN: '12345', LONG: '123456' };
  const checked = await run('relay', ['check-config', '-c', file], { cwd, env });
  assert.equal(checked.code, 0, checked.stderr);
  assert.match(checked.stdout, /\$\.mcps\[0\]\.args\[0\]: its secret has fewer than 6 bytes/);
  assert.match(checked.stdout, /\$\.mcps\[0\]\.env\.P: /);
  assert.doesNotMatch(checked.stdout, /args\[1\]|12345/);
  const doctor = await run('relay', ['doctor', '--json', '-c', file], { cwd, env });
  assert.deepEqual(JSON.parse(doctor.stdout).findings.filter(({ group }) => group === 'secrets').map(({ name }) => name), ['$.mcps[0].args[0]', '$.mcps[0].env.P']);
});
