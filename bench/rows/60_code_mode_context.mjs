// What upstream tools cost a model's context before it has done anything: as tools in its list, and from code.
import { node, peer } from '../frame/machine.mjs';
import { callOnce, modernRequest, post } from '../frame/mcp.mjs';
import { relayServe } from '../frame/process.mjs';
import { needsRuns } from '../frame/runs.mjs';
import { ratio, Table, whole } from '../frame/table.mjs';

const counts = [5, 50, 500];
const toolsets = ['code', 'files'];

const config = (count, expose) => ({
  toolsets, mcps: [{ name: 'work', command: node, args: [peer('many_tools.mjs'), String(count)], expose }],
});

async function listBytes(server) {
  let bytes = 0, cursor;
  do {
    const answer = await post(`${server.url}/mcp`, modernRequest('tools/list', cursor ? { cursor } : {}));
    const text = answer.headers['content-type']?.startsWith('text/event-stream') ? answer.text.split('data: ').at(-1) : answer.text;
    const { result } = JSON.parse(text);
    bytes += Buffer.byteLength(JSON.stringify(result.tools));
    cursor = result.nextCursor;
  } while (cursor);
  return bytes;
}

// Finding one tool and reading how it is called: what a model sees of it.
async function findBytes(server) {
  const code = 'const [best] = await mcp.search("create an order"); console.log((await mcp.describe(best.server, best.tool)).typescript)';
  const result = await callOnce(`${server.url}/mcp`, 'run_js', { code });
  if (result.structuredContent.exitCode !== 0) throw new Error(JSON.stringify(result).slice(0, 1000));
  return Buffer.byteLength(result.content[0].text) + Buffer.byteLength(code);
}

async function measure() {
  const table = new Table('Bytes of context for upstream tools', ['upstream tools', 'as tools: list', 'from code: list', 'and to find and read one', 'from code is smaller by']);
  const lists = [];
  for (const count of counts) {
    const asTools = await relayServe(config(count, 'tools'), { core: [] });
    const many = await listBytes(asTools);
    await asTools.stop();
    const fromCode = await relayServe(config(count, 'code'), { core: [] });
    const [few, found] = [await listBytes(fromCode), await findBytes(fromCode)];
    await fromCode.stop();
    lists.push(few);
    table.add(count, whole(many), whole(few), whole(found), ratio(many / (few + found)));
  }
  return [table.goal('the list is the same whatever there is behind it', new Set(lists).size === 1)];
}

export default { name: 'code-mode-context', title: 'Bytes of context, with and without code mode', measure, needs: needsRuns };
