// Commands and flags in README.md and docs/ exist: each `relay ...` there is compared with the help of that command.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../program.mjs';

const root = join(import.meta.dirname, '..', '..');
const pages = ['README.md', ...readdirSync(join(root, 'docs'), { recursive: true }).filter((name) => name.endsWith('.md')).map((name) => join('docs', name))];

// `relay serve --port 1` in backquotes, and lines that begin with relay in blocks of code.
function commandsIn(text) {
  const inline = [...text.matchAll(/`(relay [a-z][^`]*)`/g)].map(([, command]) => command.replace(/\s+/g, ' '));
  const code = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block]) => block).join('\n') + [...text.matchAll(/^ {4}.*$/gm)].map(([line]) => `\n${line}`).join('');
  const blocks = [...code.matchAll(/^(?: {4})?(relay [a-z].*)$/gm)].map(([, command]) => command);
  return [...inline, ...blocks].map((command) => command.replace(/ #.*$/, '').replace(/ {2,}.*$/, ''));
}

const helps = new Map();
async function helpOf(words) {
  const key = words.join(' ');
  if (!helps.has(key)) helps.set(key, await run('relay', [...words, '--help']));
  return helps.get(key);
}

test('every command and flag that the documents name exists', async () => {
  const { stdout } = await run('relay', ['completions', 'bash']);
  const known = new Set(stdout.match(/^ +('relay .*)\) place=/m)[1].split('|').map((path) => path.slice(1, -1)));
  let checked = 0;
  for (const page of pages)
    for (const command of commandsIn(readFileSync(join(root, page), 'utf8'))) {
      const words = command.split(' ').slice(1);
      let depth = 0;
      while (depth < words.length && known.has(['relay', ...words.slice(0, depth + 1)].join(' '))) ++depth;
      assert.ok(depth > 0, `${page}: "${command}" is no command`);
      const { stdout: help } = await helpOf(words.slice(0, depth));
      const own = command.split(/ -- | -e /)[0].split(/[|;$]/)[0];
      for (const [, flag] of own.matchAll(/ (--[a-z][a-z-]*)/g)) {
        assert.match(help, new RegExp(`(^|[ ,])${flag}\\b`, 'm'), `${page}: "${command}" has ${flag}`);
        ++checked;
      }
    }
  assert.ok(checked > 25, `${checked} flags`);
});
