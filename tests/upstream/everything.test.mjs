// server-everything through the gateway: all its tools, prompts and resources, sampling, elicitation, roots, logging, progress, tasks; in both eras
// towards the client, over stdio, streamable HTTP and HTTP+SSE towards the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { atEnd, serve, start, until } from '../program.mjs';
import { ask, callTool } from '../mcp.mjs';
import { entries, startEverything } from './servers.mjs';

const upstreams = {
  stdio: () => entries.everything(),
  'streamable HTTP': (t) => startEverything(t, 'streamableHttp'),
  'HTTP+SSE': (t) => startEverything(t, 'sse'),
};

async function gateway(t, upstream) {
  return serve(t, { config: { toolsets: ['admin'], mcps: [{ ...upstream, expose: 'tools' }] } });
}

async function connect(t, server) {
  const client = new Client({ name: 'asked', version: '1' }, { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } } });
  client.asked = [];
  client.logged = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    client.asked.push(params);
    return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Ada', check: true } };
  });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    client.asked.push(params);
    return { model: 'test', role: 'assistant', content: { type: 'text', text: 'sampled words' } };
  });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///here', name: 'here' }] }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => client.logged.push(params));
  await client.connect(new StreamableHTTPClientTransport(new URL(server.endpoint)));
  atEnd(t, () => client.close());
  return client;
}

const text = (result) => result.content.map((piece) => piece.text ?? '').join('\n');

for (const [transport, upstream] of Object.entries(upstreams)) {
  test(`every tool of server-everything over ${transport}`, async (t) => {
    const client = await connect(t, await gateway(t, await upstream(t)));
    const { tools } = await client.listTools();
    const call = (name, args = {}, options) => client.callTool({ name: `everything__${name}`, arguments: args }, undefined, options);
    const wanted = ['echo', 'get-annotated-message', 'get-env', 'get-resource-links', 'get-resource-reference', 'get-structured-content', 'get-sum',
      'get-tiny-image', 'gzip-file-as-resource', 'toggle-simulated-logging', 'toggle-subscriber-updates', 'trigger-long-running-operation'];
    for (const name of wanted) assert.ok(tools.some((tool) => tool.name === `everything__${name}`), name);

    assert.equal(text(await call('echo', { message: 'Grüße' })), 'Echo: Grüße');
    const annotated = await call('get-annotated-message', { messageType: 'error', includeImage: true });
    assert.equal(annotated.content[0].annotations.priority, 1);
    assert.equal(annotated.content[1].type, 'image');
    if (transport === 'stdio') assert.ok(!text(await call('get-env')).includes('TEST_MARK'), 'our own environment stays ours');
    const structured = await call('get-structured-content', { location: 'Chicago' });
    assert.deepEqual(JSON.parse(text(structured)), structured.structuredContent);
    assert.match(text(await call('get-sum', { a: 2, b: 40 })), /42/);
    assert.equal((await call('get-tiny-image')).content[1].mimeType, 'image/png');
    const links = (await call('get-resource-links', { count: 2 })).content.filter((piece) => piece.type === 'resource_link');
    assert.equal(links.length, 2);
    assert.ok((await client.readResource({ uri: links[0].uri })).contents[0].uri);
    assert.equal((await call('get-resource-reference', { resourceType: 'Text', resourceId: 3 })).content[1].type, 'resource');
    const zipped = await call('gzip-file-as-resource', { name: 'x.gz', data: 'data:text/plain,hello', outputType: 'resource' });
    assert.equal(zipped.content[0].type, 'resource', JSON.stringify(zipped));

    const steps = [];
    await call('trigger-long-running-operation', { duration: 1, steps: 4 }, { onprogress: (step) => steps.push(step.progress) });
    assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
    assert.ok(steps.length >= 3, `progress ${steps}`);
    await call('toggle-simulated-logging');
    await until('a log message', () => client.logged.length > 0, { seconds: 30 });
    assert.match(client.logged[0].logger ?? '', /^everything/);
    await call('toggle-simulated-logging');

    const wrong = await call('get-sum', { a: 'x' });
    assert.equal(wrong.isError, true);
  });
}

for (const [transport, upstream] of Object.entries(upstreams)) {
  test(`server-everything over ${transport} asks the client: elicitation, sampling, roots, tasks`, async (t) => {
    const client = await connect(t, await gateway(t, await upstream(t)));
    await client.listTools();
    const call = (name, args = {}, options) => client.callTool({ name: `everything__${name}`, arguments: args }, undefined, options);
    assert.match(text(await call('trigger-elicitation-request')), /Ada/);
    assert.match(client.asked.at(-1).message, /^\[everything\] /, 'people see who asks');
    assert.match(text(await call('trigger-sampling-request', { prompt: 'say something' })), /sampled words/);
    const page = await call('trigger-url-elicitation', { url: 'https://example.com/x', message: 'open it' });
    assert.equal(client.asked.at(-1).mode, 'url', JSON.stringify(page));
    let research;
    const stream = client.experimental.tasks.callToolStream({ name: 'everything__simulate-research-query', arguments: { topic: 'owls' } });
    for await (const message of stream) if (message.type === 'result') research = message.result;
    assert.match(text(research), /owls/);
  });
}

test('calls of one client that ask at the same time all end, although nothing says whose question is whose', async (t) => {
  const client = await connect(t, await gateway(t, entries.everything()));
  await client.listTools();
  const call = (name, args = {}) => client.callTool({ name: `everything__${name}`, arguments: args });
  const calls = Array.from({ length: 6 }, (_, i) => i % 2 ? call('trigger-sampling-request', { prompt: 'say something' }) : call('trigger-elicitation-request'));
  for (const [i, result] of (await Promise.all(calls)).entries()) assert.match(text(result), i % 2 ? /sampled words/ : /Ada/);
  assert.equal(client.asked.length, 6, 'each question was asked once');
});

test('prompts, resources, templates, completion and subscriptions of server-everything', async (t) => {
  const client = await connect(t, await gateway(t, entries.everything()));
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some((prompt) => prompt.name === 'everything__args-prompt'));
  const filled = await client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Oslo' } });
  assert.match(filled.messages[0].content.text, /Oslo/);
  const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'everything__completable-prompt' }, argument: { name: 'department', value: 'E' } });
  assert.ok(completed.completion.values.includes('Engineering'), JSON.stringify(completed));
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri.endsWith('architecture.md')));
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.ok(resourceTemplates.some((item) => item.uriTemplate.includes('dynamic/text')));
  const uri = 'demo://resource/dynamic/text/7';
  assert.equal((await client.readResource({ uri })).contents[0].uri, uri);
  await assert.rejects(client.readResource({ uri: 'demo://resource/nowhere' }));

  const updated = new Promise((resolve) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri)));
  await client.subscribeResource({ uri });
  await client.callTool({ name: 'everything__toggle-subscriber-updates', arguments: {} });
  assert.equal(await updated, uri);
  await client.unsubscribeResource({ uri });
});

test('a stateless client of the modern era uses the same legacy server', async (t) => {
  const server = await gateway(t, entries.everything());
  const { tools } = await ask(server.endpoint, 'tools/list');
  assert.ok(tools.some((tool) => tool.name === 'everything__echo'));
  assert.equal((await callTool(server.endpoint, 'everything__echo', { message: 'modern' })).content[0].text, 'Echo: modern');
  const declared = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const tool = { name: 'everything__trigger-elicitation-request', arguments: {} };
  const first = await ask(server.endpoint, 'tools/call', { ...tool, _meta: declared });
  assert.equal(first.resultType, 'input_required', JSON.stringify(first));
  const [key] = Object.keys(first.inputRequests);
  const answer = { [key]: { action: 'accept', content: { name: 'Grace', check: true } } };
  const second = await ask(server.endpoint, 'tools/call', { ...tool, _meta: declared, inputResponses: answer, requestState: first.requestState });
  assert.match(JSON.stringify(second), /Grace/);
});

// The texts themselves: an SDK would sort what it parses.
async function rawTools(t) {
  const { command, args } = entries.everything();
  const direct = start(t, command, args, { input: 'pipe' });
  const send = (message) => direct.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } } });
  await until('initialize', () => direct.stdout.includes('"id":1'));
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/list', params: {} });
  return until('the list', () => direct.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line)).find((message) => message.id === 2)?.result.tools);
}

test('the same tool descriptions, byte for byte', async (t) => {
  const server = await gateway(t, entries.everything());
  const own = new Map((await rawTools(t)).map((tool) => [tool.name, tool]));
  const { tools } = await ask(server.endpoint, 'tools/list');
  const served = tools.filter((tool) => own.has(tool.name.replace('everything__', '')));
  assert.ok(served.length >= 12, `${served.length} tools`);
  for (const tool of served) {
    const original = own.get(tool.name.slice('everything__'.length));
    assert.equal(JSON.stringify({ ...tool, name: original.name }), JSON.stringify(original));
  }
});
