// The official inspector's command line, 2.12, as people use it to look at a server.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { modules, run, temporaryDirectory } from '../program.mjs';
import { expectHello, expectServerInfo, expectTools, serveForClients, stdioCommand } from './expectations.mjs';

const launcher = join(modules, '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js');

async function inspect(t, args, cwd) {
  const home = temporaryDirectory(t);
  const { code, stdout, stderr } = await run(process.execPath, [launcher, '--cli', ...args, '--format', 'json'],
    { cwd: cwd ?? home, env: { HOME: home } });
  assert.equal(code, 0, `inspector ${args.join(' ')}\n${stdout}\n${stderr}`);
  return JSON.parse(stdout);
}

// The inspector wraps results; what a server said is inside.
const inner = (answer) => answer.result ?? answer;

for (const era of ['legacy', 'auto', 'modern']) {
  test(`inspector (${era}) lists and calls over HTTP`, async (t) => {
    const server = await serveForClients(t);
    const target = [server.endpoint, '--transport', 'http', '--protocol-era', era];
    expectTools(inner(await inspect(t, [...target, '--method', 'tools/list'])).tools);
    expectServerInfo(inner(await inspect(t, [...target, '--method', 'tools/call', '--tool-name', 'server_info'])));
    expectHello(inner(await inspect(t, [...target, '--method', 'tools/call', '--tool-name', 'run_js', '--tool-arg', 'code=console.log("hello")'])));
  });
  test(`inspector (${era}) lists and calls over stdio`, async (t) => {
    const { command, args, cwd } = stdioCommand(t);
    const target = [command, ...args, '--protocol-era', era];
    expectTools(inner(await inspect(t, [...target, '--method', 'tools/list'], cwd)).tools);
    expectServerInfo(inner(await inspect(t, [...target, '--method', 'tools/call', '--tool-name', 'server_info'], cwd)));
  });
}

test('inspector --strict finds nothing wrong with the schemas of the tools', async (t) => {
  const server = await serveForClients(t);
  expectTools(inner(await inspect(t, [server.endpoint, '--transport', 'http', '--method', 'tools/list', '--strict'])).tools);
});
