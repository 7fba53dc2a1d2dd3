// Who may come in: addresses, host names, origins, tokens, TLS.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callTool, initializeMessage, legacyPost, modernRequest, request } from '../mcp.mjs';
import { descendants } from '../processes.mjs';
import { configured, program, run, serve, start, stateOf, temporaryDirectory, until } from '../program.mjs';

const config = { toolsets: ['files', 'admin'] };
const discover = (url, headers) => request(`${url}/mcp`, modernRequest('server/discover', {}, { headers }));

test('listening beyond loopback without authentication is refused with a sentence', async (t) => {
  for (const address of ['0.0.0.0', '::']) {
    const { cwd } = configured(t, config);
    const { code, stderr } = await run('relay', ['serve', '--bind', address, '--port', '0', '--no-open'], { cwd });
    assert.ok(code > 0, `exit ${code}: ${stderr}`);
    assert.match(stderr, /--auth token|auth\.mode/, 'it says what to do');
    assert.ok(!stderr.includes('"listening"'));
  }
});

test('with a token, listening beyond loopback is fine', async (t) => {
  const { cwd } = configured(t, config);
  const server = start(t, 'relay', ['serve', '--bind', '0.0.0.0', '--auth', 'token', '--port', '0', '--no-open'], { cwd });
  const { port, address } = await server.waitForLog('listening', { seconds: 60 });
  assert.equal(address, '0.0.0.0 (all addresses)');
  const { status } = await request(`http://127.0.0.1:${port}/mcp`, modernRequest('server/discover'));
  assert.equal(status, 401);
});

test('a foreign Host is refused on every endpoint', async (t) => {
  const server = await serve(t, { config });
  for (const path of ['/', '/healthz', '/metrics', '/mcp', '/mcp/server-card', '/nowhere'])
    for (const host of ['evil.example', `evil.example:${server.port}`, 'localhost.evil.example', '127.0.0.1.evil.example', '169.254.169.254'])
      assert.equal((await request(server.url + path, { headers: { host } })).status, 403, `${host} ${path}`);
  assert.match((await request(`${server.url}/`, { headers: { host: 'evil.example' } })).body, /server\.allowedHosts/, 'it says what to do');
  for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`, `LOCALHOST:${server.port}`])
    assert.equal((await request(`${server.url}/healthz`, { headers: { host } })).status, 200, host);
});

test('a foreign Origin is refused, and null is foreign', async (t) => {
  const server = await serve(t, { config });
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', `http://evil.example:${server.port}`, 'file://']) {
    const answer = await discover(server.url, { origin });
    assert.equal(answer.status, 403, origin);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    assert.equal((await legacyPost(server.endpoint, initializeMessage, { headers: { origin } })).status, 403, origin);
  }
});

test('loopback origins are answered with exactly their own CORS header', async (t) => {
  const server = await serve(t, { config });
  for (const origin of [server.url, 'http://localhost:3000', 'http://127.0.0.1:9']) {
    const answer = await discover(server.url, { origin });
    assert.equal(answer.status, 200, origin);
    assert.equal(answer.headers['access-control-allow-origin'], origin);
    assert.match(answer.headers.vary ?? '', /origin/i);
  }
  const preflight = await request(server.endpoint, { method: 'OPTIONS', headers: {
    origin: 'http://localhost:3000', 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type, mcp-method' } });
  assert.ok([200, 204].includes(preflight.status));
  assert.match(preflight.headers['access-control-allow-headers'], /mcp-method/i);
  const foreign = await request(server.endpoint, { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } });
  assert.equal(foreign.status, 403);
});

test('configured origins and hosts are let in, others still are not', async (t) => {
  const server = await serve(t, { config: { ...config, cors: { allowedOrigins: ['https://ui.example'] }, server: { allowedHosts: ['relay.example'] } } });
  assert.equal((await discover(server.url, { origin: 'https://ui.example' })).status, 200);
  assert.equal((await discover(server.url, { origin: 'https://ui.example.evil' })).status, 403);
  assert.equal((await request(`${server.url}/healthz`, { headers: { host: 'relay.example' } })).status, 200);
  assert.equal((await request(`${server.url}/healthz`, { headers: { host: 'other.example' } })).status, 403);
});

test('the token is made at first start, kept 0600, and never written where no terminal is', async (t) => {
  const { cwd, file } = configured(t, { ...config, auth: { mode: 'token' } });
  for (let turn = 0; turn < 2; ++turn) {
    const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--log-level', 'debug'], { cwd });
    const { url } = await server.waitForLog('listening', { seconds: 60 });
    const token = readFileSync(join(stateOf(cwd), 'token'), 'utf8').trim();
    assert.ok(token.length >= 32, 'long enough not to be guessed');
    assert.equal(statSync(join(stateOf(cwd), 'token')).mode & 0o777, 0o600);
    await callTool(`${url}/mcp`, 'server_info', {}, { token });
    await server.stop();
    assert.ok(!(server.stdout + server.stderr).includes(token), 'output that may be a log file holds no token');
    assert.equal(server.stdout.includes(join(stateOf(cwd), 'token')), turn === 0, 'the first start says where it is');
    const audit = join(stateOf(cwd), 'audit.jsonl');
    if (existsSync(audit)) assert.ok(!readFileSync(audit, 'utf8').includes(token));
  }
});

test('a person at a terminal sees the token once', async (t) => {
  const { cwd, file } = configured(t, { ...config, auth: { mode: 'token' } });
  const shown = [];
  for (let turn = 0; turn < 2; ++turn) {
    const line = [program('relay'), 'serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open'].join(' ');
    const terminal = start(t, '/usr/bin/script', ['--quiet', '--command', `exec ${line}`, '/dev/null'], { cwd });
    await until('the server at the terminal', () => /listening/.test(terminal.stdout), { seconds: 60 });
    const token = readFileSync(join(stateOf(cwd), 'token'), 'utf8').trim();
    shown.push(terminal.stdout.split(token).length - 1);
    const relay = descendants(terminal.pid).find(({ name }) => name === 'relay');
    process.kill(relay.pid, 'SIGTERM');
    await terminal.exit;
  }
  assert.deepEqual(shown, [1, 0], 'shown at the first start, and only there');
});

test('a wrong, missing or malformed token is 401 on what can act', async (t) => {
  const server = await serve(t, { config: { ...config, auth: { mode: 'token' } } });
  const token = readFileSync(join(stateOf(server.cwd), 'token'), 'utf8').trim();
  const wrong = [undefined, 'Bearer wrong', `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, `Basic ${token}`, token, 'Bearer ', `Bearer  `, 'Bearer \u00e9'];
  for (const authorization of wrong) {
    const answer = await discover(server.url, authorization === undefined ? {} : { authorization });
    assert.equal(answer.status, 401, String(authorization));
    assert.match(answer.headers['www-authenticate'], /^Bearer/);
    assert.ok(!answer.body.includes(token));
  }
  assert.equal((await discover(server.url, { authorization: `Bearer ${token}` })).status, 200);
  assert.equal((await discover(server.url, { authorization: `bearer ${token}` })).status, 200, 'the scheme is case-insensitive');
  assert.equal((await request(`${server.url}/metrics`)).status, 401);
});

function makeCertificate(t) {
  const dir = temporaryDirectory(t);
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key, ca: readFileSync(cert) };
}

test('--tls-cert and --tls-key serve HTTPS', async (t) => {
  const { cert, key, ca } = makeCertificate(t);
  const server = await serve(t, { config, flags: ['--no-open', '--no-ui', '--tls-cert', cert, '--tls-key', key] });
  assert.match(server.url, /^https:/);
  assert.equal((await request(`${server.url}/healthz`, { ca })).status, 200);
  const info = await callTool(server.endpoint, 'server_info', {}, { ca });
  assert.ok(info.structuredContent.version);
  await assert.rejects(request(`${server.url}/healthz`), /self.signed|unable to verify/i);
  await assert.rejects(request(`http://127.0.0.1:${server.port}/healthz`), 'plain HTTP is not answered on the TLS port');
});

test('a certificate that cannot be used ends the start with its path', async (t) => {
  const { cert } = makeCertificate(t);
  const { cwd } = configured(t, config);
  const { code, stderr } = await run('relay', ['serve', '--bind', '127.0.0.1', '--port', '0', '--no-open', '--tls-cert', cert, '--tls-key', '/dev/null'], { cwd });
  assert.ok(code > 0, stderr);
  assert.match(stderr, /\/dev\/null|tls/i);
});
