// A stdio MCP server without any library, so that what is measured is not its own work: an echo, and as many other tools as it is told.
import { createInterface } from 'node:readline';

const object = (properties, required = []) => ({ type: 'object', properties, required });
const tools = [{ name: 'echo', description: 'Gives back what it got', inputSchema: object({ n: { type: 'integer' } }) }];
for (let i = 1; i < Number(process.argv[2] ?? 1); i++)
  tools.push({
    name: `${['list', 'create', 'update', 'search'][i % 4]}_${['issues', 'files', 'messages', 'orders', 'events'][i % 5]}_${i}`,
    description: `Works on ${['issues', 'files', 'messages', 'orders', 'events'][i % 5]} of the project. Needs the permission to do so, returns what it changed, and pages through long answers.`,
    inputSchema: object({
      project: { type: 'string', description: 'The project, as owner/name' }, query: { type: 'string', description: 'Words or a filter' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most' }, state: { enum: ['open', 'closed', 'all'] },
    }, ['project']),
  });

const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify({ n: args?.n ?? 0 }) }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `unknown method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
}).on('close', () => process.exit(0));
