// What the rows about run_js and run_py share: the configuration, the calls, a process per call for the peers.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bin, has, node, peer, program } from './machine.mjs';
import { callOnce } from './mcp.mjs';
import { capture, relayServe } from './process.mjs';

export const hello = { js: 'console.log("hello")', py: 'print("hello")' };
export const toolOf = { js: 'run_js', py: 'run_py' };

export function needsRuns() {
  if (!has('relay')) return 'build/bin/relay is missing';
  if (!has('relay-zygote')) return 'build/bin/relay-zygote is missing';
  const runtime = join(dirname(bin), 'runtime');
  return existsSync(join(runtime, 'zygote-js.js')) ? undefined : `${runtime}/zygote-js.js is missing`;
}

export const codeConfig = (extra = {}) => ({ toolsets: ['code', 'admin'], executor: extra });

// A relay whose runtimes have served a run already.
export async function warmRelay(languages = ['js', 'py'], executor = {}) {
  const server = await relayServe(codeConfig(executor), { core: [] });
  for (const language of languages) await runOnce(server, language, hello[language]);
  return server;
}

export async function runOnce(server, language, code, args = {}) {
  const result = await callOnce(`${server.url}/mcp`, toolOf[language], { code, ...args });
  if (result.structuredContent.exitCode !== 0) throw new Error(JSON.stringify(result.structuredContent).slice(0, 1000));
  return result.structuredContent;
}

export const deno = join(import.meta.dirname, '..', 'node_modules', '@deno', 'linux-x64-glibc', 'deno');

// One process per call, as tools do that have no sandbox of their own ready.
export const processPeers = {
  js: [
    ['node + quickjs-emscripten, a process each', (code) => [node, peer('quickjs_hello.mjs'), code]],
    ['deno eval', (code) => [deno, 'eval', code]],
    ['node -e (no sandbox)', (code) => [node, '-e', code]],
  ],
  py: [
    ['node + pyodide, a process each', (code) => [node, peer('pyodide_hello.mjs'), code]],
    ['python3 -c (no sandbox)', (code) => ['/usr/bin/python3', '-c', code]],
  ],
};

export async function captureChecked(line, expected) {
  const out = await capture(line, { seconds: 50 });
  if (expected !== undefined && out !== expected) throw new Error(`${line[0]} printed ${JSON.stringify(out.slice(0, 200))}`);
  return out;
}

export { program };
