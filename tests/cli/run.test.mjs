// `relay run`: one script in a fresh sandbox, used like an interpreter.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, run, start, temporaryDirectory, until } from '../program.mjs';

// what · file name · script · arguments · stdin · expected
const scripts = [
  ['JavaScript prints', 'a.js', 'console.log("hello", 6 * 7)', [], '', { stdout: 'hello 42\n', code: 0 }],
  ['Python prints', 'a.py', 'print("hello", 6 * 7)', [], '', { stdout: 'hello 42\n', code: 0 }],
  ['TypeScript prints', 'a.ts', 'interface A { x: number }\nconst a: A = { x: 42 };\nconsole.log("hello", a.x)', [], '', { stdout: 'hello 42\n', code: 0 }],
  ['a TypeScript error names the file and the line', 'a.mts', 'type A = {\n  x: number\n};\nconst a: A | null = null;\na.x', [], '', { stdout: '', stderr: /a\.mts:5/, code: 1 }],
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

test('relay run says why it ended a script that prints too much', async (t) => {
  const cwd = temporaryDirectory(t);
  for (const [name, text] of [['a.js', 'for (;;) console.log("x".repeat(1000))'], ['a.py', 'while True: print("x" * 1000)']]) {
    writeFileSync(join(cwd, name), text);
    const { code, stderr } = await run('relay', ['run', '--max-stdout', '5000', name], { cwd });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^relay: OutputLimitExceeded: .+$/m);
  }
});

test('relay run: a call that the policy refuses is 126, and nothing of the script runs', async (t) => {
  const { cwd } = configured(t, { policy: { deny: ['forbidden'] } });
  writeFileSync(join(cwd, 'a.py'), 'print("ran")');
  writeFileSync(join(cwd, 'b.js'), 'console.log("forbidden")');
  for (const args of [['--policy', 'readonly', 'a.py'], ['b.js']]) {
    const { code, stdout, stderr } = await run('relay', ['run', ...args], { cwd });
    assert.deepEqual([code, stdout], [126, ''], stderr);
    assert.match(stderr, /^relay: \[DENIED /m);
  }
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

test('relay run: what is typed wrong is said in one line, with exit code 2', async (t) => {
  const cwd = temporaryDirectory(t);
  mkdirSync(join(cwd, 'folder.js'));
  writeFileSync(join(cwd, 'script'), 'print(1)');
  writeFileSync(join(cwd, 'a.js'), '1');
  for (const [args, says] of [
    [['absent.js'], /^relay: .*cannot read absent\.js: No such file or directory\n$/],
    [['folder.js'], /^relay: .*folder\.js is a directory; name a script\n$/],
    [['script'], /^relay: .*--language js or --language py says what it is\n$/],
    [['--language', 'rb', 'script'], /--language: rb not in \{js,py\}/],
    [['--timeout', '5s', 'a.js'], /^relay: --timeout: expected a whole number, got "5s" \(.*milliseconds\).*\n$/],
    [['--timout', '5', 'a.js'], /--timout/],
    [['--timeout', '-5', 'a.js'], /timeoutMs/],
    [['--mem', '0', 'a.js'], /memMb/],
    [['--policy', 'lenient', 'a.js'], /^relay: --policy: lenient not in \{open,guarded,readonly\}.*\n$/],
    [[], /^relay: .*Name a script, or give its text with -e.*\n$/],
    [['--pip', 'six', 'a.js'], /^relay: .*--pip and --wheel are for Python; JavaScript has --npm\n$/],
    [['-l', 'py', '--npm', 'left-pad', '-e', '1'], /^relay: .*--npm is for JavaScript; Python has --pip\n$/],
  ]) {
    const { code, stdout, stderr } = await run('relay', ['run', ...args], { cwd });
    assert.match(stderr, says, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
  }
});

test('relay run: everything after the script is its own, and traces name it as the user does', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'args.js'), 'console.log(process.argv.slice(2).join(" "))');
  const args = ['--help', '--timeout', '5', '-c', '--', '-x', '', '--mem=1'];
  assert.equal((await run('relay', ['run', '--timeout', '20000', 'args.js', ...args], { cwd })).stdout, `${args.join(' ')}\n`);
  assert.equal((await run('relay', ['run', '--mem=100', '--', 'args.js', 'a'], { cwd })).stdout, 'a\n');
  writeFileSync(join(cwd, 'my-tool.mjs'), '\nthrow new Error("here")');
  assert.match((await run('relay', ['run', 'my-tool.mjs'], { cwd })).stderr, /at my-tool\.mjs:2:\d+/);
  writeFileSync(join(cwd, 'my_tool.py'), '\n1 / 0');
  assert.match((await run('relay', ['run', 'my_tool.py'], { cwd })).stderr, /File "my_tool\.py", line 2/);
  writeFileSync(join(cwd, 'odd (name).js'), 'throw new Error("there")');
  assert.match((await run('relay', ['run', 'odd (name).js'], { cwd })).stderr, /at main\.js:1:\d+/);
});

test('relay run -e: the script on the command line, with arguments and stdin of its own', async (t) => {
  const cwd = temporaryDirectory(t);
  const says = async (args, input) => (await run('relay', ['run', ...args], { cwd, input })).stdout;
  assert.equal(await says(['-e', 'console.log(process.argv.slice(2), await process.stdin.text())', 'a', '--b'], 'in'), "[ 'a', '--b' ] in\n");
  assert.equal(await says(['-l', 'py', '--eval', 'import sys; print(sys.argv[1:], input())', 'a'], 'in\n'), "['a'] in\n");
});

test('relay run: options that may be repeated do not take the script for one of their values', async (t) => {
  const cwd = temporaryDirectory(t);
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'a.js'), 'console.log(require("fs").readdirSync("/host").join(), process.argv[2])');
  const { stdout, stderr } = await run('relay', ['run', '--toolset', 'code', '--mount', 'data', '--mount', 'data:more', 'a.js', 'x'], { cwd });
  assert.equal(stdout, 'data,more x\n', stderr);
});

test('relay run --yes confirms what a rule wants confirmed; without it nothing runs, and the way is named', async (t) => {
  const { cwd } = configured(t, { policy: { rules: [{ tool: 'run_js', effect: 'confirm' }] } });
  const asked = await run('relay', ['run', '-e', 'console.log("ran")'], { cwd });
  assert.deepEqual([asked.code, asked.stdout], [126, '']);
  assert.match(asked.stderr, /^relay: \[CONFIRM REQUIRED .*repeat the command with --yes\.\]$/m);
  assert.equal((await run('relay', ['run', '--yes', '-e', 'console.log("ran")'], { cwd })).stdout, 'ran\n');
});

test('relay run --help names the exit codes', async (t) => {
  const { code, stdout } = await run('relay', ['run', '--help'], { cwd: temporaryDirectory(t) });
  assert.equal(code, 0);
  for (const part of ['FILE', '--language', '--timeout', '--mem', '--policy', '124', '137']) assert.ok(stdout.includes(part), `${part} in ${stdout}`);
});

test('relay run: a script without a name, or from stdin, in the language that is asked for', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'script'), 'import sys\nprint("python", sys.argv[1:])');
  const { code, stdout } = await run('relay', ['run', '-l', 'py', 'script', 'x'], { cwd });
  assert.deepEqual({ code, stdout }, { code: 0, stdout: "python ['x']\n" });
  assert.equal((await run('relay', ['run', '-'], { cwd, input: 'console.log("js", process.argv.length)' })).stdout, 'js 2\n');
  assert.equal((await run('relay', ['run', '-l', 'py', '-'], { cwd, input: 'print("py")' })).stdout, 'py\n');
});

test('relay run: a script starts while its stdin is still open, and reads what comes', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'a.py'), 'print("first", flush=True)\nprint("got", input())');
  writeFileSync(join(cwd, 'b.js'), 'console.log("never asks")');
  const silent = start(t, 'relay', ['run', 'b.js'], { cwd, input: 'pipe' });
  assert.deepEqual(await silent.exit, { code: 0, signal: null });
  assert.equal(silent.stdout, 'never asks\n');
  const asked = start(t, 'relay', ['run', 'a.py'], { cwd, input: 'pipe' });
  await until('the first line', () => asked.stdout === 'first\n', { seconds: 60 });
  asked.child.stdin.write('a line\nand more\n');
  assert.deepEqual(await asked.exit, { code: 0, signal: null });
  assert.equal(asked.stdout, 'first\ngot a line\n');
});

test('relay run: more stdin than one message holds, piece by piece', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'count.js'), 'let bytes = 0; for await (const chunk of process.stdin) bytes += chunk.length; console.log(bytes)');
  const { code, stdout, stderr } = await run('relay', ['run', 'count.js'], { cwd, input: Buffer.alloc(20_000_000, 'x') });
  assert.deepEqual([code, stdout], [0, '20000000\n'], stderr);
});

test('relay run --mem ends a greedy script with 137', async (t) => {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'a.js'), 'console.log("begun"); const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1));');
  const { code, stdout, stderr } = await run('relay', ['run', '--mem', '64', 'a.js'], { cwd });
  assert.equal(stdout, 'begun\n');
  assert.ok(code === 137 || (code === 1 && /memory/i.test(stderr)), `${code}: ${stderr}`);
});
