// Programs written for the original code execution mode: the names, the arguments and the values that they expect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../program.mjs';
import { probe, run } from './servers.mjs';

const slow = { timeout: 240_000 };
const texts = ['5', '-1.5', 'true', 'null', '"quoted"', 'plain', '', '{"a":1}', ' [1,2]', '{broken', '[x]'];
const values = ['5', '-1.5', 'true', 'null', '"quoted"', 'plain', '', { a: 1 }, [1, 2], '{broken', '[x]'];

test('a text that is a JSON object or array arrives parsed, every other text stays text', slow, async (t) => {
  const server = await serve(t, { config: { mcps: [probe()] } });
  const js = await run(server, 'js', `const out = []; for (const text of ${JSON.stringify(texts)}) out.push(await mcp.probe.say({ text })); out`);
  assert.deepEqual(js.value, values);
  const py = await run(server, 'py', ['import json', `[mcp_probe.say(text=text) for text in json.loads(${JSON.stringify(JSON.stringify(texts))})]`]);
  assert.deepEqual(py.value, values);
});

test('mcp.runtime and mcp.servers have what programs look for', slow, async (t) => {
  const cwd = process.cwd();
  const server = await serve(t, { config: { mcps: [{ ...probe('my-probe'), cwd }, probe('other')] } });
  const { value } = await run(server, 'py', `
import mcp.runtime as runtime, mcp.servers
from mcp.servers import *
out = {"all": mcp.servers.__all__, "imported": await my_probe.say(text="hi")}
try:
    runtime.list_tools_sync()
except TypeError as error:
    out["raises"] = str(error)
out["missing"] = runtime.load_memory("nothing", 7)
runtime.save_memory("kept", [1])
out["kept"] = runtime.load_memory("kept", None)
out["cwd"] = runtime.describe_server("my-probe")["cwd"]
out["empty"] = [hit["tool"] for hit in runtime.search_tool_docs_sync("", limit=3)]
out["async"] = [hit["tool"] for hit in await runtime.search_tool_docs(" ", limit=2)]
manual = runtime.capability_summary()
out["unsaid"] = [name for name in runtime.__all__ if name.removesuffix("_sync") not in manual]
out["servers"] = "mcp_my_probe" in manual
out
`);
  assert.deepEqual(value.all, ['my_probe', 'other']);
  assert.equal(value.imported, 'hi');
  assert.match(value.raises, /server/);
  assert.deepEqual([value.missing, value.kept, value.cwd], [7, [1], cwd]);
  assert.deepEqual([value.empty, value.async], [['echo', 'say', 'slow-tool'], ['echo', 'say']]);
  assert.deepEqual([value.unsaid, value.servers], [[], true]);
  const js = await run(server, 'js', '(await mcp.search("", { limit: 2 })).map(({ tool }) => tool)');
  assert.deepEqual(js.value, ['echo', 'say']);
});
