// The echo of the TypeScript SDK v2: createMcpHandler, which serves 2026-07-28. Over stdio without a port.
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';

function makeServer() {
  const server = new McpServer({ name: 'sdk-v2', version: '1' });
  server.registerTool('test_simple_text', { description: 'Answers with a text' },
    async () => ({ content: [{ type: 'text', text: 'This is a simple text response for testing.' }] }));
  return server;
}

if (process.argv[2] === undefined) {
  serveStdio(makeServer);
} else {
  const handle = toNodeHandler(createMcpHandler(makeServer));
  createServer((request, response) => {
    if (request.url === '/healthz') return response.end('{"status":"ok"}');
    return handle(request, response);
  }).listen(Number(process.argv[2]), '127.0.0.1');
}
