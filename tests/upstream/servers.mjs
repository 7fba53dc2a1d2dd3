// Real MCP servers from npm, as entries of relay's configuration.
import { join } from 'node:path';
import { freePort, modules, start, until } from '../program.mjs';
import { request } from '../mcp.mjs';

export const node = process.execPath;
const script = (name) => join(modules, name, 'dist', 'index.js');

export const entries = {
  everything: () => ({ name: 'everything', command: node, args: [script('@modelcontextprotocol/server-everything'), 'stdio'] }),
  filesystem: (directory) => ({ name: 'filesystem', command: node, args: [script('@modelcontextprotocol/server-filesystem'), directory] }),
  memory: (directory) => ({
    name: 'memory', command: node, args: [script('@modelcontextprotocol/server-memory')], env: { MEMORY_FILE_PATH: join(directory, 'memory.jsonl') },
  }),
  thinking: () => ({ name: 'thinking', command: node, args: [script('@modelcontextprotocol/server-sequential-thinking')] }),
  context7: () => ({ name: 'context7', command: node, args: [script('@upstash/context7-mcp')] }),
};

// server-everything over HTTP: 'streamableHttp' or 'sse'.
export async function startEverything(t, transport) {
  const port = await freePort();
  start(t, node, [script('@modelcontextprotocol/server-everything'), transport], { env: { PORT: String(port) } });
  const url = `http://127.0.0.1:${port}/`;
  await until('server-everything', () => request(url).then(() => true, () => false));
  return transport === 'sse'
    ? { name: 'everything', transport: 'sse', endpoint: `${url}sse` }
    : { name: 'everything', transport: 'http', endpoint: `${url}mcp` };
}
