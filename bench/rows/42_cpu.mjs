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

// What programs do besides: a body that sets `total`.
const kinds = {
  'text and dictionaries': `
    counts = {}
    for i in range(600000):
        key = 'k' + str(i % 997)
        counts[key] = counts.get(key, 0) + len(key)
    total = sum(counts.values())`,
  'objects and calls': `
    class Point:
        def __init__(self, x, y):
            self.x, self.y = x, y
        def norm(self):
            return self.x * self.x + self.y * self.y
    total = 0
    for i in range(500000):
        total += Point(i & 15, 3).norm()`,
  'lists and sorting': `
    total = 0
    for i in range(20):
        values = [(n * 7919) % 100003 for n in range(30000)]
        values.sort()
        total += sum(v for v in values if v % 3)`,
  'JSON and regular expressions': `
    import json, re
    row = {'name': 'ann', 'tags': ['a', 'b', 'c'], 'n': 17, 'nested': {'x': [1.5, 2.5, None, True]}}
    pattern = re.compile(r'(\\w+)@(\\w+)')
    total = 0
    for i in range(30000):
        total += len(json.loads(json.dumps(row))['tags']) + len(pattern.findall('ann@example, bob@example and nobody'))`,
};
const timed = (body) => `
import time
def work():${body}
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

function pythons(server, code) {
  return [
    ['/usr/bin/python3', outputOf(['/usr/bin/python3', '-c', code])],
    ['relay run_py', async () => (await runOnce(server, 'py', code)).stdout],
    ['node + pyodide', outputOf([node, peer('pyodide_hello.mjs'), code])],
  ];
}

function subjects(server, language) {
  if (language === 'py') return pythons(server, python);
  const native = find('qjs');
  return [
    ['node (V8, compiled)', outputOf([node, '-e', javascript])],
    ['relay run_js', async () => (await runOnce(server, 'js', javascript)).stdout],
    ['node + quickjs-emscripten', outputOf([node, peer('quickjs_hello.mjs'), javascript])],
    ['deno eval (V8, compiled)', outputOf([deno, 'eval', javascript])],
    ...(native ? [['native qjs', outputOf([native, '-e', javascript])]] : []),
  ];
}

async function measureSubjects(subjects) {
  const all = subjects.map(([name, once]) => ({ name, once, times: [] }));
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
    const all = await measureSubjects(subjects(server, language));
    const table = new Table(`${title}: three million steps of integer arithmetic, best of ${rounds}`, ['where', 'best', 'median', 'against the first']);
    for (const one of all) table.add(one.name, millis(one.ms), millis(one.usual), ratio(one.ms / all[0].ms));
    const factor = all[1].ms / all[0].ms;
    if (language === 'py') table.goal(`at most 2.2 × the time of native CPython (${ratio(factor)})`, factor <= 2.2);
    tables.push(table);
  }
  const other = new Table(`Python: other kinds of work, best of ${rounds}`, ['what', '/usr/bin/python3', 'relay run_py', 'node + pyodide', 'relay against native', 'against pyodide']);
  for (const [kind, body] of Object.entries(kinds)) {
    const [native, relay, pyodide] = await measureSubjects(pythons(server, timed(body)));
    other.add(kind, millis(native.ms), millis(relay.ms), millis(pyodide.ms), ratio(relay.ms / native.ms), ratio(relay.ms / pyodide.ms));
  }
  return [...tables, other];
}

export default { name: 'run-cpu', title: 'A CPU-bound loop in the guest', measure, needs: needsRuns };
