// The server itself throws away what its stores no longer need: a week unused, or beyond one GiB, least recently used first.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configured, start, until } from '../program.mjs';

const day = 86_400;
const gibibyte = 2 ** 30;

// A stored capsule as the shelf sees it: a directory with a stamp, and some bytes that take no room on the disk.
function place(store, name, { daysUnused, bytes, stamp }) {
  const directory = join(store, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'bytes'), '');
  truncateSync(join(directory, 'bytes'), bytes);
  writeFileSync(join(directory, stamp), '{}');
  const used = Date.now() / 1000 - daysUnused * day;
  utimesSync(join(directory, stamp), used, used);
  return directory;
}

const hash = (digit) => digit.repeat(64);

async function serveOver(t, cwd, file) {
  const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd });
  await server.waitForLog('listening', { seconds: 60 });
  return server;
}

for (const [what, path, stamp] of [['capsules', '.relay/capsules', 'capsule.json'], ['layers of dependencies', '.relay/deps/layers', 'layer.json']]) {
  test(`a server drops ${what} that nobody used for a week`, async (t) => {
    const { cwd, file } = configured(t, {});
    const old = place(join(cwd, path), hash('a'), { daysUnused: 8, bytes: 100, stamp });
    const recent = place(join(cwd, path), hash('b'), { daysUnused: 6, bytes: 100, stamp });
    await serveOver(t, cwd, file);
    await until('the old one to go', () => !existsSync(old));
    assert.ok(existsSync(recent));
  });

  test(`a server keeps ${what} within one GiB, and drops the least recently used`, async (t) => {
    const { cwd, file } = configured(t, {});
    const [newest, middle, oldest] = [1, 2, 3].map((daysUnused) =>
      place(join(cwd, path), hash(String(daysUnused)), { daysUnused, bytes: Math.floor(0.45 * gibibyte), stamp }));
    await serveOver(t, cwd, file);
    await until('the least recently used one to go', () => !existsSync(oldest));
    assert.deepEqual([existsSync(newest), existsSync(middle)], [true, true]);
  });
}
