// What upstream servers cost those who do not use them, and how those who do find their way.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { join } from 'node:path';
import { ask, callTool, request } from '../mcp.mjs';
import { serve, until, stateOf } from '../program.mjs';
import { probe, run } from './servers.mjs';

const slow = { timeout: 240_000 };
const listOf = async (server) => JSON.stringify((await ask(server.endpoint, 'tools/list')).tools);

test('the tool list is the same with 5 and with 505 upstream tools', slow, async (t) => {
  const without = await serve(t, { config: { mcps: [probe('few')] } });
  const withMany = await serve(t, { config: { mcps: [probe('many', 500)] } });
  assert.equal((await run(withMany, 'js', '(await mcp.tools("many")).length')).value, 505);
  assert.equal(await listOf(withMany), await listOf(without));
  assert.ok(Buffer.byteLength(await listOf(withMany)) <= 8 * 1024, `${Buffer.byteLength(await listOf(withMany))} bytes`);
});

test('read and search find tools in /mcps', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe('probe', 20)] } });
  const root = await callTool(server.endpoint, 'read', { path: '/mcps/README.md' });
  assert.match(JSON.stringify(root), /A server for tests/);
  const readme = await callTool(server.endpoint, 'read', { path: '/mcps/probe/README.md' });
  assert.match(JSON.stringify(readme), /Pages through very many records/);
  const found = await callTool(server.endpoint, 'search', { pattern: 'the thing number 17', paths: ['/mcps'] });
  assert.match(JSON.stringify(found), /extra_tool_17\.d\.ts/);
});

test('declarations are written beside the configuration', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe()] } });
  await run(server, 'js', 'await mcp.probe.echo({value: 1})');
  const file = join(server.cwd, '.relay', 'mcp', 'probe.d.ts');
  await until('the declarations of probe', () => existsSync(file) && readFileSync(file, 'utf8').includes('slow_tool(args'), { seconds: 60 });
});

test('output types are learned from results, and shown', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe()] } });
  await run(server, 'js', 'await mcp.probe.list_records({count: 2})');
  const { value } = await run(server, 'js', '(await mcp.describe("probe", "list_records")).typescript');
  assert.match(value, /learned from 1 result/);
  assert.match(value, /even: boolean;/);
  const learned = join(stateOf(server.cwd), 'mcp', 'learned.json');
  await until('what was learned', () => existsSync(learned), { seconds: 60 });
  assert.equal(JSON.parse(readFileSync(learned, 'utf8')).servers.probe.list_records.samples, 1);
});

test('a call names the servers it may use, and the policy may demand it', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe('one'), probe('two')], policy: { requireServers: true } } });
  const denied = await callTool(server.endpoint, 'run_js', { code: 'await mcp.call("one", "echo", {})' });
  assert.match(denied.content[0].text, /pass \\?"servers\\?": \[\\?"one\\?"\]/);
  const named = await run(server, 'js', 'await mcp.one.echo({value: 7})', { servers: ['one'] });
  assert.deepEqual(named.value, { value: 7 });
  const other = await callTool(server.endpoint, 'run_py', { code: 'import mcp.runtime as r\nr.call_tool_sync("two", "echo")', servers: ['one'] });
  assert.match(other.content[0].text, /Server 'two' is not/);
  const unknown = await callTool(server.endpoint, 'run_js', { code: '1', servers: ['three'] });
  assert.equal(unknown.isError, true);
  assert.match(unknown.content[0].text, /available: one, two/);
});

test('inner calls are on record, with the run they belong to', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe()] } });
  await run(server, 'js', 'await mcp.probe.echo({value: 1})');
  const lines = readFileSync(join(stateOf(server.cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const inner = lines.find((line) => JSON.stringify(line).includes('"upstream":"probe/echo"'));
  assert.ok(inner, 'a line about probe/echo');
  assert.ok(lines.some((line) => line !== inner && JSON.stringify(inner).includes(line.requestId ?? line.request_id ?? '?')), JSON.stringify(inner));
});

test('calls over HTTP need the token of a run', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe()] } });
  const body = JSON.stringify({ mcp: 'probe', tool: 'echo', params: {} });
  for (const headers of [{}, { 'x-relay-run-token': 'made-up' }]) {
    const answer = await request(`${server.url}/mcps-rpc`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    assert.equal(answer.status, 401, answer.body);
    assert.equal((await request(`${server.url}/mcps/probe/tools`, { headers })).status, 401);
  }
  const stranger = await request(`${server.url}/mcps-rpc`, { method: 'POST', body, headers: { origin: 'https://evil.test' } });
  assert.equal(stranger.status, 403, stranger.body);
});

test('fetch("/mcps-rpc") works in every form, and globals do not hide what is there', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe('my-probe'), probe('fetch')] } });
  const { value } = await run(server, 'js', [
    'const post = async (body) => (await fetch("/mcps-rpc", {method: "POST", body: JSON.stringify(body)})).json();',
    'const seed = await post({mcp: "my-probe", tool: "echo", params: {value: 1}});',
    'const plain = await post({server: "my_probe", tool: "echo", arguments: {value: 2}});',
    'const rpc = await post({jsonrpc: "2.0", id: 9, method: "tools/call", params: {server: "my-probe", name: "echo", arguments: {value: 3}}});',
    'const bad = await post({mcp: "my-probe", tool: "nope"});',
    '({seed, plain, rpc, bad: bad.error.message, keys: Object.keys(mcp).includes("my_probe"), spelled: await mcp.myProbe.echo({value: 4}), global: await my_probe.echo({value: 5}), other: await mcp.fetch.echo({value: 6})})',
  ]);
  assert.deepEqual([value.seed.result, value.plain.result, value.rpc], [{ value: 1 }, { value: 2 }, { jsonrpc: '2.0', id: 9, result: { value: 3 } }]);
  assert.match(value.bad, /Tool 'nope' not found/);
  assert.deepEqual([value.keys, value.spelled, value.global, value.other], [true, { value: 4 }, { value: 5 }, { value: 6 }]);
});
