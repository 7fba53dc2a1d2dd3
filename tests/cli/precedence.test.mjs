// Flags beat RELAY_* variables, which beat the file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../mcp.mjs';
import { configured, freePort, start } from '../program.mjs';

async function portOf(t, { file, env, flag }) {
  const { cwd } = configured(t, { toolsets: ['files', 'admin'], server: { open: false, ui: false, bind: '127.0.0.1', ...(file ? { port: file } : {}) } });
  const flags = flag ? ['--port', String(flag)] : [];
  const server = start(t, 'relay', ['serve', ...flags], { cwd, env: env ? { RELAY_PORT: String(env) } : {} });
  return (await server.waitForLog('listening', { seconds: 60 })).port;
}

test('the port of the file is used', async (t) => {
  const file = await freePort();
  assert.equal(await portOf(t, { file }), file);
});

test('RELAY_PORT beats the file', async (t) => {
  const [file, env] = [await freePort(), await freePort()];
  assert.equal(await portOf(t, { file, env }), env);
});

test('--port beats RELAY_PORT and the file', async (t) => {
  const [file, env, flag] = [await freePort(), await freePort(), await freePort()];
  assert.equal(await portOf(t, { file, env, flag }), flag);
});

const toolNames = async (server) => (await ask(`${server.url}/mcp`, 'tools/list')).tools.map(({ name }) => name);

async function toolsWith(t, { env = {}, flags = [] }) {
  const { cwd } = configured(t, { toolsets: ['files'] });
  const server = start(t, 'relay', ['serve', '--bind', '127.0.0.1', '--port', '0', '--no-open', ...flags], { cwd, env });
  return toolNames(await server.waitForLog('listening', { seconds: 60 }));
}

test('toolsets: the file offers exactly what it names', async (t) => {
  const names = await toolsWith(t, {});
  assert.ok(names.includes('read') && !names.includes('server_info') && !names.includes('run_js'), names.join(' '));
});

test('toolsets: RELAY_TOOLSETS replaces the list of the file', async (t) => {
  const names = await toolsWith(t, { env: { RELAY_TOOLSETS: 'admin' } });
  assert.ok(names.includes('server_info') && !names.includes('read'), names.join(' '));
});

test('toolsets: --toolset replaces both', async (t) => {
  const names = await toolsWith(t, { env: { RELAY_TOOLSETS: 'admin' }, flags: ['--toolset', 'files', '--toolset', 'admin'] });
  assert.ok(names.includes('server_info') && names.includes('read'), names.join(' '));
});
