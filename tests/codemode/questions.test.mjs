// A server that is called from code asks something in mid-call: the person at the client of the run sees the question, and the program gets on with
// the answer. Real clients of both generations, servers of both eras.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { atEnd, program, serve } from '../program.mjs';
import { everything } from './servers.mjs';

const slow = { timeout: 240_000 };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const sampled = { model: 'test', role: 'assistant', content: { type: 'text', text: 'sampled words' } };
const accepted = { action: 'accept', content: { name: 'Ada', username: 'ada', email: 'ada@example.com', check: true } };
const schemas = { 'elicitation/create': ElicitRequestSchema, 'sampling/createMessage': CreateMessageRequestSchema, 'roots/list': ListRootsRequestSchema };

const clients = {
  'SDK v1': { make: (options) => new ClientV1({ name: 'v1', version: '1' }, options), Http: HttpV1, key: (method) => schemas[method] },
  'SDK v2, legacy': { make: (options) => new ClientV2({ name: 'v2', version: '2' }, { ...options, versionNegotiation: { mode: 'legacy' } }), Http: HttpV2, key: (method) => method },
  'SDK v2, modern': { make: (options) => new ClientV2({ name: 'v2', version: '2' }, { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } }), Http: HttpV2, key: (method) => method },
};

// A client whose person always says yes; `asked` has what that person saw.
async function connect(t, server, { make, Http, key }, declared = capabilities) {
  const client = make({ capabilities: declared });
  client.asked = [];
  const answer = (method, reply) => client.setRequestHandler(key(method), ({ params }) => {
    client.asked.push({ method, ...params });
    return reply;
  });
  if (declared.elicitation) answer('elicitation/create', accepted);
  if (declared.sampling) answer('sampling/createMessage', sampled);
  if (declared.roots) answer('roots/list', { roots: [{ uri: 'file:///here', name: 'here' }] });
  await client.connect(new Http(new URL(server.endpoint)));
  atEnd(t, () => client.close());
  return client;
}

async function run(client, language, code) {
  const result = await client.callTool({ name: `run_${language}`, arguments: { code } });
  assert.ok(!result.isError, result.content[0]?.text);
  return result.structuredContent.value;
}

// The same in both languages: elicitation, then sampling, then both at once.
const programs = {
  js: (server, ask, sample) => `
    const show = (value) => typeof value === "string" ? value : JSON.stringify(value);
    const one = await mcp.call("${server}", "${ask.tool}", ${JSON.stringify(ask.args)});
    const two = await mcp.call("${server}", "${sample.tool}", ${JSON.stringify(sample.args)});
    const both = await Promise.all([mcp.call("${server}", "${ask.tool}", ${JSON.stringify(ask.args)}), mcp.call("${server}", "${sample.tool}", ${JSON.stringify(sample.args)})]);
    [show(one), show(two), ...both.map(show)]`,
  py: (server, ask, sample) => `
import asyncio, json, mcp.runtime as runtime
one = await runtime.call_tool("${server}", "${ask.tool}", ${JSON.stringify(ask.args)})
two = await runtime.call_tool("${server}", "${sample.tool}", ${JSON.stringify(sample.args)})
both = await asyncio.gather(runtime.call_tool("${server}", "${ask.tool}", ${JSON.stringify(ask.args)}), runtime.call_tool("${server}", "${sample.tool}", ${JSON.stringify(sample.args)}))
[json.dumps(one), json.dumps(two), json.dumps(both[0]), json.dumps(both[1])]`,
};

const servers = {
  'server-everything': {
    entry: () => everything(), name: 'everything',
    ask: { tool: 'trigger-elicitation-request', args: {} }, sample: { tool: 'trigger-sampling-request', args: { prompt: 'say something' } }, seen: /Ada/,
  },
  'a modern server': {
    entry: () => ({ name: 'fixtures', command: program('relay-conformance-server'), args: ['--stdio'] }), name: 'fixtures',
    ask: { tool: 'test_input_required_result_elicitation', args: {} }, sample: { tool: 'test_input_required_result_sampling', args: {} }, seen: /Ada/,
  },
};

for (const [who, kind] of Object.entries(clients)) {
  for (const [what, { entry, name, ask, sample, seen }] of Object.entries(servers)) {
    test(`${who} is asked what ${what} asks in a call from code`, slow, async (t) => {
      const server = await serve(t, { config: { mcps: [entry()] } });
      for (const language of ['js', 'py']) {
        const client = await connect(t, server, kind);
        const [one, two, three, four] = await run(client, language, programs[language](name, ask, sample));
        assert.match(one, seen);
        assert.match(two, /sampled words/);
        assert.match(three, seen);
        assert.match(four, /sampled words/);
        const methods = client.asked.map(({ method }) => method);
        assert.equal(methods.filter((method) => method === 'elicitation/create').length, 2, methods.join());
        assert.equal(methods.filter((method) => method === 'sampling/createMessage').length, 2, methods.join());
        assert.ok(client.asked.some(({ message }) => message?.startsWith(`[${name}] `)), 'people see who asks');
      }
    });
  }

  test(`${who} that cannot be asked costs the program an error that it can catch`, slow, async (t) => {
    const server = await serve(t, { config: { mcps: [servers['a modern server'].entry()] } });
    const client = await connect(t, server, kind, {});
    const caught = await run(client, 'js', 'let caught = "nothing"; try { await mcp.call("fixtures", "test_input_required_result_elicitation", {}) } catch (error) { caught = error.message } caught');
    assert.match(caught, /elicitation|capabilit/i);
    assert.deepEqual(client.asked, []);
  });
}
