// `make install` and `make uninstall`: the layout, programs that find their parts there, and nothing left afterwards.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, readlinkSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bin, run, temporaryDirectory } from '../program.mjs';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'install');
const install = (env, ...flags) => spawnSync(script, flags, { encoding: 'utf8', env: { ...process.env, RELAY_BIN: bin, PREFIX: '/usr', ...env } });

function files(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

test('an installation works from wherever it is, through the link, and goes without a trace', async (t) => {
  const made = temporaryDirectory(t);
  const cwd = temporaryDirectory(t);
  const done = install({ DESTDIR: made });
  assert.equal(done.status, 0, done.stderr);
  assert.equal(readlinkSync(join(made, 'usr/bin/relay')), '../lib/relay/bin/relay');

  const moved = temporaryDirectory(t);
  renameSync(join(made, 'usr'), join(moved, 'elsewhere'));
  const relay = join(moved, 'elsewhere/bin/relay');
  for (const [language, code] of [['js', 'console.log(6 * 7)'], ['py', 'print(6 * 7)']]) {
    const { code: exit, stdout, stderr } = await run(relay, ['run', '-l', language, '-e', code], { cwd });
    assert.deepEqual([exit, stdout], [0, '42\n'], stderr);
  }
  const doctor = await run(relay, ['doctor'], { cwd });
  assert.equal(doctor.code, 0, doctor.stdout);
  assert.match(doctor.stdout, new RegExp(`esbuild +${moved}/elsewhere/lib/relay/`));

  renameSync(join(moved, 'elsewhere'), join(made, 'usr'));
  assert.equal(install({ DESTDIR: made }).status, 0, 'over itself');
  assert.equal(install({ DESTDIR: made }, '--remove').status, 0);
  assert.deepEqual(files(made), []);
});

test('the programs look for libraries beside themselves only', async (t) => {
  const made = temporaryDirectory(t);
  assert.equal(install({ DESTDIR: made }).status, 0);
  const text = readFileSync(join(made, 'usr/lib/relay/bin/relay-zygote'), 'latin1');
  const paths = text.match(/\0([^\0]*\$ORIGIN[^\0]*)\0/)[1].split(':');
  for (const path of paths) assert.ok(path.startsWith('$ORIGIN/'), path);
  assert.ok(existsSync(join(made, 'usr/lib/relay/lib/relay/libnode.so.108')));
});

test('completions are installed for three shells', async (t) => {
  const made = temporaryDirectory(t);
  assert.equal(install({ DESTDIR: made }).status, 0);
  for (const [path, says] of [['bash-completion/completions/relay', /complete -F _relay relay/], ['zsh/site-functions/_relay', /^#compdef relay/], ['fish/vendor_completions.d/relay.fish', /^complete -c relay/m]])
    assert.match(readFileSync(join(made, 'usr/share', path), 'utf8'), says);
});

test('a PREFIX that is no absolute path, and a program of another owner in bin, are refused', async (t) => {
  const made = temporaryDirectory(t);
  assert.equal(install({ DESTDIR: made, PREFIX: 'here' }).status, 2);
  spawnSync('mkdir', ['-p', join(made, 'usr/bin')]);
  spawnSync('touch', [join(made, 'usr/bin/relay')]);
  const refused = install({ DESTDIR: made });
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /not ours/);
});
