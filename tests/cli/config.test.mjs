// A broken configuration, in many ways: each is found, with its place and what to do, and nothing starts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configured, run } from '../program.mjs';

// what is wrong · the configuration · what the report must say, piece by piece
const broken = [
  ['a misspelt top-level key', { toolset: ['code'] }, ['$.toolset', '"toolsets"']],
  ['a misspelt nested key', { policy: { limits: { timeoutMS: 5 } } }, ['$.policy.limits.timeoutMS', '"timeoutMs"']],
  ['a misspelt key in a list', { mounts: [{ name: 'a', path: '.', mod: 'rw' }] }, ['$.mounts[0].mod', '"mode"']],
  ['a key from nowhere', { zebra: 1 }, ['$.zebra', 'unknown key']],
  ['an unknown toolset', { toolsets: ['code', 'root'] }, ['$.toolsets[1]', 'admin']],
  ['a toolset named twice', { toolsets: ['code', 'code'] }, ['$.toolsets']],
  ['a list where text belongs', { cacheDir: [] }, ['$.cacheDir']],
  ['text where a number belongs', { sessionTtlMs: '300000' }, ['$.sessionTtlMs']],
  ['a number below its minimum', { policy: { limits: { memMb: 1 } } }, ['$.policy.limits.memMb', '8']],
  ['a number above its maximum', { server: { port: 70000 } }, ['$.server.port', '65535']],
  ['half a number where a whole one belongs', { sessionTtlMs: 1500.5 }, ['$.sessionTtlMs']],
  ['a word outside its choices', { policy: { mode: 'opne' } }, ['$.policy.mode']],
  ['null where a block belongs', { policy: null }, ['$.policy']],
  ['a mount without a path', { mounts: [{ name: 'a' }] }, ['$.mounts[0]', 'path']],
  ['a mount name that could escape', { mounts: [{ name: '../etc', path: '.' }] }, ['$.mounts[0].name']],
  ['a mount that is no directory', { mounts: [{ name: 'a', path: 'not-here' }] }, ['$.mounts[0].path', 'not a directory']],
  ['two mounts of one name', { mounts: [{ name: 'a', path: '.' }, { name: 'a', path: '.' }] }, ['$.mounts[1].name', 'twice']],
  ['a stdio upstream without a command', { mcps: [{ name: 'a', transport: 'stdio' }] }, ['$.mcps[0]', '"command"']],
  ['an HTTP upstream without an endpoint', { mcps: [{ name: 'a', transport: 'http' }] }, ['$.mcps[0]', '"endpoint"']],
  ['two upstreams of one name', { mcps: [{ name: 'a', command: 'x' }, { name: 'a', command: 'y' }] }, ['$.mcps[1].name', 'twice']],
  ['an upstream with a secret that is no text', { mcps: [{ name: 'a', command: 'x', env: { KEY: 5 } }] }, ['$.mcps[0].env.KEY']],
  ['half of TLS', { server: { tlsCert: 'cert.pem' } }, ['$.server', 'tlsKey']],
  ['a chain over a format that has none', { audit: { format: 'cef', chain: true } }, ['$.audit.chain', 'jsonl']],
  ['a pattern that is no pattern', { policy: { deny: ['run_js ('] } }, ['$.policy.deny[0]']],
  ['a rule without an effect', { policy: { rules: [{ tool: 'run_js' }] } }, ['$.policy.rules[0]', 'effect']],
  ['a list at the top', '[]', ['object']],
  ['broken JSON', '{"toolsets": ["code"', ['relay.config.json', 'JSON', 'line 1, column 21']],
  ['a comma that is missing after a comment', '{\n  // für alle\n  "language": "py"\n  "toolsets": []\n}', ['relay.config.json', 'JSON', 'line 4, column 3']],
  ['something after the end', '{}\n/* ä */ }', ['relay.config.json', 'line 2, column 9']],
  ['an empty file', '', ['relay.config.json', 'JSON']],
  ['a door that stands open', { server: { bind: '0.0.0.0' } }, ['$.server.bind', '--auth token', 'auth.mode']],
  ['nesting without end', '{"policy":'.repeat(5000) + '1' + '}'.repeat(5000), ['relay.config.json']],
];

async function check(t, config) {
  const { cwd } = configured(t, config);
  const { code, signal, stdout, stderr } = await run('relay', ['check-config'], { cwd });
  return { code, signal, report: stdout + stderr, cwd };
}

for (const [what, config, pieces] of broken) {
  test(`check-config finds ${what}`, async (t) => {
    const { code, signal, report } = await check(t, config);
    assert.equal(signal, null, report);
    assert.equal(code, 2, report);
    for (const piece of pieces) assert.ok(report.includes(piece), `"${piece}" in:\n${report.slice(0, 2000)}`);
  });
}

test('check-config reports all problems at once', async (t) => {
  const { code, report } = await check(t, {
    toolset: [], sessionTtlMs: 'x', policy: { mode: 'opne', limits: { memMB: 5 } }, mounts: [{ name: '?', path: '.' }],
  });
  assert.equal(code, 2);
  for (const path of ['$.toolset', '$.sessionTtlMs', '$.policy.mode', '$.policy.limits.memMB', '$.mounts[0].name'])
    assert.ok(report.includes(path), `${path} in:\n${report}`);
});

test('serve and stdio refuse a broken configuration the same way, before they start anything', async (t) => {
  const { cwd } = configured(t, { toolset: [], policy: { mode: 'opne' } });
  for (const args of [['serve', '--port', '0', '--no-open'], ['stdio']]) {
    const { code, stderr } = await run('relay', args, { cwd });
    assert.equal(code, 2, stderr);
    assert.ok(stderr.includes('$.toolset') && stderr.includes('$.policy.mode'), stderr);
  }
});

test('check-config names the environment variable that is wrong', async (t) => {
  const { cwd } = configured(t, {});
  const { code, stdout, stderr } = await run('relay', ['check-config'], { cwd, env: { RELAY_PORT: 'seven' } });
  assert.equal(code, 2);
  assert.match(stdout + stderr, /RELAY_PORT.*seven/s);
});

test('secrets of the configuration are not repeated in the report', async (t) => {
  const { report, code } = await check(t, { mcps: [{ name: 'a', command: 'x', env: { KEY: 'sk-very-secret-4711' }, headres: {} }] });
  assert.equal(code, 2);
  assert.ok(!report.includes('sk-very-secret-4711'), report);
});

test('every key of the published configuration is accepted', async (t) => {
  const { code, report } = await check(t, {
    language: 'js', npm: { dependencies: {}, lockfile: '' }, pip: { requirements: [], wheelUrls: [] },
    policy: {
      network: { allowedDomains: ['api.github.com', '*.example.org'], deniedDomains: [], denyIpLiterals: true, blockPrivateRanges: true, maxBodyBytes: 5242880, maxRedirects: 5 },
      filesystem: { readonly: ['/'], writable: ['/tmp', '/out'] }, limits: { timeoutMs: 60000, memMb: 256, stdoutBytes: 1048576 },
    },
    mcps: [{ name: 'search', endpoint: 'http://localhost:9001', transport: 'http' }, { name: 'fs', command: 'mcp-server-filesystem', args: [], transport: 'stdio' }],
    sessionTtlMs: 300000, signingKeyPath: '.relay/keys/', cacheDir: '.relay/capsules/',
  });
  assert.equal(code, 0, report);
});

test('comments and trailing commas are read', async (t) => {
  const { code, report } = await check(t, '{\n // tools\n "toolsets": ["files",], /* more */ "language": "py",\n}');
  assert.equal(code, 0, report);
});
