// Where the instructions of one call go: server_info under callgrind, by folder of the sources.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { partsOf, totalOf } from '../frame/callgrind.mjs';
import { has, program } from '../frame/machine.mjs';
import { callOnce } from '../frame/mcp.mjs';
import { capture, directory, freePort, launch, ready } from '../frame/process.mjs';
import { fixed, Table, whole } from '../frame/table.mjs';

const calls = 400;

async function startUnderCallgrind() {
  const cwd = directory({ toolsets: ['files', 'admin'], log: { level: 'warn' } });
  const port = await freePort();
  // valgrind 3.19 stumbles over the debug information of clang 19; the names of functions are enough.
  const copy = join(cwd, 'relay');
  await capture(['strip', '--strip-debug', '-o', copy, program('relay')]);
  const one = launch(['valgrind', '--tool=callgrind', '--instr-atstart=no', '--compress-strings=yes', '--callgrind-out-file=' + join(cwd, 'out'), copy,
    'serve', '--bind', '127.0.0.1', '--port', String(port), '--no-open', '--no-ui'], { cwd });
  await ready(`http://127.0.0.1:${port}/healthz`, one, 50);
  return Object.assign(one, { cwd, url: `http://127.0.0.1:${port}/mcp` });
}

async function measure() {
  const server = await startUnderCallgrind();
  for (let i = 0; i < 20; ++i) await callOnce(server.url, 'server_info', {});
  await capture(['callgrind_control', '--instr=on', String(server.pid)]);
  for (let i = 0; i < calls; ++i) await callOnce(server.url, 'server_info', {});
  await capture(['callgrind_control', '--dump', String(server.pid)]);
  await sleep(500);
  await server.stop();
  const text = readdirSync(server.cwd).filter((name) => name.startsWith('out')).map((name) => readFileSync(join(server.cwd, name), 'utf8'))
    .reduce((best, one) => (totalOf(one) > totalOf(best) ? one : best), '');
  const total = totalOf(text);
  if (total === 0) throw new Error('callgrind counted nothing');
  const table = new Table(`Instructions of one server_info over HTTP, a connection each, mean of ${calls} calls`, ['part', 'instructions', 'share']);
  const parts = [...partsOf(text)].sort((a, b) => b[1] - a[1]);
  const rest = total - parts.reduce((spent, [, cost]) => spent + cost, 0);
  for (const [part, cost] of parts) if (cost / total > 0.002) table.add(part, whole(cost / calls), `${fixed((100 * cost) / total)} %`);
  table.add('libraries, for asio and the rest', whole(rest / calls), `${fixed((100 * rest) / total)} %`);
  table.add('all', whole(total / calls), '100 %');
  return [table.note('Calls into hashing, JSON, formatting and memory count for the folder that made them; what the optimiser moved into a caller counts for the caller.')];
}

function needsValgrind() {
  try {
    execFileSync('which', ['callgrind_control'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'valgrind is not installed (Debian package valgrind)';
  }
}

export default { name: 'stages', title: 'What each stage of a call costs', measure, needs: () => needsValgrind() ?? (has('relay') ? undefined : 'build/bin/relay is missing') };
