// Two thousand idle event streams: what each of them occupies in the server.
import http from 'node:http';
import { has } from '../frame/machine.mjs';
import { modernRequest, openSession } from '../frame/mcp.mjs';
import { nodePeer, relayServe } from '../frame/process.mjs';
import { fixed, megabytes, Table } from '../frame/table.mjs';
import { memory } from '../../tests/processes.mjs';

const streams = 2000;

function open(url, { method = 'GET', headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers: { Accept: 'text/event-stream', ...headers }, agent: false }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`stream refused: ${answer.statusCode}`));
      answer.on('data', () => {}).on('error', () => {});
      return resolve(() => sent.destroy());
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const legacyStream = async (url) =>
  open(url, { headers: { 'Mcp-Session-Id': await openSession(url), 'MCP-Protocol-Version': '2025-11-25' } });

const listenStream = (url) => {
  const request = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  return open(url, { ...request, headers: { ...request.headers, Accept: 'application/json, text/event-stream' } });
};

async function openAll(url, count, opener) {
  const closers = [];
  for (let done = 0; done < count; done += 50)
    closers.push(...await Promise.all(Array.from({ length: Math.min(50, count - done) }, () => opener(url))));
  return closers;
}

const settle = () => new Promise((done) => setTimeout(done, 1500));

// Memory before, with all streams open, and after they were closed.
async function occupy(server, parts) {
  const url = `${server.url}/mcp`;
  for (const [, opener] of parts) for (const close of await openAll(url, 20, opener)) close();
  await settle();
  const before = memory(server.pid);
  const closers = [];
  for (const [count, opener] of parts) closers.push(...await openAll(url, count, opener));
  await settle();
  const during = memory(server.pid);
  for (const close of closers) close();
  await settle();
  const after = memory(server.pid);
  await server.stop();
  return { before, during, after };
}

async function measure() {
  const table = new Table(`${streams} idle event streams`, ['server', 'private before', 'open', 'closed again', 'KB per stream']);
  const rows = [
    ['SDK v1, a session each', await occupy(await nodePeer('sdk_v1_server.mjs'), [[streams, legacyStream]])],
    ['relay, half sessions, half listens', await occupy(await relayServe({ toolsets: ['files', 'admin'] }), [[streams / 2, legacyStream], [streams / 2, listenStream]])],
  ];
  for (const [name, { before, during, after }] of rows)
    table.add(name, megabytes(before.private), megabytes(during.private), megabytes(after.private), fixed(((during.private - before.private) * 1024) / streams));
  return [table];
}

export default { name: 'streams', title: 'Memory per idle event stream', measure, needs: () => (has('relay') ? undefined : 'build/bin/relay is missing') };
