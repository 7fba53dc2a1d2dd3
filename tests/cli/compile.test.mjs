// scripts/compile, with a cmake that only says what ninja would: progress in a few lines, errors in full, silence when nothing is to do.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, temporaryDirectory } from '../program.mjs';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'compile');

function compile(t, lines, code = 0) {
  const bin = temporaryDirectory(t);
  const said = lines.map((line) => (Array.isArray(line) ? `@status ${line.join(' ')} Building CXX object` : line));
  writeFileSync(join(bin, 'cmake'), `#!/bin/sh\ncat <<'END'\n${said.join('\n')}\nEND\nexit ${code}\n`, { mode: 0o755 });
  return run(script, ['release', '-j', '2'], { env: { PATH: `${bin}:${process.env.PATH}` } });
}

test('compile says how far it is about ten times, and starts anew when ninja does', async (t) => {
  const steps = Array.from({ length: 340 }, (_, i) => [i + 1, 340]);
  const { code, stdout } = await compile(t, [[0, 1], '-- Configuring done', ...steps]);
  assert.equal(code, 0);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, 11, stdout);
  assert.equal(lines[0], 'compile: 1 of 340 (release)');
  assert.equal(lines.at(-1), 'compile: 340 of 340 (release)');
});

test('compile passes on what the compiler says, and its exit code', async (t) => {
  const errors = ['FAILED: b.o', 'clang++ -c b.cc', "b.cc:1:1: error: unknown type name 'x\\y'", '    1 | x\\y', 'ninja: build stopped: subcommand failed.'];
  const { code, stdout } = await compile(t, [[1, 2], ...errors], 3);
  assert.equal(code, 3);
  assert.equal(stdout, `compile: 1 of 2 (release)\n${errors.join('\n')}\n`);
});

test('compile is silent when there is nothing to do', async (t) => {
  assert.deepEqual(await compile(t, ['ninja: no work to do.']), { code: 0, signal: null, stdout: '', stderr: '' });
});
