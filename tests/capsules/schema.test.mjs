// The manifest's JSON Schema and the reader in C++ say the same about every manifest in this table.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import { configured, run } from '../program.mjs';

const code = '1';
const hash = createHash('sha256').update(code).digest('hex');
const good = () => ({
  version: '1', language: 'js', runtime: { id: 'quickjs@3.6.2' }, policy: { limits: { timeoutMs: 1000 } },
  entry: { path: '/app/main.js', argv: ['a'], env: { A: 'b' }, cwd: '/' },
  fsLayers: [{ id: 'code', format: 'raw', path: 'main.js', mount: '/app/main.js', sha256: hash, bytes: 1 }],
});

// A name, and what is done to a good manifest.
const accepted = {
  'as it is': () => {},
  'Python': (m) => (m.language = 'py'),
  'no arguments, no variables': (m) => Object.assign(m.entry, { argv: [], env: {} }),
  'a working directory': (m) => (m.entry.cwd = '/tmp/ä b'),
  'a path with dots inside': (m) => (m.entry.cwd = '/..a/b..'),
  'an empty variable': (m) => (m.entry.env = { A: '' }),
  'line breaks in arguments': (m) => (m.entry.argv = ['a\nb', '', '"']),
  'no policy at all': (m) => (m.policy = {}),
  'a runtime of one letter': (m) => (m.runtime.id = 'x'),
  'the longest runtime': (m) => (m.runtime.id = 'x'.repeat(64)),
};

const refused = {
  'another version': (m) => (m.version = '2'),
  'a version as a number': (m) => (m.version = 1),
  'no version': (m) => delete m.version,
  'another language': (m) => (m.language = 'rb'),
  'no language': (m) => delete m.language,
  'a runtime that is a string': (m) => (m.runtime = 'quickjs'),
  'a runtime with a slash': (m) => (m.runtime.id = 'a/b'),
  'a runtime in capitals': (m) => (m.runtime.id = 'Quickjs'),
  'an empty runtime': (m) => (m.runtime.id = ''),
  'a long runtime': (m) => (m.runtime.id = 'x'.repeat(65)),
  'more about the runtime': (m) => (m.runtime.url = 'x'),
  'no entry': (m) => delete m.entry,
  'a relative entry': (m) => (m.entry.path = 'app/main.js'),
  'an entry that climbs': (m) => (m.entry.path = '/app/../main.js'),
  'an entry at the root': (m) => (m.entry.path = '/'),
  'an entry that ends in a slash': (m) => (m.entry.path = '/app/'),
  'an entry with an empty part': (m) => (m.entry.path = '/app//main.js'),
  'an entry with a dot': (m) => (m.entry.path = '/./main.js'),
  'an argument that is a number': (m) => (m.entry.argv = [1]),
  'arguments that are an object': (m) => (m.entry.argv = {}),
  'too many arguments': (m) => (m.entry.argv = Array(4097).fill('x')),
  'a variable that is a number': (m) => (m.entry.env = { A: 1 }),
  'a variable without a name': (m) => (m.entry.env = { '': 'x' }),
  'a variable with = in its name': (m) => (m.entry.env = { 'A=B': 'x' }),
  'no arguments member': (m) => delete m.entry.argv,
  'no working directory': (m) => delete m.entry.cwd,
  'a relative working directory': (m) => (m.entry.cwd = 'tmp'),
  'more about the entry': (m) => (m.entry.uid = 0),
  'no layers': (m) => (m.fsLayers = []),
  'three layers': (m) => m.fsLayers.push({ ...m.fsLayers[0], path: 'b' }, { ...m.fsLayers[0], path: 'c' }),
  'a layer of another kind': (m) => (m.fsLayers[0].id = 'mount-x'),
  'a layer of another format': (m) => (m.fsLayers[0].format = 'tar'),
  'a layer path with a slash': (m) => (m.fsLayers[0].path = '../main.js'),
  'a hidden layer path': (m) => (m.fsLayers[0].path = '.main.js'),
  'a raw layer without a mount': (m) => delete m.fsLayers[0].mount,
  'an archive with a mount': (m) => (m.fsLayers[0].format = 'zip'),
  'a mount that climbs': (m) => (m.fsLayers[0].mount = '/../x'),
  'a short hash': (m) => (m.fsLayers[0].sha256 = hash.slice(1)),
  'a hash in capitals': (m) => (m.fsLayers[0].sha256 = hash.toUpperCase()),
  'no hash': (m) => delete m.fsLayers[0].sha256,
  'a size below zero': (m) => (m.fsLayers[0].bytes = -1),
  'half a byte': (m) => (m.fsLayers[0].bytes = 1.5),
  'a size over every limit': (m) => (m.fsLayers[0].bytes = 20971521),
  'a size that is text': (m) => (m.fsLayers[0].bytes = '1'),
  'more about a layer': (m) => (m.fsLayers[0].target = '/'),
  'no policy member': (m) => delete m.policy,
  'a policy that is a list': (m) => (m.policy = []),
  'a policy block that is a number': (m) => (m.policy.limits = 3),
  'a member that nobody knows': (m) => (m.extra = 1),
};

// What a schema cannot say, and the reader refuses all the same.
const beyond = {
  'code over its own limit': (m) => (m.fsLayers[0].bytes = 2097153),
  'dependencies without code': (m) => Object.assign(m.fsLayers[0], { id: 'deps' }),
  'a layer named like the manifest': (m) => (m.fsLayers[0].path = 'capsule.json'),
  'NUL in an argument': (m) => (m.entry.argv = ['a\0b']),
};

const sorted = (value) =>
  Array.isArray(value) ? value.map(sorted) : value && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])) : value;

test('schema and reader agree', async (t) => {
  const { cwd } = configured(t, {});
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'formats', 'capsule.schema.json'), 'utf8'));
  const matches = new Ajv({ strict: false }).compile(schema);
  let directories = 0;
  const reads = async (manifest) => {
    const name = `capsule${++directories}`;
    mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, name, 'capsule.json'), JSON.stringify(sorted(manifest)).replace(/\}$/, ',"sig":"e30..AA"}'));
    writeFileSync(join(cwd, name, 'main.js'), code);
    return run('relay', ['capsule', 'inspect', name], { cwd });
  };
  for (const [expected, table] of [[true, accepted], [false, refused]])
    for (const [name, change] of Object.entries(table)) {
      const manifest = good();
      change(manifest);
      assert.equal(matches(manifest), expected, `schema: ${name}`);
      const { code: exit, stderr } = await reads(manifest);
      assert.equal(exit === 0, expected, `reader: ${name}: ${stderr}`);
    }
  for (const [name, change] of Object.entries(beyond)) {
    const manifest = good();
    change(manifest);
    assert.equal(matches(manifest), true, `schema: ${name}`);
    assert.notEqual((await reads(manifest)).code, 0, `reader: ${name}`);
  }
});
