// The parser of shell texts against two others: unbash and shfmt. A command in a context, in a context: whatever
// another parser sees run, Relay sees too, or it says that something is opaque.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forEachChild, parse } from 'unbash';
import { cleanEnvironment, program, temporaryDirectory } from '../program.mjs';
import { contexts } from './contexts.mjs';

const name = 'zqx';
// A function, so that `$` in a context is itself.
const fill = (context, inner) => context.replaceAll('X', () => inner);

// Inside backticks an inner context must be escaped once more; both inner backticks and backslashes.
const nest = (outer, inner) =>
  outer.includes('`') ? fill(outer, inner.replaceAll('\\', '\\\\').replaceAll('`', '\\`')) : fill(outer, inner);

const pairs = () => contexts.flatMap((outer) => contexts.map((inner) => nest(outer, fill(inner, `${name} 1`))));

function classify(t, texts) {
  const { stdout, stderr, status } = spawnSync(program('relay'), ['classify', '--lines'], {
    cwd: temporaryDirectory(t), env: cleanEnvironment(), encoding: 'utf8', maxBuffer: 1 << 30,
    input: texts.map((text) => JSON.stringify(text)).join('\n') + '\n',
  });
  assert.equal(status, 0, stderr);
  const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(answers.length, texts.length);
  return answers;
}

// A tree with errors says nothing: bash would refuse the text too, or unbash does not understand it.
function unbashSees(text) {
  let found = false, broken = false;
  const visit = (node) => {
    if (node.errors?.length) broken = true;
    if (node.type === 'Command' && node.name?.text === name) found = true;
    forEachChild(node, visit);
  };
  visit(parse(text));
  return found && !broken;
}

function shfmtSees(text) {
  const { status, stdout } = spawnSync('shfmt', ['--to-json'], { input: text, encoding: 'utf8' });
  if (status !== 0) return false;
  const sees = (node) => node && typeof node === 'object' &&
    (node.Args?.[0]?.Parts?.[0]?.Value === name || Object.values(node).some(sees));
  return sees(JSON.parse(stdout));
}

test('no command is hidden: 106 contexts and more in each other, against unbash', (t) => {
  const texts = pairs();
  assert.ok(contexts.length >= 106);
  const answers = classify(t, texts);
  let seen = 0, opaque = 0;
  const hidden = [];
  for (const [i, text] of texts.entries()) {
    if (!unbashSees(text)) continue;
    seen += 1;
    if (answers[i].opaque) opaque += 1;
    else if (!answers[i].commands.some((words) => words[0] === name)) hidden.push(text);
  }
  assert.ok(seen > texts.length / 2, `unbash sees the command in ${seen} of ${texts.length} texts`);
  assert.deepEqual(hidden.slice(0, 10), [], `${hidden.length} texts hide a command`);
  // Saying "opaque" to everything would be safe and useless.
  assert.ok(opaque < seen / 10, `${opaque} of ${seen} texts are opaque`);
});

test('no command is hidden: a sample against shfmt', (t) => {
  const texts = pairs().filter((_, i) => i % 97 === 0);
  const answers = classify(t, texts);
  const hidden = [];
  let seen = 0;
  for (const [i, text] of texts.entries()) {
    if (!shfmtSees(text)) continue;
    seen += 1;
    if (!answers[i].opaque && !answers[i].commands.some((words) => words[0] === name)) hidden.push(text);
  }
  assert.ok(seen > texts.length / 2, `shfmt sees the command in ${seen} of ${texts.length} texts`);
  assert.deepEqual(hidden, []);
});

// The shells themselves: what they run in an empty directory, where the command leaves a mark.
for (const [shell, asText] of [['bash', (text) => text], ['dash', (text) => `sh -c '${text.replaceAll("'", "'\\''")}'`]])
  test(`no command is hidden: a sample that ${shell} runs`, (t) => {
    const directory = temporaryDirectory(t), mark = join(directory, 'mark');
    writeFileSync(join(directory, name), `#!/bin/sh\n: > ${mark}\n`, { mode: 0o755 });
    const ends = (text) => !/(while|until) (?!.*break)|select/.test(text);
    const texts = pairs().filter((text, i) => i % 61 === 0 && ends(text));
    const answers = classify(t, texts.map(asText));
    const hidden = [];
    let ran = 0;
    for (const [i, text] of texts.entries()) {
      rmSync(mark, { force: true });
      spawnSync(shell, ['-c', text], { cwd: directory, env: { PATH: `${directory}:/usr/bin:/bin` }, stdio: 'ignore', timeout: 20_000, killSignal: 'SIGKILL' });
      if (!existsSync(mark)) continue;
      ran += 1;
      if (!answers[i].opaque && !answers[i].commands.some((words) => words[0] === name)) hidden.push(text);
    }
    assert.ok(ran > texts.length / 4, `${shell} runs the command of ${ran} of ${texts.length} texts`);
    assert.deepEqual(hidden, []);
  });

test('plain work is not opaque', (t) => {
  const texts = ['ls -la | wc -l', 'git log --oneline -5', 'for f in *.c; do echo "$f"; done', 'cd src && make test 2>&1 | tail -20',
    'cat <<E > notes.txt\nhello\nE', 'grep -rn "a b" --include=*.h .', 'x=$(date +%s); echo "$x"', 'if [ -f a ]; then cat a; fi'];
  for (const [i, answer] of classify(t, texts).entries()) {
    assert.equal(answer.opaque, false, texts[i]);
    assert.equal(answer.tier, 1, texts[i]);
  }
});
