// `relay serve` as people meet it: the page, the status, the health check, the log, the port that is taken.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, request } from '../mcp.mjs';
import { run, serve, stateOf } from '../program.mjs';

const config = { toolsets: ['files', 'admin'] };

test('GET /healthz answers 200 once the server listens', async (t) => {
  const server = await serve(t, { config });
  const { status, headers, body } = await request(`${server.url}/healthz`);
  assert.equal(status, 200);
  assert.match(headers['content-type'], /^application\/json/);
  assert.equal(JSON.parse(body).status, 'ok');
});

test('GET / is a status for programs when there is no UI', async (t) => {
  const server = await serve(t, { config });
  const { status, headers, body } = await request(`${server.url}/`);
  assert.equal(status, 200);
  assert.match(headers['content-type'], /^application\/json/);
  const { name, status: state, mode, executionMode, endpoints } = JSON.parse(body);
  assert.ok(name.startsWith('relay'), name);
  assert.deepEqual({ state, mode, executionMode }, { state: 'running', mode: 'headless', executionMode: 'local-only' });
  assert.equal(endpoints.mcp, `POST ${server.url}/mcp`);
});

test('GET / is a page for people otherwise, and says how to connect', async (t) => {
  const server = await serve(t, { config, flags: ['--no-open'] });
  const { status, headers, body } = await request(`${server.url}/`);
  assert.equal(status, 200);
  assert.match(headers['content-type'], /^text\/html/);
  assert.ok(body.includes(`${server.url}/mcp`), 'the page shows the endpoint');
  assert.ok(!body.includes('{{'), 'no placeholder is left');
  assert.ok(headers['content-security-policy'], 'the page is under a content security policy');
});

test('HEAD has no body, an unknown path is 404, a wrong method 405 with Allow', async (t) => {
  const server = await serve(t, { config });
  const head = await request(`${server.url}/healthz`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.body], [200, '']);
  assert.equal((await request(`${server.url}/no/such/path`)).status, 404);
  const wrong = await request(`${server.url}/healthz`, { method: 'DELETE' });
  assert.equal(wrong.status, 405);
  assert.match(wrong.headers.allow, /GET/);
});

test('metrics are served and count calls', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code', 'files', 'admin'] } });
  await callTool(server.endpoint, 'server_info');
  await callTool(server.endpoint, 'server_info');
  const { status, body } = await request(`${server.url}/metrics`);
  assert.equal(status, 200);
  const line = body.split('\n').find((text) => /^relay_tool_calls_total\{.*server_info.*\} /.test(text));
  assert.ok(line, body.slice(0, 3000));
  assert.equal(Number(line.split(' ').at(-1)), 2);
  assert.match(body, /^relay_leaked_children 0$/m);
});

test('every line of the log is JSON with time, level and message', async (t) => {
  const server = await serve(t, { config, flags: ['--no-open', '--no-ui', '--log-level', 'debug'] });
  await callTool(server.endpoint, 'server_info');
  await request(`${server.url}/absent`);
  await server.stop();
  const lines = server.logs();
  assert.ok(lines.length >= 2);
  for (const line of lines) {
    assert.match(line.ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|\+00:00)$/, JSON.stringify(line));
    assert.match(line.level, /^(debug|info|warn|error)$/);
    assert.ok(line.msg.length > 0);
  }
  assert.equal(server.stdout, '', 'nothing goes to stdout');
});

test('the first start makes a signing key, keeps it private, and shows its fingerprint', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code', 'files', 'admin'] } });
  const keys = join(stateOf(server.cwd), 'keys');
  await callTool(server.endpoint, 'server_info');
  assert.ok(existsSync(join(keys, 'signing.key')) && existsSync(join(keys, 'signing.pub')));
  assert.equal(statSync(join(keys, 'signing.key')).mode & 0o777, 0o600);
  for (const path of [stateOf(server.cwd), join(server.cwd, '.relay')]) assert.equal(statSync(path).mode & 0o077, 0, `${path} is the owner's alone`);
  assert.match(server.stderr, /[0-9a-f]{16}/, 'a fingerprint is in the log');
});

test('a second server on the same port ends with a sentence, and the first goes on', async (t) => {
  const first = await serve(t, { config });
  const second = await run('relay', ['serve', '--bind', '127.0.0.1', '--port', String(first.port), '--no-open'], { cwd: first.cwd + '/..' });
  assert.notEqual(second.code, 0);
  assert.equal(second.signal, null);
  assert.match(second.stderr, new RegExp(`${first.port}`));
  assert.match(second.stderr, /in use; .*--port/i);
  assert.equal((await request(`${first.url}/healthz`)).status, 200);
});
