// The smallest request there is, /healthz: what the HTTP server itself costs.
import { has, seconds } from '../frame/machine.mjs';
import { nodePeer, relayServe } from '../frame/process.mjs';
import { micros, ratio, Table, whole } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';

const connections = [1, 8, 32];

async function measureServer(server) {
  const figures = {};
  for (const c of connections)
    figures[c] = await load(`${server.url}/healthz`, { method: 'GET', headers: {} }, { connections: c, check: '"ok"' });
  await server.stop();
  return figures;
}

async function measure() {
  const peer = await measureServer(await nodePeer('node_http.mjs'));
  const relay = await measureServer(await relayServe({ toolsets: ['files', 'admin'] }));
  const table = new Table(`GET /healthz, ${seconds} s each, server and client on a core of their own`,
    ['connections', 'node:http req/s', 'p50', 'p99', 'relay req/s', 'p50', 'p99', 'relay / node']);
  for (const c of connections) {
    const [a, b] = [peer[c], relay[c]];
    table.add(c, whole(a.rps), micros(a.p50), micros(a.p99), whole(b.rps), micros(b.p50), micros(b.p99), ratio(b.rps / a.rps));
  }
  return [table.note('wrk gives its latencies in whole microseconds; it is itself the slower side above about 150 000 req/s.')];
}

export default {
  name: 'endpoint', title: 'A trivial endpoint against bare node:http', measure,
  needs: () => needsWrk() ?? (has('relay') ? undefined : 'build/bin/relay is missing'),
};
