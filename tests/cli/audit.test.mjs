// The audit log from outside: what is in it, what is not, and what it says after bad luck and bad intent.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { callTool, modernRequest, request } from '../mcp.mjs';
import { atEnd, configured, program, run, serve, start, stateOf, temporaryDirectory } from '../program.mjs';

const config = { toolsets: ['files', 'admin'] };
const logOf = (server) => join(stateOf(server.cwd), 'audit.jsonl');
const linesOf = (path) => readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const verify = (server, ...flags) => run('relay', ['audit', 'verify', '-c', server.file, ...flags], { cwd: server.cwd });
const attempt = (server, path) => callTool(server.endpoint, 'read', { path });

async function restart(t, { cwd, file }) {
  const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd });
  const { url } = await server.waitForLog('listening', { seconds: 60 });
  return Object.assign(server, { cwd, file, url, endpoint: `${url}/mcp` });
}

test('each call is one line that was written before its answer came', async (t) => {
  const server = await serve(t, { config });
  for (let i = 0; i < 5; ++i) {
    await attempt(server, `/tmp/absent-${i}`);
    const mine = linesOf(logOf(server)).filter(({ args }) => JSON.stringify(args).includes(`/tmp/absent-${i}`));
    assert.equal(mine.length, 1, 'exactly one line, and it is there now');
    assert.equal(mine[0].tool, 'read');
    assert.match(mine[0].chain, /^[0-9a-f]{64}$/);
  }
  assert.equal(statSync(logOf(server)).mode & 0o777, 0o600);
});

test('verify accepts the log of a live and of a stopped server', async (t) => {
  const server = await serve(t, { config });
  for (let i = 0; i < 10; ++i) await attempt(server, `/tmp/${i}`);
  assert.equal((await verify(server)).code, 0);
  await server.stop();
  const { code, stdout } = await verify(server, '--json');
  const verdict = JSON.parse(stdout);
  assert.deepEqual([code, verdict.ok, verdict.chain_ok, verdict.anchored, verdict.broken_at], [0, true, true, true, null]);
  assert.ok(verdict.records >= 10);
});

test('a server and what is run beside it write one chain', async (t) => {
  const server = await serve(t, { config: { toolsets: ['files', 'admin', 'code'] } });
  const script = join(server.cwd, 'a.js');
  writeFileSync(script, 'console.log("beside")');
  for (let i = 0; i < 3; ++i) {
    await attempt(server, `/tmp/${i}`);
    const { code, stdout, stderr } = await run('relay', ['run', '-c', server.file, script], { cwd: server.cwd });
    assert.deepEqual([code, stdout], [0, 'beside\n'], stderr);
    assert.doesNotMatch(stderr, /audit/);
  }
  await attempt(server, '/tmp/last');
  const tools = linesOf(logOf(server)).map(({ tool }) => tool).filter((tool) => tool !== 'audit');
  assert.deepEqual(tools, ['read', 'run_js', 'read', 'run_js', 'read', 'run_js', 'read']);
  assert.equal((await verify(server)).code, 0);
});

// what was done to the log · how
const tampering = [
  ['a changed letter', (lines) => lines.with(4, lines[4].replace('"read"', '"raed"'))],
  ['a line taken out', (lines) => lines.toSpliced(4, 1)],
  ['a line put in twice', (lines) => lines.toSpliced(4, 0, lines[4])],
  ['two lines exchanged', (lines) => lines.with(4, lines[5]).with(5, lines[4])],
  ['the beginning cut off', (lines) => lines.slice(2)],
];

for (const [what, change] of tampering) {
  test(`verify finds ${what}, and exits 2`, async (t) => {
    const server = await serve(t, { config });
    for (let i = 0; i < 10; ++i) await attempt(server, `/tmp/${i}`);
    await server.stop();
    const lines = readFileSync(logOf(server), 'utf8').trimEnd().split('\n');
    const changed = change(lines);
    assert.notDeepEqual(changed, lines);
    writeFileSync(logOf(server), `${changed.join('\n')}\n`);
    const { code, stdout } = await verify(server, '--json');
    assert.equal(code, 2);
    assert.equal(JSON.parse(stdout).ok, false);
    assert.ok(JSON.parse(stdout).reason.length > 10);
  });
}

test('a last line that was cut is accounted for by the next start', async (t) => {
  const server = await serve(t, { config });
  for (let i = 0; i < 5; ++i) await attempt(server, `/tmp/${i}`);
  await server.stop();
  truncateSync(logOf(server), statSync(logOf(server)).size - 30);
  assert.equal((await verify(server)).code, 2);
  const next = await restart(t, server);
  await attempt(next, '/tmp/after');
  await next.stop();
  const { code, stdout, stderr } = await verify(next, '--json');
  assert.equal(code, 0, stdout + stderr);
  assert.ok(readFileSync(logOf(next), 'utf8').includes('"recovered"'), 'the log says that it was cut');
});

test('no acknowledged call is missing after SIGKILL under load', async (t) => {
  const home = configured(t, config);
  const acknowledged = [];
  for (let round = 0; round < 4; ++round) {
    const server = await restart(t, home);
    let stopped = false;
    const client = async (name) => {
      for (let i = 0; !stopped; ++i) {
        const path = `/tmp/r${round}-${name}-${i}`;
        try {
          await attempt(server, path);
          acknowledged.push(path);
        } catch { /* the server is gone */ }
      }
    };
    const clients = ['a', 'b', 'c', 'd', 'e', 'f'].map(client);
    await sleep(150 + Math.random() * 400);
    await server.stop({ signal: 'SIGKILL' });
    stopped = true;
    await Promise.all(clients);
  }
  const last = await restart(t, home);
  await last.stop();
  assert.equal((await verify(last)).code, 0);
  const text = readFileSync(logOf(last), 'utf8');
  assert.ok(acknowledged.length > 20, `${acknowledged.length} calls were acknowledged`);
  assert.deepEqual(acknowledged.filter((path) => !text.includes(`${path}"`)), []);
});

test('audit tail shows the last calls, and only those of the tool that was asked for', async (t) => {
  const server = await serve(t, { config });
  for (let i = 0; i < 6; ++i) await attempt(server, `/tmp/tail-${i}`);
  await callTool(server.endpoint, 'server_info');
  const all = await run('relay', ['audit', 'tail', '-c', server.file, '-n', '3'], { cwd: server.cwd });
  assert.equal(all.code, 0, all.stderr);
  assert.equal(all.stdout.trimEnd().split('\n').length, 3);
  assert.match(all.stdout, /server_info/);
  const reads = await run('relay', ['audit', 'tail', '-c', server.file, '-n', '100', '--tool', 'read'], { cwd: server.cwd });
  assert.match(reads.stdout, /tail-5/);
  assert.ok(!reads.stdout.includes('server_info'));
});

test('audit tail is for people on a terminal, and records for programs', async (t) => {
  const server = await serve(t, { config });
  await attempt(server, '/tmp/for-people');
  const onTerminal = (...args) => {
    const lines = args.includes('-n') ? [] : ['-n', '1'];
    const line = [program('relay'), 'audit', 'tail', '-c', server.file, ...lines, ...args];
    return execFileSync('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', ...line], { cwd: server.cwd, encoding: 'utf8', input: '', env: { ...process.env, RELAY_STATE: stateOf(server.cwd) } });
  };
  assert.match(onTerminal(), /^\d\d-\d\d \d\d:\d\d:\d\d  \w+ +[\d.]+ (us|ms|s)  read +\S.* req_[a-z2-7]{4}-[0-9a-f]{8}  \{"path/);
  assert.doesNotMatch(onTerminal('-n', '50'), /start/, 'start lines are for those who ask');
  assert.match(onTerminal('-n', '50', '--all'), /start/);
  assert.match(onTerminal('--json'), /^\{"ts":/);
  assert.match((await run('relay', ['audit', 'tail', '-c', server.file, '-n', '1'], { cwd: server.cwd })).stdout, /^\{"ts":/);
});

test('audit tail takes calls of a client, an outcome and a time', async (t) => {
  const server = await serve(t, { config: { ...config, policy: { deny: ['^read .*secret'] } } });
  await attempt(server, '/tmp/open');
  await attempt(server, '/tmp/secret');
  const tail = async (...args) => {
    const { code, stdout, stderr } = await run('relay', ['audit', 'tail', '-c', server.file, ...args], { cwd: server.cwd });
    assert.equal(code, 0, stderr);
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  };
  const all = await tail();
  const { client_id: client } = all.find(({ tool }) => tool === 'read');
  assert.deepEqual((await tail('--outcome', 'denied')).map(({ args }) => args.path), ['/tmp/secret']);
  assert.equal((await tail('--client', client)).length, all.filter((line) => line.client_id === client).length);
  assert.deepEqual(await tail('--client', 'nobody'), []);
  assert.deepEqual(await tail('--since', '10m'), all);
  assert.deepEqual(await tail('--since', '2100-01-01'), []);
  for (const line of all.filter(({ outcome }) => outcome)) assert.ok(Number.isInteger(line.duration_us) && line.duration_us >= 0);
  for (const wrong of [['--since', 'soon'], ['--outcome', 'fine']]) {
    const { code, stdout, stderr } = await run('relay', ['audit', 'tail', '-c', server.file, ...wrong], { cwd: server.cwd });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, new RegExp(wrong[1]));
  }
});

test('audit tail says that there is no log yet, and that this is fine', async (t) => {
  const { cwd, file } = configured(t, config);
  const { code, stdout, stderr } = await run('relay', ['audit', 'tail', '-c', file], { cwd });
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /no log yet/);
});

test('audit verify takes the file to verify', async (t) => {
  const server = await serve(t, { config });
  await server.stop();
  const copy = join(server.cwd, 'copy.jsonl');
  const check = () => run('relay', ['audit', 'verify', copy, '-c', server.file], { cwd: server.cwd });
  writeFileSync(copy, readFileSync(logOf(server)));
  assert.equal((await check()).code, 0);
  writeFileSync(copy, readFileSync(logOf(server), 'utf8').replace('"start"', '"stopp"'));
  const { code, stdout } = await check();
  assert.equal(code, 2);
  assert.match(stdout, /copy\.jsonl/);
});

test('numbers in arguments are spelled so that Python verifies them', async (t) => {
  const server = await serve(t, { config });
  const call = modernRequest('tools/call', { name: 'server_info', arguments: { numbers: 'NUMBERS' } });
  await request(server.endpoint, { ...call, body: call.body.replace('"NUMBERS"', '[-0.0, 1.0, 1E16, 1e-7, -0, 12345678901234567890]') });
  assert.match(readFileSync(logOf(server), 'utf8'), /\{"numbers":\[-0\.0,1\.0,1e\+16,1e-07,0,12345678901234567890\]\}/);
  const script = `import hashlib, json, sys
prev = "0" * 64
for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line)
    chain = record.pop("chain")
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert record["prev"] == prev and hashlib.sha256((prev + text).encode()).hexdigest() == chain, line
    prev = chain`;
  execFileSync('python3', ['-c', script, logOf(server)]);
});

test('explain prints how a call was decided, and says when there is no such call', async (t) => {
  const server = await serve(t, { config: { ...config, policy: { deny: ['^read .*secret'] } } });
  const refused = await callTool(server.endpoint, 'read', { path: '/tmp/secret.txt' });
  assert.equal(refused.isError, true);
  const line = linesOf(logOf(server)).find(({ args }) => JSON.stringify(args).includes('secret.txt'));
  assert.equal(line.denied, true);
  const told = await run('relay', ['explain', line.request_id, '-c', server.file], { cwd: server.cwd });
  assert.equal(told.code, 0, told.stderr);
  assert.match(told.stdout, /deny/i);
  assert.match(told.stdout, /secret/, 'the rung that decided is named with its pattern');
  const absent = await run('relay', ['explain', 'no-such-request', '-c', server.file], { cwd: server.cwd });
  assert.ok(absent.code > 0);
  assert.match(absent.stdout + absent.stderr, /no-such-request/);
});

test('secrets in arguments are not in the log', async (t) => {
  const server = await serve(t, { config });
  const secrets = ['hunter2-hunter2', 'AKIAIOSFODNN7EXAMPLE', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz', 'sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFF'];
  await callTool(server.endpoint, 'write', { path: '/tmp/notes.txt', mode: 'overwrite',
    content: `password=${secrets[0]} ${secrets[1]} token: ${secrets[2]} ANTHROPIC_API_KEY=${secrets[3]}` });
  const text = readFileSync(logOf(server), 'utf8') + server.stderr;
  for (const secret of secrets) assert.ok(!text.includes(secret), secret);
});

for (const onFailure of ['refuse', 'degrade']) {
  test(`a full disk: audit.onFailure ${onFailure}`, { skip: process.getuid() !== 0 && 'mounting a small disk needs root' }, async (t) => {
    const disk = join(temporaryDirectory(t), 'disk');
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'pipe' });
    } catch {
      t.skip('mounting is not allowed here');
      return;
    }
    atEnd(t, () => execFileSync('umount', ['-l', disk]));
    const server = await serve(t, { config: { ...config, audit: { path: join(disk, 'audit.jsonl'), onFailure } } });
    let refused = 0;
    for (let i = 0; i < 400; ++i) {
      const result = await callTool(server.endpoint, 'server_info').catch(() => ({ isError: true }));
      if (result.isError) refused += 1;
    }
    if (onFailure === 'refuse') assert.ok(refused > 0, 'calls are refused once the log is full');
    else assert.equal(refused, 0, 'calls go on');
    assert.equal((await request(`${server.url}/healthz`)).status, 200);
    if (onFailure === 'degrade') {
      const { structuredContent } = await callTool(server.endpoint, 'server_info');
      assert.equal(structuredContent.audit.degraded, true);
      assert.match((await request(`${server.url}/metrics`)).body, /^relay_audit_degraded 1$/m);
    }
  });
}
