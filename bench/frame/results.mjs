// RESULTS.md: one section per row, between markers, so that a run of some rows leaves the others as they were.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here } from './machine.mjs';

const path = join(here, 'RESULTS.md');
const begin = (name) => `<!-- bench:begin ${name} -->`;
const end = (name) => `<!-- bench:end ${name} -->`;

const head = `# What was measured

Written by \`bench/run\`: each section is one row of the bench, with its peers in the same run. Compare ratios, not times:
the machine is small and shared. bench/README.md says how each row is made.
`;

function stamp(machine) {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`).join(' · ');
  return `${machine.date} · ${machine.cpu}, ${machine.cores} cores, Linux ${machine.kernel}, load at start ${machine.load}  \n${versions}`;
}

function section(row, tables, machine) {
  return [begin(row.name), `## ${row.title}`, '', stamp(machine), '', tables.map((table) => table.markdown()).join('\n\n'), '', end(row.name)].join('\n');
}

export function record(row, tables, machine) {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : head;
  const text = section(row, tables, machine);
  const from = before.indexOf(begin(row.name));
  const to = before.indexOf(end(row.name));
  const after = from >= 0 && to > from
    ? before.slice(0, from) + text + before.slice(to + end(row.name).length)
    : `${before.trimEnd()}\n\n${text}\n`;
  writeFileSync(path, after);
}
