// A run that waits takes no one's turn. One run may compute at a time here; what each of these waits for is done by one that
// starts after it, so nothing would ever end if waiting took the turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

const sleeper = {
  run_js: (name) => `import fs from "node:fs"; fs.writeFileSync("/tmp/${name}", "");
    while (!fs.existsSync("/tmp/go")) await new Promise((done) => setTimeout(done, 50));
    "${name} went on"`,
  run_py: (name) => `import os, time\nopen("/tmp/${name}", "w").close()\nwhile not os.path.exists("/tmp/go"):\n    time.sleep(0.05)\n"${name} went on"`,
};

test('four sleepers do not delay a fifth run', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'], executor: { maxConcurrentRuns: 1 } } });
  const run = async (tool, code) => {
    const { value, stderr, exitCode } = (await callTool(server.endpoint, tool, { code })).structuredContent;
    assert.equal(exitCode, 0, stderr);
    return value;
  };
  const sleeping = ['run_js', 'run_py', 'run_js', 'run_py'].map((tool, at) => run(tool, sleeper[tool](`sleeper${at}`)));
  const fifth = `import fs from "node:fs";
    while (fs.readdirSync("/tmp").filter((name) => name.startsWith("sleeper")).length < 4) await new Promise((done) => setTimeout(done, 50));
    fs.writeFileSync("/tmp/go", ""); "the fifth ran"`;
  assert.equal(await run('run_js', fifth), 'the fifth ran');
  assert.deepEqual(await Promise.all(sleeping), [0, 1, 2, 3].map((at) => `sleeper${at} went on`));
});
