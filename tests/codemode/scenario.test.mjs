// What code mode is for, in both languages: find a tool, read how it is called, call several servers at once, cope with a failure, and
// work through a large result that never reaches the model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { serve, temporaryDirectory } from '../program.mjs';
import { everything, files, library, memory, probe, run } from './servers.mjs';

const slow = { timeout: 240_000 };

async function withServers(t) {
  const directory = library(t);
  const server = await serve(t, { config: { mcps: [everything(), files(directory), memory(temporaryDirectory(t)), probe()] } });
  // On a busy machine a server may take longer to start than a search waits for it.
  await run(server, 'js', 'await Promise.all((await mcp.servers()).map((one) => mcp.tools(one.name)))');
  return { server, directory };
}

const scenario = {
  js: {
    find: `const [best] = await mcp.search("read a text file", {server: "files"});
           const doc = await mcp.describe(best.server, best.tool);
           ({call: best.call, tool: best.tool, declares: doc.typescript.includes("read_text_file(args")})`,
    stub: `import { readFileSync, readdirSync } from "fs";
           ({files: readdirSync("/mcps/files").filter((name) => name.startsWith("read_text_file")), text: readFileSync("/mcps/files/read_text_file.d.ts", "utf8")})`,
    three: (directory) => `
      const [text, sum, graph] = await Promise.all([
        mcp.files.read_text_file({path: ${JSON.stringify(join(directory, 'one.txt'))}}),
        mcp.everything["get-sum"]({a: 2, b: 3}),
        mcp.memory.create_entities({entities: [{name: "relay", entityType: "program", observations: ["fast"]}]}),
      ]);
      const times = await Promise.all([1, 2, 3].map(() => probe.slow_tool({ms: 300})));
      ({text, sum, graph, overlap: Math.max(...times.map((t) => t.from)) < Math.min(...times.map((t) => t.to))})`,
    error: `let caught; try { await mcp.probe.fail() } catch (error) { caught = error }
            let unknown; try { await mcp.probe.list_recrods() } catch (error) { unknown = error.message }
            ({name: caught.name, message: caught.message, server: caught.server, tool: caught.tool, unknown, instance: caught instanceof MCPError})`,
    pages: `let even = 0, pages = 0;
            for (let offset = 0, total = 1; offset < total; pages++) {
              const page = await mcp.probe.list_records({offset, count: 2500});
              total = page.total; offset += page.records.length; even += page.records.filter((record) => record.even).length;
            }
            ({even, pages})`,
  },
  py: {
    find: `
import mcp.runtime as runtime
best = runtime.search_tool_docs_sync("read a text file", limit=3)
best = [hit for hit in best if hit["server"] == "files"][0]
doc = runtime.query_tool_docs_sync(best["server"], best["tool"], detail="full")[0]
{"call": best["call"], "tool": best["tool"], "declares": "path" in doc["inputSchema"]["properties"]}`,
    stub: `
import os
{"files": sorted(name for name in os.listdir("/mcps/files") if name.startswith("read_text_file")), "text": open("/mcps/files/read_text_file.pyi").read()}`,
    three: (directory) => `
import asyncio
from mcp.servers.everything import *
text, total, graph = await asyncio.gather(
    mcp_files.read_text_file(path=${JSON.stringify(join(directory, 'one.txt'))}),
    get_sum(a=2, b=3),
    mcp_servers["memory"].create_entities(entities=[{"name": "relay", "entityType": "program", "observations": ["fast"]}]))
times = await asyncio.gather(*[mcp_probe.slow_tool(ms=300) for _ in range(3)])
{"text": text, "sum": total, "graph": graph, "overlap": max(t["from"] for t in times) < min(t["to"] for t in times)}`,
    error: `
from mcp.runtime import MCPError, call_tool_sync
try:
    mcp_probe.fail()
except MCPError as error:
    caught = error
try:
    call_tool_sync("probe", "list_recrods")
except MCPError as error:
    unknown = str(error)
{"name": type(caught).__name__, "message": str(caught), "server": caught.server, "tool": caught.tool, "unknown": unknown, "instance": True}`,
    pages: `
even = pages = offset = 0
total = 1
while offset < total:
    page = mcp_probe.list_records(offset=offset, count=2500)
    total, pages = page["total"], pages + 1
    offset += len(page["records"])
    even += sum(record["even"] for record in page["records"])
{"even": even, "pages": pages}`,
  },
};

for (const language of ['js', 'py']) {
  test(`${language}: search, read, call three servers at once, fail, page`, slow, async (t) => {
    const { server, directory } = await withServers(t);
    const program = scenario[language];

    const found = await run(server, language, program.find);
    assert.equal(found.value.tool, 'read_text_file', JSON.stringify(found.value));
    assert.equal(found.value.declares, true);
    assert.equal(found.value.call, 'mcp.files.read_text_file');

    const stub = await run(server, language, program.stub);
    assert.deepEqual(stub.value.files, ['read_text_file.d.ts', 'read_text_file.pyi']);
    assert.match(stub.value.text, language === 'js' ? /read_text_file\(args: \{[^]*path: string;/ : /def read_text_file\(\*, path: str/);

    const three = await run(server, language, program.three(directory));
    assert.match(JSON.stringify(three.value.text), /first/);
    assert.match(JSON.stringify(three.value.sum), /5/);
    assert.match(JSON.stringify(three.value.graph), /relay/);
    assert.equal(three.value.overlap, true, 'three calls of one server were in flight at once');

    const failed = await run(server, language, program.error);
    assert.deepEqual(failed.value, {
      name: 'MCPError', message: 'probe.fail: this tool is broken', server: 'probe', tool: 'fail', instance: true, unknown: failed.value.unknown,
    });
    assert.match(failed.value.unknown, /did you mean list_records/);

    const paged = await run(server, language, program.pages);
    assert.deepEqual(paged.value, { even: 10_000, pages: 8 });
    assert.ok(paged.bytes < 2000, `20,000 records cost the model ${paged.bytes} bytes`);
  });
}
