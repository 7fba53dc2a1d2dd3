// What a server holds at a quiet moment, and what it must not hold more of after a lot of work.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../mcp.mjs';
import { descendants, memory, openFiles, zygotesOf } from '../processes.mjs';

function countEntries(directory) {
  try {
    return readdirSync(directory, { recursive: true }).length;
  } catch {
    return 0;
  }
}

// Control groups that bear the name of this server, wherever they are mounted.
function controlGroups(pid) {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(' ')[4]);
  const below = (directory, depth) => subdirectories(directory).flatMap((name) => [name, ...(depth > 0 ? below(join(directory, name), depth - 1) : [])]);
  return mounts.flatMap((mount) => below(mount, 4)).filter((name) => name.startsWith(`relay.${pid}.`)).length;
}

function subdirectories(directory) {
  try {
    return readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

// Files that grow by design, or that a cache keeps within its own limits.
const kept = /^(capsules|audit)/;

function stateEntries(state) {
  return subdirectories(state).filter((name) => !kept.test(name)).reduce((sum, name) => sum + 1 + countEntries(join(state, name)), 0);
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

function observeOnce(server) {
  const below = descendants(server.pid);
  const own = memory(server.pid);
  return {
    files: openFiles(server.pid).length,
    processes: below.filter((one) => one.state !== 'Z').length,
    zombies: below.filter((one) => one.state === 'Z').length,
    directories: stateEntries(join(server.cwd, '.relay')) + stateEntries(server.state),
    groups: controlGroups(server.pid),
    privateMb: own.private,
    rssMb: own.rss,
    pssMb: own.pss,
    zygotesMb: sum(zygotesOf(server.pid, below).map((one) => memory(one.pid).pss)),
  };
}

// Pools refill and buffers drain after the last answer: the quiet moment is when two looks agree.
export async function observe(server) {
  let before = observeOnce(server);
  for (let look = 0; look < 40; ++look) {
    await sleep(250);
    const now = observeOnce(server);
    if (['files', 'processes', 'zombies'].every((key) => now[key] === before[key]) && look > 4) return now;
    before = now;
  }
  return before;
}

async function leakedChildren(server) {
  const { body } = await request(`${server.url}/metrics`);
  return Number(/^relay_leaked_children (\d+)/m.exec(body)?.[1]);
}

export async function assertNoLeak(server, before, after, { growthMb }) {
  assert.equal(after.zombies, 0, 'every child was reaped');
  assert.ok(after.files <= before.files + 4, `file descriptors: ${before.files} before, ${after.files} after: ${openFiles(server.pid).join(' ')}`);
  assert.ok(after.processes <= before.processes + 2, `processes: ${before.processes} before, ${after.processes} after`);
  assert.ok(after.directories <= before.directories + 8, `entries under .relay: ${before.directories} before, ${after.directories} after`);
  assert.ok(after.groups <= before.groups, `control groups: ${before.groups} before, ${after.groups} after`);
  assert.ok(after.zygotesMb <= before.zygotesMb + 64, `the zygotes' memory: ${before.zygotesMb.toFixed(1)} MB before, ${after.zygotesMb.toFixed(1)} MB after`);
  assert.ok(after.privateMb <= before.privateMb + growthMb, `relay's memory: ${before.privateMb.toFixed(1)} MB before, ${after.privateMb.toFixed(1)} MB after`);
  assert.equal(await leakedChildren(server), 0, 'relay_leaked_children');
}
