// Load over HTTP with wrk: one thread, keep-alive, one request repeated on N connections.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientCore, here, seconds } from './machine.mjs';
import { capture, directory } from './process.mjs';

export function needsWrk() {
  try {
    execFileSync('which', ['wrk'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'wrk is not installed (Debian package wrk)';
  }
}

function requestFile({ method, path, headers = {}, body = '' }) {
  const file = join(directory(), 'request');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`).join('');
  writeFileSync(file, `${method} ${path}\n${lines}\n${body}`);
  return file;
}

async function wrk(url, file, { connections, duration, check, core }) {
  const line = [...core, 'env', `REQUEST=${file}`, ...(check ? [`CHECK=${check}`] : []),
    'wrk', '-t1', `-c${connections}`, `-d${duration}s`, '--timeout', '20s', '-s', join(here, 'frame', 'request.lua'), url];
  const out = await capture(line, { seconds: duration + 30 });
  const { requests, microseconds, wrong, p50, p99 } = JSON.parse(/RESULT (.*)/.exec(out)[1]);
  if (wrong > 0) throw new Error(`${wrong} of ${requests} answers from ${url} were wrong`);
  if (requests === 0) throw new Error(`no answer from ${url}`);
  return { rps: requests / (microseconds / 1e6), p50, p99, requests };
}

// First a pass that reads every body and warms the server, then the measured one. `always` measures with the
// bodies read: right where the server, not the client, is the slower one by far.
export async function load(url, request, { connections, check, always = false, duration = seconds, core = clientCore }) {
  const file = requestFile({ ...request, path: new URL(url).pathname });
  if (always) return wrk(url, file, { connections, duration, check, core });
  await wrk(url, file, { connections, duration: Math.min(2, duration), check, core });
  return wrk(url, file, { connections, duration, core });
}
