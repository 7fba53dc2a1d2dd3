// The soak itself, in any length: a steady part that must not leak, then a part in which sandboxes are killed.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { callTool } from '../mcp.mjs';
import { configured, run, start, until } from '../program.mjs';
import { Killer } from './killer.mjs';
import { assertNoLeak, observe } from './observation.mjs';
import { Traffic } from './traffic.mjs';

export const config = { toolsets: ['code', 'files', 'admin'] };

export async function warmUp(server, tools = ['run_js', 'run_py']) {
  for (const tool of tools) await callTool(server.endpoint, tool, { code: tool === 'run_js' ? '1' : 'print(1)' });
}

// One client, one call after the other.
export async function inARow(server, count, tool = 'run_js') {
  const traffic = new Traffic(server.endpoint);
  const before = await observe(server);
  for (let i = 0; i < count; ++i) await traffic.once(tool);
  traffic.agent.destroy();
  traffic.assertClean();
  const after = await observe(server);
  await assertNoLeak(server, before, after, { growthMb: 16 });
  return { done: traffic.done, failed: traffic.failures.length, before, after };
}

export async function steady(server, { seconds, clients }) {
  const warm = new Traffic(server.endpoint).start(clients);
  await sleep(Math.min(5000, seconds * 200));
  await warm.stop();
  const before = await observe(server);
  const traffic = new Traffic(server.endpoint).start(clients);
  await sleep(seconds * 1000);
  await traffic.stop();
  traffic.assertClean();
  const after = await observe(server);
  await assertNoLeak(server, before, after, { growthMb: 16 });
  return { done: traffic.done, failed: traffic.failures.length, before, after };
}

// Calls may fail shortly after a kill, and only then; afterwards every tool works again and nothing is left over.
export async function underFire(server, { seconds, clients, kills }) {
  const killer = new Killer();
  const before = await observe(server);
  const traffic = new Traffic(server.endpoint, { mayFail: () => killer.recent }).start(clients);
  killer.start(server.pid, { times: kills, withinMs: seconds * 1000 });
  await Promise.all([sleep(seconds * 1000), killer.finished]);
  await killer.stop();
  await traffic.stop();
  traffic.assertClean();
  await until('both languages to work again', async () => warmUp(server).then(() => true, () => false), { seconds: 60, every: 500 });
  const after = await observe(server);
  await assertNoLeak(server, before, after, { growthMb: 24 });
  return { done: traffic.done, failed: traffic.failures.length + traffic.excused, excused: traffic.excused, kills: killer.kills, before, after };
}

export async function stopAndVerify(server) {
  assert.deepEqual(await server.stop({ grace: 30_000 }), { code: 0, signal: null });
  await server.assertNothingLeft();
  const verdict = await run('relay', ['audit', 'verify', '-c', server.file], { cwd: server.cwd });
  assert.equal(verdict.code, 0, verdict.stdout + verdict.stderr);
  return verdict.stdout.trim().replace(/^OK\s+\S+: /, '');
}

// relay itself is killed under load, again and again on the same state. A write may be cut by the kill; the next start
// accounts for it, so the chain is verified after one more start.
export async function killRelay(makeServer, { times, clients }) {
  for (let i = 0; i < times; ++i) {
    const server = await makeServer();
    const traffic = new Traffic(server.endpoint, { tools: ['server_info', 'run_js'], mayFail: () => true }).start(clients);
    await sleep(200 + Math.random() * 800);
    await server.stop({ signal: 'SIGKILL' });
    await traffic.stop();
    await server.assertNothingLeft();
  }
  const last = await makeServer();
  await callTool(last.endpoint, 'run_js', { code: '1' });
  return stopAndVerify(last);
}

// What makes servers one after the other on the same state.
export function sameState(t) {
  const { cwd, file } = configured(t, config);
  return async () => {
    const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd });
    const { url } = await server.waitForLog('listening', { seconds: 60 });
    return Object.assign(server, { cwd, file, url, endpoint: `${url}/mcp` });
  };
}
