// Python packages through run_py: from an index that the test serves, with wheels that the test makes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bin, configured, serve, start, temporaryDirectory } from '../program.mjs';
import { failure, patient, peer, runPy } from './support.mjs';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

// A wheel with one module in it, as `python -m build` would make it.
function wheel(directory, { project, version = '1.0', tag = 'py3-none-any', code, needs = [] }) {
  const file = join(directory, `${project}-${version}-${tag}.whl`);
  const info = `${project}-${version}.dist-info`;
  const metadata = [`Metadata-Version: 2.1`, `Name: ${project}`, `Version: ${version}`, ...needs.map((need) => `Requires-Dist: ${need}`), ''].join('\n');
  const files = {
    [`${project}/__init__.py`]: code, [`${info}/METADATA`]: metadata, [`${info}/RECORD`]: '',
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  };
  execFileSync('python3', ['-c', 'import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z:\n  for n, t in json.loads(sys.argv[2]).items(): z.writestr(n, t)', file, JSON.stringify(files)]);
  return file;
}

// A simple index (PEP 503) on loopback, and the files it has under /files.
async function index(t) {
  const files = temporaryDirectory(t);
  const asked = [];
  const port = await peer(t, (request, answer) => {
    asked.push(request.url);
    const [, kind, name] = request.url.split('/');
    const projectOf = (file) => file.split('-')[0].toLowerCase().replaceAll('_', '-');
    if (kind === 'files') return answer.end(readFileSync(join(files, name)));
    const found = readdirSync(files).filter((file) => projectOf(file) === name);
    if (kind !== 'simple' || found.length === 0) return answer.writeHead(404).end();
    const links = found.map((file) => `<a href="/files/${file}#sha256=${sha256(readFileSync(join(files, file)))}">${file}</a>`);
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><body>${links.join('\n')}</body>`);
  });
  const url = `http://127.0.0.1:${port}`;
  const env = { PIP_INDEX_URL: `${url}/simple`, PIP_NO_CACHE_DIR: '1', PIP_CONFIG_FILE: '/dev/null', PIP_EXTRA_INDEX_URL: '', PIP_FIND_LINKS: '' };
  return { files, url, port, env, asked, downloads: () => asked.filter((path) => path.startsWith('/files/')).length };
}

test('requirements are imported, with what they need, and fetched once', async (t) => {
  const local = await index(t);
  wheel(local.files, { project: 'greeting', version: '1.2', code: 'from subject import NAME\ndef greet(): return "hello " + NAME\n', needs: ['subject>=2'] });
  wheel(local.files, { project: 'subject', version: '2.0', code: 'NAME = "wheel"\n' });
  wheel(local.files, { project: 'subject', version: '1.0', code: 'NAME = "old"\n' });
  const server = await serve(t, { config: patient, env: local.env });
  const code = 'import greeting, importlib.metadata\n[greeting.greet(), importlib.metadata.version("subject"), greeting.__file__]';
  const first = await runPy(server, code, { pip: { requirements: ['greeting==1.2'] } });
  assert.deepEqual(first.value, ['hello wheel', '2.0', '/site-packages/greeting/__init__.py'], first.stderr + JSON.stringify(first.error));
  const before = local.asked.length;
  const second = await runPy(server, code, { pip: { requirements: ['greeting==1.2'] } });
  assert.deepEqual(second.value, first.value);
  assert.equal(local.asked.length, before, 'the second run asked nobody');
});

test("the configuration's own pip block is there for every run", async (t) => {
  const local = await index(t);
  wheel(local.files, { project: 'always', code: 'HERE = True\n' });
  const server = await serve(t, { config: { ...patient, pip: { requirements: ['always'] } }, env: local.env });
  const { value, stderr } = await runPy(server, 'import always\nalways.HERE');
  assert.equal(value, true, stderr);
});

test('what a sandbox cannot have is refused, with the reason', async (t) => {
  const local = await index(t);
  wheel(local.files, { project: 'native', tag: 'cp314-cp314-manylinux_2_17_x86_64', code: '' });
  wheel(local.files, { project: 'good', code: 'X = 1\n' });
  writeFileSync(join(local.files, 'source-1.0.tar.gz'), 'not looked at');
  const server = await serve(t, { config: patient, env: local.env });
  const wrong = `good==1.0 --hash=sha256:${'0'.repeat(64)}`;
  for (const [requirement, says] of [
    ['native', /DepsResolutionFailed: pip finds no wheel for 'native.*other platforms are not taken/s],
    ['source', /DepsResolutionFailed: pip finds no wheel for 'source.*source distributions/s],
    ['nobody-has-this', /DepsResolutionFailed: pip finds no wheel for 'nobody-has-this/],
    [wrong, /DepsResolutionFailed: a package does not have the hash that was asked for/],
    ['--index-url http://elsewhere.example/ good', /ValidationError|not a requirement/i],
    ['./good-1.0-py3-none-any.whl', /ValidationError|not a requirement/i],
    ['good @ http://elsewhere.example/good-1.0-py3-none-any.whl', /ValidationError|not a requirement/i],
  ]) {
    const text = await failure(server, 'run_py', { code: '1', pip: { requirements: [requirement] } });
    assert.match(text, says);
    assert.ok(!text.includes(server.cwd), `no path of this machine: ${text}`);
  }
});

test('wheels by address come through the guarded client, with their hash', async (t) => {
  const local = await index(t);
  const path = wheel(local.files, { project: 'direct', code: 'X = 42\n' });
  wheel(local.files, { project: 'foreign', tag: 'cp314-cp314-win_amd64', code: '' });
  const at = (file) => `http://localhost:${local.port}/files/${file}`;
  const config = { policy: { limits: { timeoutMs: 300_000 }, network: { allowedDomains: ['localhost'], blockPrivateRanges: false } } };
  const server = await serve(t, { config, env: local.env });
  const good = `${at('direct-1.0-py3-none-any.whl')}#sha256=${sha256(readFileSync(path))}`;
  const { value, stderr, error } = await runPy(server, 'import direct\ndirect.X', { pip: { wheelUrls: [good] } });
  assert.equal(value, 42, stderr + JSON.stringify(error));
  for (const [url, says] of [
    [`${at('direct-1.0-py3-none-any.whl')}#sha256=${'0'.repeat(64)}`, /DepsResolutionFailed: .*does not have the hash/],
    [at('foreign-1.0-cp314-cp314-win_amd64.whl'), /DepsResolutionFailed: .*win_amd64/],
    ['http://denied.example/direct-1.0-py3-none-any.whl', /PolicyDenied|not allowed/],
    [at('source-1.0.tar.gz'), /wheel/],
  ])
    assert.match(await failure(server, 'run_py', { code: '1', pip: { wheelUrls: [url] } }), says, url);
});

// A copy of the programs with a distribution of our own: its lock file names one package with compiled code.
test('packages of the Pyodide distribution come from a mirror, bound to the hashes of its lock file', async (t) => {
  const local = await index(t);
  const root = temporaryDirectory(t);
  mkdirSync(join(root, 'bin'));
  for (const name of ['relay', 'relay-zygote', 'relay-cage']) cpSync(join(bin, name), join(root, 'bin', name));
  cpSync(realpathSync(join(bin, '..', 'runtime')), join(root, 'runtime'), { recursive: true });  // a link would be written through
  symlinkSync(realpathSync(join(bin, '..', 'third_party')), join(root, 'third_party'));  // relay-zygote finds V8 beside itself
  const lockPath = join(root, 'runtime', 'pyodide-lock.json');
  const lock = JSON.parse(readFileSync(lockPath, 'utf8'));
  const mirror = temporaryDirectory(t);
  const sample = Object.values(lock.packages).find(({ file_name }) => file_name.includes('wasm32'));
  const tag = sample.file_name.replace(/\.whl$/, '').split('-').slice(-3).join('-');
  const made = wheel(mirror, { project: 'fastmath', version: '3.1', tag, code: 'FAST = True\n' });
  const entry = { ...sample, name: 'fastmath', version: '3.1', file_name: made.split('/').at(-1), sha256: sha256(readFileSync(made)), depends: [], imports: ['fastmath'] };
  lock.packages.fastmath = entry;
  writeFileSync(lockPath, JSON.stringify(lock));
  const launch = async () => {
    const { cwd, file } = configured(t, { ...patient, pip: { pyodideMirror: mirror } });
    const server = start(t, join(root, 'bin', 'relay'), ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd, env: local.env });
    const { url } = await server.waitForLog('listening', { seconds: 60 });
    return Object.assign(server, { cwd, endpoint: `${url}/mcp` });
  };
  const server = await launch();
  const { value, stderr, error } = await runPy(server, 'import fastmath\nfastmath.FAST', { pip: { requirements: ['fastmath'] } });
  assert.equal(value, true, stderr + JSON.stringify(error));
  await server.stop();

  lock.packages.fastmath = { ...entry, sha256: '0'.repeat(64) };
  writeFileSync(lockPath, JSON.stringify(lock));
  const suspicious = await launch();
  assert.match(await failure(suspicious, 'run_py', { code: '1', pip: { requirements: ['fastmath'] } }), /DepsResolutionFailed: a package does not have the hash/);
});
