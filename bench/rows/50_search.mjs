// Search against ripgrep and GNU grep on the machine's own headers and documentation, warm, whole processes in turn.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { has, program } from '../frame/machine.mjs';
import { capture } from '../frame/process.mjs';
import { millis, ratio, Table, whole } from '../frame/table.mjs';

const trees = ['/usr/include', '/usr/share/doc'];
const script = join(import.meta.dirname, '..', 'search.py');
const most = 1.5;

async function measure() {
  const table = new Table('Every match printed, medians of 5 rounds', ['tree', 'question', 'matches', 'relay', 'ripgrep', 'GNU grep', 'relay / ripgrep', 'by processor time']);
  const rows = [];
  for (const tree of trees)  // one by one: a failure then says where
    rows.push(...JSON.parse(await capture(['python3', script, '--json', '--runs', '5', '--bin', program('relay-bench-search'), tree], { seconds: 580 })));
  for (const row of rows)
    table.add(row.tree, row.question, whole(row.matches), millis(row.wall.relay), millis(row.wall.rg), row.wall.grep ? millis(row.wall.grep) : '\u2013', ratio(row.wallRatio), ratio(row.cpuRatio));
  const over = rows.filter(({ wallRatio }) => wallRatio > most), costly = rows.filter(({ cpuRatio }) => cpuRatio > most);
  table.goal(`at most ${most} \u00d7 ripgrep's time in every row (${over.length} of ${rows.length} over)`, over.length === 0);
  table.goal(`at most ${most} \u00d7 ripgrep's processor time in every row (${costly.length} over)`, costly.length === 0);
  table.goal('the same matches as ripgrep (path, line, column) in every row', rows.every(({ same }) => same));
  return [table.note('relay prints its matches in the order of paths, ripgrep as they come; GNU grep reads one file at a time.')];
}

function needs() {
  if (!has('relay-bench-search')) return 'build/bin/relay-bench-search is missing';
  return existsSync('/usr/bin/rg') ? undefined : 'ripgrep is missing';
}

export default { name: 'search', title: 'Search against ripgrep', measure, needs };
