// The long form: make soak. Prints what it measured and keeps it in bench/RESULTS.md. Each part has its length as an option;
// a length of 0 leaves the part out.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/frame/machine.mjs';
import { record } from '../../bench/frame/results.mjs';
import { megabytes, Table, whole } from '../../bench/frame/table.mjs';
import { run, serve } from '../program.mjs';
import { chaos, chaosConfig, report } from '../upstream/chaos.mjs';
import { config, inARow, killRelay, sameState, steady, stopAndVerify, underFire, warmUp } from './soak.mjs';

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({
  options: {
    runs: number(10_000),        // in a row, in each language
    minutes: number(20),         // of many clients at once
    clients: number(16),
    kills: number(200),          // SIGKILLs, a tenth of them for relay itself
    race: number(120),           // seconds of links swapped under everything that opens files
    chaos: number(600),          // seconds of upstream servers that misbehave
    'no-record': { type: 'boolean', default: false },
  },
});
const { runs, minutes, clients, kills, race, chaos: chaosSeconds } = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const relayKills = kills > 0 ? Math.max(1, Math.round(kills / 10)) : 0;
const hours = 3_600_000;

const table = new Table('Before → after each part', ['part', 'calls', 'failed', 'processes', 'files', 'entries in .relay', 'control groups', 'relay RSS', 'relay PSS', 'zygotes PSS']);

function add(name, { done, failed, before, after }) {
  const both = (key, show = whole) => `${show(before[key])} → ${show(after[key])}`;
  table.add(name, whole(done), whole(failed), both('processes'), both('files'), both('directories'), both('groups'), both('rssMb', megabytes), both('pssMb', megabytes), both('zygotesMb', megabytes));
}

test('a lot of work leaves nothing behind', { timeout: 12 * hours }, async (t) => {
  const server = await serve(t, { config });
  await warmUp(server);
  if (runs > 0) for (const tool of ['run_js', 'run_py']) add(`${tool}, ${whole(runs)} in a row`, await inARow(server, runs, tool));
  if (minutes > 0) add(`${clients} clients for ${minutes} min`, await steady(server, { seconds: minutes * 60, clients }));
  const strikes = kills - relayKills;
  if (strikes > 0) {
    const fire = await underFire(server, { seconds: Math.max(20, strikes * 1.5), clients, kills: strikes });
    add(`${fire.kills.zygote} zygotes and ${fire.kills.child} sandboxes killed`, fire);
    table.note(`${fire.excused} of ${fire.done} calls failed within 15 s of a kill, none at another time; afterwards both languages worked again.`);
  }
  table.note(`audit verify after all of it: ${await stopAndVerify(server)}`);
});

test('relay is killed again and again', { timeout: 12 * hours, skip: relayKills === 0 }, async (t) => {
  const verdict = await killRelay(sameState(t), { times: relayKills, clients: 4 });
  table.note(`relay itself was killed ${relayKills} times under load: no orphan, and the next start worked. audit verify: ${verdict}`);
});

test('links are swapped under everything that opens files', { timeout: 12 * hours, skip: race === 0 }, async (t) => {
  const program = join(import.meta.dirname, '../../build/dev/bin/vfs_test');
  if (!existsSync(program)) return t.skip(`${program} is missing`);
  const { code, stdout } = await run(program, ['--gtest_filter=*SymlinkRace*'], { env: { RELAY_SOAK_SECONDS: String(race) }, seconds: race * 3 + 60 });
  assert.equal(code, 0, stdout);
  const figures = [...stdout.matchAll(/^race: (\d+) swaps, (\d+) reads, (\d+) escapes$/gm)].map((found) => found.slice(1).map(Number));
  assert.equal(figures.length, 2, `it was built before it told its figures: ${stdout}`);
  const [swaps, reads, escapes] = [0, 1, 2].map((i) => figures.reduce((sum, one) => sum + one[i], 0));
  table.note(`a link that leads out was swapped in ${whole(swaps)} times in ${race} s, under the sanitizers: ${whole(reads)} reads, ${escapes} of them from outside.`);
});

test('upstream servers that misbehave', { timeout: 12 * hours, skip: chaosSeconds === 0 }, async (t) => {
  const server = await serve(t, { config: chaosConfig() });
  const lines = report(await chaos(server, { seconds: chaosSeconds, callers: 8 }));
  console.log(lines);
  const [latency, state] = lines.split('\n').slice(-2);
  table.note(`${chaosSeconds} s of upstream servers that misbehave: ${latency}; ${state}.`);
  await stopAndVerify(server);
});

test('the figures are kept', () => {
  console.log(table.text());
  const title = `Soak: ${minutes} minutes of ${clients} clients, ${whole(runs)} runs in a row, ${kills} kills`;
  if (!values['no-record']) record({ name: 'soak', title }, [table], describeMachine());
});
