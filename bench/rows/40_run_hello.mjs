// run_js and run_py "hello" end to end over HTTP, against a process for each call.
import { seconds } from '../frame/machine.mjs';
import { modernCall } from '../frame/mcp.mjs';
import { quantile } from '../frame/numbers.mjs';
import { capture } from '../frame/process.mjs';
import { captureChecked, hello, needsRuns, processPeers, program, toolOf, warmRelay } from '../frame/runs.mjs';
import { millis, rate, ratio, Table } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';

const clients = [1, 4, 16];
const names = { js: 'JavaScript', py: 'Python' };

// N clients, each starting one process after the other until the time is over; at least one call each.
async function processLoad(makeLine, code, count, duration) {
  const times = [];
  const from = performance.now();
  const client = async () => {
    do {
      const begin = performance.now();
      await captureChecked(makeLine(code), 'hello\n');
      times.push(performance.now() - begin);
    } while (performance.now() - from < duration * 1000);
  };
  await Promise.all(Array.from({ length: count }, client));
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), rps: times.length / ((performance.now() - from) / 1000) };
}

async function relayLoad(server, language, count) {
  const request = modernCall(toolOf[language], { code: hello[language] });
  const { rps, p50, p99 } = await load(`${server.url}/mcp`, request, { connections: count, check: '"exitCode":0', always: true, core: [] });
  return { rps, p50: p50 / 1000, p99: p99 / 1000 };
}

// One client in no hurry: the server has nothing else to do, and its next sandbox is ready.
async function relayIdle(server, language) {
  const { headers, body } = modernCall(toolOf[language], { code: hello[language] });
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': Buffer.byteLength(body) }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
  const line = [program('relay-bench-pace'), '--port', new URL(server.url).port, '--count', '200', '--pause', '20', '--expect', '"exitCode":0'];
  const { p50, p99 } = JSON.parse(await capture(line, { seconds: 60, input: request }));
  return { p50: p50 / 1000, p99: p99 / 1000 };
}

async function measureLanguage(server, language) {
  const rows = [['relay ' + toolOf[language], { idle: await relayIdle(server, language) }]];
  for (const count of clients) rows[0][1][count] = await relayLoad(server, language, count);
  for (const [name, makeLine] of processPeers[language]) {
    const figures = { 1: await processLoad(makeLine, hello[language], 1, seconds / 2) };
    // A Pyodide process takes seconds and a core: sixteen of them at once would measure the scheduler.
    const slow = figures[1].p50 > 1000;
    for (const count of clients.slice(1)) figures[count] = slow ? undefined : await processLoad(makeLine, hello[language], count, seconds / 2);
    rows.push([name, figures]);
  }
  return rows;
}

const cells = (figure) => (figure ? [millis(figure.p50), millis(figure.p99), rate(figure.rps)] : ['–', '–', '–']);

function tabulate(language, rows) {
  const relay = rows[0][1];
  const columns = ['hello', ...clients.flatMap((count) => [`${count} client${count > 1 ? 's' : ''}: p50`, 'p99', 'runs/s']), 'relay is faster by (p50, 1 client)'];
  const table = new Table(`${names[language]} "hello", fresh each time, ${seconds} s each`, columns);
  for (const [name, figures] of rows) table.add(name, ...clients.flatMap((count) => cells(figures[count])), name.startsWith('relay') ? '' : ratio(figures[1].p50 / relay[1].p50));
  const speedup = rows[1][1][1].p50 / relay[1].p50;
  const [times, limit] = language === 'js' ? [50, 1] : [400, 5];
  table.goal(`${times} × faster than Node starting with the same kind of runtime (${ratio(speedup)} back to back, ${ratio(rows[1][1][1].p50 / relay.idle.p50)} when idle)`, speedup >= times);
  return table.goal(`p50 at most ${limit} ms when idle, a call every 20 ms (${millis(relay.idle.p50)}, p99 ${millis(relay.idle.p99)})`, relay.idle.p50 <= limit);
}

async function measure() {
  const server = await warmRelay();
  const tables = [];
  for (const language of ['js', 'py']) tables.push(tabulate(language, await measureLanguage(server, language)));
  return tables;
}

export default { name: 'run-hello', title: 'run_js and run_py "hello" over HTTP', measure, needs: () => needsWrk() ?? needsRuns() };
