// docs/metrics.md and the page list the same names, with the same types.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, request } from '../mcp.mjs';
import { serve } from '../program.mjs';

const documented = () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');
  return new Map([...page.matchAll(/^\| `(relay_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [name, type]));
};

test('the page shows exactly what the documents list', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code', 'files', 'admin'] } });
  await callTool(server.endpoint, 'server_info');
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
