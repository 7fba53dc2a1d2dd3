// From exec to the first answer, and what an idle server occupies.
import { node, peer, program, has } from '../frame/machine.mjs';
import { directory, freePort, launch, ready, relayServe, nodePeer } from '../frame/process.mjs';
import { median, quantile } from '../frame/numbers.mjs';
import { megabytes, millis, ratio, Table } from '../frame/table.mjs';
import { memory, threads } from '../../tests/processes.mjs';

const rounds = 15;
const config = { toolsets: ['files', 'admin'], log: { level: 'warn' } };

async function startOnce(line, port, cwd) {
  const from = performance.now();
  const one = launch(line, { cwd });
  await ready(`http://127.0.0.1:${port}/healthz`, one);
  const took = performance.now() - from;
  await one.stop();
  return took;
}

// Round by round, one after the other, so that a busy moment of the machine meets both.
async function startTimes() {
  const cwd = directory(config);
  const times = { node: [], relay: [] };
  for (let round = 0; round < rounds; ++round) {
    const [a, b] = [await freePort(), await freePort()];
    times.node.push(await startOnce([node, peer('node_http.mjs'), String(a)], a, cwd));
    times.relay.push(await startOnce([program('relay'), 'serve', '--bind', '127.0.0.1', '--port', String(b), '--no-open', '--no-ui'], b, cwd));
  }
  return times;
}

async function idle(server) {
  await new Promise((done) => setTimeout(done, 1500));
  const figures = { ...memory(server.pid), threads: threads(server.pid) };
  await server.stop();
  return figures;
}

async function measure() {
  const times = await startTimes();
  const start = new Table(`Start to first answer of /healthz, ${rounds} rounds in turn`, ['server', 'p50', 'p90', 'against node']);
  start.add('node, empty server', millis(median(times.node)), millis(quantile(times.node, 0.9)), '1');
  start.add('relay serve', millis(median(times.relay)), millis(quantile(times.relay, 0.9)), ratio(median(times.node) / median(times.relay)));
  start.goal('relay serve answers sooner than node with an empty server', median(times.relay) < median(times.node));

  const [a, b] = [await idle(await nodePeer('node_http.mjs')), await idle(await relayServe(config))];
  const rest = new Table('Idle, without sandboxes', ['server', 'RSS', 'PSS', 'private', 'threads']);
  for (const [name, m] of [['node, empty server', a], ['relay serve (files, admin)', b]])
    rest.add(name, megabytes(m.rss), megabytes(m.pss), megabytes(m.private), m.threads);
  rest.goal(`at most 15 MB idle without zygotes (RSS ${megabytes(b.rss)}, PSS ${megabytes(b.pss)})`, b.rss <= 15);
  return [start, rest];
}

export default { name: 'start', title: 'Start and idle memory', measure, needs: () => (has('relay') ? undefined : 'build/bin/relay is missing') };
