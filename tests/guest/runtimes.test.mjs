// What happens to runs when the process that serves them misbehaves, and how much a run can put into its answer.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { callTool, modernRequest, request } from '../mcp.mjs';
import { alive, zygotesOf } from '../processes.mjs';
import { serve, until } from '../program.mjs';

const config = { toolsets: ['code'] };
const isJs = ({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0js\0');

test('a stopped runtime is noticed and replaced, and the runs that wait are served by the new one', async (t) => {
  const server = await serve(t, { config });
  assert.equal((await callTool(server.endpoint, 'run_js', { code: '1' })).structuredContent.value, 1);
  const stopped = zygotesOf(server.pid).filter(isJs);
  assert.ok(stopped.length > 0);
  for (const { pid } of stopped) process.kill(pid, 'SIGSTOP');
  const numbers = Array.from({ length: 12 }, (_, n) => n);
  const runs = await Promise.all(numbers.map((n) => callTool(server.endpoint, 'run_js', { code: `${n}` })));
  assert.deepEqual(runs.map(({ structuredContent }) => structuredContent.value), numbers);
  await until('the end of the stopped processes', () => !stopped.some(alive));
});

test('a runtime that nobody uses is replaced, too, when it stops', async (t) => {
  const server = await serve(t, { config });
  assert.equal((await callTool(server.endpoint, 'run_js', { code: '1' })).structuredContent.value, 1);
  const stopped = zygotesOf(server.pid).filter(isJs);
  for (const { pid } of stopped) process.kill(pid, 'SIGSTOP');
  await until('the end of the stopped processes', () => !stopped.some(alive), { seconds: 30 });
  assert.equal((await callTool(server.endpoint, 'run_js', { code: '2' })).structuredContent.value, 2);
});

const LIMIT = 8 * 2 ** 20;
const FLOODS = {
  'text that JSON escapes': 'await display("\\u0000".repeat(3 * 2 ** 20))',
  'bytes that become base64': 'await display(new Uint8Array(7 * 2 ** 20), {mime: "image/png"})',
  'many small pieces': 'for (let i = 0; i < 200; i++) await display("\\u0001".repeat(2 ** 13))',
  'long names of nothing': 'for (let i = 0; i < 20; i++) await display("", {name: "n".repeat(2 ** 20)})',
  'long types of nothing': 'for (let i = 0; i < 20; i++) await display("", {mime: "m".repeat(2 ** 20)})',
};

test('what display() gives is bounded as the client receives it', async (t) => {
  const server = await serve(t, { config });
  for (const [name, code] of Object.entries(FLOODS)) {
    const { body } = await request(server.endpoint, modernRequest('tools/call', { name: 'run_js', arguments: { code } }, { name: 'run_js' }));
    assert.ok(Buffer.byteLength(body) < LIMIT + 2 ** 20, `${name}: an answer of ${Buffer.byteLength(body)} bytes`);
    assert.match(body, /OutputLimitExceeded/, name);
    assert.match(body, /write the rest to \/out/, name);
  }
  const fits = await callTool(server.endpoint, 'run_js', { code: 'await display(new Uint8Array(6 * 2 ** 20 - 1000), {mime: "image/png"})' });
  assert.equal(fits.structuredContent.exitCode, 0);
  assert.equal(fits.content.filter(({ type }) => type === 'image').length, 1);
});
