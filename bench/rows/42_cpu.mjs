// A loop that only computes: how much slower than native is the guest? Each program times itself.
import { execFileSync } from 'node:child_process';
import { node, peer } from '../frame/machine.mjs';
import { median } from '../frame/numbers.mjs';
import { capture } from '../frame/process.mjs';
import { deno, needsRuns, runOnce, warmRelay } from '../frame/runs.mjs';
import { millis, ratio, Table } from '../frame/table.mjs';

const rounds = 3;

const python = `
import time
def work():
    total = 0
    for i in range(3000000):
        total += i * i % 7
    return total
begin = time.perf_counter()
total = work()
print(total, (time.perf_counter() - begin) * 1000)
`;

const javascript = `
function work() { let total = 0; for (let i = 0; i < 3000000; i++) total += (i * i) % 7; return total; }
const begin = performance.now();
const total = work();
console.log(total + " " + (performance.now() - begin));
`;

function find(program) {
  try {
    return execFileSync('which', [program], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

const outputOf = (line) => () => capture(line, { seconds: 50 });

function subjects(server, language) {
  if (language === 'py') {
    return [
      ['/usr/bin/python3', outputOf(['/usr/bin/python3', '-c', python])],
      ['relay run_py', async () => (await runOnce(server, 'py', python)).stdout],
      ['node + pyodide', outputOf([node, peer('pyodide_hello.mjs'), python])],
    ];
  }
  const native = find('qjs');
  return [
    ['node (V8, compiled)', outputOf([node, '-e', javascript])],
    ['relay run_js', async () => (await runOnce(server, 'js', javascript)).stdout],
    ['node + quickjs-emscripten', outputOf([node, peer('quickjs_hello.mjs'), javascript])],
    ['deno eval (V8, compiled)', outputOf([deno, 'eval', javascript])],
    ...(native ? [['native qjs', outputOf([native, '-e', javascript])]] : []),
  ];
}

async function measureLanguage(server, language) {
  const all = subjects(server, language).map(([name, once]) => ({ name, once, times: [] }));
  const totals = new Set();
  for (let round = 0; round < rounds; ++round) {
    for (const one of all) {
      const [total, ms] = (await one.once()).trim().split(' ').map(Number);
      totals.add(total);
      one.times.push(ms);
    }
  }
  if (totals.size !== 1) throw new Error(`programs disagree about the result: ${[...totals]}`);
  return all.map(({ name, times }) => ({ name, ms: Math.min(...times), usual: median(times) }));
}

async function measure() {
  const server = await warmRelay();
  const tables = [];
  for (const [language, title] of [['py', 'Python'], ['js', 'JavaScript']]) {
    const all = await measureLanguage(server, language);
    const table = new Table(`${title}: three million steps of integer arithmetic, best of ${rounds}`, ['where', 'best', 'median', 'against the first']);
    for (const one of all) table.add(one.name, millis(one.ms), millis(one.usual), ratio(one.ms / all[0].ms));
    const factor = all[1].ms / all[0].ms;
    if (language === 'py') table.goal(`at most 2.2 × the time of native CPython (${ratio(factor)})`, factor <= 2.2);
    tables.push(table);
  }
  return tables;
}

export default { name: 'run-cpu', title: 'A CPU-bound loop in the guest', measure, needs: needsRuns };
