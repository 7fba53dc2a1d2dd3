// A small MCP server of the legacy era, over stdio or HTTP, that says what it sees: its arguments, environment, directory, headers.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const seen = [];
let running = 0, peak = 0;

const tool = (name) => ({ name, description: name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });

function attempt(action) {
  try { return action(); } catch (error) { return error.code ?? error.message; }
}

const handlers = {
  facts: (args, more) => ({
    argv: process.argv.slice(2), cwd: process.cwd(), pid: process.pid, first: seen[0], answer: process.env.ANSWER ?? null,
    proxy: Boolean(process.env.HTTP_PROXY ?? process.env.http_proxy ?? process.env.ALL_PROXY),
    sees: args.look ? existsSync(args.look) : null, writes: args.write ? attempt(() => writeFileSync(args.write, 'x')) ?? 'written' : null, ...more,
  }),
  pause: async () => {
    peak = Math.max(peak, ++running);
    await sleep(700);
    running -= 1;
    return { peak };
  },
};

// The result of a request; nothing for a notification.
async function answer({ id, method, params }, more = {}) {
  seen.push(method);
  if (id === undefined) return undefined;
  const reply = (result) => ({ jsonrpc: '2.0', id, result });
  if (method === 'initialize') {
    if (process.env.SLOW_START) await sleep(Number(process.env.SLOW_START));
    return reply({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'facts', version: '1' } });
  }
  if (method === 'ping') return reply({});
  if (method === 'tools/list') return reply({ tools: Object.keys(handlers).map(tool) });
  if (method === 'tools/call' && handlers[params.name])
    return reply({ content: [{ type: 'text', text: JSON.stringify(await handlers[params.name](params.arguments ?? {}, more)) }] });
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } };
}

// The same server over HTTP, in the process that asks for it; it answers at every path.
export async function listen() {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    for await (const piece of request) body += piece;
    const reply = await answer(JSON.parse(body), { path: request.url, header: request.headers['x-fact'] ?? null });
    if (!reply) return response.writeHead(202).end();
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.env.MARK) appendFileSync(process.env.MARK, 'started\n');
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const reply = await answer(JSON.parse(line));
    if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
  }).on('close', () => process.exit(0));
}
