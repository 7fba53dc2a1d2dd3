// An echo behind a gateway: what the hop costs, beside calling the server itself and beside two gateways from npm.
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { has, here, node, peer, program, seconds, serverCore } from '../frame/machine.mjs';
import { echoText, echoTool, legacyCall, modernCall, post } from '../frame/mcp.mjs';
import { capture, directory, freePort, launch, nodePeer, ready, relayServe } from '../frame/process.mjs';
import { megabytes, micros, ratio, Table, whole } from '../frame/table.mjs';
import { load, needsWrk } from '../frame/wrk.mjs';
import { alive, descendants, memory } from '../../tests/processes.mjs';

const upstream = [node, peer('sdk_v1_server.mjs')];
const config = {
  toolsets: [], gateway: { prefix: 'none' },
  mcps: [{ name: 'echo', command: upstream[0], args: upstream.slice(1), expose: 'tools', autostart: true }],
};
const connections = [1, 8, 32];
const inFlight = [1, 8, 32];
const vanishing = 200;

async function npmGateway(script, args) {
  const port = await freePort();
  const one = launch([...serverCore, node, join(here, 'node_modules', script), ...args(String(port))], { cwd: directory() });
  await ready(`http://127.0.0.1:${port}/mcp`, one);
  return Object.assign(one, { port, url: `http://127.0.0.1:${port}` });
}

const supergateway = () => npmGateway('supergateway/dist/index.js',
  (port) => ['--stdio', upstream.join(' '), '--outputTransport', 'streamableHttp', '--stateful', '--port', port, '--logLevel', 'none']);
const mcpProxy = () => npmGateway('mcp-proxy/dist/bin/mcp-proxy.mjs', (port) => ['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', ...upstream]);

const overHttp = [
  ['the same server over HTTP, directly', () => nodePeer('sdk_v1_server.mjs'), (url) => legacyCall(url, echoTool)],
  ['supergateway, stateful', supergateway, (url) => legacyCall(url, echoTool)],
  ['mcp-proxy', mcpProxy, (url) => legacyCall(url, echoTool)],
  ['relay, stateful', () => relayServe(config), (url) => legacyCall(url, echoTool)],
  ['relay, modern', () => relayServe(config), async () => modernCall(echoTool)],
];

const family = (pid) => [pid, ...descendants(pid).filter(alive).map((one) => one.pid)];
const familyRss = (pid) => family(pid).reduce((total, one) => total + memory(one).rss, 0);

async function measureHttp([name, start, makeRequest]) {
  const server = await start();
  const url = `${server.url}/mcp`;
  const request = await makeRequest(url);
  const figures = { name };
  const first = await post(url, request);  // the server behind it starts now
  if (!first.text.includes(echoText)) throw new Error(`${name}: ${first.status} ${first.text.slice(0, 500)}`);
  for (const c of connections) {
    figures[c] = await load(url, request, { connections: c, check: echoText, always: true })
      .catch((error) => { throw new Error(`${name}, ${c} connections: ${error.message}; ${server.stderr.slice(-500)}`); });
  }
  Object.assign(figures, { own: memory(server.pid).rss, all: familyRss(server.pid) });
  await server.stop();
  return figures;
}

// A client that opens a session, calls once, and is gone without a word.
async function vanish(url) {
  const request = await legacyCall(url, echoTool);
  await new Promise((resolve, reject) => {
    const sent = http.request(url, { method: 'POST', headers: request.headers, agent: false }, (answer) => {
      answer.once('data', () => { sent.destroy(); resolve(); });
      answer.once('error', resolve).once('end', resolve);
    });
    sent.on('error', reject);
    sent.end(request.body);
  });
}

async function measureVanishing([name, start]) {
  const server = await start();
  const url = `${server.url}/mcp`;
  await vanish(url);
  await sleep(1000);
  const [before, rssBefore] = [family(server.pid).length, familyRss(server.pid)];
  let failed = 0;
  for (let i = 0; i < vanishing; i += 4) await Promise.all(Array.from({ length: 4 }, () => vanish(url).catch(() => (failed += 1))));
  await sleep(1000);
  const figures = { name, before, after: family(server.pid).length, rssBefore, rssAfter: familyRss(server.pid), failed };
  await server.stop();
  return figures;
}

// Not bound to cores: three processes that take turns run where the kernel puts them, as they do for users.
async function drive(line, window, cwd) {
  const command = [program('relay-bench-stdio'), '--era', 'legacy', '--tool', echoTool, '--expect', echoText,
    '--seconds', String(seconds), '--window', String(window), '--', ...line];
  return JSON.parse(await capture(command, { seconds: 60, cwd }));
}

async function measureStdio() {
  const direct = {};
  const copied = {};
  const through = {};
  for (const window of inFlight) {
    direct[window] = await drive(upstream, window, directory());
    copied[window] = await drive([program('relay-bench-copy'), ...upstream], window, directory());
    through[window] = await drive([program('relay'), 'stdio'], window, directory({ log: { level: 'warn' }, ...config }));
  }
  const table = new Table(`tools/call echo over stdio, directly and through relay, ${seconds} s each`,
    ['calls in flight', 'direct p50', 'p99', 'calls/s', 'through relay p50', 'p99', 'calls/s', 'added to p50', 'added by a process that only copies bytes', 'relay RSS']);
  for (const window of inFlight) {
    const [a, b, c] = [direct[window], through[window], copied[window]];
    table.add(window, micros(a.p50), micros(a.p99), whole(a.rps), micros(b.p50), micros(b.p99), whole(b.rps), micros(b.p50 - a.p50), micros(c.p50 - a.p50), megabytes(b.rssMb));
  }
  const added = through[1].p50 - direct[1].p50;
  return table.goal(`at most 60 µs more than direct, one call at a time (${micros(added)})`, added <= 60);
}

function httpTables(all) {
  const rivals = all.filter(({ name }) => name.startsWith('supergateway') || name.startsWith('mcp-proxy'));
  const ours = all.filter(({ name }) => name.startsWith('relay'));
  return connections.map((c) => {
    const table = new Table(`tools/call echo through a gateway over HTTP to a stdio server, ${c} connection${c > 1 ? 's' : ''}, ${seconds} s each`,
      ['gateway', 'req/s', 'p50', 'p99', 'against the better rival', 'RSS of the gateway', 'with its children']);
    const fastest = Math.max(...rivals.map((one) => one[c].rps));
    const quickest = Math.min(...rivals.map((one) => one[c].p50));
    for (const one of all) table.add(one.name, whole(one[c].rps), micros(one[c].p50), micros(one[c].p99), ratio(one[c].rps / fastest), megabytes(one.own), megabytes(one.all));
    const best = ours.reduce((a, b) => (a[c].rps > b[c].rps ? a : b));
    table.goal(`at most a third of the better rival's p50 (${micros(best[c].p50)} against ${micros(quickest)})`, best[c].p50 * 3 <= quickest);
    return table.goal(`at least 3 × its requests/s (${ratio(best[c].rps / fastest)})`, best[c].rps >= 3 * fastest);
  });
}

function vanishingTable(all) {
  const table = new Table(`${vanishing} clients that open a session, call once and vanish`, ['gateway', 'processes before', 'after', 'RSS of all before', 'after', 'calls that failed']);
  for (const one of all) table.add(one.name, one.before, one.after, megabytes(one.rssBefore), megabytes(one.rssAfter), one.failed);
  const relay = all.find(({ name }) => name.startsWith('relay'));
  return table.goal(`relay: as many processes after as before (${relay.before}, ${relay.after})`, relay.before === relay.after);
}

async function measure() {
  const stdio = await measureStdio();
  const figures = [];
  for (const subject of overHttp) figures.push(await measureHttp(subject));
  const vanished = [];
  for (const subject of overHttp.filter(([name]) => !name.includes('directly') && !name.includes('modern'))) vanished.push(await measureVanishing(subject));
  return [stdio, ...httpTables(figures), vanishingTable(vanished)];
}

export default {
  name: 'gateway', title: 'A tools/call through the gateway', measure,
  needs: () => needsWrk() ?? ['relay', 'relay-bench-stdio', 'relay-bench-copy'].filter((name) => !has(name)).map((name) => `build/bin/${name} is missing`)[0],
};
