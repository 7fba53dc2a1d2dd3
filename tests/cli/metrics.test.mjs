// docs/metrics.md and the page list the same names, with the same types.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, request } from '../mcp.mjs';
import { serve } from '../program.mjs';

const moody = { name: 'moody', command: 'python3', args: [join(import.meta.dirname, '..', 'upstream', 'fixtures', 'moody_server.py'), 'steady'], expose: 'tools' };

const documented = () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');
  return new Map([...page.matchAll(/^\| `((?:relay|process)_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [name, type]));
};

test('the page shows exactly what the documents list', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code', 'files', 'admin'], mcps: [moody] } });
  await callTool(server.endpoint, 'server_info');
  await callTool(server.endpoint, 'run_js', { code: '1' });
  await callTool(server.endpoint, 'moody__echo', { text: 'x' });
  const { body, headers } = await request(`${server.url}/metrics`);
  assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
  const shown = new Map([...body.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
  assert.deepEqual([...shown].sort(), [...documented()].sort());
});

test('a call is counted under its tool, tier and outcome', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'], policy: { deny: ['^audit_tail'] } } });
  for (let i = 0; i < 3; ++i) await callTool(server.endpoint, 'server_info');
  const refused = await callTool(server.endpoint, 'audit_tail');
  assert.match(refused.content[0].text, /^\[DENIED tier 0 \(READ_ONLY\): /);
  const { body } = await request(`${server.url}/metrics`);
  assert.match(body, /relay_tool_calls_total\{mode="open",outcome="ok",tier="0",tool="server_info"\} 3/);
  assert.match(body, /relay_tool_calls_total\{mode="open",outcome="denied",tier="0",tool="audit_tail"\} 1/);
});

test('runs are counted by language and outcome', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'], policy: { deny: ['forbidden'] } } });
  await callTool(server.endpoint, 'run_js', { code: '1' });
  await callTool(server.endpoint, 'run_js', { code: 'throw new Error("no")' });
  await callTool(server.endpoint, 'run_js', { code: '"forbidden"' });
  const { body } = await request(`${server.url}/metrics`);
  const counted = [...body.matchAll(/^relay_runs_total\{(.*)\} (\d+)$/gm)].map(([, labels, count]) => [labels, count]).sort();
  assert.deepEqual(counted, [['language="js",outcome="error"', '1'], ['language="js",outcome="ok"', '1']]);
});

test('an upstream server shows whether it is up and how long its calls take', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'], mcps: [moody, { ...moody, name: 'off', enabled: false }] } });
  await callTool(server.endpoint, 'moody__echo', { text: 'x' });
  const { body } = await request(`${server.url}/metrics`);
  assert.match(body, /^relay_upstream_up\{server="moody"\} 1$/m);
  assert.match(body, /^relay_upstream_up\{server="off"\} 0$/m);
  assert.match(body, /^relay_upstream_call_seconds_count\{server="moody"\} 1$/m);
});

test('the process and the version are there', async (t) => {
  const server = await serve(t, { config: { toolsets: ['admin'] } });
  const { body } = await request(`${server.url}/metrics`);
  const number = (name) => Number(body.match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
  assert.match(body, /^relay_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  assert.ok(number('process_resident_memory_bytes') > 1e6 && number('process_virtual_memory_bytes') > number('process_resident_memory_bytes'));
  assert.ok(number('process_open_fds') > 3 && number('process_open_fds') < number('process_max_fds'));
  assert.ok(number('process_cpu_seconds_total') > 0);
});
