// server_info through the whole pipeline — policy, audit with its chain on, metrics — against a bare echo of the SDK.
import { has, seconds } from '../frame/machine.mjs';
import { echoText, echoTool, legacyCall, modernCall } from '../frame/mcp.mjs';
import { nodePeer, relayServe } from '../frame/process.mjs';
import { megabytes, micros, ratio, Table, whole } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';
import { memory } from '../../tests/processes.mjs';

const connections = 8;

async function measureServer(server, makeRequest, check) {
  const url = `${server.url}/mcp`;
  const figures = await load(url, await makeRequest(url), { connections, check });
  figures.rss = memory(server.pid).rss;
  await server.stop();
  return figures;
}

async function measure() {
  const config = { toolsets: ['files', 'admin'] };
  // Not pinned: Node compiles and collects garbage on threads of its own, and would lose them on one core.
  const echo = await measureServer(await nodePeer('sdk_v1_server.mjs', { core: [] }), (url) => legacyCall(url, echoTool), echoText);
  const rows = [
    ['SDK v1, bare echo', echo],
    ['relay server_info, stateful', await measureServer(await relayServe(config), (url) => legacyCall(url, 'server_info'), '"version"')],
    ['relay server_info, modern', await measureServer(await relayServe(config), async () => modernCall('server_info'), '"version"')],
    ['relay server_info, no chain', await measureServer(await relayServe({ ...config, audit: { chain: false } }), async () => modernCall('server_info'), '"version"')],
  ];
  const table = new Table(`tools/call with policy, audit and metrics, ${connections} connections, ${seconds} s each`, ['server', 'req/s', 'p50', 'p99', 'against the bare echo', 'RSS after']);
  for (const [name, one] of rows) table.add(name, whole(one.rps), micros(one.p50), micros(one.p99), ratio(one.rps / echo.rps), megabytes(one.rss));
  const best = rows[1][1].rps / echo.rps;
  return [table.goal(`at least 8 × the bare echo of SDK v1, in a session like it (${ratio(best)})`, best >= 8)];
}

export default {
  name: 'pipeline', title: 'A call through policy, audit and metrics', measure,
  needs: () => needsWrk() ?? (has('relay') ? undefined : 'build/bin/relay is missing'),
};
