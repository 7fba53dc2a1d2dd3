// Other real servers behind the gateway: used, killed in mid-call, restarted; one that speaks the modern era; what a dead one costs.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve, temporaryDirectory, until, stateOf } from '../program.mjs';
import { descendants } from '../processes.mjs';
import { ask, callTool } from '../mcp.mjs';
import { entries } from './servers.mjs';

const exposed = (...list) => list.map((entry) => ({ expose: 'tools', ...entry }));
const gateway = (t, mcps, more = {}) => serve(t, { config: { toolsets: ['admin'], mcps, ...more } });
const upstreamsOf = async (server) => (await callTool(server.endpoint, 'server_info')).structuredContent.upstreams.servers;

test('filesystem, memory and sequential-thinking together', async (t) => {
  const directory = temporaryDirectory(t);
  writeFileSync(join(directory, 'note.txt'), 'hello from disk');
  const server = await gateway(t, exposed(entries.filesystem(directory), entries.memory(directory), entries.thinking()));
  const { tools } = await ask(server.endpoint, 'tools/list');
  const names = tools.map((tool) => tool.name);
  for (const name of ['filesystem__read_text_file', 'memory__create_entities', 'thinking__sequentialthinking']) assert.ok(names.includes(name), name);
  const read = await callTool(server.endpoint, 'filesystem__read_text_file', { path: join(directory, 'note.txt') });
  assert.match(read.content[0].text, /hello from disk/);
  const outside = await callTool(server.endpoint, 'filesystem__read_text_file', { path: '/etc/passwd' });
  assert.equal(outside.isError, true);
  await callTool(server.endpoint, 'memory__create_entities', { entities: [{ name: 'relay', entityType: 'program', observations: ['fast'] }] });
  const found = await callTool(server.endpoint, 'memory__search_nodes', { query: 'relay' });
  assert.match(found.content[0].text, /fast/);
  const thought = await callTool(server.endpoint, 'thinking__sequentialthinking', { thought: 'a', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false });
  assert.equal(thought.isError ?? false, false);
});

test('a modern server is spoken to in its own era', async (t) => {
  const server = await gateway(t, exposed(entries.context7()));
  const { tools } = await ask(server.endpoint, 'tools/list');
  assert.ok(tools.some((tool) => tool.name.startsWith('context7__')), JSON.stringify(tools.map((tool) => tool.name)));
  const [status] = await upstreamsOf(server);
  assert.equal(status.revision, '2026-07-28');
  assert.equal(status.state, 'ready');
});

test('a server that is killed in mid-call costs that call, and is started again', async (t) => {
  const server = await gateway(t, exposed(entries.everything()));
  await callTool(server.endpoint, 'everything__echo', { message: 'warm' });
  const { pid } = (await upstreamsOf(server))[0];
  const slow = callTool(server.endpoint, 'everything__trigger-long-running-operation', { duration: 30, steps: 30 });
  await until('the call is open', async () => (await upstreamsOf(server))[0].openCalls === 1);
  process.kill(pid, 'SIGKILL');
  const failed = await slow;
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /everything/);
  assert.match(failed.content[0].text, /SIGKILL/);
  assert.equal((await callTool(server.endpoint, 'everything__echo', { message: 'again' })).content[0].text, 'Echo: again');
  const [status] = await upstreamsOf(server);
  assert.notEqual(status.pid, pid);
});

test('a server that cannot start costs its own tools only, and server_info says why and since when', async (t) => {
  const directory = temporaryDirectory(t);
  const server = await gateway(t, [
    { name: 'missing', command: 'no-such-program-anywhere', expose: 'tools' },
    { name: 'broken', command: process.execPath, args: ['-e', 'console.error("broken: no token"); process.exit(3)'], expose: 'tools' },
    ...exposed(entries.memory(directory)),
  ]);
  const { tools } = await ask(server.endpoint, 'tools/list');
  assert.ok(tools.some((tool) => tool.name === 'memory__read_graph'));
  const [missing, broken, memory] = await upstreamsOf(server);
  assert.match(missing.reason, /no-such-program-anywhere/);
  assert.match(broken.reason, /3/);
  assert.match(JSON.stringify(broken.stderr), /broken: no token/);
  assert.ok(Date.parse(broken.since) > 0);
  assert.equal(memory.state, 'ready');
});

test('names stay when a second server is added', async (t) => {
  const directory = temporaryDirectory(t);
  const one = await gateway(t, exposed(entries.memory(directory)));
  const before = (await ask(one.endpoint, 'tools/list')).tools.map((tool) => tool.name);
  const two = await gateway(t, exposed(entries.memory(directory), entries.thinking()));
  const after = (await ask(two.endpoint, 'tools/list')).tools.map((tool) => tool.name);
  for (const name of before) assert.ok(after.includes(name), name);
});

test('allow, deny, tiers and policy hold for upstream tools, and each call is one audit line', async (t) => {
  const directory = temporaryDirectory(t);
  const server = await gateway(t, exposed({ ...entries.memory(directory), deny: ['delete_*'], tiers: { read_graph: 3 } }),
    { policy: { mode: 'open', deny: ['forbidden words'], confirmTier3: true } });
  const { tools } = await ask(server.endpoint, 'tools/list');
  assert.ok(!tools.some((tool) => tool.name.includes('delete_')));
  await assert.rejects(callTool(server.endpoint, 'memory__delete_entities', { entityNames: [] }), /Unknown tool/);
  const refused = await callTool(server.endpoint, 'memory__search_nodes', { query: 'forbidden words' });
  assert.equal(refused.isError, true);
  const confirm = await callTool(server.endpoint, 'memory__read_graph');
  assert.match(JSON.stringify(confirm), /confirm/i);
  await callTool(server.endpoint, 'memory__search_nodes', { query: 'x' });
  const lines = readFileSync(join(stateOf(server.cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => line.upstream === 'memory/search_nodes' && line.tool === 'memory__search_nodes' && line.outcome === 'ok'));
  assert.ok(lines.some((line) => line.upstream === 'memory/search_nodes' && line.denied));
});

test('two hundred clients that connect, call and vanish leave no process behind', async (t) => {
  const server = await gateway(t, exposed(entries.everything()));
  await callTool(server.endpoint, 'everything__echo', { message: 'warm' });
  const before = descendants(server.pid).length;
  const one = async (i) => {
    const gone = new AbortController();
    const call = callTool(server.endpoint, i % 2 ? 'everything__echo' : 'everything__trigger-long-running-operation', { message: 'x', duration: 20, steps: 1 }, { signal: gone.signal });
    if (i % 2 === 0) setTimeout(() => gone.abort(), 20);
    await call.catch(() => {});
  };
  for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 20 }, (_, i) => one(i)));
  await until('calls to end', async () => (await upstreamsOf(server))[0].openCalls === 0);
  assert.equal(descendants(server.pid).length, before);
});
