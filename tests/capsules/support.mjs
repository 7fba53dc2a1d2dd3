// What the tests of dependencies and network share: tools that are watched, servers that are started again, loopback peers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { callTool } from '../mcp.mjs';
import { atEnd, start, temporaryDirectory } from '../program.mjs';

// Time is not what these tests are about, and installing takes some.
export const patient = { policy: { limits: { timeoutMs: 300_000 } } };

// A directory to put first on PATH, with an npm in it that counts its calls, in the only place that its cage lets it write to, and goes on
// as the real one, or as the test wants.
export function watchedNpm(directory) {
  const real = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
  const script = join(directory, 'package/bin/npm-cli.js');
  cpSync(dirname(dirname(real)), join(directory, 'package'), { recursive: true });
  symlinkSync(script, join(directory, 'npm'));
  const count = "require('node:fs').appendFileSync(process.argv.find((a) => a.startsWith('--cache=')).slice(8) + '/calls', 'x');";
  const become = (body) => {
    writeFileSync(script, `#!/usr/bin/env node\n${count}\n${body}\n`);
    chmodSync(script, 0o755);
  };
  become("require('../lib/cli.js')(process);");
  return {
    env: { PATH: `${directory}:${process.env.PATH}` },
    calls: ({ cwd }) => {
      const calls = join(cwd, '.relay/deps/npm-cache/calls');
      return existsSync(calls) ? readFileSync(calls, 'utf8').length : 0;
    },
    become,
    breakDown: () => become("console.error('npm is broken'); process.exit(1);"),
  };
}

// Another server with the configuration and the state of an earlier one.
export async function serveAgain(t, earlier, env) {
  await earlier.stop();
  const server = start(t, 'relay', ['serve', '-c', earlier.file, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd: earlier.cwd, env });
  const listening = await server.waitForLog('listening', { seconds: 60 });
  return Object.assign(server, { cwd: earlier.cwd, file: earlier.file, url: listening.url, endpoint: `${listening.url}/mcp` });
}

export async function runJs(server, code, args = {}) {
  return (await callTool(server.endpoint, 'run_js', { code, ...args })).structuredContent;
}

export async function runPy(server, code, args = {}) {
  return (await callTool(server.endpoint, 'run_py', { code, ...args })).structuredContent;
}

// The text of a call that must fail.
export async function failure(server, tool, args) {
  const result = await callTool(server.endpoint, tool, args);
  assert.equal(result.isError, true, JSON.stringify(result).slice(0, 1000));
  return result.content[0].text;
}

// An HTTP server on loopback; gives its port.
export async function peer(t, handler) {
  const server = http.createServer(handler);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return server.address().port;
}

// A configuration under which guests reach loopback, by name only.
export const loopback = (extra = {}) => ({
  policy: { limits: { timeoutMs: 120_000 }, network: { allowedDomains: ['localhost'], blockPrivateRanges: false, ...extra } },
});

// A registry on loopback with packages that the test writes: {"name": {"file.js": text}}. All are version 1.0.0; what a package.json says
// besides is told by the registry, too. `tarballs` are the addresses that it sends npm to for some of them,
// `host` is the name that it is known by.
export async function registry(t, packages, { tarballs: elsewhere = {}, host = '127.0.0.1' } = {}) {
  const tarballs = {};
  const manifests = {};
  for (const [name, files] of Object.entries(packages)) {
    const directory = temporaryDirectory(t);
    mkdirSync(join(directory, 'package'));
    manifests[name] = { name, version: '1.0.0', main: 'index.js', ...JSON.parse(files['package.json'] ?? '{}') };
    for (const [file, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifests[name]) })) {
      mkdirSync(dirname(join(directory, 'package', file)), { recursive: true });
      writeFileSync(join(directory, 'package', file), text);
    }
    tarballs[name] = execFileSync('tar', ['-cz', '-C', directory, 'package']);
  }
  let url;
  const port = await peer(t, (request, answer) => {
    const name = request.url.slice(1).split('/')[0];
    if (!tarballs[name]) return answer.writeHead(404).end('{}');
    if (request.url.endsWith('.tgz')) return answer.end(tarballs[name]);
    const integrity = `sha512-${createHash('sha512').update(tarballs[name]).digest('base64')}`;
    const version = { ...manifests[name], dist: { tarball: elsewhere[name] ?? `${url}/${name}/-/${name}-1.0.0.tgz`, integrity } };
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  });
  url = `http://${host}:${port}`;
  return { port, tarballs, env: { npm_config_registry: url } };
}
