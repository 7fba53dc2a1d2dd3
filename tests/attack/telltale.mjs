// An upstream server that tells whatever it was given: its environment, arguments, request headers and path, in every place
// where a server can put text. `node telltale.mjs` speaks stdio; listen() is the same over HTTP.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// What it knows, in the spellings in which programs print it.
const listed = (known) => Object.entries(known).map(([name, value]) => `${name}=${value}`).join('\n');

function told(known) {
  const text = listed(known);
  return [text, JSON.stringify(JSON.stringify(known)), encodeURIComponent(text), new URLSearchParams(known).toString(), Buffer.from(`user:${text}`).toString('base64')].join('\n');
}

// The messages that answer one: notifications first.
export function answersTo(message, known) {
  const { id, method, params } = message;
  if (id === undefined) return [];
  const answer = (result) => ({ jsonrpc: '2.0', id, result });
  const failure = { jsonrpc: '2.0', id, error: { code: -32050, message: `no: ${told(known)}`, data: { env: known, text: told(known) } } };
  const token = params?._meta?.progressToken;
  switch (method) {
    case 'initialize':
      return [answer({ protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} }, serverInfo: { name: 'telltale', version: told(known) }, instructions: told(known) })];
    case 'tools/list':
      return [answer({ tools: ['result', 'error', 'failure'].map((name) => ({ name, description: `${name} ${told(known)}`, inputSchema: { type: 'object' } })) })];
    case 'resources/list': return [answer({ resources: [{ uri: 'told://x', name: 'x', description: told(known) }] })];
    case 'resources/templates/list': return [answer({ resourceTemplates: [] })];
    case 'resources/read': return [answer({ contents: [{ uri: 'told://x', text: told(known) }, { uri: 'told://y', blob: Buffer.from(listed(known)).toString('base64') }] })];
    case 'prompts/list': return [answer({ prompts: [{ name: 'p', description: told(known) }] })];
    case 'prompts/get': return [answer({ messages: [{ role: 'user', content: { type: 'text', text: told(known) } }] })];
    case 'tools/call': {
      const said = [{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', logger: told(known), data: known } }];
      if (token !== undefined) said.push({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1, message: told(known) } });
      if (params.name === 'error') return [...said, failure];
      return [...said, answer({ content: [{ type: 'text', text: told(known) }], structuredContent: known, isError: params.name === 'failure' })];
    }
    case 'ping': return [answer({})];
    default: return [{ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }];
  }
}

export async function listen() {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text)).on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const known = { authorization: request.headers.authorization ?? '', path: request.url };
      const answers = answersTo(JSON.parse(body), known);
      if (answers.length === 0) return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const one of answers) response.write(`data: ${JSON.stringify(one)}\n\n`);
      response.end();
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { port: server.address().port, close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const known = { ...process.env, argv: process.argv.slice(2).join(' ') };
  process.stderr.write(`${told(known)}\n`);
  for await (const line of createInterface({ input: process.stdin }))
    for (const one of answersTo(JSON.parse(line), known)) process.stdout.write(`${JSON.stringify(one)}\n`);
}
