// What a client is told when it connects: the instructions follow the configuration that is in force.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ask, initializeMessage, legacyPost, messagesOf } from '../mcp.mjs';
import { run, serve, until } from '../program.mjs';

const upstream = (name) => ({ name, command: 'false' });
const modern = async (server) => (await ask(server.endpoint, 'server/discover')).instructions;
const legacy = async (server) => messagesOf(await legacyPost(server.endpoint, initializeMessage))[0].result.instructions;

test('both eras are told what the configuration offers and leaves out', async (t) => {
  const server = await serve(t, { config: {
    toolsets: ['code', 'files'], mounts: [{ name: 'm', path: '.' }], tools: { write: { enabled: false } },
    policy: { network: { allowedDomains: ['*.example.org'] } }, mcps: [upstream('one')],
  } });
  const lines = (await modern(server)).split('\n');
  for (const line of ['Mounts: /host/m (ro).', 'Programs may reach *.example.org.', 'MCP servers for programs: one.', 'Switched off by the operator: toolset admin, tool write.'])
    assert.ok(lines.includes(line), `${line}\n${lines.join('\n')}`);
  assert.equal(await legacy(server), lines.join('\n'));
});

test('a server that the configuration gets later is named, a key that waits for a restart is not', async (t) => {
  const server = await serve(t, { config: { mcps: [upstream('one')] } });
  writeFileSync(server.file, JSON.stringify({ npm: { dependencies: { later: '1' } }, mcps: [upstream('one'), upstream('two')] }));
  const approve = async () => (await run('relay', ['approvals', 'approve'], { cwd: server.cwd })).code === 0;
  await until('something to approve', approve, { seconds: 60 });
  await until('the new server', async () => (await modern(server)).includes('MCP servers for programs: one, two.'), { seconds: 60 });
  assert.doesNotMatch(await modern(server), /later/);
});
