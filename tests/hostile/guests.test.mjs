// Every program in guest/ tries one thing that a guest must not be able to do, with a 2 s limit and 64 MB. Its first
// lines say how it has to end. While it runs, another client's calls must go through.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

const directory = join(import.meta.dirname, 'guest');
const limits = { timeoutMs: 2000, memMb: 64 };
const config = { toolsets: ['code', 'files', 'admin'], executor: { maxConcurrentRuns: 2 }, workspaceQuotaBytes: 64 * 1024 * 1024 };

const expectations = (source) =>
  [...source.matchAll(/^(?:#|\/\/) expect: (\w+) (.+)$/gm)].map(([, what, text]) => ({ what, text }));

function check({ what, text }, result) {
  const run = result.structuredContent ?? {};
  const shown = result.content.map((part) => part.text ?? '').join('');
  const stdout = run.stdout ?? shown;
  switch (what) {
    case 'exit':
      return assert.ok(text.split('|').includes(String(run.exitCode)), `exit code ${run.exitCode}, expected ${text}\n${shown.slice(0, 2000)}`);
    case 'error':
      return assert.ok(text.split('|').includes(run.error?.type), `error ${JSON.stringify(run.error)?.slice(0, 500)}, expected ${text}`);
    case 'text':
      return assert.ok(shown.length < Number(text.slice(2)), `${shown.length} characters of text, expected ${text}`);
    case 'stdout': {
      const [verb, ...words] = text.split(' ');
      return assert.equal(stdout.includes(words.join(' ')), verb === 'has', `stdout ${text}:\n${stdout.slice(0, 2000)}`);
    }
    default:
      return assert.fail(`unknown expectation: ${what}`);
  }
}

// Calls until told to stop; every one must succeed.
function bystander(endpoint) {
  let running = true;
  const calls = (async () => {
    let count = 0;
    while (running) {
      const answer = await callTool(endpoint, 'server_info');
      assert.ok(!answer.isError, "a bystander's call failed");
      count += 1;
      await sleep(20);
    }
    return count;
  })();
  return { stop: () => ((running = false), calls) };
}

test('hostile guests', async (t) => {
  const server = await serve(t, { config });
  await callTool(server.endpoint, 'run_py', { code: 'print(1)' });
  for (const file of readdirSync(directory).sort()) {
    await t.test(file, async () => {
      const source = readFileSync(join(directory, file), 'utf8');
      const wanted = expectations(source);
      assert.ok(wanted.length > 0, 'the program says how it has to end');
      const other = bystander(server.endpoint);
      const tool = file.endsWith('.py') ? 'run_py' : 'run_js';
      const result = await callTool(server.endpoint, tool, { code: source, timeoutMs: limits.timeoutMs, policy: { limits } });
      assert.ok((await other.stop()) > 0);
      for (const expectation of wanted) check(expectation, result);
      assert.ok(JSON.stringify(result).length < 6_000_000, 'the whole result is bounded');
    });
  }
  await t.test('the next runs work', async () => {
    for (const [tool, code] of [['run_js', 'console.log(6 * 7)'], ['run_py', 'print(6 * 7)']]) {
      const result = await callTool(server.endpoint, tool, { code });
      assert.equal(result.structuredContent.stdout, '42\n');
    }
  });
});
