// The floor that Node itself sets: node:http, JSON in and out, no SDK.
import { createServer } from 'node:http';

const text = 'This is a simple text response for testing.';

createServer((request, response) => {
  if (request.url === '/healthz') {
    response.setHeader('content-type', 'application/json');
    response.end('{"status":"ok"}');
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk)).on('end', () => {
    const { id } = JSON.parse(body);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }));
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
