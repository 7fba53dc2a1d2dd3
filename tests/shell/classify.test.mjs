// `relay classify`: the shape of its answer, the tier of commands that try to look harmless, and policy.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanEnvironment, program, temporaryDirectory } from '../program.mjs';

function relay(t, args, { config, input } = {}) {
  const cwd = temporaryDirectory(t);
  if (config) writeFileSync(join(cwd, 'relay.config.json'), JSON.stringify(config));
  return spawnSync(program('relay'), ['classify', ...args], { cwd, env: cleanEnvironment(), encoding: 'utf8', input, maxBuffer: 1 << 28 });
}

const classify = (t, text, options) => JSON.parse(relay(t, ['--json', '--', text], options).stdout);

function classifyAll(t, texts, config) {
  const { stdout, stderr, status } = relay(t, ['--lines'], { config, input: texts.map((text) => `${JSON.stringify(text)}\n`).join('') });
  assert.equal(status, 0, stderr);
  return stdout.trim().split('\n').map((line) => JSON.parse(line));
}

test('the answer has the documented members', (t) => {
  const answer = classify(t, 'sudo rm -rf /x');
  assert.equal(answer.tier, 3);
  assert.equal(answer.decision, 'confirm');
  assert.deepEqual(answer.commands, [['sudo', 'rm', '-rf', '/x']]);
  assert.equal(answer.opaque, false);
  assert.match(answer.reason, /rm -rf \/x/);
});

test('commands in texts are listed too, with the shell that reads them', (t) => {
  const answer = classify(t, "bash -c 'ls $(date)'");
  assert.deepEqual(answer.commands, [['bash', '-c', 'ls $(date)'], ['ls', '$(date)'], ['date']]);
  assert.equal(answer.details[1].inside, 'bash -c');
});

const evasions = JSON.parse(readFileSync(join(import.meta.dirname, 'evasions.json'), 'utf8'));
for (const [kind, { tier, texts }] of Object.entries(evasions))
  test(`evasions by ${kind} are at least tier ${tier}`, (t) => {
    const answers = classifyAll(t, texts);
    const below = texts.filter((_, i) => answers[i].tier < tier);
    assert.deepEqual(below, []);
  });

test('there are 300 evasions', () => {
  assert.ok(Object.values(evasions).reduce((sum, { texts }) => sum + texts.length, 0) >= 300);
});

test('harmless commands stay tier 1', (t) => {
  const texts = ['ls', 'cat f', 'echo hello', 'rm f', 'git status', 'git log', 'git diff', 'docker ps', 'kubectl get pods', 'npm test', 'npm run build',
    'find . -name x', 'chmod +x f', 'cp a b', 'mv a b', 'sed -n 1p f', 'echo x > f', 'tee f', 'systemctl status x', 'ip addr', 'iptables -L', 'curl http://h',
    'grep -rf patterns .', 'tar xf a.tar', 'make', 'python3 x.py', 'ps aux | grep x', 'mkdir -p a/b', 'export A=1', 'cd x && ls', 'apt list', 'pip list'];
  const answers = classifyAll(t, texts);
  assert.deepEqual(texts.filter((_, i) => answers[i].tier !== 1), []);
});

test('policy.deny sees the raw text and every command as it is understood', (t) => {
  const config = { policy: { deny: ['rm -rf /srv', 'secret-token', '10\\.0\\.0\\.1'] } };
  const texts = ["r''m -r'f' /srv", "bash -c 'rm -rf /srv'", 'x=rm; $x -rf /srv', 'sudo /bin/rm -rf /srv', 'echo secret-token', 'curl http://167772161/', 'curl http://0xa.1/', 'ls'];
  assert.deepEqual(classifyAll(t, texts, config).map((answer) => answer.decision),
    ['deny', 'deny', 'deny', 'deny', 'deny', 'deny', 'deny', 'allow']);
});

test('an allow rule for a command must cover every command of the text', (t) => {
  const config = { policy: { mode: 'guarded', rules: [{ tool: 'shell_exec', command: 'git *', effect: 'allow' }] } };
  const texts = ['git commit -m x', 'git add a; git commit -m x', 'git commit -m x; rm -rf /', 'git commit -m "$(rm -rf /)"'];
  assert.deepEqual(classifyAll(t, texts, config).map((answer) => answer.decision), ['allow', 'allow', 'deny', 'deny']);
});

test('modes and confirmation decide as they would for a call', (t) => {
  assert.equal(classify(t, 'ls', { config: { policy: { mode: 'readonly' } } }).decision, 'deny');
  assert.equal(classify(t, 'sudo ls', { config: { policy: { mode: 'guarded' } } }).decision, 'deny');
  assert.equal(classify(t, 'rm -rf x', { config: { policy: { confirmTier3: true } } }).decision, 'confirm');
});

test('the view for people names each command, its tier and why', (t) => {
  const { stdout } = relay(t, ["true; sh -c 'rm -rf /x'; $X"]);
  assert.match(stdout, /tier 3 IRREVERSIBLE {2}rm -rf \/x {2}\(in sh -c\)\n +deletes recursively/);
  assert.match(stdout, /opaque {2}the name of a command comes from \$X/);
  assert.match(stdout, /confirm, tier 3/);
  assert.ok(!stdout.includes('\x1b'), 'no colour where nobody looks');
});

test('--tool names the tool that policy sees, and only tools that take commands', (t) => {
  const config = { policy: { rules: [{ tool: 'shell_spawn', effect: 'deny' }] } };
  const answer = (tool) => JSON.parse(relay(t, ['--json', '--tool', tool, 'ls'], { config }).stdout).decision;
  assert.equal(answer('shell_spawn'), 'deny');
  assert.equal(answer('shell_exec'), 'allow');
  assert.notEqual(relay(t, ['--tool', 'read', 'ls']).status, 0);
});
