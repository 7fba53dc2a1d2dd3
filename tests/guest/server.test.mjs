// The table of behaviours once more, against a whole server: over MCP, through policy, audit and the real sandboxes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanEnvironment, serve } from '../program.mjs';

test('every behaviour holds on a server', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code', 'files', 'admin'] } });
  const table = join(import.meta.dirname, 'behaviours.test.mjs');
  const runner = spawn(process.execPath, ['--test', table], { env: cleanEnvironment({ RELAY_URL: server.endpoint }), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [runner.stdout, runner.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((done) => runner.once('close', done));
  assert.equal(code, 0, output.slice(-6000));
  const passed = Number(output.match(/^(?:ℹ|#) pass (\d+)$/m)?.[1]);
  assert.ok(passed >= 60, `${passed} behaviours ran`);
});
