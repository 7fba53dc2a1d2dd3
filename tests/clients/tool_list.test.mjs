// What a client pays for being connected: the tool list is part of every conversation with a model. The limits are those of the design.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../mcp.mjs';
import { run, serve } from '../program.mjs';

const bytesOf = async (endpoint) => {
  const { tools } = await ask(endpoint, 'tools/list');
  return { tools, bytes: Buffer.byteLength(JSON.stringify(tools)) };
};

// Every toolset there is, by what the configuration's own schema says.
async function everyToolset() {
  const { stdout } = await run('relay', ['check-config', '--schema']);
  return JSON.parse(stdout).properties.toolsets.items.enum;
}

test('the tool list takes at most 4 KB by default', async (t) => {
  const server = await serve(t);
  const { tools, bytes } = await bytesOf(server.endpoint);
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['read', 'run_js', 'run_py', 'search', 'write']);
  assert.ok(bytes <= 4096, `${bytes} bytes`);
});

test('with every toolset on it takes at most 12 KB', async (t) => {
  const toolsets = await everyToolset();
  assert.ok(toolsets.includes('code') && toolsets.includes('admin'), toolsets.join());
  const server = await serve(t, { config: { toolsets } });
  const { tools, bytes } = await bytesOf(server.endpoint);
  assert.ok(tools.length > 5);
  assert.ok(bytes <= 12 * 1024, `${bytes} bytes`);
});
