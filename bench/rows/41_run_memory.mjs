// Memory that belongs to one run alone, with 1, 10 and 100 of them at once.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { node, peer } from '../frame/machine.mjs';
import { sum } from '../frame/numbers.mjs';
import { needsRuns, runOnce, warmRelay } from '../frame/runs.mjs';
import { megabytes, ratio, Table } from '../frame/table.mjs';
import { descendants, memory } from '../../tests/processes.mjs';

const counts = [1, 10, 100];
const waiting = {
  js: 'console.log("hello"); await new Promise((done) => setTimeout(done, 8000))',
  py: 'import asyncio\nprint("hello")\nawait asyncio.sleep(8)',
};

const children = (server) => descendants(server.pid).filter((one) => one.parent !== server.pid);

// Runs are told from ready children by time: the children that were waiting before are the ones that now run, so the
// figure is over all of a runtime's children, and the ready ones are the smaller part.
async function relayFigure(language, count) {
  const server = await warmRelay([language], { maxConcurrentRuns: 128, readyChildren: 2 });
  const runs = Array.from({ length: count }, () => runOnce(server, language, waiting[language], { policy: { limits: { timeoutMs: 30000 } } }));
  const ended = Promise.all(runs);
  ended.catch(() => {});
  await sleep(language === 'js' ? 3000 : 5000);
  const each = children(server).map((one) => memory(one.pid).private).sort((a, b) => b - a).slice(0, count);
  if (each.length < count) throw new Error(`${each.length} children for ${count} runs`);
  await ended;
  await server.stop();
  return { each: sum(each) / count, most: each[0] };
}

// The peer: one Node process, its runtime booted, the script run, waiting.
async function peerFigure(script) {
  const child = spawn(node, [peer(script), script.startsWith('py') ? 'print("hello")' : 'console.log("hello")', 'stay'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((done) => child.stdout.once('data', done));
  await sleep(500);
  const figure = memory(child.pid).private;
  child.kill('SIGKILL');
  return figure;
}

async function measure() {
  const table = new Table('Private memory of one run, while it waits', ['language', 'runs at once', 'relay, each', 'relay, largest', 'one Node process', 'smaller by']);
  for (const [language, script, limit] of [['js', 'quickjs_hello.mjs', 1], ['py', 'pyodide_hello.mjs', 4]]) {
    const single = await peerFigure(script);
    for (const count of counts) {
      const { each, most } = await relayFigure(language, count);
      table.add(language, count, megabytes(each), megabytes(most), megabytes(single), ratio(single / each));
      if (count === 100) table.goal(`${language}: at most ${limit} MB private per run (${megabytes(each)})`, each <= limit);
    }
  }
  return [table];
}

export default { name: 'run-memory', title: 'Memory per concurrent run', measure, needs: needsRuns };
