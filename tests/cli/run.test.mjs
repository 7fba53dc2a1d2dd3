// `relay run`: one script in a fresh sandbox, used like an interpreter.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, temporaryDirectory } from '../program.mjs';

// what · file name · script · arguments · stdin · expected
const scripts = [
  ['JavaScript prints', 'a.js', 'console.log("hello", 6 * 7)', [], '', { stdout: 'hello 42\n', code: 0 }],
  ['Python prints', 'a.py', 'print("hello", 6 * 7)', [], '', { stdout: 'hello 42\n', code: 0 }],
  ['JavaScript reads stdin', 'a.mjs', 'let all = ""; for await (const chunk of process.stdin) all += chunk; console.log(all.toUpperCase())', [], 'from outside', { stdout: 'FROM OUTSIDE\n', code: 0 }],
  ['Python reads stdin', 'a.py', 'import sys\nprint(sys.stdin.read().upper())', [], 'from outside', { stdout: 'FROM OUTSIDE\n', code: 0 }],
  ['JavaScript gets its arguments', 'a.js', 'console.log(process.argv.slice(2).join("|"))', ['one', '--two', '3 4'], '', { stdout: 'one|--two|3 4\n', code: 0 }],
  ['Python gets its arguments', 'a.py', 'import sys\nprint("|".join(sys.argv[1:]))', ['one', '--two', '3 4'], '', { stdout: 'one|--two|3 4\n', code: 0 }],
  ['JavaScript chooses its exit code', 'a.js', 'console.log("so far"); process.exit(3)', [], '', { stdout: 'so far\n', code: 3 }],
  ['Python chooses its exit code', 'a.py', 'import sys\nprint("so far")\nsys.exit(3)', [], '', { stdout: 'so far\n', code: 3 }],
  ['JavaScript separates stderr', 'a.js', 'console.error("oops"); console.log("fine")', [], '', { stdout: 'fine\n', stderr: /oops/, code: 0 }],
  ['Python separates stderr', 'a.py', 'import sys\nprint("oops", file=sys.stderr)\nprint("fine")', [], '', { stdout: 'fine\n', stderr: /oops/, code: 0 }],
  ['a JavaScript error names the line', 'a.js', 'const a = 1;\nthrow new Error("broken here")', [], '', { stdout: '', stderr: /broken here[^]*:2/, code: 1 }],
  ['a Python error names the line', 'a.py', 'a = 1\nraise ValueError("broken here")', [], '', { stdout: '', stderr: /line 2[^]*broken here/, code: 1 }],
];

for (const [what, name, text, args, input, expected] of scripts) {
  test(`relay run: ${what}`, async (t) => {
    const cwd = temporaryDirectory(t);
    writeFileSync(join(cwd, name), text);
    const { code, stdout, stderr } = await run('relay', ['run', name, ...args], { cwd, input });
    assert.equal(stdout, expected.stdout, stderr);
    assert.equal(code, expected.code, stderr);
    if (expected.stderr) assert.match(stderr, expected.stderr);
  });
}

test('relay run --timeout ends an endless script with 124', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'a.js'), 'console.log("begun"); for (;;) {}');
  const { code, stdout } = await run('relay', ['run', '--timeout', '700', 'a.js'], { cwd });
  assert.deepEqual([code, stdout], [124, 'begun\n']);
});

test('relay run says what is wrong with a script it cannot run', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'a.rb'), 'puts 1');
  for (const name of ['absent.js', 'a.rb']) {
    const { code, stderr } = await run('relay', ['run', name], { cwd });
    assert.ok(code > 0);
    assert.ok(stderr.includes(name), stderr);
  }
});
