// `relay mcp ...`: edits of the configuration, servers tried and called, secrets, logs.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run, temporaryDirectory, stateOf } from '../program.mjs';

const fixture = join(import.meta.dirname, '..', 'upstream', 'fixtures', 'moody_server.py');
const moody = (name, mood = 'steady', more = {}) => ({ name, command: 'python3', args: [fixture, mood], ...more });
const mcp = (cwd, args, options = {}) => run('relay', ['mcp', ...args], { cwd, ...options });
const read = (cwd) => readFileSync(join(cwd, 'relay.config.json'), 'utf8');

async function expectCode(result, code) {
  const { stdout, stderr, ...how } = await result;
  assert.equal(how.code, code, stdout + stderr);
  return { stdout, stderr, both: stdout + stderr };
}

test('add makes a configuration where there is none, with the template\'s comments, and list shows it', async (t) => {
  const cwd = temporaryDirectory(t);
  await expectCode(mcp(cwd, ['add', 'fs', '--expose', 'tools', 'npx', '-y', 'server-filesystem', '.']), 0);
  assert.match(read(cwd), /\/\/ Relay's configuration/);
  const { stdout } = await expectCode(mcp(cwd, ['list']), 0);
  assert.match(stdout, /^fs +stdio +tools +enabled +- +npx -y server-filesystem \.$/m);
  await expectCode(run('relay', ['check-config'], { cwd }), 0);
});

test('add understands every way to write a command line', async (t) => {
  const lines = [
    [['add', 'a', 'x', '--flag', '-y'], { command: 'x', args: ['--flag', '-y'] }],
    [['add', 'a', '--', 'x', '--expose', 'y'], { command: 'x', args: ['--expose', 'y'] }],
    [['add', 'a', '--expose', 'both', '--', 'x'], { command: 'x', args: [] }],
    [['add', 'a', '-e', 'K=v=w', '-e', 'L=', '--cwd', '/tmp', 'x'], { command: 'x', cwd: '/tmp', env: ['K', 'L'] }],
    [['add', 'a', '--sandbox', '--read', '.', 'x'], { sandbox: true }],
    [['add', 'a', '--disabled', '--autostart', 'x'], { enabled: false, autostart: true }],
    [['add', 'a', '--url', 'https://h.example/mcp', '-H', 'X-A=b', '-H', 'Y: c'], { transport: 'http', endpoint: 'https://h.example/mcp', headers: ['X-A', 'Y'] }],
    [['add', 'a', '--url', 'http://h.example/sse', '--transport', 'sse'], { transport: 'sse' }],
  ];
  for (const [args, expected] of lines) {
    const { cwd } = configured(t, {});
    await expectCode(mcp(cwd, args), 0);
    const [entry] = JSON.parse((await expectCode(mcp(cwd, ['list', '--json']), 0)).stdout);
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(entry[key], value, `${args.join(' ')}: ${key}`);
  }
});

test('add says that a program is not there, and keeps the entry', async (t) => {
  for (const program of ['no-such-program', '/no/such/program']) {
    const { cwd } = configured(t, {});
    const { stderr } = await expectCode(mcp(cwd, ['add', 'a', program]), 0);
    assert.ok(stderr.includes(`there is no program ${program} here`), stderr);
    assert.match((await expectCode(mcp(cwd, ['list']), 0)).stdout, /^a /m);
    assert.equal((await expectCode(mcp(cwd, ['add', 'b', 'sh']), 0)).stderr, '');
  }
});

test('mistakes are refused with exit 2 and change nothing', async (t) => {
  const text = JSON.stringify({ mcps: [{ name: 'a', command: 'x' }] });
  const { cwd } = configured(t, text);
  const mistakes = [
    [['add', 'b'], /COMMAND/], [['add', 'b', '--url', 'http://h', 'x'], /not both/], [['add', 'a', 'y'], /already.*--replace/s],
    [['add', 'b c', 'x'], /\$\.mcps\[1\]\.name/], [['add', 'b', '--url', 'ftp://h'], /http:\/\//], [['add', 'b', '--env', 'novalue', 'x'], /NAME=VALUE/],
    [['add', 'b', '--expose', 'all', 'x'], /expose/], [['remove', 'z'], /no server "z"/], [['enable', 'z'], /no server "z"/],
    [['test', 'z'], /no server "z"/], [['call', 'z', 't'], /no server "z"/], [['logs', 'z'], /no server "z"/], [['frobnicate'], /frobnicate/], [[], /subcommand/i],
    [['call', 'a', 't', '{"x":1,'], /the arguments: not valid JSON/], [['call', 'a', 't', 'word'], /"word" is no argument/], [['call', 'a', 't', '-'], /the arguments:/],
    [['import', '--from', 'nowhere'], /cursor/], [['add', 'b', '--call-timeout', '1', 'x'], /callTimeoutMs/],
  ];
  for (const [args, says] of mistakes) {
    const { both } = await expectCode(mcp(cwd, args), 2);
    assert.match(both, says, args.join(' '));
  }
  assert.equal(read(cwd), text);
});

test('edits leave comments, order, spacing and mode alone, also through a link and with -c', async (t) => {
  const cwd = temporaryDirectory(t);
  const text = '{\n  // mine\n  "toolsets":   ["code"],\n  "mcps": [\n    {"name":"a","command":"x"}, // first\n  ],\n}\n';
  writeFileSync(join(cwd, 'real.json'), text);
  chmodSync(join(cwd, 'real.json'), 0o640);
  symlinkSync('real.json', join(cwd, 'link.json'));
  const at = ['-c', 'link.json'];
  await expectCode(mcp(cwd, ['add', 'b', ...at, 'y']), 0);
  await expectCode(mcp(cwd, ['disable', 'b', ...at]), 0);
  await expectCode(mcp(cwd, ['enable', 'b', ...at]), 0);
  await expectCode(mcp(cwd, ['add', 'b', '--replace', ...at, 'z']), 0);
  assert.match(readFileSync(join(cwd, 'real.json'), 'utf8'), /"command": "z"/);
  await expectCode(mcp(cwd, ['remove', 'b', ...at]), 0);
  assert.equal(readFileSync(join(cwd, 'real.json'), 'utf8'), text);
  assert.equal(statSync(join(cwd, 'real.json')).mode & 0o777, 0o640);
  assert.ok(lstatSync(join(cwd, 'link.json')).isSymbolicLink());
});

test('ten edits at once lose none', async (t) => {
  const { cwd } = configured(t, {});
  await Promise.all(Array.from({ length: 10 }, (_, i) => expectCode(mcp(cwd, ['add', `s${i}`, 'x']), 0)));
  assert.equal(JSON.parse(read(cwd)).mcps.length, 10);
});

test('a configuration that is broken elsewhere can still be edited, and says what is left', async (t) => {
  const { cwd } = configured(t, { mounts: [{ name: 'm', path: 'gone' }], mcps: [{ name: 'a', command: 'x' }, { name: 'a', command: 'y' }] });
  const { stderr } = await expectCode(mcp(cwd, ['remove', 'a']), 0);
  assert.match(stderr, /not a directory/);
  assert.deepEqual(JSON.parse(read(cwd)).mcps, [{ name: 'a', command: 'y' }]);
});

test('values of env and headers are shown nowhere', async (t) => {
  const { cwd } = configured(t, { mcps: [moody('a', 'steady', { env: { API_KEY: 'sk-very-secret-4711' } }),
    { name: 'b', url: 'http://127.0.0.1:9/mcp?key=sk-very-secret-4711', headers: { Authorization: 'Bearer sk-very-secret-4711' } }] });
  for (const args of [['list'], ['list', '--json'], ['test'], ['test', '--json'], ['tools', 'a', '--full']]) {
    const { stdout, stderr } = await mcp(cwd, args);
    assert.ok(!(stdout + stderr).includes('4711'), `${args.join(' ')}: ${stdout}${stderr}`);
  }
});

test('test says what works and what does not, with the last words on stderr', async (t) => {
  const { cwd } = configured(t, { mcps: [moody('good'), { name: 'bad', command: 'python3', args: ['-c', 'import sys; sys.exit("cannot find my database")'] },
    { name: 'missing', command: 'no-such-program-anywhere' }, moody('asleep', 'steady', { enabled: false })] });
  const good = await expectCode(mcp(cwd, ['test', 'good']), 0);
  assert.match(good.stdout, /good: works, \d+ ms/);
  assert.match(good.stdout, /moody steady 1/);
  assert.match(good.stdout, /legacy \(2025-11-25\)/);
  assert.match(good.stdout, /1 tools, 0 prompts/);
  const all = await expectCode(mcp(cwd, ['test']), 1);
  assert.match(all.stdout, /good: works/);
  assert.match(all.stderr, /bad: does not work/);
  assert.match(all.stderr, /cannot find my database/);
  assert.match(all.stderr, /missing: does not work.*no-such-program-anywhere/);
  assert.ok(!all.both.includes('asleep'), all.both);
  assert.ok(!all.stderr.includes('tried again'), all.stderr);  // not by this command
  await expectCode(mcp(cwd, ['test', 'asleep']), 0);  // whoever names it wants it
  for (const args of [['call', 'asleep', 'echo', 'text=x'], ['tools', 'asleep']])
    assert.equal((await expectCode(mcp(cwd, args), 2)).stderr, 'relay: asleep is disabled: relay mcp enable asleep\n', args.join(' '));
  const call = await expectCode(mcp(cwd, ['call', 'bad', 'echo']), 1);
  assert.match(call.stderr, /^relay: server bad failed: /m);
  assert.ok(!call.stderr.includes('tried again'), call.stderr);
  const [json] = JSON.parse((await expectCode(mcp(cwd, ['test', 'good', '--json']), 0)).stdout);
  assert.equal(json.works, true);
  assert.equal(json.tools, 1);
});

test('tools lists them; call calls one, is recorded, and passes errors on', async (t) => {
  const { cwd } = configured(t, { mcps: [moody('m'), moody('locked', 'steady', { deny: ['echo'] })] });
  assert.match((await expectCode(mcp(cwd, ['tools', 'm']), 0)).stdout, /^echo +Gives the text back$/m);
  assert.match((await expectCode(mcp(cwd, ['tools', 'm', '--full']), 0)).stdout, /"required"/);
  assert.equal(JSON.parse((await expectCode(mcp(cwd, ['tools', 'm', '--json']), 0)).stdout)[0].name, 'echo');
  assert.equal((await expectCode(mcp(cwd, ['call', 'm', 'echo', 'text=hello there']), 0)).stdout, 'hello there\n');
  assert.equal((await expectCode(mcp(cwd, ['call', 'm', 'echo', '{"text": "5"}']), 0)).stdout, '5\n');
  assert.equal((await expectCode(mcp(cwd, ['call', 'm', 'echo', '-'], { input: '{"text": "piped"}' }), 0)).stdout, 'piped\n');
  assert.equal(JSON.parse((await expectCode(mcp(cwd, ['call', 'm', 'echo', 'text=5', '--json']), 0)).stdout).content[0].text, '5');
  assert.match((await expectCode(mcp(cwd, ['call', 'm', 'ecco', 'text=x']), 1)).stderr, /did you mean "echo"/);
  assert.match((await expectCode(mcp(cwd, ['call', 'locked', 'echo', 'text=x']), 1)).stderr, /no tool "echo"/);
  const lines = readFileSync(join(stateOf(cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => JSON.stringify(line).includes('m/echo')), JSON.stringify(lines.at(-1)));
  await expectCode(run('relay', ['audit', 'verify'], { cwd }), 0);
});

test('call obeys the policy', async (t) => {
  const { cwd } = configured(t, { policy: { deny: ['forbidden'] }, mcps: [moody('m', 'steady', { tiers: { echo: 3 } })] });
  const denied = await expectCode(mcp(cwd, ['call', 'm', 'echo', 'text=forbidden']), 1);
  assert.match(denied.both, /DENIED/);
  const unconfirmed = await expectCode(mcp(cwd, ['call', 'm', 'echo', 'text=x']), 1);  // tier 3 wants a confirmation, and nobody is there to give it
  assert.match(unconfirmed.both, /CONFIRM REQUIRED.*repeat the command with --yes/);
  assert.ok(!unconfirmed.both.includes('operation_confirm'), unconfirmed.both);
  assert.equal((await expectCode(mcp(cwd, ['call', 'm', 'echo', 'text=x', '--yes']), 0)).stdout, 'x\n');
});

test('logs shows what a server wrote to stderr', async (t) => {
  const { cwd } = configured(t, { mcps: [{ name: 'bad', command: 'python3', args: ['-c', 'import sys; sys.exit("cannot find my database")'] }, moody('quiet')] });
  await mcp(cwd, ['test', 'bad']);
  assert.match((await expectCode(mcp(cwd, ['logs', 'bad']), 0)).stdout, /cannot find my database/);
  assert.equal((await expectCode(mcp(cwd, ['logs', 'bad', '-n', '1']), 0)).stdout.trim().split('\n').length, 1);
  assert.match((await expectCode(mcp(cwd, ['logs', 'quiet']), 0)).stderr, /nothing yet/);
});

test('a secret is kept for us alone, reaches the server, and is never shown', async (t) => {
  const script = 'import os,sys; sys.stderr.write("token is " + os.environ["TOKEN"] + "\\n"); sys.exit(3)';
  const { cwd } = configured(t, { mcps: [{ name: 'a', command: 'python3', args: ['-c', script], env: { TOKEN: '${secret:a.TOKEN}' } }] });
  assert.match((await expectCode(mcp(cwd, ['test', 'a']), 1)).stderr, /a\.TOKEN/);
  assert.match((await expectCode(mcp(cwd, ['secret', 'set', 'a.TOKEN'], { input: 'sk-very-secret-4711\n' }), 0)).stdout, /\$\{secret:a\.TOKEN\}/);
  assert.equal((await expectCode(mcp(cwd, ['secret', 'list']), 0)).stdout, 'a.TOKEN\n');
  const file = join(stateOf(cwd), 'mcp', 'secrets.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { both } = await expectCode(mcp(cwd, ['test', 'a']), 1);
  assert.match(both, /token is/);
  assert.ok(!both.includes('4711'), both);
  assert.ok(!(await expectCode(mcp(cwd, ['logs', 'a']), 0)).stdout.includes('4711'));
  await expectCode(mcp(cwd, ['secret', 'set', 'empty'], { input: '' }), 2);
  await expectCode(mcp(cwd, ['secret', 'remove', 'a.TOKEN']), 0);
  await expectCode(mcp(cwd, ['secret', 'remove', 'a.TOKEN']), 2);
  assert.equal((await expectCode(mcp(cwd, ['secret', 'list']), 0)).stdout, '');
});

test('every command helps', async (t) => {
  const cwd = temporaryDirectory(t);
  for (const command of ['add', 'list', 'remove', 'enable', 'disable', 'test', 'tools', 'call', 'logs', 'import', 'secret'])
    assert.match((await expectCode(mcp(cwd, [command, '--help']), 0)).stdout, new RegExp(`relay mcp ${command}`), command);
  assert.ok(!existsSync(join(cwd, 'relay.config.json')));
});
