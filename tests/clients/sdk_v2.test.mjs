// The second generation of the official SDK, 2.4: both eras, and the probe that chooses between them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { atEnd } from '../program.mjs';
import { expectHello, expectServerInfo, expectTools, hello, serveForClients, stdioCommand } from './expectations.mjs';

const modern = '2026-07-28';
// Negotiation mode, and the revision it must end with: "auto" finds the modern era without being told.
const modes = [['legacy', '2025-11-25'], ['auto', modern], [{ pin: modern }, modern]];

async function connect(t, transport, mode) {
  const client = new Client({ name: 'sdk-v2', version: '2.4.0' }, { versionNegotiation: { mode } });
  atEnd(t, () => client.close());
  await client.connect(transport);
  return client;
}

async function listAndCall(client) {
  expectTools((await client.listTools()).tools);
  expectServerInfo(await client.callTool({ name: 'server_info', arguments: {} }));
  expectHello(await client.callTool(hello));
}

for (const [mode, revision] of modes) {
  const name = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  test(`SDK v2 (${name}) lists and calls over HTTP`, async (t) => {
    const server = await serveForClients(t);
    const client = await connect(t, new StreamableHTTPClientTransport(new URL(server.endpoint)), mode);
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
    await listAndCall(client);
  });
  test(`SDK v2 (${name}) lists and calls over stdio`, async (t) => {
    const client = await connect(t, new StdioClientTransport({ ...stdioCommand(t), stderr: 'pipe' }), mode);
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
    await listAndCall(client);
  });
}

test('SDK v2: both eras are served side by side on one endpoint', async (t) => {
  const server = await serveForClients(t);
  const url = new URL(server.endpoint);
  const legacy = await connect(t, new StreamableHTTPClientTransport(url), 'legacy');
  const stateless = await connect(t, new StreamableHTTPClientTransport(url), { pin: modern });
  await Promise.all([listAndCall(legacy), listAndCall(stateless)]);
});
