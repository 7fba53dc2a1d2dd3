// Files of one workspace, seen from two programs at once: what one removes or makes is so for the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

test('a session notices what another run did to its files', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'] } });
  const keys = {}; // what the server calls a session of a client that has none of its own
  const run = async (tool, code, session) => {
    const { value, stderr, exitCode, session: key } = (await callTool(server.endpoint, tool, { code, session: keys[session] ?? session })).structuredContent;
    assert.equal(exitCode, 0, stderr);
    if (key) keys[session] = key;
    return value;
  };
  const keep = 'import os\nos.makedirs("/tmp/work/deep", exist_ok=True)\nopen("/tmp/work/deep/file", "w").write("mine")\nos.listdir("/tmp/work/deep")';
  assert.deepEqual(await run('run_py', keep, 's'), ['file']);
  await run('run_js', 'import fs from "fs"; fs.rmSync("/tmp/work", { recursive: true }); fs.existsSync("/tmp/work")');
  assert.equal(await run('run_py', 'os.path.exists("/tmp/work/deep/file")', 's'), false);
  assert.deepEqual(await run('run_py', keep, 's'), ['file']);
  await run('run_js', 'import fs from "fs"; fs.writeFileSync("/tmp/work/deep/file", "theirs, and longer")');
  assert.equal(await run('run_py', 'open("/tmp/work/deep/file").read()', 's'), 'theirs, and longer');
});
