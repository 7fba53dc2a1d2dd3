// A stdio MCP server without any library: an echo, a slow tool that says when it ran, a failing one, a large one, and as many others as
// the first argument says.
import { createInterface } from 'node:readline';

const extra = Number(process.argv[2] ?? 0);
const object = (properties, required = []) => ({ type: 'object', properties, required });
const tools = [
  { name: 'echo', description: 'Gives back what it got', inputSchema: object({ value: { description: 'anything' } }) },
  { name: 'say', description: 'Says a text as it is', inputSchema: object({ text: { type: 'string' } }, ['text']) },
  { name: 'slow-tool', description: 'Waits, then says from when to when', inputSchema: object({ ms: { type: 'number' } }, ['ms']) },
  { name: 'fail', description: 'Always fails', inputSchema: object({}) },
  { name: 'list_records', description: 'Pages through very many records', inputSchema: object({ offset: { type: 'integer' }, count: { type: 'integer' } }) },
  ...Array.from({ length: extra }, (_, i) => ({
    name: `extra_tool_${i}`, description: `Does the thing number ${i} with all the care that a description of usual length can promise to a reader.`,
    inputSchema: object({ subject: { type: 'string', description: 'What it is done to' }, count: { type: 'integer', description: 'How often' }, options: object({ dryRun: { type: 'boolean' } }) }, ['subject']),
  })),
];

const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
const handlers = {
  echo: async ({ value }) => text({ value: value ?? null }),
  say: async (given) => text(given.text),
  'slow-tool': async ({ ms }) => {
    const from = Date.now();
    await new Promise((done) => setTimeout(done, ms));
    return text({ from, to: Date.now() });
  },
  fail: async () => ({ ...text('this tool is broken'), isError: true }),
  list_records: async ({ offset = 0, count = 1000 }) =>
    text({ total: 20_000, records: Array.from({ length: Math.min(count, 20_000 - offset) }, (_, i) => ({ id: offset + i, name: `record ${offset + i}`, even: (offset + i) % 2 === 0 })) }),
};

async function answer({ id, method, params }) {
  if (method === 'initialize')
    return { id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '1' }, instructions: 'For tests only.' } };
  if (method === 'tools/list') return { id, result: { tools } };
  if (method === 'tools/call') {
    const handler = handlers[params.name] ?? (async () => text('done'));
    return { id, result: await handler(params.arguments ?? {}) };
  }
  if (method === 'ping') return { id, result: {} };
  return { id, error: { code: -32601, message: `unknown method ${method}` } };
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...(await answer(message)) }) + '\n');
}).on('close', () => process.exit(0));
