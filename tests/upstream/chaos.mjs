// Twenty upstream servers, of which five crash, three hang, two talk nonsense and one floods its stderr, under load. What the rest
// does meanwhile is measured; what must hold is asserted: their calls work, every failure says whose it is, nothing is left behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messagesOf, modernRequest, request } from '../mcp.mjs';
import { until } from '../program.mjs';
import { alive, descendants, memory, openFiles } from '../processes.mjs';

const fixture = join(import.meta.dirname, 'fixtures', 'moody_server.py');
export const moods = { steady: 9, crash: 5, hang: 3, garbage: 2, flood: 1 };

export function chaosConfig() {
  const mcps = Object.entries(moods).flatMap(([mood, count]) => Array.from({ length: count }, (_, i) => ({
    name: `${mood}${i}`, command: 'python3', args: [fixture, mood], expose: 'tools', callTimeoutMs: 2000, startTimeoutMs: 60_000,
  })));
  return { toolsets: ['admin'], mcps, audit: { onFailure: 'refuse' } };
}

const moodOf = (server) => server.replace(/\d+$/, '');
const names = chaosConfig().mcps.map(({ name }) => name);
const good = names.filter((name) => moodOf(name) === 'steady');

// One caller: a random one of its servers each time. Text in, text out; anything else is a failure that must explain itself.
class Caller {
  constructor(endpoint, tally, servers = names) {
    Object.assign(this, { endpoint, tally, servers, agent: new http.Agent({ keepAlive: true, maxSockets: 1 }), stopped: false, made: 0 });
  }

  async once(server = this.servers[Math.floor(Math.random() * this.servers.length)]) {
    const text = `${server} ${++this.made} ${Math.random()}`;
    const from = performance.now();
    const answer = await request(this.endpoint, { ...modernRequest('tools/call', { name: `${server}__echo`, arguments: { text } }), agent: this.agent });
    const reply = messagesOf(answer).at(-1);
    this.tally.add(server, text, reply, performance.now() - from);
  }

  async run() {
    while (!this.stopped) await this.once();
    this.agent.destroy();
  }
}

class Tally {
  times = { steady: [], crash: [], hang: [], garbage: [], flood: [] };
  failures = new Map();  // mood -> texts
  wrong = [];
  done = 0;

  add(server, text, reply, milliseconds) {
    this.done += 1;
    const mood = moodOf(server);
    const got = reply?.result?.content?.[0]?.text;
    if (reply?.result && !reply.result.isError) {
      if (got !== text) this.wrong.push(`${server}: sent ${text}, got ${JSON.stringify(reply).slice(0, 300)}`);
      this.times[mood].push(milliseconds);
      return;
    }
    const why = reply?.error?.message ?? got ?? JSON.stringify(reply);
    if (!this.failures.has(mood)) this.failures.set(mood, []);
    this.failures.get(mood).push({ server, why });
  }

  // Only moody servers fail, and the text names the server and says what happened.
  check() {
    assert.deepEqual(this.wrong, [], 'answers that belong to another call');
    assert.deepEqual(this.failures.get('steady') ?? [], [], 'failures of servers that are well');
    assert.deepEqual(this.failures.get('garbage') ?? [], [], 'nonsense beside an answer must not cost the answer');
    assert.deepEqual(this.failures.get('flood') ?? [], [], 'a flood of stderr must not cost an answer');
    for (const { server, why } of [...this.failures.values()].flat()) {
      assert.ok(why.includes(server), `the failure names ${server}: ${why}`);
      assert.match(why, /exit|ended|died|crash|closed|gone|time|wait|start|restart|failed|given up/i, `the failure says what happened: ${why}`);
    }
  }
}

const quantile = (values, q) => values.length === 0 ? NaN : [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

function isSupervisor({ pid }) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'relay-cage';
  } catch {
    return false;
  }
}

function observe(server) {
  // Each server has a supervisor beside it, so both kinds are counted, and the larger number is held against the number of servers.
  const found = descendants(server.pid).filter(alive);
  const supervisors = found.filter(isSupervisor).length;
  return { files: openFiles(server.pid).length, processes: Math.max(supervisors, found.length - supervisors), rss: memory(server.pid).rss };
}

const mostOf = (a, b) => Object.fromEntries(Object.keys(a).map((key) => [key, Math.max(a[key], b[key])]));

// Callers at work for a while; gives the most that relay had meanwhile.
async function load(server, callers, seconds) {
  const running = callers.map((one) => one.run());
  let most = observe(server);
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    await sleep(500);
    most = mostOf(most, observe(server));
  }
  for (const one of callers) one.stopped = true;
  await Promise.all(running);
  return most;
}

// First the good servers alone, then the same callers beside others that call all servers. Two callers are for the good ones, so that their
// latency before and during the chaos is that of the same load.
export async function chaos(server, { seconds, callers = 8 }) {
  const [warm, quiet, beside, tally] = [new Tally(), new Tally(), new Tally(), new Tally()];
  for (const name of names) await new Caller(server.endpoint, warm).once(name);
  const make = (count, into, servers) => Array.from({ length: count }, () => new Caller(server.endpoint, into, servers));
  await load(server, make(2, quiet, good), Math.max(3, seconds / 10));
  const before = observe(server);
  const most = await load(server, [...make(2, beside, good), ...make(callers, tally)], seconds);
  for (const one of [quiet, beside, tally]) one.check();
  assert.ok(most.processes <= names.length * 2, `${most.processes} processes for ${names.length} servers: one that ends beside one that begins, no more`);
  await until('a process at most for each server', () => observe(server).processes <= names.length, { seconds: 60 });
  const after = observe(server);
  assert.ok(after.files < most.files + 20 && after.files <= 40 + names.length * 8, `open files: ${after.files}, at most ${most.files}`);
  return { tally, quiet, beside, before, most, after };
}

const latency = (times) => `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`;

export function report({ tally, quiet, beside, before, most, after }) {
  const lines = Object.entries(tally.times).map(([mood, times]) =>
    `  ${mood.padEnd(8)} ${String(times.length).padStart(6)} answered, ${latency(times)}, ${(tally.failures.get(mood) ?? []).length} failed`);
  const samples = [...tally.failures].map(([mood, list]) => `  ${mood}: ${list[0].why}`);
  const state = ({ processes, files, rss }) => `${processes} processes, ${files} files, ${rss.toFixed(0)} MB`;
  return [`${tally.done} calls`, ...lines, 'as failures read:', ...samples,
    `good servers, two callers: before ${latency(quiet.times.steady)} (${quiet.done} calls); during ${latency(beside.times.steady)} (${beside.done} calls)`,
    `before ${state(before)}; at most ${state(most)}; afterwards ${state(after)}`].join('\n');
}
