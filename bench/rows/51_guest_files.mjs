// What files cost a guest: throughput of a large read, and the price of one call, beside the same program run natively.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { has, node, program } from '../frame/machine.mjs';
import { median } from '../frame/numbers.mjs';
import { capture, relayServe } from '../frame/process.mjs';
import { codeConfig, hello, needsRuns, runOnce } from '../frame/runs.mjs';
import { fixed, ratio, Table } from '../frame/table.mjs';

const megabytes = 64, calls = 500, rounds = 3;

const javascript = (dir) => `
import fs from 'fs';
const timed = (work) => { const from = performance.now(); work(); return performance.now() - from; };
const big = timed(() => { const fd = fs.openSync('${dir}/big'), b = new Uint8Array(1 << 20); let all = 0; for (let n; (n = fs.readSync(fd, b, 0, b.length, null)) > 0;) all += n; fs.closeSync(fd); if (all !== ${megabytes << 20}) throw new Error('read ' + all); });
const stat = timed(() => { for (let i = 0; i < ${calls}; ++i) fs.statSync('${dir}/big'); });
const fd = fs.openSync('${dir}/big'), few = new Uint8Array(100);
const small = timed(() => { for (let i = 0; i < ${calls}; ++i) fs.readSync(fd, few, 0, 100, i * 4096); });
const write = timed(() => { for (let i = 0; i < ${calls}; ++i) fs.writeFileSync('WRITE/small', 'x'); });
console.log(JSON.stringify({ big, stat, small, write }));
`;
const python = (dir) => `
import os, json, time
def timed(work):
    begin = time.perf_counter(); work(); return (time.perf_counter() - begin) * 1000
def big():
    with open('${dir}/big', 'rb', buffering=0) as f:
        n = 0
        while True:
            b = f.read(1 << 20)
            if not b: break
            n += len(b)
    assert n == ${megabytes << 20}
f = open('${dir}/big', 'rb', buffering=0)
def small():
    for i in range(${calls}): f.seek(i * 4096); f.read(100)
def stat():
    for i in range(${calls}): os.stat('${dir}/big')
def write():
    for i in range(${calls}):
        with open('WRITE/small', 'w') as out: out.write('x')
print(json.dumps({'big': timed(big), 'stat': timed(stat), 'small': timed(small), 'write': timed(write)}))
`;

async function medians(once) {
  const all = [];
  for (let i = 0; i < rounds; ++i) all.push(JSON.parse(await once()));
  return Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((one) => one[key]))]));
}

const microseconds = (ms) => `${fixed((ms * 1000) / calls)} \u00b5s`;
const speed = (ms) => `${fixed(megabytes / (ms / 1000))} MB/s`;

async function guests(dir) {
  const server = await relayServe({ ...codeConfig(), toolsets: ['code', 'files'], mounts: [{ name: 'bench', path: dir, mode: 'rw' }] }, { core: [] });
  const table = new Table(`A guest's files, medians of ${rounds} runs`, ['program', `reading ${megabytes} MB`, 'stat', 'read 100 bytes', 'write a small file', 'throughput, native / guest']);
  const natively = { js: (code) => [node, '--input-type=module', '-e', code], py: (code) => ['/usr/bin/python3', '-c', code] };
  for (const [language, source, name] of [['js', javascript, 'run_js'], ['py', python, 'run_py']]) {
    await runOnce(server, language, hello[language]);
    const native = await medians(() => capture(natively[language](source(dir).replaceAll('WRITE', dir))));
    const guest = await medians(async () => (await runOnce(server, language, source('/host/bench').replaceAll('WRITE', '/tmp'))).stdout);
    for (const [who, figures] of [[language === 'js' ? 'node' : 'python3', native], [`relay ${name}`, guest]])
      table.add(who, speed(figures.big), microseconds(figures.stat), microseconds(figures.small), microseconds(figures.write), figures === guest ? ratio(guest.big / native.big) : '');
  }
  await server.stop();
  return table.note('A guest\'s call is a message to relay and back, checked there; the native program asks the kernel itself.');
}

async function insideRelay() {
  const table = new Table('Inside relay: one call on the tree, beside the system calls that it stands for', ['call', 'relay', 'bare', 'ratio']);
  if (!has('relay-bench-files')) return table.note('build/bin/relay-bench-files is missing');
  for (const line of (await capture([program('relay-bench-files')])).trim().split('\n').slice(1)) {
    const [, name, ours, bare, times] = line.match(/^(.{28}) +([\d.]+) us +([\d.]+) us +([\d.]+)$/);
    table.add(name.trim(), `${ours} \u00b5s`, `${bare} \u00b5s`, ratio(Number(times)));
  }
  return table;
}

async function measure() {
  const dir = mkdtempSync(join(tmpdir(), 'relay-bench-files-'));
  try {
    writeFileSync(join(dir, 'big'), Buffer.alloc(megabytes << 20, 'abcdefgh'));
    return [await guests(dir), await insideRelay()];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export default { name: 'guest-files', title: 'Files from guest code', measure, needs: needsRuns };
