// Starts the programs under test as a user would: real processes, real sockets, a state directory of their own.
// Whatever a test starts here is stopped when the test ends, and a process that outlives it fails the test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { alive, descendants, marked } from './processes.mjs';

const here = import.meta.dirname;

// The programs: build/bin of this tree, or another build named by RELAY_BIN.
export const bin = resolve(process.env.RELAY_BIN ?? join(here, '..', 'build', 'bin'));
export const modules = join(here, 'node_modules');
export const program = (name) => join(bin, name);
export const exists = (name) => existsSync(program(name));

// Settings of the person who runs the tests must not decide what they show.
export function cleanEnvironment(extra = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(RELAY_|NODE_|MCP_|DISPLAY$|WAYLAND_DISPLAY$)/.test(name));
  return { ...Object.fromEntries(kept), ...extra };
}

const endings = new WeakMap();

// What the end of a test undoes, last first: a server stops before its directory goes.
export function atEnd(t, undo) {
  if (!endings.has(t)) {
    endings.set(t, []);
    t.after(async () => {
      for (const one of endings.get(t).reverse()) await one();
    });
  }
  endings.get(t).push(undo);
}

// Where a program that runs in `cwd` keeps its state: beside the directory, never in the state directory of the
// person who runs the tests.
export const stateOf = (cwd) => `${cwd}.state`;

let homeless;

function stateWithoutDirectory() {
  if (!homeless) {
    homeless = mkdtempSync(join(tmpdir(), 'relay-test-state-'));
    process.once('exit', () => rmSync(homeless, { recursive: true, force: true }));
  }
  return homeless;
}

export function temporaryDirectory(t) {
  const path = mkdtempSync(join(tmpdir(), 'relay-test-'));
  atEnd(t, () => {
    rmSync(path, { recursive: true, force: true });
    rmSync(stateOf(path), { recursive: true, force: true });
  });
  return path;
}

// Below the ports that the kernel gives to connections and to listeners without a number, so that nothing takes it before
// the program under test does. Tests that run side by side begin to look at different places.
const lowestPort = 10000;
const portCount = 20000;
let portsTried = 0;

export async function freePort() {
  for (;;) {
    const port = lowestPort + (process.pid * 37 + portsTried++) % portCount;
    const probe = createServer();
    const listens = await new Promise((done) => probe.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true)));
    if (!listens) continue;
    await new Promise((done) => probe.close(done));
    return port;
  }
}

// Waits until condition() gives something true, and fails with a sentence when it never does.
export async function until(what, condition, { seconds = 20, every = 20 } = {}) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) assert.fail(`waited ${seconds} s for ${what}`);
    await sleep(every);
  }
}

let marks = 0;

export class Program {
  stdout = '';
  stderr = '';
  #seen = new Map();

  constructor(command, args, { cwd, env = {}, input = 'ignore', wrap = [] } = {}) {
    this.mark = `relay-test-${process.pid}-${++marks}`;
    const line = [...wrap, command, ...args];
    this.child = spawn(line[0], line.slice(1), {
      cwd, env: cleanEnvironment({ RELAY_STATE: cwd ? stateOf(cwd) : stateWithoutDirectory(), ...env, TEST_MARK: this.mark }), stdio: [input, 'pipe', 'pipe'],
    });
    this.child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    this.exit = new Promise((done) => {
      this.child.once('error', (error) => done({ code: null, signal: null, error }));
      this.child.once('close', (code, signal) => done({ code, signal }));
    });
    this.exit.then((how) => (this.ended = how));
  }

  get pid() { return this.child.pid; }

  // Processor time of the program so far, its children apart.
  cpuSeconds() {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  residentMegabytes() {
    return Number(readFileSync(`/proc/${this.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  }

  // The log lines; a line that is not JSON is a defect wherever this is asked.
  logs() {
    return this.stderr.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  findLog(message) {
    for (const line of this.stderr.split('\n')) {
      if (!line.includes(`"${message}"`)) continue;
      try {
        const parsed = JSON.parse(line);
        if (parsed.msg === message) return parsed;
      } catch { /* half a line: it is looked at again when the rest is there */ }
    }
    return undefined;
  }

  async waitForLog(message, options) {
    return until(`the log line "${message}" of ${this.child.spawnfile}; stderr: ${this.stderr.slice(-2000)}`, () => {
      if (this.ended) assert.fail(`ended (${JSON.stringify(this.ended)}) before "${message}"; stderr: ${this.stderr.slice(-4000)}`);
      return this.findLog(message);
    }, options);
  }

  // Remembers every process below this one, so that stop() can ask for each of them by name.
  observe() {
    for (const found of [...descendants(this.pid), ...marked(this.mark)]) this.#seen.set(found.pid, found);
    return [...this.#seen.values()].filter(alive);
  }

  // SIGTERM, then SIGKILL for a program that does not listen. Says how it ended.
  async stop({ grace = 35_000, signal = 'SIGTERM' } = {}) {
    if (this.ended) return this.ended;
    this.observe();
    this.child.kill(signal);
    const patience = setTimeout(() => this.child.kill('SIGKILL'), grace);
    const how = await this.exit;
    clearTimeout(patience);
    return how;
  }

  async assertNothingLeft() {
    const left = () => [...this.#seen.values(), ...marked(this.mark)].filter(alive);
    const end = Date.now() + 5000;
    while (left().length > 0 && Date.now() < end) await sleep(20);
    const stubborn = left();
    for (const one of stubborn) process.kill(one.pid, 'SIGKILL');
    assert.deepEqual(stubborn, [], 'processes that outlived the program');
  }
}

// A program that lives as long as the test.
export function start(t, name, args = [], options = {}) {
  const started = new Program(name.includes('/') ? name : program(name), args, options);
  atEnd(t, async () => {
    await started.stop({ grace: 10_000 });
    await started.assertNothingLeft();
  });
  return started;
}

// A program that ends by itself: its exit code and all it wrote.
export async function run(name, args = [], { input = '', seconds = 60, ...options } = {}) {
  const started = new Program(name.includes('/') ? name : program(name), args, { ...options, input: 'pipe' });
  started.child.stdin.on('error', () => {});
  started.child.stdin.end(input);
  const patience = setTimeout(() => started.child.kill('SIGKILL'), seconds * 1000);
  const { code, signal, error } = await started.exit;
  clearTimeout(patience);
  if (error) throw error;
  return { code, signal, stdout: started.stdout, stderr: started.stderr };
}

// A directory with a relay.config.json in it; the state lies beside the directory.
export function configured(t, config = {}) {
  const cwd = temporaryDirectory(t);
  writeFileSync(join(cwd, 'relay.config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return { cwd, file: join(cwd, 'relay.config.json'), state: stateOf(cwd) };
}

// `relay serve` on a port of its own, ready for calls.
export async function serve(t, { config = {}, flags = ['--no-open', '--no-ui'], env, wrap } = {}) {
  const { cwd, file, state } = configured(t, config);
  const server = start(t, 'relay', ['serve', '-c', file, '--bind', '127.0.0.1', '--port', '0', ...flags], { cwd, env, wrap });
  const listening = await server.waitForLog('listening', { seconds: 60 });
  return Object.assign(server, { cwd, file, state, url: listening.url, port: listening.port, endpoint: `${listening.url}/mcp` });
}
