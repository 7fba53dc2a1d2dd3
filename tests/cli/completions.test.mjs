// `relay completions`: what a shell offers is what the help of each command lists, for every command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { run } from '../program.mjs';

const helpOf = async (words) => (await run('relay', [...words, '--help'])).stdout;
const commandsIn = (help) => [...(help.split('Subcommands:')[1] ?? '').matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
const flagsIn = (help) => [...help.matchAll(/^ {2}(-[^ ]+)/gm)].flatMap(([, names]) => names.split(','));

async function walk(words, visit) {
  if (words.at(-1) === 'help') return;  // shows the help of others
  const help = await helpOf(words);
  await visit(words, help);
  for (const name of commandsIn(help)) await walk([...words, name], visit);
}

// What bash would offer after these words.
function offered(script, words, typed) {
  const line = ['relay', ...words, typed].map((word) => `'${word}'`).join(' ');
  const asked = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length + 1}; _relay 2> /dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, status } = spawnSync('bash', ['-c', asked], { encoding: 'utf8' });
  assert.equal(status, 0);
  return stdout.split('\n').filter(Boolean);
}

test('bash is offered the flags and commands that the help of each command lists', async () => {
  const { code, stdout: script } = await run('relay', ['completions', 'bash']);
  assert.equal(code, 0);
  let seen = 0;
  await walk([], (words, help) => {
    ++seen;
    assert.deepEqual(offered(script, words, '-').sort(), flagsIn(help).sort(), `flags of relay ${words.join(' ')}`);
    const commands = commandsIn(help);
    if (commands.length > 0) assert.deepEqual(offered(script, words, '').filter((word) => !word.startsWith('-')).sort(), commands.sort());
  });
  assert.ok(seen > 35, `${seen} commands`);
});

test('bash is offered the values of a flag that has a few, and none of a flag that has any', async () => {
  const { stdout: script } = await run('relay', ['completions', 'bash']);
  assert.deepEqual(offered(script, ['serve', '--policy'], ''), ['open', 'guarded', 'readonly']);
  assert.deepEqual(offered(script, ['mcp', 'add', '--expose'], 't'), ['tools']);
  assert.deepEqual(offered(script, ['serve', '--port'], ''), []);
  assert.deepEqual(offered(script, ['completions'], 'z'), ['zsh']);
});

for (const shell of ['zsh', 'fish'])
  test(`the script for ${shell} names each flag at its command`, async () => {
    const { code, stdout: script } = await run('relay', ['completions', shell]);
    assert.equal(code, 0);
    if (spawnSync(shell, ['--version']).status === 0) assert.equal(spawnSync(shell, ['-n'], { input: script }).status, 0, `${shell} can read it`);
    await walk([], (words, help) => {
      const place = ['relay', ...words].join(' ');
      const lines = script.split('\n').filter((line) => line.includes(shell === 'zsh' ? `    '${place}') found=` : `"__relay_at '${place}'"`)).join('\n');
      for (const flag of flagsIn(help)) {
        const written = shell === 'zsh' ? ` '${flag}:` : flag.startsWith('--') ? ` -l ${flag.slice(2)} ` : ` -s ${flag.slice(1)} `;
        assert.ok(lines.includes(written), `${flag} of ${place}`);
      }
    });
  });

test('an unknown shell is refused with the ones that are known', async () => {
  const { code, stderr } = await run('relay', ['completions', 'tcsh']);
  assert.equal(code, 2);
  assert.match(stderr, /bash.*zsh.*fish/);
});
