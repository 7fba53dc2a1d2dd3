// What the tests of dependencies and network share: tools that are watched, servers that are started again, loopback peers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { callTool } from '../mcp.mjs';
import { atEnd, start, temporaryDirectory } from '../program.mjs';

// Time is not what these tests are about, and installing takes some.
export const patient = { policy: { limits: { timeoutMs: 300_000 } } };

// A directory to put first on PATH, with an npm in it that counts its calls and goes on to the real one, or breaks.
export function watchedNpm(directory) {
  mkdirSync(directory, { recursive: true });
  const real = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const [script, calls] = [join(directory, 'npm'), join(directory, 'calls')];
  const write = (line) => {
    writeFileSync(script, `#!/bin/sh\necho "$@" >> '${calls}'\n${line}\n`);
    chmodSync(script, 0o755);
  };
  write(`exec '${real}' "$@"`);
  return {
    env: { PATH: `${directory}:${process.env.PATH}` },
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n').length : 0),
    breakDown: () => write('echo "npm is broken" >&2; exit 1'),
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

// A registry on loopback with packages that the test writes: {"name": {"file.js": text}}. All are version 1.0.0.
export async function registry(t, packages) {
  const tarballs = {};
  for (const [name, files] of Object.entries(packages)) {
    const directory = temporaryDirectory(t);
    mkdirSync(join(directory, 'package'));
    const manifest = { name, version: '1.0.0', main: 'index.js' };
    for (const [file, text] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files })) {
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
    const version = { name, version: '1.0.0', main: 'index.js', dist: { tarball: `${url}/${name}/-/${name}-1.0.0.tgz`, integrity } };
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  });
  url = `http://127.0.0.1:${port}`;
  return { env: { npm_config_registry: url, npm_config_cache: temporaryDirectory(t) } };
}
