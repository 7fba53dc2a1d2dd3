// Starts servers and programs for a measurement, and stops each of them again.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { node, peer, program, serverCore } from './machine.mjs';

const started = new Set();
const directories = new Set();

export function directory(config) {
  const path = mkdtempSync(join(tmpdir(), 'relay-bench-'));
  directories.add(path);
  if (config) writeFileSync(join(path, 'relay.config.json'), JSON.stringify(config));
  return path;
}

// Relay's state lies in the directory of the measurement, not in the state directory of who measures.
export const stateOf = (cwd) => join(cwd, 'state');
let shared;
const stateFor = (cwd) => ({ RELAY_STATE: stateOf(cwd ?? (shared ??= directory())) });

export async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

export function get(url) {
  return new Promise((resolve, reject) => {
    http.get(url, { agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text) => (body += text)).on('end', () => resolve({ status: answer.statusCode, body }));
    }).on('error', reject);
  });
}

export function launch(line, { cwd, env } = {}) {
  const child = spawn(line[0], line.slice(1), { cwd, env: { ...process.env, ...stateFor(cwd), ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  const one = { child, pid: child.pid, stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text) => (one.stderr = (one.stderr + text).slice(-200_000)));
  one.exit = new Promise((done) => child.once('close', (code) => done((one.ended = code ?? 1))).once('error', () => done((one.ended = 1))));
  one.stop = async () => {
    if (one.ended === undefined) child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), 8000);
    await one.exit;
    clearTimeout(patience);
    started.delete(one);
  };
  started.add(one);
  return one;
}

// Polls as often as the machine allows: start-up times are read from it.
export async function ready(url, one, limitSeconds = 60) {
  const end = Date.now() + limitSeconds * 1000;
  for (;;) {
    if (one.ended !== undefined) throw new Error(`ended before it answered: ${one.stderr.slice(-2000)}`);
    try {
      if ((await get(url)).status < 500) return;
    } catch { /* not listening yet */ }
    if (Date.now() > end) throw new Error(`no answer from ${url}: ${one.stderr.slice(-2000)}`);
    await sleep(1);
  }
}

// A peer written for Node: takes its port as argument, answers at /healthz.
export async function nodePeer(script, { core = serverCore } = {}) {
  const port = await freePort();
  const one = launch([...core, node, peer(script), String(port)]);
  await ready(`http://127.0.0.1:${port}/healthz`, one);
  return Object.assign(one, { port, url: `http://127.0.0.1:${port}` });
}

export async function relayServe(config, { core = serverCore, flags = [] } = {}) {
  const port = await freePort();
  const cwd = directory({ log: { level: 'warn' }, ...config });
  const one = launch([...core, program('relay'), 'serve', '--bind', '127.0.0.1', '--port', String(port), '--no-open', '--no-ui', ...flags], { cwd });
  await ready(`http://127.0.0.1:${port}/healthz`, one);
  return Object.assign(one, { port, cwd, url: `http://127.0.0.1:${port}` });
}

export async function conformanceServer({ core = serverCore } = {}) {
  const port = await freePort();
  const one = launch([...core, program('relay-conformance-server'), '--port', String(port)], { cwd: directory() });
  await ready(`http://127.0.0.1:${port}/mcp`, one);
  return Object.assign(one, { port, url: `http://127.0.0.1:${port}` });
}

// Runs to its end and gives its stdout; throws when it fails or takes too long.
export function capture(line, { seconds = 50, cwd, input } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(line[0], line.slice(1), { cwd, env: { ...process.env, ...stateFor(cwd) }, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
    const one = { stop: async () => child.kill('SIGKILL') };
    started.add(one);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    if (input !== undefined) child.stdin.end(input);
    const patience = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
    child.once('error', reject).once('close', (code) => {
      clearTimeout(patience);
      started.delete(one);
      if (code === 0) resolve(stdout);
      else reject(new Error(`${line.join(' ')} ended with ${code}: ${stderr.slice(-1500)}`));
    });
  });
}

export async function stopAll() {
  await Promise.all([...started].map((one) => one.stop()));
  for (const path of directories) rmSync(path, { recursive: true, force: true });
  directories.clear();
}
