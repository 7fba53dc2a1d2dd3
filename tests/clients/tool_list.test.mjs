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

// Every parameter, those of nested objects too, with its path.
function* parametersOf(schema, path) {
  for (const [name, parameter] of Object.entries(schema.properties ?? {})) {
    yield [`${path}.${name}`, parameter];
    yield* parametersOf(parameter, `${path}.${name}`);
  }
  if (schema.items) yield* parametersOf(schema.items, `${path}[]`);
}

test('the tool list takes at most 8 KB by default', async (t) => {
  const server = await serve(t);
  const { tools, bytes } = await bytesOf(server.endpoint);
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['edit', 'read', 'run_js', 'run_py', 'search', 'write']);
  assert.ok(bytes <= 8 * 1024, `${bytes} bytes`);
});

test('with every toolset on it takes at most 24 KB, and every parameter is described', async (t) => {
  const toolsets = await everyToolset();
  assert.ok(toolsets.includes('code') && toolsets.includes('admin'), toolsets.join());
  const server = await serve(t, { config: { toolsets } });
  const { tools, bytes } = await bytesOf(server.endpoint);
  assert.ok(tools.length > 5);
  assert.ok(bytes <= 24 * 1024, `${bytes} bytes`);
  for (const tool of tools)
    for (const [path, { description }] of parametersOf(tool.inputSchema, tool.name)) assert.match(description ?? '', /^.{7,}\.$/, path);
});

test('MCP servers are mentioned when there are some, the executor when there is a choice', async (t) => {
  const alone = await bytesOf((await serve(t, { config: { toolsets: ['code'] } })).endpoint);
  const beside = await bytesOf((await serve(t, { config: { toolsets: ['code'], mcps: [{ name: 'm', command: '/bin/false' }] } })).endpoint);
  for (const [at, { description, inputSchema }] of alone.tools.entries()) {
    assert.doesNotMatch(description, /MCP/);
    assert.match(beside.tools[at].description, /MCP servers: /);
    assert.equal(inputSchema.properties.executor, undefined);
  }
});

test('descriptions say what the configuration decides', async (t) => {
  const server = await serve(t, { config: {
    toolsets: ['code', 'files'], mounts: [{ name: 'm', path: '.', mode: 'rw' }, { name: 'n', path: '.' }],
    policy: { limits: { timeoutMs: 4321 }, requireServers: true },
  } });
  const { tools } = await bytesOf(server.endpoint);
  for (const { name, description, inputSchema } of tools) {
    assert.ok(description.endsWith('Mounts: /host/m (rw), /host/n (ro).'), `${name}: ${description}`);
    if (!name.startsWith('run_')) continue;
    assert.equal(inputSchema.properties.timeoutMs.default, 4321);
    assert.match(inputSchema.properties.servers.description, /Default: none\./);
  }
});
