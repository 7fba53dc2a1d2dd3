// A change that executes or grants needs the operator: neither a guest nor a caged server gets Relay to run a
// command by rewriting its configuration, and a file that is none stops nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, callTool } from '../mcp.mjs';
import { configured, run, serve, start, temporaryDirectory, until } from '../program.mjs';

const fixture = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'moody_server.py');
const moody = (name, more = {}) => ({ name, command: 'python3', args: [fixture, 'steady'], expose: 'tools', ...more });
const base = { toolsets: ['files', 'code'], gateway: { listTimeoutMs: 60_000 } };
const textOf = (result) => result.content.map(({ text }) => text).join('\n');
const toolNames = async (server) => (await ask(server.endpoint, 'tools/list', {})).tools.map(({ name }) => name);
const lines = ({ state }) => readFileSync(join(state, 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const reloads = (server) => lines(server).filter(({ tool }) => tool === 'config').map(({ action }) => action);
const answers = (server) => lines(server).filter(({ tool }) => tool === 'approvals').map(({ action, args }) => [action, args.kind]);
const rewrite = (server, config) => writeFileSync(server.file, JSON.stringify(config));
const waiting = async (server) => JSON.parse((await run('relay', ['approvals', 'list', '--json'], { cwd: server.cwd })).stdout);
const untilWaiting = (server) => until('a reload to wait', async () => (await waiting(server)).find(({ kind }) => kind === 'reload'));

// A command that leaves a mark when it is run.
const evil = (server) => ({ name: 'evil', command: '/bin/sh', args: ['-c', `touch ${join(server.cwd, 'owned')}`], autostart: true });

test('a change that adds a command waits, is listed, and is applied when the operator approves', async (t) => {
  const server = await serve(t, { config: base });
  rewrite(server, { ...base, mcps: [moody('late')] });
  const pending = await untilWaiting(server);
  assert.match(pending.summary, /mcps\.late is new/);
  assert.equal(pending.detail.servers.late.command, 'python3');
  assert.ok(!(await toolNames(server)).includes('late__echo'));
  assert.deepEqual(reloads(server), ['reload_waits']);
  const shown = await run('relay', ['approvals', 'show', pending.id], { cwd: server.cwd });
  assert.match(shown.stdout, /moody_server\.py/);
  const approved = await run('relay', ['approvals', 'approve'], { cwd: server.cwd });
  assert.equal(approved.code, 0, approved.stderr);
  await until('late to be there', async () => (await toolNames(server)).includes('late__echo'), { seconds: 60 });
  assert.deepEqual(reloads(server), ['reload_waits', 'reload_applied']);
  assert.match(lines(server).find(({ action }) => action === 'reload_applied').args.by, /operator/);
  assert.deepEqual(answers(server), [['approve', 'reload']]);
  assert.deepEqual(await waiting(server), []);
});

test('a change that the operator denies is not applied and not asked about again', async (t) => {
  const server = await serve(t, { config: base });
  const wanted = { ...base, mcps: [evil(server)] };
  rewrite(server, wanted);
  const { id } = await untilWaiting(server);
  assert.equal((await run('relay', ['approvals', 'deny', id, '--reason', 'no'], { cwd: server.cwd })).code, 0);
  await until('the denial to be on record', () => reloads(server).includes('reload_denied'));
  assert.deepEqual(answers(server), [['deny', 'reload']]);
  rewrite(server, wanted);
  rewrite(server, { ...base, log: { level: 'warn' } });
  await until('the next change to be applied', () => reloads(server).includes('reload_applied'));
  assert.deepEqual(await waiting(server), []);
  assert.ok(!existsSync(join(server.cwd, 'owned')));
});

// what changes · before · after · what the approval names
const widenings = [
  ['arguments', { mcps: [moody('a')] }, { mcps: [moody('a', { args: [fixture, 'other'] })] }, /mcps\.a\.args/],
  ['environment', { mcps: [moody('a')] }, { mcps: [moody('a', { env: { X: '${env:HOME}' } })] }, /mcps\.a\.env/],
  ['the cage', { mcps: [moody('a', { sandbox: true })] }, { mcps: [moody('a')] }, /mcps\.a\.sandbox/],
  ['a disabled server', { mcps: [moody('a', { enabled: false })] }, { mcps: [moody('a')] }, /mcps\.a\.enabled/],
  ['a mount', {}, { mounts: [{ name: 'etc', path: '/etc' }] }, /mounts\.etc is new/],
  ['the policy\'s mode', { policy: { mode: 'readonly' } }, {}, /policy\.mode/],
  ['the deny list', { policy: { deny: ['rm'] } }, {}, /policy\.deny/],
  ['the network', {}, { policy: { network: { allowedDomains: ['example.org'] } } }, /policy\.network\.allowedDomains/],
  ['confirmations', {}, { policy: { confirmTier3: false } }, /policy\.confirmTier3/],
  ['who may confirm', {}, { policy: { agentMayConfirm: true } }, /policy\.agentMayConfirm/],
  ['limits', {}, { policy: { limits: { memMb: 4096 } } }, /policy\.limits\.memMb/],
  ['where the audit log is', {}, { audit: { path: 'elsewhere.jsonl' } }, /audit\.path/],
];

for (const [what, before, after, named] of widenings) {
  test(`a change of ${what} waits`, async (t) => {
    const server = await serve(t, { config: { toolsets: ['admin'], ...before } });
    rewrite(server, { toolsets: ['admin'], ...after });
    assert.match((await untilWaiting(server)).summary, named);
    assert.deepEqual(reloads(server), ['reload_waits']);
  });
}

test('a change that only tightens applies at once', async (t) => {
  const server = await serve(t, { config: { ...base, mcps: [moody('a'), moody('b')] } });
  await until('a and b to be there', async () => (await toolNames(server)).includes('b__echo'), { seconds: 60 });
  rewrite(server, { ...base, policy: { deny: ['a__echo'] }, mcps: [moody('a', { description: 'text' })] });
  await until('b to be gone', async () => !(await toolNames(server)).includes('b__echo'), { seconds: 60 });
  await until('the deny list to be in force', async () => /DENIED/.test(textOf(await callTool(server.endpoint, 'a__echo', { text: 'x' }))));
  assert.deepEqual(reloads(server), ['reload_applied']);
});

// what tightens · before · after, with DATA for a directory that has the file x · a call that worked before and does not work any more
const tightenings = [
  ['a mount that goes', { mounts: [{ name: 'here', path: 'DATA' }] }, {}, 'read', { path: '/host/here/x' }],
  ['a mount that becomes ro', { mounts: [{ name: 'here', path: 'DATA', mode: 'rw' }] }, { mounts: [{ name: 'here', path: 'DATA' }] }, 'write', { path: '/host/here/y', content: 'y' }],
  ['a longer deny list of a mount', { mounts: [{ name: 'here', path: 'DATA' }] }, { mounts: [{ name: 'here', path: 'DATA', deny: ['x'] }] }, 'read', { path: '/host/here/x' }],
  ['a shorter allow list of a mount', { mounts: [{ name: 'here', path: 'DATA', allow: ['x', 'z'] }] }, { mounts: [{ name: 'here', path: 'DATA', allow: ['z'] }] }, 'read', { path: '/host/here/x' }],
  ['denied paths', { mounts: [{ name: 'here', path: 'DATA' }] }, { mounts: [{ name: 'here', path: 'DATA' }], policy: { filesystem: { denied: ['/host/here/x'] } } }, 'read', { path: '/host/here/x' }],
  ['denied paths of programs', { mounts: [{ name: 'here', path: 'DATA' }] }, { mounts: [{ name: 'here', path: 'DATA' }], policy: { filesystem: { denied: ['/host/here/x'] } } }, 'run_js', { code: 'require("fs").readFileSync("/host/here/x", "utf8")' }],
  ['a tool that is switched off', {}, { tools: { read: { enabled: false } } }, 'read', { path: '/tmp' }],
  ['a toolset that goes', {}, { toolsets: ['code'] }, 'read', { path: '/tmp' }],
];

for (const [what, before, after, tool, args] of tightenings) {
  test(`${what}: in force for the next call`, async (t) => {
    const data = temporaryDirectory(t);
    writeFileSync(join(data, 'x'), 'x');
    const at = (config) => JSON.parse(JSON.stringify({ ...base, ...config }).replaceAll('"DATA"', JSON.stringify(data)));
    const server = await serve(t, { config: at(before) });
    const works = () => callTool(server.endpoint, tool, args).then(({ isError }) => !isError, () => false);
    assert.ok(await works(), 'before the change');
    rewrite(server, at(after));
    await until('the reload to be on record', () => reloads(server).includes('reload_applied'));
    assert.ok(!await works(), 'after the change');
  });
}

test('a smaller result budget is in force for the next call', async (t) => {
  const server = await serve(t, { config: base });
  const long = () => callTool(server.endpoint, 'run_js', { code: 'console.log("0123456789".repeat(400))' }).then((result) => textOf(result).length);
  const before = await long();
  rewrite(server, { ...base, tools: { run_js: { resultBytes: 1024 } } });
  await until('the reload to be on record', () => reloads(server).includes('reload_applied'));
  assert.ok(await long() < before);
});

test('of a mixed change, servers that go do so at once and the rest waits', async (t) => {
  const server = await serve(t, { config: { ...base, mcps: [moody('a')] } });
  await until('a to be there', async () => (await toolNames(server)).includes('a__echo'), { seconds: 60 });
  rewrite(server, { ...base, mcps: [evil(server)] });
  await until('a to be gone', async () => !(await toolNames(server)).includes('a__echo'), { seconds: 60 });
  assert.match((await untilWaiting(server)).summary, /mcps\.evil is new/);
  assert.deepEqual(reloads(server), ['reload_tightened', 'reload_waits']);
  assert.ok(!existsSync(join(server.cwd, 'owned')));
});

test('bytes that a command of Relay wrote once are not accepted a second time', async (t) => {
  const server = await serve(t, { config: base });
  assert.equal((await run('relay', ['mcp', 'add', 'a', '--expose', 'tools', '--', 'python3', fixture, 'steady'], { cwd: server.cwd })).code, 0);
  await until('a to be there', async () => (await toolNames(server)).includes('a__echo'), { seconds: 60 });
  const attested = readFileSync(server.file, 'utf8');
  rewrite(server, base);
  await until('a to be gone', async () => !(await toolNames(server)).includes('a__echo'), { seconds: 60 });
  writeFileSync(server.file, attested);
  assert.match((await untilWaiting(server)).summary, /mcps\.a is new/);
});

test('a guest cannot rewrite, replace, remove or plant the configuration', async (t) => {
  const config = { ...base, mounts: [{ name: 'p', path: '.', mode: 'rw' }] };
  const server = await serve(t, { config });
  const before = readFileSync(server.file, 'utf8');
  const text = JSON.stringify({ ...config, mcps: [evil(server)] });
  const code = `const fs = require('fs'); const text = ${JSON.stringify(text)}; const got = [];
    const attempt = (work) => { try { work(); got.push('done'); } catch (error) { got.push(error.code); } };
    attempt(() => fs.writeFileSync('/host/p/relay.config.json', text));
    attempt(() => fs.appendFileSync('/host/p/relay.config.json', text));
    attempt(() => { fs.writeFileSync('/host/p/new.json', text); fs.renameSync('/host/p/new.json', '/host/p/relay.config.json'); });
    attempt(() => fs.unlinkSync('/host/p/relay.config.json'));
    attempt(() => fs.truncateSync('/host/p/relay.config.json', 0));
    console.log(got.join(' '));`;
  const ran = textOf(await callTool(server.endpoint, 'run_js', { code }));
  assert.doesNotMatch(ran, /done/, ran);
  const tool = await callTool(server.endpoint, 'write', { path: '/host/p/relay.config.json', content: text });
  assert.equal(tool.isError, true);
  assert.equal(readFileSync(server.file, 'utf8'), before);
  rmSync(server.file);
  await until('the missing file to be refused', () => reloads(server).includes('reload_refused'));
  assert.equal((await callTool(server.endpoint, 'write', { path: '/host/p/relay.config.json', content: text })).isError, true);
  assert.ok(!existsSync(server.file) && !existsSync(join(server.cwd, 'owned')));
});

test('a caged server that may write the project sees an empty configuration and cannot replace it', async (t) => {
  const { cwd, file } = configured(t, '{}');
  mkdirSync(join(cwd, 'sub'));
  renameSync(file, join(cwd, 'sub', 'relay.config.json'));
  const script = join(cwd, 'attack.py');
  writeFileSync(script, `
import json, os, sys
def attempt(work):
    try:
        return "got " + repr(work())
    except OSError as error:
        return os.strerror(error.errno)
def write(path):
    with open(path, "w") as f: f.write("EVIL")
project = ${JSON.stringify(cwd)}
config = project + "/sub/relay.config.json"
report = {
    "read": attempt(lambda: open(config).read()),
    "write": attempt(lambda: write(config)),
    "remove": attempt(lambda: os.remove(config)),
    "replace": attempt(lambda: (write(project + "/sub/new"), os.rename(project + "/sub/new", config))),
    "replaceFromAfar": attempt(lambda: (write(project + "/new"), os.rename(project + "/new", config))),
    "link": attempt(lambda: open(project + "/hard.json").read()),
    "secondLink": attempt(lambda: os.link(project + "/hard.json", project + "/sub/harder.json")),
    "parent": attempt(lambda: os.rename(project + "/sub", project + "/other")),
    "state": attempt(lambda: os.listdir(project + "/state")),
    "own": attempt(lambda: write(project + "/fine")),
}
with open(project + "/report.json", "w") as f: json.dump(report, f)
for line in sys.stdin: pass
`);
  const config = { toolsets: ['admin'], mcps: [{ name: 'caged', command: 'python3', args: [script], cwd: '..', autostart: true, sandbox: { write: ['..'] } }] };
  writeFileSync(join(cwd, 'sub', 'relay.config.json'), JSON.stringify(config));
  linkSync(join(cwd, 'sub', 'relay.config.json'), join(cwd, 'hard.json'));
  const server = start(t, 'relay', ['serve', '-c', join(cwd, 'sub', 'relay.config.json'), '--state', join(cwd, 'state'), '--port', '0', '--no-open', '--no-ui'], { cwd });
  await server.waitForLog('listening', { seconds: 60 });
  const report = await until(`the report; stderr ${server.stderr}`, () => existsSync(join(cwd, 'report.json')) && JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8') || 'null'), { seconds: 60 });
  assert.equal(report.read, "got ''");
  assert.match(report.write, /Read-only|Permission/);
  assert.match(report.remove, /busy/);
  assert.match(report.replace, /busy/);
  assert.match(report.replaceFromAfar, /busy|cross-device/);
  assert.equal(report.link, "got ''", 'a second name of the configuration is covered too');
  assert.doesNotMatch(report.secondLink, /got/);
  assert.match(report.parent, /busy/);
  assert.equal(report.state, 'got []');
  assert.equal(report.own, 'got None');
  assert.equal(readFileSync(join(cwd, 'sub', 'relay.config.json'), 'utf8'), JSON.stringify(config));
});

test('a caged server sees nothing through a link that was made after Relay had started', async (t) => {
  const { cwd, file } = configured(t, '{}');
  const script = join(cwd, 'look.py');
  writeFileSync(script, `
import json, sys
project = ${JSON.stringify(cwd)}
with open(project + "/report.json", "w") as f: json.dump([open(project + "/late.json").read(), open(project + "/late_token").read()], f)
for line in sys.stdin: pass
`);
  const config = { toolsets: ['files'], mcps: [{ name: 'caged', command: 'python3', args: [script], expose: 'tools', startTimeoutMs: 2000, sandbox: { write: ['.'] } }] };
  writeFileSync(file, JSON.stringify(config));
  const state = join(cwd, 'state');
  const server = start(t, 'relay', ['serve', '-c', file, '--state', state, '--port', '0', '--no-open', '--no-ui', '--auth', 'token'], { cwd });
  const { url } = await server.waitForLog('listening', { seconds: 60 });
  linkSync(file, join(cwd, 'late.json'));
  linkSync(join(state, 'token'), join(cwd, 'late_token'));
  const token = readFileSync(join(state, 'token'), 'utf8').trim();
  await ask(`${url}/mcp`, 'tools/list', {}, { token });
  const report = await until(`the report; stderr ${server.stderr}`, () => existsSync(join(cwd, 'report.json')) && JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8') || 'null'), { seconds: 60 });
  assert.deepEqual(report, ['', '']);
});

// Each is refused at a reload, with calls answered meanwhile, and at the start.
const impostors = [
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['a directory', (file) => mkdirSync(file)],
  ['a link to a device', (file) => symlinkSync('/dev/zero', file)],
  ['a giant file', (file) => { writeFileSync(file, '{}'); truncateSync(file, 1 << 30); }],
];

for (const [what, make] of impostors) {
  test(`${what} as configuration is refused and blocks nothing`, async (t) => {
    const server = await serve(t, { config: base });
    rmSync(server.file);
    make(server.file);
    await server.waitForLog('the configuration stays as it was', { seconds: 60 });
    assert.ok((await toolNames(server)).includes('read'));
    assert.ok(reloads(server).includes('reload_refused'));
    const started = await run('relay', ['check-config', '-c', server.file], { cwd: server.cwd });
    assert.equal(started.code, 2, started.stdout + started.stderr);
  });
}
