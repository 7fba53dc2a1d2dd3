// Clients that bring a bearer token: each gets in with it, and says something useful without it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMCPClient } from '@ai-sdk/mcp';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { atEnd, modules, run, serve, temporaryDirectory, stateOf } from '../program.mjs';
import { config, expectServerInfo } from './expectations.mjs';

async function guarded(t) {
  const server = await serve(t, { config: { ...config, auth: { mode: 'token' } } });
  return { server, url: new URL(server.endpoint), headers: { Authorization: `Bearer ${readFileSync(join(stateOf(server.cwd), 'token'), 'utf8').trim()}` } };
}

const info = { name: 'server_info', arguments: {} };

test('SDK v1 with a token', async (t) => {
  const { url, headers } = await guarded(t);
  const client = new ClientV1({ name: 'sdk-v1', version: '1' });
  atEnd(t, () => client.close());
  await client.connect(new TransportV1(url, { requestInit: { headers } }));
  expectServerInfo(await client.callTool(info));
  await assert.rejects(new ClientV1({ name: 'stranger', version: '1' }).connect(new TransportV1(url)), /401|unauthorized|unauthenticated/i);
});

for (const mode of ['legacy', { pin: '2026-07-28' }]) {
  test(`SDK v2 (${mode.pin ?? mode}) with a token`, async (t) => {
    const { url, headers } = await guarded(t);
    const client = new Client({ name: 'sdk-v2', version: '1' }, { versionNegotiation: { mode } });
    atEnd(t, () => client.close());
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    expectServerInfo(await client.callTool(info));
    await assert.rejects(new Client({ name: 'stranger', version: '1' }, { versionNegotiation: { mode } }).connect(new StreamableHTTPClientTransport(url)), /401|unauthorized|unauthenticated/i);
  });
}

test('@ai-sdk/mcp with a token', async (t) => {
  const { url, headers } = await guarded(t);
  const client = await createMCPClient({ transport: { type: 'http', url: url.href, headers } });
  atEnd(t, () => client.close());
  const tools = await client.tools();
  expectServerInfo(await tools.server_info.execute({}, { toolCallId: 'x', messages: [] }));
});

test('inspector with a token', async (t) => {
  const { url, headers } = await guarded(t);
  const home = temporaryDirectory(t);
  const launcher = join(modules, '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js');
  const args = [launcher, '--cli', '--server-url', url.href, '--transport', 'http', '--header', `Authorization: ${headers.Authorization}`,
    '--method', 'tools/call', '--tool-name', 'server_info', '--format', 'json'];
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: home, env: { HOME: home } });
  assert.equal(code, 0, stdout + stderr);
  const answer = JSON.parse(stdout);
  expectServerInfo(answer.result ?? answer);
});
