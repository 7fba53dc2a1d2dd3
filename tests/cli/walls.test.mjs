// Which walls stand: `relay doctor` and server_info say it, and what they say about control groups is what the kernel has.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { configured, run, serve, temporaryDirectory, until } from '../program.mjs';
import { zygotesOf } from '../processes.mjs';

async function cgroupsByDoctor(cwd, args = []) {
  const { stdout, stderr } = await run('relay', ['doctor', '--json', ...args], { cwd });
  return JSON.parse(stdout || stderr).findings.find(({ name }) => name === 'cgroups');
}

async function runtimes(server) {
  return (await callTool(server.endpoint, 'server_info', {})).structuredContent.execution.runtimes;
}

const config = (executor = {}) => ({ toolsets: ['code', 'admin'], executor });
const hasRun = async (server) => assert.equal((await callTool(server.endpoint, 'run_js', { code: '6 * 7' })).structuredContent.value, 42);

test('doctor and server_info agree on the control group', async (t) => {
  const server = await serve(t, { config: config({ totalMemMb: 512 }) });
  await hasRun(server);
  const { cgroup, walls } = (await runtimes(server)).find(({ language }) => language === 'js');
  const { health, detail } = await cgroupsByDoctor(server.cwd);
  if (cgroup.version === 'none') {
    assert.ok(cgroup.reason.length > 5, JSON.stringify(cgroup));
    assert.ok(health === 'optional' && detail.startsWith('none: '), detail);
    assert.ok(!walls.includes('control_group'));
    return t.diagnostic(`no control group here: ${cgroup.reason}`);
  }
  assert.ok(health === 'ok' && detail.startsWith(`${cgroup.version}, memory`), detail);
  assert.equal(walls[0], 'control_group');
  assert.ok(cgroup.memoryBytes > 512 * 2 ** 20);
  const members = readFileSync(join(cgroup.directories[0], 'cgroup.procs'), 'utf8').trim().split('\n').map(Number);
  const js = zygotesOf(server.pid).filter(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0js\0')).map(({ pid }) => pid);
  assert.ok(js.length > 0 && js.every((pid) => members.includes(pid)), `${js} among ${members}`);
  assert.ok(!members.includes(server.pid), 'relay itself is not in there');

  await server.stop();
  for (const directory of cgroup.directories) assert.ok(!existsSync(directory), directory);
});

test('the groups that a killed relay leaves behind are removed by the next one', async (t) => {
  const killed = await serve(t, { config: config() });
  await hasRun(killed);
  const { cgroup } = (await runtimes(killed)).find(({ language }) => language === 'js');
  if (cgroup.version === 'none') return t.skip(`no control group here: ${cgroup.reason}`);
  await killed.stop({ signal: 'SIGKILL' });
  await killed.assertNothingLeft();
  assert.ok(existsSync(cgroup.directories[0]), 'nobody was there to remove it');
  const next = await serve(t, { config: config() });
  await hasRun(next);
  for (const directory of cgroup.directories) assert.ok(!existsSync(directory), directory);
});

test('runs that together use more than their share are ended, and the next ones work', async (t) => {
  const server = await serve(t, { config: { ...config({ totalMemMb: 96, maxConcurrentRuns: 3 }), policy: { limits: { memMb: 80 } } } });
  await hasRun(server);
  const { cgroup } = (await runtimes(server)).find(({ language }) => language === 'js');
  if (cgroup.version === 'none') return t.skip(`no control group here: ${cgroup.reason}`);
  // Each of them stays below its own 80 MB, and waits for the others with what it has.
  const code = 'const kept = []; for (let i = 0; i < 10; ++i) kept.push(new Uint8Array(5e6).fill(i)); await new Promise((r) => setTimeout(r, 4000)); kept.length';
  const ended = await Promise.all([1, 2, 3].map(() => callTool(server.endpoint, 'run_js', { code })));
  const types = ended.map(({ structuredContent }) => structuredContent.error?.type ?? structuredContent.value);
  assert.ok(types.includes('MemoryLimitExceeded'), JSON.stringify(types));
  assert.ok(types.every((type) => type === 10 || type === 'MemoryLimitExceeded'), JSON.stringify(types));
  await hasRun(server);
  await until('the first zygote to be the only one', async () => (await runtimes(server)).find(({ language }) => language === 'js').state === 'ready');
});

test('a group that the configuration names has to be there', async (t) => {
  const named = join(temporaryDirectory(t), 'no-group');
  mkdirSync(named);
  const { cwd } = configured(t, config({ cgroup: named }));
  const { health, detail } = await cgroupsByDoctor(cwd);
  assert.equal(health, 'missing');
  assert.ok(detail.includes(named), detail);
  const server = await serve(t, { config: config({ cgroup: named }) });
  const result = await callTool(server.endpoint, 'run_js', { code: '1' });
  assert.ok(result.isError && result.content[0].text.includes('wall control_group'), result.content[0].text);
});

test('without a group runs go on, and everybody says why there is none', async (t) => {
  const server = await serve(t, { config: config({ cgroup: 'off' }) });
  await hasRun(server);
  const { cgroup, walls } = (await runtimes(server)).find(({ language }) => language === 'js');
  assert.deepEqual(cgroup, { version: 'none', reason: 'switched off by executor.cgroup' });
  assert.ok(!walls.includes('control_group') && walls.includes('resource_limits'));
  assert.match((await cgroupsByDoctor(server.cwd)).detail, /^none: switched off by executor\.cgroup; runs and the processes of sandboxed servers are limited by rlimits alone$/);
});
