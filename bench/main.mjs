// Runs the rows in order. A row that cannot run says why and is skipped; the others go on.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, here } from './frame/machine.mjs';
import { stopAll } from './frame/process.mjs';
import { record } from './frame/results.mjs';

// Each file in rows/ exports { name, title, needs(): string | undefined, measure(): Table[] }, ordered by its number.
async function loadRows() {
  const files = readdirSync(join(here, 'rows')).filter((file) => file.endsWith('.mjs')).sort();
  return Promise.all(files.map(async (file) => (await import(`./rows/${file}`)).default));
}

async function runRow(row, machine, keep) {
  const missing = row.needs?.();
  if (missing) {
    console.log(`\n${row.name}: skipped, ${missing}`);
    return 'skipped';
  }
  const from = Date.now();
  try {
    const tables = await row.measure();
    for (const table of tables) console.log(table.text());
    console.log(`  (${row.name}: ${((Date.now() - from) / 1000).toFixed(0)} s)`);
    if (keep) record(row, tables, machine);
    return 'measured';
  } catch (error) {
    console.log(`\n${row.name}: FAILED, ${error.stack}`);
    return 'failed';
  } finally {
    await stopAll();
  }
}

const args = process.argv.slice(2);
const rows = await loadRows();
if (args.includes('--list')) {
  for (const row of rows) console.log(`${row.name.padEnd(16)} ${row.title}`);
  process.exit(0);
}
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  console.error(`bench: no row named ${unknown.join(', ')}; bench/run --list names them`);
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopAll().finally(() => process.exit(1)));

const machine = describeMachine();
console.log(`${machine.date} · ${machine.cpu}, ${machine.cores} cores, load ${machine.load}`);
console.log(Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`).join(' · '));
const outcomes = [];
for (const row of rows)
  if (names.length === 0 || names.includes(row.name)) outcomes.push(await runRow(row, machine, !args.includes('--dry')));
const count = (outcome) => outcomes.filter((one) => one === outcome).length;
console.log(`\n${count('measured')} rows measured, ${count('skipped')} skipped, ${count('failed')} failed`);
process.exit(count('failed') > 0 ? 1 : 0);
