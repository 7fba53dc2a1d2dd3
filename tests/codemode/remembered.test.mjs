// What servers offer outlives relay: the next one lists, searches and describes their tools before any of them runs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, callTool } from '../mcp.mjs';
import { configured, start, until, stateOf as stateDirectory } from '../program.mjs';
import { probe, run } from './servers.mjs';

const slow = { timeout: 240_000 };

// One relay after the other on the same configuration and state.
function successors(t, config) {
  const { cwd, file } = configured(t, config);
  return {
    cwd,
    async next() {
      const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd });
      const { url } = await server.waitForLog('listening', { seconds: 60 });
      return Object.assign(server, { cwd, file, endpoint: `${url}/mcp` });
    },
  };
}

const stateOf = async (server) => (await run(server, 'js', 'await mcp.servers()')).value.map(({ name, state }) => `${name} ${state}`).join();
const offers = (cwd) => join(stateDirectory(cwd), 'mcp', 'offers');

async function seenOnce(t) {
  const relays = successors(t, { mcps: [{ ...probe('probe', 3), expose: 'both' }] });
  const first = await relays.next();
  await run(first, 'js', 'await mcp.probe.echo({value: 1})');
  await until('the offer on disk', () => existsSync(join(offers(relays.cwd), 'probe.json')), { seconds: 60 });
  await first.stop();
  return relays;
}

test('a second relay lists, searches and describes tools of servers that it has not started', slow, async (t) => {
  const relays = await seenOnce(t);
  assert.equal(statSync(join(offers(relays.cwd), 'probe.json')).mode & 0o777, 0o600);
  const second = await relays.next();
  const { tools } = await ask(second.endpoint, 'tools/list');
  assert.ok(tools.some(({ name }) => name === 'probe__extra_tool_2'), tools.map(({ name }) => name).join());
  const hits = (await run(second, 'js', 'await mcp.search("pages through records")')).value;
  assert.equal(hits[0].tool, 'list_records');
  assert.match((await run(second, 'js', '(await mcp.describe("probe", "slow-tool")).typescript')).value, /ms: number/);
  const found = await callTool(second.endpoint, 'search', { pattern: 'the thing number 1 ', paths: ['/mcps'] });
  assert.match(JSON.stringify(found), /extra_tool_1\.d\.ts/);
  assert.equal(await stateOf(second), 'probe idle', 'nothing was started for all this');
  assert.deepEqual((await run(second, 'js', 'await mcp.probe.echo({value: 2})')).value, { value: 2 });
  assert.equal(await stateOf(second), 'probe ready');
});

test('a tool that is not in what is remembered is asked for', slow, async (t) => {
  const relays = await seenOnce(t);
  const second = await relays.next();
  await assert.rejects(run(second, 'js', 'await mcp.probe.no_such_tool()'), /not found/);
  assert.equal(await stateOf(second), 'probe ready', 'it could have been new');
});

test('a file that is damaged, or of another command, counts as none', slow, async (t) => {
  const relays = await seenOnce(t);
  for (const file of readdirSync(offers(relays.cwd))) writeFileSync(join(offers(relays.cwd), file), '{"fingerprint":"x","tools":[{"name":"planted"}]}');
  const second = await relays.next();
  const { tools } = await ask(second.endpoint, 'tools/list');
  assert.ok(tools.some(({ name }) => name === 'probe__echo'));
  assert.ok(!tools.some(({ name }) => name === 'probe__planted'));
});
