// Packages whose authors want more than to be imported: programs that run while they are installed, addresses that are fetched, files that
// are read. npm and pip are real; registries, indexes and the places that must not be reached are on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { failure, patient, peer, registry, watchedNpm } from '../capsules/support.mjs';
import { callTool } from '../mcp.mjs';
import { serve, temporaryDirectory, stateOf } from '../program.mjs';

const manifest = (fields) => ({ 'package.json': JSON.stringify(fields), 'index.js': 'module.exports = 1;' });
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const audit = ({ cwd }) => readFileSync(join(stateOf(cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const install = (name) => ({ code: `import x from "${name}"; JSON.stringify(x)`, npm: { dependencies: { [name]: '1.0.0' } } });

// What a call that must succeed gives.
async function done(server, tool, args) {
  const result = await callTool(server.endpoint, tool, args);
  assert.ok(!result.isError, result.content[0].text);
  return result.structuredContent;
}

// A place that must not be reached: what it was asked, by whatever protocol.
async function canary(t) {
  const asked = [];
  const port = await peer(t, (request, answer) => {
    asked.push(request.url);
    answer.end('');
  });
  return { port, asked, url: `http://127.0.0.1:${port}` };
}

// A repository whose settings name a program as git, and whose prepare script is another one.
function repository(t, mark) {
  const directory = temporaryDirectory(t);
  const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: directory, stdio: 'pipe' });
  writeFileSync(join(directory, 'evil.sh'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  writeFileSync(join(directory, '.npmrc'), 'git=./evil.sh\nignore-scripts=false\n');
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'prepared', version: '1.0.0', scripts: { prepare: './evil.sh', postinstall: './evil.sh' } }));
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'x');
  return directory;
}

test('a git repository as a dependency is neither fetched nor prepared', async (t) => {
  const mark = join(temporaryDirectory(t), 'ran');
  const elsewhere = await canary(t);
  const local = await registry(t, {
    'by-file': manifest({ dependencies: { prepared: `git+file://${repository(t, mark)}` } }),
    'by-http': manifest({ dependencies: { prepared: `git+${elsewhere.url}/prepared.git` } }),
  });
  const server = await serve(t, { config: patient, env: local.env });
  for (const name of ['by-file', 'by-http'])
    assert.match(await failure(server, 'run_js', install(name)), /DepsResolutionFailed/);
  assert.ok(!existsSync(mark), 'a program of the repository ran');
  assert.deepEqual(elsewhere.asked, []);
});

test('a tarball at another address is not asked for', async (t) => {
  const elsewhere = await canary(t);
  const local = await registry(t, {
    outer: manifest({ dependencies: { middle: '1.0.0' } }),
    middle: manifest({ dependencies: { inner: `${elsewhere.url}/inner.tgz` } }),
    sent: manifest({}),  // the registry itself sends npm there
  }, { tarballs: { sent: `${elsewhere.url}/sent-1.0.0.tgz` } });
  const server = await serve(t, { config: patient, env: local.env });
  // With a further host npm is allowed addresses, and the proxy decides.
  const proxied = await serve(t, { config: { ...patient, npm: { hosts: ['127.0.0.1:9'] } }, env: local.env });
  for (const name of ['outer', 'sent']) {
    assert.match(await failure(server, 'run_js', install(name)), /DepsResolutionFailed.*npm\.hosts/s);
    const text = await failure(proxied, 'run_js', install(name));
    assert.ok(text.includes(`127.0.0.1:${elsewhere.port} is not among the hosts`), text);
  }
  assert.deepEqual(elsewhere.asked, []);
});

test('npm.hosts lets a registry send downloads from another host', async (t) => {
  const tarball = { bytes: null };
  const port = await peer(t, (request, answer) => answer.end(tarball.bytes));
  const local = await registry(t, { sent: manifest({}) }, { tarballs: { sent: `http://127.0.0.1:${port}/sent-1.0.0.tgz` } });
  tarball.bytes = local.tarballs.sent;
  const config = { ...patient, npm: { hosts: [`127.0.0.1:${port}`] } };
  const server = await serve(t, { config, env: local.env });
  const { value, stderr } = await done(server, 'run_js', { code: 'import x from "sent"; x', npm: { dependencies: { sent: '1.0.0' } } });
  assert.equal(value, 1, stderr);
});

// What npm would do if a package had taken it over: everything that it can reach, written into a package that the guest imports.
const spy = (secret, port) => `
const fs = require('node:fs'), net = require('node:net'), os = require('node:os');
const read = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch (error) { return error.code; } };
const list = (path) => { try { return fs.readdirSync(path); } catch (error) { return error.code; } };
const dial = (done) => net.connect(${port}, '127.0.0.1').on('error', (error) => done(error.code)).on('connect', () => done('connected'));
const ask = (done) => {
  const proxy = new URL(process.env.HTTP_PROXY);
  const socket = net.connect(proxy.port, proxy.hostname, () => socket.write('GET http://127.0.0.1:${port}/x HTTP/1.1\\r\\n\\r\\n'));
  socket.on('data', (bytes) => done(String(bytes).split(' ')[1])).on('error', (error) => done(error.code));
};
dial((direct) => ask((proxied) => {
  const found = { secret: read('${secret}'), home: list(os.homedir()), shadow: read('/etc/shadow'), processes: list('/proc').filter((n) => n > 0).length,
    environment: process.env, direct, proxied };
  fs.mkdirSync('node_modules/spy', { recursive: true });
  fs.writeFileSync('node_modules/spy/package.json', '{"name":"spy","version":"1.0.0","main":"index.js"}');
  fs.writeFileSync('node_modules/spy/index.js', 'module.exports = ' + JSON.stringify(found));
  process.exit(0);
}));
`;

test('a program in the place of npm sees no file, no secret and no host of this machine', async (t) => {
  const home = temporaryDirectory(t);
  writeFileSync(join(home, 'secret'), 'of the home');
  const elsewhere = await canary(t);
  const tools = watchedNpm(join(temporaryDirectory(t), 'bin'));
  tools.become(spy(join(home, 'secret'), elsewhere.port));
  const env = { ...tools.env, HOME: home, RELAY_TEST_TOKEN: 'of the environment', npm_config_registry: 'http://127.0.0.1:9/', npm_config_git: 'evil' };
  const server = await serve(t, { config: patient, env });
  const { value, stderr } = await done(server, 'run_js', { code: 'import spy from "spy"; spy', npm: { dependencies: { spy: '1.0.0' } } });
  assert.equal(value?.secret, 'ENOENT', stderr);
  assert.deepEqual(value.home, []);
  assert.equal(value.shadow, 'ENOENT');
  assert.ok(value.processes <= 3, `processes of others: ${value.processes}`);
  assert.equal(value.direct, 'ECONNREFUSED');
  assert.equal(value.proxied, '403');
  assert.ok(!JSON.stringify(value.environment).includes('of the environment'));
  assert.deepEqual(Object.keys(value.environment).filter((name) => /npm_config|pip_/i.test(name)), []);
  assert.deepEqual(elsewhere.asked, []);
});

test('an installation is judged as stateful, recorded before and after, with its hosts', async (t) => {
  const local = await registry(t, { plain: manifest({}) });
  const server = await serve(t, { config: patient, env: local.env });
  await done(server, 'run_js', { code: '1' });
  await done(server, 'run_js', { code: 'import x from "plain"; x', npm: { dependencies: { plain: '1.0.0' } } });
  const lines = audit(server);
  const runs = lines.filter(({ tool }) => tool === 'run_js');
  assert.deepEqual(runs.map(({ tier, action }) => [tier, action === 'begin']), [[1, false], [2, true], [2, false]], JSON.stringify(runs));
  const installed = lines.find(({ tool, args }) => tool === 'process' && JSON.stringify(args).includes('npm install'));
  assert.ok(installed, JSON.stringify(lines));
  assert.ok(JSON.stringify(installed.args).includes('plain@1.0.0'));
  assert.ok(JSON.stringify(installed.args).includes(`127.0.0.1:${local.port}`));
});

test('packages of the configuration alone do not raise the tier', async (t) => {
  const local = await registry(t, { plain: manifest({}) });
  const server = await serve(t, { config: { ...patient, npm: { dependencies: { plain: '1.0.0' } } }, env: local.env });
  await done(server, 'run_js', { code: 'import x from "plain"; x' });
  assert.deepEqual(audit(server).filter(({ tool }) => tool === 'run_js').map(({ tier }) => tier), [1]);
});

test("the call's policy.network holds for the registry, and packages that are there need none", async (t) => {
  const local = await registry(t, { plain: manifest({}), other: manifest({}) });
  const server = await serve(t, { config: patient, env: local.env });
  const host = `127.0.0.1:${local.port}`;
  const narrowed = (network) => ({ ...install('plain'), policy: { network } });
  const text = await failure(server, 'run_js', narrowed({ allowedDomains: ['api.example'] }));
  assert.ok(text.includes('PolicyDenied') && text.includes(`Add "${host}"`), text);
  assert.match(await failure(server, 'run_js', narrowed({ deniedDomains: ['127.0.0.1'] })), /deniedDomains/);
  const refused = audit(server).filter(({ tool, outcome }) => tool === 'process' && outcome === 'denied');
  assert.equal(refused.length, 2, 'each refusal is recorded');
  const allowed = await done(server, 'run_js', narrowed({ allowedDomains: [host] }));
  assert.equal(allowed.exitCode, 0, allowed.stderr);
  const cached = await done(server, 'run_js', narrowed({ allowedDomains: [] }));
  assert.equal(cached.exitCode, 0, cached.stderr);
});

test('policy.network.deniedDomains of the server holds for the registry', async (t) => {
  const local = await registry(t, { plain: manifest({}) });
  const config = { policy: { ...patient.policy, network: { deniedDomains: ['127.0.0.1'] } } };
  const server = await serve(t, { config, env: local.env });
  assert.match(await failure(server, 'run_js', install('plain')), /PolicyDenied.*deniedDomains/s);
});

// ---- pip

// A wheel without code that requires something.
function wheel(directory, project, needs) {
  const info = `${project}-1.0.dist-info`;
  const metadata = ['Metadata-Version: 2.1', `Name: ${project}`, 'Version: 1.0', ...needs.map((need) => `Requires-Dist: ${need}`), ''].join('\n');
  const files = { [`${project}/__init__.py`]: 'X = 1\n', [`${info}/METADATA`]: metadata, [`${info}/RECORD`]: '',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' };
  const file = join(directory, `${project}-1.0-py3-none-any.whl`);
  execFileSync('python3', ['-c', 'import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z:\n  for n, t in json.loads(sys.argv[2]).items(): z.writestr(n, t)', file, JSON.stringify(files)]);
  return file;
}

async function index(t, wheels) {
  const port = await peer(t, (request, answer) => {
    const [, kind, name] = request.url.split('/');
    const file = wheels[name] ?? Object.values(wheels).find((path) => path.endsWith(`/${name}`));
    if (!file) return answer.writeHead(404).end();
    if (kind === 'files') return answer.end(readFileSync(file));
    const base = file.split('/').pop();
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><body><a href="/files/${base}#sha256=${sha256(readFileSync(file))}">${base}</a></body>`);
  });
  return { port, env: { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`, PIP_CONFIG_FILE: '/dev/null', PIP_EXTRA_INDEX_URL: '', PIP_FIND_LINKS: '' } };
}

test('what a wheel requires by address is neither fetched nor built', async (t) => {
  const directory = temporaryDirectory(t);
  const mark = join(directory, 'ran');
  const source = join(directory, 'evil-1.0');
  mkdirSync(source);
  writeFileSync(join(source, 'setup.py'), `open(${JSON.stringify(mark)}, "w")\n`);
  const tarball = execFileSync('tar', ['-cz', '-C', directory, 'evil-1.0']);
  const asked = [];
  const elsewhere = await peer(t, (request, answer) => {
    asked.push(request.url);
    answer.end(tarball);
  });
  const local = await index(t, {
    byhttp: wheel(directory, 'byhttp', [`evil @ http://127.0.0.1:${elsewhere}/evil-1.0.tar.gz`]),
    byfile: wheel(directory, 'byfile', [`secret @ file://${wheel(temporaryDirectory(t), 'secret', [])}`]),
  });
  const server = await serve(t, { config: patient, env: local.env });
  const text = await failure(server, 'run_py', { code: '1', pip: { requirements: ['byhttp'] } });
  assert.ok(text.includes(`127.0.0.1:${elsewhere} is not among the hosts`), text);
  assert.deepEqual(asked, []);
  assert.match(await failure(server, 'run_py', { code: '1', pip: { requirements: ['byfile'] } }), /DepsResolutionFailed: .*by address/);
  assert.ok(!existsSync(mark), 'setup.py ran');
});

test('pip.hosts lets an index send downloads from another host', async (t) => {
  const directory = temporaryDirectory(t);
  const file = wheel(directory, 'sent', []);
  const files = await peer(t, (request, answer) => answer.end(readFileSync(file)));
  const port = await peer(t, (request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><body><a href="http://127.0.0.1:${files}/sent-1.0-py3-none-any.whl">sent-1.0-py3-none-any.whl</a></body>`);
  });
  const env = { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`, PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: '' };
  const call = { code: 'import sent\nsent.X', pip: { requirements: ['sent'] } };
  const plain = await serve(t, { config: patient, env });
  assert.match(await failure(plain, 'run_py', call), /pip\.hosts/);
  const named = await serve(t, { config: { ...patient, pip: { hosts: [`127.0.0.1:${files}`] } }, env });
  const { value, stderr } = await done(named, 'run_py', call);
  assert.equal(value, 1, stderr);
});
