// mcp-remote 0.15: the bridge that desktop clients use to reach an HTTP server over stdio.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { atEnd, cleanEnvironment, modules, temporaryDirectory } from '../program.mjs';
import { expectHello, expectServerInfo, expectTools, hello, serveForClients } from './expectations.mjs';

const bridge = join(modules, 'mcp-remote', 'dist', 'proxy.js');

async function throughBridge(t, server, flags) {
  const home = temporaryDirectory(t);
  const transport = new StdioClientTransport({
    command: process.execPath, stderr: 'pipe', env: cleanEnvironment({ HOME: home, MCP_REMOTE_CONFIG_DIR: join(home, 'auth') }),
    args: [bridge, server.endpoint, '--allow-http', ...flags],
  });
  const client = new Client({ name: 'through-mcp-remote', version: '1' });
  atEnd(t, () => client.close());
  await client.connect(transport);
  return client;
}

for (const flags of [['--transport', 'http-only'], ['--transport', 'http-only', '--protocol', 'auto']]) {
  test(`mcp-remote ${flags.join(' ')} bridges list and call`, async (t) => {
    const client = await throughBridge(t, await serveForClients(t), flags);
    assert.equal(client.getServerVersion().name, 'relay');
    expectTools((await client.listTools()).tools);
    expectServerInfo(await client.callTool({ name: 'server_info', arguments: {} }));
    expectHello(await client.callTool(hello));
  });
}
