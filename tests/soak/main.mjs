// The long form: make soak. Prints what it measured and keeps it in bench/RESULTS.md.
import { test } from 'node:test';
import { describeMachine } from '../../bench/frame/machine.mjs';
import { record } from '../../bench/frame/results.mjs';
import { megabytes, Table, whole } from '../../bench/frame/table.mjs';
import { configured, serve, start } from '../program.mjs';
import { config, inARow, killRelay, steady, stopAndVerify, underFire, warmUp } from './soak.mjs';

const [minutes, clients, kills] = process.argv.slice(2).map(Number);
const row = { name: 'soak', title: 'Soak: what is left after a lot of work' };

function add(table, name, { done, before, after }) {
  table.add(name, whole(done), `${before.files} → ${after.files}`, `${before.processes} → ${after.processes}`, `${before.directories} → ${after.directories}`,
    `${megabytes(before.privateMb)} → ${megabytes(after.privateMb)}`, `${megabytes(before.zygoteMb)} → ${megabytes(after.zygoteMb)}`);
}

test(`soak of ${minutes} minutes`, { timeout: (minutes * 2 + 30) * 60_000 }, async (t) => {
  const table = new Table(`${minutes} minutes, ${clients} clients`, ['part', 'calls', 'files', 'processes', 'entries in .relay', 'relay, private', 'largest zygote']);
  const server = await serve(t, { config });
  await warmUp(server);
  const runs = Math.round(Math.min(10_000, minutes * 500));
  for (const tool of ['run_js', 'run_py']) add(table, `${tool}, ${whole(runs)} in a row`, await inARow(server, runs, tool));
  add(table, `${clients} clients for ${minutes} min`, await steady(server, { seconds: minutes * 60, clients }));
  const fire = await underFire(server, { seconds: Math.max(20, kills * 1.5), clients, kills });
  add(table, `with ${fire.kills.zygote} zygotes and ${fire.kills.child} sandboxes killed`, fire);
  table.note(`${fire.excused} of ${fire.done} calls failed within 15 s of a kill; none failed at another time.`);
  await stopAndVerify(server);

  const { cwd, file } = configured(t, config);
  const relayKills = Math.max(2, Math.round(kills / 10));
  await killRelay(async () => {
    const one = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd });
    const { url } = await one.waitForLog('listening', { seconds: 60 });
    return Object.assign(one, { cwd, file, url, endpoint: `${url}/mcp` });
  }, { times: relayKills, clients: 4 });
  table.note(`relay itself was killed ${relayKills} times under load: no orphan, and the audit chain verified each time.`);
  console.log(table.text());
  record(row, [table], describeMachine());
});
