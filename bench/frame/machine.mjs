// The machine and the versions: without them a figure means nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';

export const here = resolve(import.meta.dirname, '..');
export const bin = resolve(process.env.RELAY_BIN ?? join(here, '..', 'build', 'bin'));
export const node = process.execPath;
export const seconds = Number(process.env.BENCH_SECONDS ?? 3);
export const cores = availableParallelism();
export const peer = (name) => join(here, 'peers', name);
export const program = (name) => join(bin, name);
export const has = (name) => existsSync(program(name));

// Server on one core, client on another: neither is measured while it waits for the other's slice.
export const pinned = (core) => (cores > 1 ? ['taskset', '-c', String(core)] : []);
export const serverCore = pinned(0);
export const clientCore = pinned(1);

const first = (text) => text.trim().split('\n')[0];

function output(command, args) {
  try {
    return first(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }));
  } catch (error) {
    return first(`${error.stdout ?? ''}` || 'not there');
  }
}

const packageVersion = (name) => {
  const path = join(here, 'node_modules', name, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : 'not there';
};

export function describeMachine() {
  const cpu = /model name\s*:\s*(.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown CPU';
  const kernel = output('uname', ['-r']);
  const versions = {
    relay: has('relay') ? output(program('relay'), ['--version']).replace(/^relay /, '') : 'not built',
    node: process.version.slice(1),
    'SDK v1': packageVersion('@modelcontextprotocol/sdk'),
    'SDK v2': packageVersion('@modelcontextprotocol/server'),
    'quickjs-emscripten': packageVersion('quickjs-emscripten'),
    pyodide: packageVersion('pyodide'),
    deno: packageVersion('@deno/linux-x64-glibc'),
    python3: output('/usr/bin/python3', ['--version']).replace(/^Python /, ''),
    wrk: /\d+\.\d+\.\d+/.exec(output('wrk', ['-v']))?.[0] ?? 'not there',
  };
  return { cpu, kernel, cores, date: new Date().toISOString().slice(0, 16).replace('T', ' ') + ' UTC', load: loadavg()[0].toFixed(1), versions };
}
