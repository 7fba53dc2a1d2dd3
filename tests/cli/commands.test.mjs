// Commands that answer and end: what they print, how they exit, what they leave alone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run, temporaryDirectory } from '../program.mjs';

test('--version names the program and its version, and so do -V and version', async () => {
  for (const word of ['--version', '-V', 'version']) {
    const { code, stdout } = await run('relay', [word]);
    assert.equal(code, 0, word);
    assert.match(stdout, /^relay \d+\.\d+\.\d+\S*\n$/, word);
  }
});

test('--help lists every command, and each command has a help of its own', async () => {
  const { code, stdout } = await run('relay', ['--help']);
  assert.equal(code, 0);
  const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]+) +\S/gm)].map(([, name]) => name);
  for (const name of ['init', 'serve', 'stdio', 'run', 'check-config', 'doctor', 'audit', 'explain'])
    assert.ok(commands.includes(name), `${name} in ${commands.join(' ')}`);
  for (const name of commands) {
    const help = await run('relay', [name, '--help']);
    assert.equal(help.code, 0, name);
    assert.ok(help.stdout.length > 80, `relay ${name} --help says something`);
  }
});

test('help COMMAND shows what COMMAND --help shows', async () => {
  for (const words of [[], ['serve'], ['mcp', 'add'], ['audit', 'tail']]) {
    const [help, flag] = [await run('relay', ['help', ...words]), await run('relay', [...words, '--help'])];
    assert.deepEqual([help.code, help.stdout], [0, flag.stdout], words.join(' '));
  }
  const unknown = await run('relay', ['help', 'sreve']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /"sreve", did you mean "serve"\?/);
});

test('an unknown flag is named with the one that was probably meant', async () => {
  for (const [args, says] of [[['serve', '--prot', '1'], 'unknown option --prot, did you mean --port?'], [['audit', 'tail', '--sinse=1h'], 'unknown option --sinse=1h, did you mean --since?'],
    [['mcp', 'list', '--jsno'], 'unknown option --jsno, did you mean --json?'], [['doctor', '--zzzzzzzz'], 'unknown option --zzzzzzzz;']]) {
    const { code, stderr } = await run('relay', args);
    assert.equal(code, 2);
    assert.ok(stderr.includes(says), stderr);
  }
});

test('a mistake on the command line exits 2 and says what was wrong', async () => {
  for (const [args, says] of [[['sreve'], /sreve/], [['serve', '--prot', '1'], /--prot/], [['serve', '--port', 'many'], /many/],
    [['--prot'], /--prot/], [['serve', '--policy', 'foo'], /--policy: foo/], [['mcp', 'secret', 'get', 'x'], /"get".*`relay mcp secret --help`/]]) {
    const { code, stdout, stderr } = await run('relay', args);
    assert.equal(code, 2, `relay ${args.join(' ')}`);
    assert.match(stderr, /^relay: .*\n$/, 'in one line');
    assert.match(stdout + stderr, says);
  }
});

test('a group of commands alone shows its help, and exits 2', async () => {
  for (const [args, says] of [[[], /^ {2}serve +Serve MCP/m], [['mcp'], /^ {2}import +Add servers/m], [['mcp', 'secret'], /^ {2}set +Keep a value/m]]) {
    const { code, stdout, stderr } = await run('relay', args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, says);
  }
});

test('init writes a configuration that check-config accepts', async (t) => {
  const cwd = temporaryDirectory(t);
  assert.equal((await run('relay', ['init'], { cwd })).code, 0);
  const check = await run('relay', ['check-config'], { cwd });
  assert.equal(check.code, 0, check.stdout + check.stderr);
});

test('init writes what the schema of 1mcp requires: language, policy, mcps', async (t) => {
  const cwd = temporaryDirectory(t);
  assert.equal((await run('relay', ['init'], { cwd })).code, 0);
  const text = readFileSync(join(cwd, 'relay.config.json'), 'utf8').replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[}\]])/g, '$1');
  const written = JSON.parse(text);
  assert.match(written.language, /^(js|py)$/);
  assert.equal(typeof written.policy, 'object');
  assert.ok(Array.isArray(written.mcps));
});

test('$schema of init leads to the schema that check-config --schema prints', async (t) => {
  const cwd = temporaryDirectory(t);
  await run('relay', ['init'], { cwd });
  const [, path] = readFileSync(join(cwd, 'relay.config.json'), 'utf8').match(/"\$schema": "([^"]+)"/);
  assert.equal(readFileSync(join(cwd, path), 'utf8'), (await run('relay', ['check-config', '--schema'])).stdout);
  writeFileSync(join(cwd, path), 'of an older version');
  assert.equal((await run('relay', ['run', '-e', '1'], { cwd })).code, 0);
  assert.equal(readFileSync(join(cwd, path), 'utf8'), (await run('relay', ['check-config', '--schema'])).stdout, 'a start writes it anew');
});

test('init --dir writes there', async (t) => {
  const [cwd, target] = [temporaryDirectory(t), temporaryDirectory(t)];
  assert.equal((await run('relay', ['init', '--dir', target], { cwd })).code, 0);
  assert.ok(existsSync(join(target, 'relay.config.json')));
  assert.ok(!existsSync(join(cwd, 'relay.config.json')));
});

test('init never overwrites', async (t) => {
  const { cwd, file } = configured(t, '{"language": "py"} // mine');
  const { code, stdout, stderr } = await run('relay', ['init'], { cwd });
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /already exists/);
  assert.equal(readFileSync(file, 'utf8'), '{"language": "py"} // mine');
});

test('init says why when it cannot write', async (t) => {
  const cwd = temporaryDirectory(t);
  const { code, stderr } = await run('relay', ['init', '--dir', join(cwd, 'not', 'there')]);
  assert.notEqual(code, 0);
  assert.match(stderr, /not\/there/);
});

test('doctor finds what relay needs on this machine', async (t) => {
  const cwd = temporaryDirectory(t);
  const { code, stdout, stderr } = await run('relay', ['doctor'], { cwd });
  assert.equal(code, 0, stdout + stderr);
  for (const word of ['user namespace', 'seccomp', 'openat2', 'relay-zygote']) assert.match(stdout, new RegExp(word));
});

test('doctor --json says the same to programs', async (t) => {
  const cwd = temporaryDirectory(t);
  const { code, stdout } = await run('relay', ['doctor', '--json'], { cwd });
  const report = JSON.parse(stdout);
  assert.equal(code, 0, stdout);
  assert.equal(report.healthy, true);
  assert.ok(report.findings.length > 8);
  for (const { group, name, health } of report.findings) {
    assert.ok(group && name);
    assert.match(health, /^(ok|optional|missing)$/);
  }
});

test('doctor exits non-zero and names the problem when the configuration is broken', async (t) => {
  const { cwd } = configured(t, { toolset: ['code'] });
  const { code, stdout, stderr } = await run('relay', ['doctor', '--json'], { cwd });
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /\$\.toolset/);
  assert.equal(JSON.parse(stdout).healthy, false);
});

test('check-config --schema prints a JSON Schema that names every top-level key', async () => {
  const { code, stdout } = await run('relay', ['check-config', '--schema']);
  assert.equal(code, 0);
  const schema = JSON.parse(stdout);
  for (const key of ['toolsets', 'mounts', 'policy', 'mcps', 'gateway', 'executor', 'audit', 'auth', 'cors', 'npm', 'pip', 'sessionTtlMs', 'signingKeyPath', 'cacheDir'])
    assert.ok(schema.properties[key], key);
});

test('commands leave no state behind: only serving creates .relay', async (t) => {
  const { cwd } = configured(t, {});
  for (const args of [['check-config'], ['doctor'], ['--version']]) await run('relay', args, { cwd });
  assert.ok(!existsSync(join(cwd, '.relay')));
});

test('a configuration file that was named but is not there is an error with its path', async (t) => {
  const cwd = temporaryDirectory(t);
  const { code, stdout, stderr } = await run('relay', ['check-config', '-c', 'absent.json'], { cwd });
  assert.equal(code, 2);
  assert.match(stdout + stderr, /absent\.json/);
});

test('a configuration that is not readable as text is refused, not misread', async (t) => {
  const { cwd, file } = configured(t, '{}');
  writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0x7b]));
  const { code, stdout, stderr } = await run('relay', ['check-config'], { cwd });
  assert.equal(code, 2);
  assert.match(stdout + stderr, /relay\.config\.json/);
});
