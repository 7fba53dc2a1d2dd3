// What every client must find, however it came: the tools of a relay with the admin toolset, and one call of server_info.
import assert from 'node:assert/strict';
import { program, serve, configured, cleanEnvironment } from '../program.mjs';

export const config = { toolsets: ['code', 'files', 'admin'] };

export const serveForClients = (t) => serve(t, { config });

// The command line of `relay stdio`, for clients that start their server.
export function stdioCommand(t) {
  const { cwd, file } = configured(t, config);
  return { command: program('relay'), args: ['stdio', '-c', file], cwd, env: cleanEnvironment() };
}

export function expectTools(tools) {
  const names = tools.map((tool) => tool.name);
  for (const name of ['server_info', 'run_js', 'run_py', 'read', 'write', 'search'])
    assert.ok(names.includes(name), `${name} is listed; got ${names.join(' ')}`);
  assert.equal(new Set(names).size, names.length, 'no name is listed twice');
  for (const tool of tools) {
    assert.ok(tool.description?.length > 10, `${tool.name} has a description`);
    assert.equal(tool.inputSchema?.type, 'object', `${tool.name} has an input schema`);
  }
}

export function expectServerInfo(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(result.content[0].type, 'text');
  assert.equal(typeof result.structuredContent?.version, 'string', JSON.stringify(result.structuredContent));
}

export function expectHello(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(result.structuredContent.exitCode, 0);
  assert.equal(result.structuredContent.stdout, 'hello\n');
}

export const hello = { name: 'run_js', arguments: { code: 'console.log("hello")' } };
