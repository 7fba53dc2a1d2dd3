// The first generation of the official SDK, 1.32: what most clients are built on. Legacy era only.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { alive, describe } from '../processes.mjs';
import { atEnd, until } from '../program.mjs';
import { expectHello, expectServerInfo, expectTools, hello, serveForClients, stdioCommand } from './expectations.mjs';

async function connect(t, transport) {
  const client = new Client({ name: 'sdk-v1', version: '1.32.2' });
  atEnd(t, () => client.close());
  await client.connect(transport);
  return client;
}

async function listAndCall(client) {
  expectTools((await client.listTools()).tools);
  expectServerInfo(await client.callTool({ name: 'server_info', arguments: {} }));
  expectHello(await client.callTool(hello));
}

test('SDK v1 lists and calls over streamable HTTP', async (t) => {
  const server = await serveForClients(t);
  const transport = new StreamableHTTPClientTransport(new URL(server.endpoint));
  const client = await connect(t, transport);
  assert.equal(client.getServerVersion().name, 'relay');
  assert.equal(transport.protocolVersion, '2025-11-25');
  assert.match(transport.sessionId, /^[\x21-\x7e]+$/);
  await listAndCall(client);
  const ended = transport.sessionId;
  await transport.terminateSession();
  const answer = await fetch(server.endpoint, {
    method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': ended },
  });
  assert.equal(answer.status, 404, 'a terminated session is gone');
});

test('SDK v1 lists and calls over stdio, and the server ends with its stdin', async (t) => {
  const transport = new StdioClientTransport({ ...stdioCommand(t), stderr: 'pipe' });
  const client = await connect(t, transport);
  assert.equal(client.getServerVersion().name, 'relay');
  await listAndCall(client);
  const server = describe(transport.pid);
  assert.equal(server.name, 'relay');
  await client.close();
  await until('relay stdio to end', () => !alive(server), { seconds: 10 });
});

test('SDK v1 lists and calls over the HTTP+SSE transport of 2024-11-05', async (t) => {
  const server = await serveForClients(t);
  await listAndCall(await connect(t, new SSEClientTransport(new URL(`${server.url}/sse`))));
});

test('SDK v1 gets a tool error, not a broken connection, for wrong arguments and unknown tools', async (t) => {
  const server = await serveForClients(t);
  const client = await connect(t, new StreamableHTTPClientTransport(new URL(server.endpoint)));
  const wrong = await client.callTool({ name: 'run_js', arguments: { code: 7 } });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /code/, 'the error names the field');
  await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /no_such_tool/);
  expectServerInfo(await client.callTool({ name: 'server_info', arguments: {} }));
});

test('SDK v1: sixteen clients at once each get their own answers', async (t) => {
  const server = await serveForClients(t);
  const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, new StreamableHTTPClientTransport(new URL(server.endpoint)))));
  const calls = clients.flatMap((client, i) => Array.from({ length: 4 }, async (_, n) => {
    const result = await client.callTool({ name: 'run_js', arguments: { code: `console.log("client ${i} call ${n}")` } });
    assert.equal(result.structuredContent?.stdout, `client ${i} call ${n}\n`, JSON.stringify(result));
  }));
  await Promise.all(calls);
});
