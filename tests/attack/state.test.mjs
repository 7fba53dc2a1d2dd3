// Relay's own files belong to nobody else: no mount, guest, search or resource shows the configuration or the
// state, by whatever name, and what an older Relay left in the project is moved away.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ask, callTool } from '../mcp.mjs';
import { atEnd, configured, run, serve, start, temporaryDirectory, until } from '../program.mjs';

const textOf = (result) => result.content.map(({ text }) => text).join('\n');
const lines = (state) => readFileSync(join(state, 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

// `relay serve` with the project mounted and the state inside of the project: the worst place it can lie in.
async function exposed(t, { mode = 'ro', toolsets = ['files', 'code'], ...config } = {}) {
  const { cwd, file } = configured(t, { toolsets, mounts: [{ name: 'p', path: '.', mode }], ...config });
  const state = join(cwd, 'inside');
  const server = start(t, 'relay', ['serve', '-c', file, '--state', state, '--port', '0', '--no-open', '--no-ui', '--auth', 'token'], { cwd });
  const { url } = await server.waitForLog('listening', { seconds: 60 });
  const token = readFileSync(join(state, 'token'), 'utf8').trim();
  return { server, cwd, file, state, token, endpoint: `${url}/mcp` };
}

const tool = ({ endpoint, token }, name, args) => callTool(endpoint, name, args, { token });

async function assertUnreadable(relay, path) {
  const result = await tool(relay, 'read', { path: `/host/p/${path}` });
  assert.equal(result.isError, true, `${path}: ${textOf(result).slice(0, 300)}`);
  assert.match(textOf(result), /no such file|ENOENT|NotFound/i, path);
}

test('the documented mount shows neither the configuration nor the state nor other workspaces', async (t) => {
  const relay = await exposed(t);
  for (const path of ['relay.config.json', 'inside/token', 'inside/keys/signing.key', 'inside/audit.jsonl', 'inside', '.relay/workspace'])
    await assertUnreadable(relay, path);
  writeFileSync(join(relay.cwd, 'notes.txt'), `the token is not ${relay.token.slice(0, 4)}`);
  const found = await tool(relay, 'search', { pattern: relay.token, paths: ['/host/p'] });
  assert.doesNotMatch(textOf(found), /inside\/token/);
  const all = await tool(relay, 'search', { pattern: 'toolsets|PRIVATE|' + relay.token, paths: ['/host/p'], includeIgnored: true });
  assert.doesNotMatch(textOf(all), /relay\.config\.json|inside\//);
  for (const path of ['relay.config.json', 'inside/token'])
    await assert.rejects(ask(relay.endpoint, 'resources/read', { uri: `file:///host/p/${path}` }, { token: relay.token }), `resource ${path}`);
});

test('a guest lists the project and sees none of it', async (t) => {
  const relay = await exposed(t);
  const code = "const fs = require('fs'); const seen = []; for (const name of fs.readdirSync('/host/p')) seen.push(name);\n"
    + "for (const path of ['relay.config.json', 'inside/token', 'inside/keys/signing.key']) { try { seen.push(fs.readFileSync('/host/p/' + path, 'utf8')); } catch (error) { seen.push(error.code); } }\n"
    + 'console.log(JSON.stringify(seen));';
  writeFileSync(join(relay.cwd, 'visible.txt'), 'x');
  const result = await tool(relay, 'run_js', { code });
  assert.ok(!result.isError, textOf(result));
  assert.match(textOf(result), /\["visible\.txt","ENOENT","ENOENT","ENOENT"\]/);
});

test('hard links, symbolic links and renamed parents do not help', async (t) => {
  const relay = await exposed(t);
  linkSync(relay.file, join(relay.cwd, 'hard.json'));
  linkSync(join(relay.state, 'token'), join(relay.cwd, 'hard_token'));
  symlinkSync('relay.config.json', join(relay.cwd, 'soft.json'));
  symlinkSync('inside', join(relay.cwd, 'soft_state'));
  for (const path of ['hard.json', 'hard_token', 'soft.json', 'soft_state/token']) await assertUnreadable(relay, path);
  renameSync(relay.state, join(relay.cwd, 'renamed'));
  await assertUnreadable(relay, 'renamed/token');
});

test('a bind mount of the state does not help', { skip: process.getuid() !== 0 && 'only root can make one' }, async (t) => {
  const relay = await exposed(t);
  const bound = join(relay.cwd, 'bound');
  mkdirSync(bound);
  execFileSync('mount', ['--bind', relay.state, bound]);
  atEnd(t, () => execFileSync('umount', ['-l', bound]));
  await assertUnreadable(relay, 'bound/token');
  await assertUnreadable(relay, 'bound/keys/signing.key');
});

test('a mount of the state itself is refused at the start', async (t) => {
  const { cwd, file } = configured(t, { toolsets: ['files'] });
  const state = join(cwd, 'inside');
  mkdirSync(join(state, 'keys'), { recursive: true });
  const result = await run('relay', ['serve', '-c', file, '--state', state, '--port', '0', '--no-open', '--mount', `${join(state, 'keys')}:k`], { cwd });
  assert.notEqual(result.code, 0);
  assert.match(result.stderr, /mount 'k'.*keeps its own files/);
});

test('without --state and RELAY_STATE it lies in the user\'s state directory, for the user alone', async (t) => {
  const home = temporaryDirectory(t);
  for (const [env, base] of [[{ HOME: home, XDG_STATE_HOME: '' }, join(home, '.local/state/relay')], [{ XDG_STATE_HOME: join(home, 'xdg') }, join(home, 'xdg/relay')]]) {
    const server = await serve(t, { config: { toolsets: ['admin'] }, env: { RELAY_STATE: '', ...env } });
    const [project] = readdirSync(base);
    assert.match(project, new RegExp(`^${basename(server.cwd)}-[0-9a-f]{12}$`));
    assert.equal(statSync(join(base, project)).mode & 0o777, 0o700);
    assert.ok(existsSync(join(base, project, 'keys/signing.key')) && existsSync(join(base, project, 'audit.jsonl')));
    assert.equal(readFileSync(join(server.cwd, '.relay/.gitignore'), 'utf8'), '*\n');
    for (const name of ['keys', 'token', 'audit.jsonl']) assert.ok(!existsSync(join(server.cwd, '.relay', name)), name);
  }
});

test('what an older Relay kept in the project is moved once, said once, and never put over something', async (t) => {
  const first = await serve(t, { config: { toolsets: ['admin'] } });
  const fingerprint = first.findLog('made a signing key').fingerprint;
  await first.stop();
  const old = join(first.cwd, '.relay');
  for (const name of ['keys', 'audit.jsonl']) renameSync(join(first.state, name), join(old, name));
  mkdirSync(join(old, 'mcp'), { recursive: true });
  writeFileSync(join(old, 'mcp/secrets.json'), '{"a":"old"}', { mode: 0o600 });
  const again = start(t, 'relay', ['serve', '-c', first.file, '--port', '0', '--no-open', '--no-ui'], { cwd: first.cwd });
  const said = await again.waitForLog('moved keys and records out of the project', { seconds: 60 });
  assert.match(said.moved, /audit\.jsonl.*keys.*mcp\/secrets\.json/);
  const { keyFingerprint } = await again.waitForLog('listening', { seconds: 60 });
  assert.equal(keyFingerprint, fingerprint, 'the key is the same');
  assert.equal(readFileSync(join(first.state, 'mcp/secrets.json'), 'utf8'), '{"a":"old"}');
  assert.equal(statSync(join(first.state, 'mcp/secrets.json')).mode & 0o777, 0o600);
  assert.ok(!existsSync(join(old, 'keys')) && !existsSync(join(old, 'audit.jsonl')));
  await again.stop();
  const verified = await run('relay', ['audit', 'verify'], { cwd: first.cwd });
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);

  writeFileSync(join(old, 'token'), 'old');
  writeFileSync(join(first.state, 'token'), 'new');
  await run('relay', ['keys', 'show'], { cwd: first.cwd });
  assert.equal(readFileSync(join(first.state, 'token'), 'utf8'), 'new');
  assert.equal(readFileSync(join(old, 'token'), 'utf8'), 'old');
});

test('paths that the configuration gives are kept, and are hidden all the same', async (t) => {
  const { cwd, file } = configured(t, { toolsets: ['files'], mounts: [{ name: 'p', path: '.' }], audit: { path: 'log/audit.jsonl' }, signingKeyPath: 'my/keys/' });
  const server = start(t, 'relay', ['serve', '-c', file, '--port', '0', '--no-open', '--no-ui'], { cwd });
  const { url } = await server.waitForLog('listening', { seconds: 60 });
  assert.ok(existsSync(join(cwd, 'log/audit.jsonl')) && existsSync(join(cwd, 'my/keys/signing.key')));
  writeFileSync(join(cwd, 'log/audit.jsonl.1'), 'older');
  for (const path of ['log/audit.jsonl', 'log/audit.jsonl.1', 'my/keys/signing.key']) {
    const result = await callTool(`${url}/mcp`, 'read', { path: `/host/p/${path}` });
    assert.equal(result.isError, true, path);
  }
});

test('an agent cannot confirm itself; the operator can, once, for exactly this call', async (t) => {
  const server = await serve(t, { config: { toolsets: ['files', 'admin'], mounts: [{ name: 'p', path: '.', mode: 'rw' }], policy: { rules: [{ tool: 'write', effect: 'confirm' }] } } });
  const { tools } = await ask(server.endpoint, 'tools/list', {});
  assert.ok(!tools.some(({ name }) => name === 'operation_confirm'));
  const args = { path: '/host/p/made.txt', content: 'x' };
  const refused = textOf(await callTool(server.endpoint, 'write', args));
  const id = refused.match(/relay approvals approve ([a-z0-9-]+)/)[1];
  assert.doesNotMatch(refused, /operation_confirm|token=/);
  const listed = await until('the call to be listed', async () => JSON.parse((await run('relay', ['approvals', 'list', '--json'], { cwd: server.cwd })).stdout).find((one) => one.id === id));
  assert.equal(listed.kind, 'call');
  assert.match(JSON.stringify(listed.detail), /made\.txt/);
  const approved = await run('relay', ['approvals', 'approve', id, '--reason', 'fine'], { cwd: server.cwd });
  assert.equal(approved.code, 0, approved.stderr);
  const other = await callTool(server.endpoint, 'write', { ...args, content: 'y' });
  assert.match(textOf(other), /CONFIRM REQUIRED/, 'another call is not confirmed');
  assert.ok(!(await callTool(server.endpoint, 'write', args)).isError);
  assert.equal(readFileSync(join(server.cwd, 'made.txt'), 'utf8'), 'x');
  assert.match(textOf(await callTool(server.endpoint, 'write', args)), /CONFIRM REQUIRED/, 'an approval is used up');
  const answer = lines(server.state).find(({ tool: name, action }) => name === 'approvals' && action === 'approve');
  assert.equal(answer.args.id, id);
  assert.match(answer.args.by, /uid/);
  assert.equal(answer.args.reason, 'fine');

  const denied = await run('relay', ['approvals', 'deny', textOf(other).match(/approve ([a-z0-9-]+)/)[1]], { cwd: server.cwd });
  assert.equal(denied.code, 0, denied.stderr);
  assert.ok(lines(server.state).some(({ tool: name, action }) => name === 'approvals' && action === 'deny'));
});

test('agentMayConfirm gives agents the tool back', async (t) => {
  const server = await serve(t, { config: { toolsets: ['files', 'admin'], mounts: [{ name: 'p', path: '.', mode: 'rw' }], policy: { agentMayConfirm: true, rules: [{ tool: 'write', effect: 'confirm' }] } } });
  const args = { path: '/host/p/made.txt', content: 'x' };
  const token = textOf(await callTool(server.endpoint, 'write', args)).match(/token="([^"]+)"/)[1];
  assert.ok(!(await callTool(server.endpoint, 'operation_confirm', { token })).isError);
  assert.ok(!(await callTool(server.endpoint, 'write', args)).isError);
});
