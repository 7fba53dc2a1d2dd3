// The echo of the TypeScript SDK v1: stateful sessions, SSE replies, as its documentation shows it. Over stdio without a port.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

function makeServer() {
  const server = new McpServer({ name: 'sdk-v1', version: '1' });
  server.registerTool('test_simple_text', { description: 'Answers with a text' },
    async () => ({ content: [{ type: 'text', text: 'This is a simple text response for testing.' }] }));
  return server;
}

const sessions = new Map();

async function sessionOf(request) {
  const id = request.headers['mcp-session-id'];
  if (id) return sessions.get(id);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (made) => sessions.set(made, transport) });
  await makeServer().connect(transport);
  return transport;
}

if (process.argv[2] === undefined) {
  await makeServer().connect(new StdioServerTransport());
} else {
  createServer(async (request, response) => {
    if (request.url === '/healthz') return response.end('{"status":"ok"}');
    const transport = await sessionOf(request);
    if (!transport) return response.writeHead(404).end();
    return transport.handleRequest(request, response);
  }).listen(Number(process.argv[2]), '127.0.0.1');
}
