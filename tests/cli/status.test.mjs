// `relay status`, the health in `relay mcp list`, and `relay clean`: what an operator sees of a Relay that runs, and of one that is gone.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initialize } from '../mcp.mjs';
import { configured, run, serve, start, until } from '../program.mjs';

const server = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'scripted_server.py');
const status = (cwd, ...flags) => run('relay', ['status', ...flags], { cwd });
const statusJson = async (cwd) => JSON.parse((await status(cwd, '--json')).stdout);

test('status says that nothing runs, exits 1 and leaves nothing behind', async (t) => {
  const { cwd, state } = configured(t, {});
  const { code, stdout } = await status(cwd);
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`^not running for ${cwd}; .relay serve. starts it`));
  assert.ok(!existsSync(state) && !existsSync(join(cwd, '.relay')));
  assert.deepEqual((({ running, relays }) => ({ running, relays }))(await statusJson(cwd)), { running: false, relays: [] });
});

test('status shows where a server listens, since when, its configuration, sessions and runs', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['code', 'files'] } });
  await callTool(relay.endpoint, 'run_js', { code: '1' });
  const { code, stdout } = await status(relay.cwd);
  assert.equal(code, 0, stdout);
  assert.match(stdout, new RegExp(`^relay \\S+ serve, pid ${relay.pid}, since \\d{4}-\\d\\d-\\d\\d `));
  for (const part of [`${relay.url}/mcp (auth: none)`, relay.file, '0 running, 0 waiting, 1 ended', join(relay.state, 'audit.jsonl')]) assert.ok(stdout.includes(part), `${part} in ${stdout}`);
  const { running, relays: [one] } = await statusJson(relay.cwd);
  assert.deepEqual([running, one.pid, one.url, one.command, one.answers], [true, relay.pid, relay.url, 'serve', true]);
});

test('status counts the sessions of clients', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'] } });
  await initialize(relay.endpoint);
  assert.equal((await statusJson(relay.cwd)).relays[0].sessions, 1);
});

test('status sees a stdio server, and both of two on one state directory', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'] } });
  const piped = start(t, 'relay', ['stdio', '-c', relay.file], { cwd: relay.cwd, input: 'pipe' });
  const { relays } = await until('the second', async () => {
    const seen = await statusJson(relay.cwd);
    return seen.relays.length === 2 && seen;
  });
  assert.deepEqual(relays.map(({ pid, command }) => [pid, command]), [[relay.pid, 'serve'], [piped.pid, 'stdio']]);
});

test('a server that stopped, or was killed, does not run any more', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'] } });
  await relay.stop();
  assert.equal((await status(relay.cwd)).code, 1);
  assert.deepEqual(readdirSync(join(relay.state, 'status')), [], 'a normal end removes the socket');
  const killed = start(t, 'relay', ['stdio', '-c', relay.file], { cwd: relay.cwd, input: 'pipe' });
  await until('its socket', async () => (await status(relay.cwd)).code === 0);
  await killed.stop({ signal: 'SIGKILL' });
  assert.equal(readdirSync(join(relay.state, 'status')).length, 1);
  assert.equal((await status(relay.cwd)).code, 1);
  const next = start(t, 'relay', ['stdio', '-c', relay.file], { cwd: relay.cwd, input: 'pipe' });
  await until('the socket of the next one', async () => (await status(relay.cwd)).code === 0);
  assert.deepEqual(readdirSync(join(relay.state, 'status')), [`${next.pid}.sock`], 'the next start removes what was left');
});

test('a process that does not answer is named, and status does not wait for it forever', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'] } });
  relay.child.kill('SIGSTOP');
  const { code, stdout } = await status(relay.cwd);
  relay.child.kill('SIGCONT');
  assert.deepEqual([code, stdout], [0, `pid ${relay.pid} does not answer\n`]);
});

const mcps = [{ name: 'good', command: 'python3', args: [server], expose: 'tools', autostart: true },
  { name: 'bad', command: 'false', expose: 'tools', autostart: true }];

test('status and mcp list show the health of upstream servers', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'], mcps } });
  const health = async () => Object.fromEntries(JSON.parse((await run('relay', ['mcp', 'list', '--json'], { cwd: relay.cwd })).stdout).map(({ name, health: { state } }) => [name, state]));
  await until('both to be known', async () => {
    const { good, bad } = await health();
    return good === 'ready' && /^(backing_off|failed)$/.test(bad);
  }, { seconds: 60 });
  const list = (await run('relay', ['mcp', 'list'], { cwd: relay.cwd })).stdout;
  assert.match(list, /^NAME +TRANSPORT +EXPOSE +STATE +HEALTH +WHAT$/m);
  assert.match(list, /^good .* ready +\S/m);
  const { stdout } = await status(relay.cwd);
  assert.match(stdout, /^ {2}good +ready /m);
  assert.match(stdout, /^ {2}bad +(backing_off|failed) .*exit/m);
});

test('mcp list says when health is not known', async (t) => {
  const { cwd } = configured(t, { mcps });
  const { stdout } = await run('relay', ['mcp', 'list'], { cwd });
  assert.match(stdout, /^good +stdio +tools +enabled +- /m);
  assert.match(stdout, /health is known while Relay runs/);
  assert.equal(JSON.parse((await run('relay', ['mcp', 'list', '--json'], { cwd })).stdout)[0].health, null);
});

// A project with something of everything that clean removes, and of what it must keep.
function littered(t) {
  const { cwd, state } = configured(t, {});
  const rubbish = [join(cwd, '.relay/capsules', 'a'.repeat(64), 'capsule.json'), join(cwd, '.relay/deps/npm/x/y'), join(state, 'mcp/logs/gone.log'), join(state, 'mcp/offers/gone.json')];
  const kept = [join(cwd, '.relay/capsules/mine.txt'), join(cwd, '.relay/workspace/shared/tmp/x'), join(state, 'keys/signing.key'), join(state, 'audit.jsonl')];
  for (const path of [...rubbish, ...kept]) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, 'x'.repeat(2048));
  }
  return { cwd, rubbish, kept };
}

test('clean shows what it would remove and how much, and removes nothing without an answer', async (t) => {
  const { cwd, rubbish } = littered(t);
  const { code, stdout, stderr } = await run('relay', ['clean'], { cwd });
  assert.equal(code, 2);
  assert.match(stderr, /nothing was removed.*--yes/);
  assert.match(stdout, /^ +2\.0 KiB {2}capsules /m);
  assert.match(stdout, /^ +2\.0 KiB {2}packages of npm and pip /m);
  assert.match(stdout, /^ +4\.0 KiB {2}logs and lists of servers/m);
  for (const path of rubbish) assert.ok(existsSync(path), path);
});

test('clean --yes removes caches and what is stale, and keeps everything else', async (t) => {
  const { cwd, rubbish, kept } = littered(t);
  const { code, stdout } = await run('relay', ['clean', '--yes'], { cwd });
  assert.equal(code, 0);
  assert.match(stdout, /^removed 8\.0 KiB$/m);
  for (const path of rubbish) assert.ok(!existsSync(path), path);
  for (const path of kept) assert.ok(existsSync(path), path);
  assert.equal((await run('relay', ['clean', '--yes'], { cwd })).stdout, 'nothing to remove\n');
});

test('clean refuses while Relay runs', async (t) => {
  const relay = await serve(t, { config: { toolsets: ['files'] } });
  const { code, stderr } = await run('relay', ['clean', '--yes'], { cwd: relay.cwd });
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`pid ${relay.pid}`));
});
