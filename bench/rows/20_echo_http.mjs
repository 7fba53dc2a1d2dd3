// tools/call of an echo over HTTP: the protocol without anything behind it.
import { has, seconds } from '../frame/machine.mjs';
import { echoText, echoTool, legacyCall, modernCall } from '../frame/mcp.mjs';
import { conformanceServer, nodePeer } from '../frame/process.mjs';
import { megabytes, micros, ratio, Table, whole } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';
import { memory } from '../../tests/processes.mjs';

const connections = [1, 8, 32];

const subjects = [
  ['bare node:http', () => nodePeer('node_http.mjs'), async () => modernCall(echoTool)],
  ['SDK v1, stateful', () => nodePeer('sdk_v1_server.mjs'), (url) => legacyCall(url, echoTool)],
  ['SDK v2, modern', () => nodePeer('sdk_v2_server.mjs'), async () => modernCall(echoTool)],
  ['relay, stateful', conformanceServer, (url) => legacyCall(url, echoTool)],
  ['relay, modern', conformanceServer, async () => modernCall(echoTool)],
];

async function measureSubject([name, start, makeRequest]) {
  const server = await start();
  const url = `${server.url}/mcp`;
  const request = await makeRequest(url);
  const figures = { name };
  for (const c of connections) figures[c] = await load(url, request, { connections: c, check: echoText });
  figures.rss = memory(server.pid).rss;
  await server.stop();
  return figures;
}

async function measure() {
  const all = [];
  for (const subject of subjects) all.push(await measureSubject(subject));
  const base = all.find(({ name }) => name.startsWith('SDK v1'));
  return [...connections.map((c) => {
    const table = new Table(`tools/call echo over HTTP, ${c} connection${c > 1 ? 's' : ''}, ${seconds} s each`, ['server', 'req/s', 'p50', 'p99', 'against SDK v1', 'RSS after']);
    for (const one of all) table.add(one.name, whole(one[c].rps), micros(one[c].p50), micros(one[c].p99), ratio(one[c].rps / base[c].rps), megabytes(one.rss));
    return table;
  })];
}

export default {
  name: 'echo-http', title: 'tools/call echo over HTTP', measure,
  needs: () => needsWrk() ?? (has('relay-conformance-server') ? undefined : 'build/bin/relay-conformance-server is missing'),
};
