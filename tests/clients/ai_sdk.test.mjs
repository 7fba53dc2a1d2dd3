// @ai-sdk/mcp 2.0: a client written independently of the official SDKs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { atEnd } from '../program.mjs';
import { expectHello, expectServerInfo, expectTools, hello, serveForClients, stdioCommand } from './expectations.mjs';

async function connect(t, transport, protocolVersionDiscovery) {
  const client = await createMCPClient({ transport, protocolVersionDiscovery });
  atEnd(t, () => client.close());
  return client;
}

async function listAndCall(client) {
  expectTools((await client.listTools()).tools);
  const tools = await client.tools();
  const call = (name, args) => tools[name].execute(args, { toolCallId: name, messages: [] });
  expectServerInfo(await call('server_info', {}));
  expectHello(await call(hello.name, hello.arguments));
}

for (const discover of [true, false]) {
  const era = discover ? 'discovers the era' : 'initializes';
  test(`@ai-sdk/mcp (${era}) lists and calls over HTTP`, async (t) => {
    const server = await serveForClients(t);
    await listAndCall(await connect(t, { type: 'http', url: server.endpoint }, discover));
  });
  test(`@ai-sdk/mcp (${era}) lists and calls over stdio`, async (t) => {
    await listAndCall(await connect(t, new StdioTransport(stdioCommand(t)), discover));
  });
}

test('@ai-sdk/mcp reports a tool error as one', async (t) => {
  const server = await serveForClients(t);
  const client = await connect(t, { type: 'http', url: server.endpoint }, true);
  const tools = await client.tools();
  const result = await tools.run_js.execute({ code: 7 }, { toolCallId: 'wrong', messages: [] });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /code/);
});
