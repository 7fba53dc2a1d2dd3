// The protocol over stdio, which the official suite does not cover: both eras, many requests in flight, wrong lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start, until } from '../program.mjs';
import { initializeMessage, modern } from '../mcp.mjs';

const meta = (declared = {}) => ({
  'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientCapabilities': declared,
});

class Pipes {
  constructor(t) {
    this.program = start(t, 'relay-conformance-server', ['--stdio'], { input: 'pipe' });
  }
  line(text) { this.program.child.stdin.write(`${text}\n`); }
  send(message) { this.line(JSON.stringify({ jsonrpc: '2.0', ...message })); }
  get messages() { return this.program.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line)); }
  answer(id) { return until(`an answer to ${id}; ${this.program.stderr}`, () => this.messages.find((message) => message.id === id && !message.method)); }
  asked(method) { return until(`a request ${method}`, () => this.messages.find((message) => message.method === method && message.id !== undefined)); }
  ask(id, method, params) {
    this.send({ id, method, params });
    return this.answer(id);
  }
  modern(id, method, params = {}, declared) { return this.ask(id, method, { ...params, _meta: { ...meta(declared), ...params._meta } }); }
  async open(version = '2025-11-25', declared = {}) {
    const { result } = await this.ask(1, 'initialize', { ...initializeMessage.params, protocolVersion: version, capabilities: declared });
    this.send({ method: 'notifications/initialized' });
    return result;
  }
}

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
  test(`a legacy session of ${version}`, async (t) => {
    const pipes = new Pipes(t);
    assert.equal((await pipes.open(version)).protocolVersion, version);
    assert.deepEqual((await pipes.ask('p', 'ping')).result, {});
    const { tools } = (await pipes.ask(2, 'tools/list', {})).result;
    assert.ok(tools.length > 30);
    assert.equal((await pipes.ask(3, 'tools/call', { name: 'echo', arguments: { message: 'a\nb' } })).result.content[0].text, 'a\nb');
    const sum = (await pipes.ask(4, 'tools/call', { name: 'add_numbers', arguments: { a: 1, b: 2 } })).result;
    assert.equal(sum.structuredContent === undefined, version < '2025-06-18');
    assert.equal((await pipes.ask(5, 'nothing/here', {})).error.code, -32601);
  });
}

test('a probe first, then the modern era in the same process', async (t) => {
  const pipes = new Pipes(t);
  const { result } = await pipes.modern('server-discover-probe-1', 'server/discover');
  assert.deepEqual(result.supportedVersions, [modern]);
  assert.equal(result.resultType, 'complete');
  assert.ok(Number.isInteger(result.ttlMs) && result.cacheScope);
  assert.equal((await pipes.modern(0, 'tools/call', { name: 'echo', arguments: { message: 'zero' } })).result.content[0].text, 'zero');
  assert.equal((await pipes.modern(2, 'ping')).error.code, -32601);
  const old = await pipes.ask(3, 'tools/list', { _meta: { ...meta(), 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } });
  assert.equal(old.error.code, -32022);
  assert.deepEqual(old.error.data.supported, [modern]);
  assert.equal((await pipes.ask(4, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': modern } })).error.code, -32602);
});

test('a client may fall back to initialize after its probe', async (t) => {
  const pipes = new Pipes(t);
  await pipes.modern('probe', 'server/discover');
  assert.equal((await pipes.open()).protocolVersion, '2025-11-25');
});

test('before initialize only a ping is answered', async (t) => {
  const pipes = new Pipes(t);
  assert.deepEqual((await pipes.ask(1, 'ping')).result, {});
  assert.equal((await pipes.ask(2, 'tools/list', {})).error.code, -32600);
});

test('questions are requests to a legacy client and input_required to a modern one', async (t) => {
  const pipes = new Pipes(t);
  await pipes.open('2025-11-25', { elicitation: {} });
  pipes.send({ id: 2, method: 'tools/call', params: { name: 'test_input_required_result_elicitation', arguments: {} } });
  const question = await pipes.asked('elicitation/create');
  pipes.send({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } });
  assert.equal((await pipes.answer(2)).result.content[0].text, 'Hello, Ada!');

  const tool = { name: 'test_input_required_result_elicitation', arguments: {} };
  const first = (await pipes.modern('m1', 'tools/call', tool, { elicitation: {} })).result;
  assert.equal(first.resultType, 'input_required');
  const inputResponses = { user_name: { action: 'accept', content: { name: 'Bob' } } };
  const second = await pipes.modern('m2', 'tools/call', { ...tool, inputResponses, requestState: first.requestState }, { elicitation: {} });
  assert.equal(second.result.content[0].text, 'Hello, Bob!');
  const undeclared = await pipes.modern('m3', 'tools/call', tool);
  assert.equal(undeclared.error.code, -32021);
  assert.deepEqual(undeclared.error.data.requiredCapabilities, { elicitation: {} });
});

test('a page to open is asked for where the client can open one', async (t) => {
  const pipes = new Pipes(t);
  const { result } = await pipes.modern(1, 'tools/call', { name: 'ask_page', arguments: {} }, { elicitation: { url: {} } });
  assert.equal(result.inputRequests.sign_in.params.mode, 'url');
  assert.equal(result.inputRequests.sign_in.params.elicitationId, undefined);
  assert.equal((await pipes.modern(2, 'tools/call', { name: 'ask_page', arguments: {} }, { elicitation: {} })).error.code, -32021);
});

test('a hundred calls in flight overlap', async (t) => {
  const pipes = new Pipes(t);
  await pipes.open();
  for (let id = 100; id < 200; id += 1) pipes.send({ id, method: 'tools/call', params: { name: 'sleep', arguments: { ms: 300 - id } } });
  for (let id = 100; id < 200; id += 1) assert.equal((await pipes.answer(id)).result.content[0].text, 'slept');
  const order = pipes.messages.filter((message) => message.id >= 100).map((message) => message.id);
  assert.notDeepEqual(order, [...order].sort((a, b) => a - b), 'the later ones slept shorter');
});

test('a cancelled request gets no answer in either era', async (t) => {
  const pipes = new Pipes(t);
  await pipes.open();
  pipes.send({ id: 'slow', method: 'tools/call', params: { name: 'sleep', arguments: { ms: 60_000 } } });
  pipes.send({ id: 'slower', method: 'tools/call', params: { name: 'sleep', arguments: { ms: 60_000 }, _meta: meta() } });
  for (const requestId of ['slow', 'slower', 'never sent', {}]) pipes.send({ method: 'notifications/cancelled', params: { requestId } });
  await pipes.ask(3, 'ping');
  const again = await pipes.ask('slow', 'tools/call', { name: 'echo', arguments: { message: 'free' } });
  assert.equal(again.result.content[0].text, 'free', 'the id is free again');
  assert.equal((await pipes.modern('slower', 'tools/call', { name: 'echo', arguments: { message: 'free' } })).result.content[0].text, 'free');
});

test('a listen stream acknowledges, tells, and ends with its request', async (t) => {
  const pipes = new Pipes(t);
  pipes.send({ id: 'listen:0', method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true, nonsense: true }, _meta: meta() } });
  const acknowledged = await until('the acknowledgement', () => pipes.messages[0]);
  assert.equal(acknowledged.method, 'notifications/subscriptions/acknowledged');
  assert.deepEqual(acknowledged.params.notifications, { toolsListChanged: true });
  assert.equal(acknowledged.params._meta['io.modelcontextprotocol/subscriptionId'], 'listen:0');
  await pipes.modern(1, 'tools/call', { name: 'test_trigger_tool_change', arguments: {} });
  await until('the change', () => pipes.messages.find((message) => message.method === 'notifications/tools/list_changed'));
  pipes.send({ method: 'notifications/cancelled', params: { requestId: 'listen:0' } });
  await pipes.modern(2, 'tools/call', { name: 'test_trigger_tool_change', arguments: {} });
  await pipes.modern(3, 'tools/list');
  assert.equal(pipes.messages.filter((message) => message.method === 'notifications/tools/list_changed').length, 1);
});

test('tasks of 2025-11-25: created, asked about, awaited, cancelled', async (t) => {
  const pipes = new Pipes(t);
  const opened = await pipes.open('2025-11-25', { elicitation: {} });
  assert.deepEqual(opened.capabilities.tasks.requests, { tools: { call: {} } });
  const create = async (id, name, args = {}) =>
    (await pipes.ask(id, 'tools/call', { name, arguments: args, task: { ttl: 60_000 } })).result?.task;
  const quick = await create(2, 'slow_compute', { seconds: 0.2, label: 'work' });
  assert.equal(quick.status, 'working');
  assert.equal((await pipes.ask(3, 'tasks/get', { taskId: quick.taskId })).result.taskId, quick.taskId);
  const { result } = await pipes.ask(4, 'tasks/result', { taskId: quick.taskId });
  assert.equal(result.content[0].text, 'work done');
  assert.equal(result._meta['io.modelcontextprotocol/related-task'].taskId, quick.taskId);
  const long = await create(5, 'slow_compute', { seconds: 60 });
  assert.equal((await pipes.ask(6, 'tasks/cancel', { taskId: long.taskId })).result.status, 'cancelled');
  assert.equal((await pipes.ask(7, 'tasks/cancel', { taskId: long.taskId })).error.code, -32602);
  assert.equal((await pipes.ask(8, 'tasks/list', {})).result.tasks.length, 2);
  const asking = await create(9, 'confirm_delete', { filename: 'a' });
  pipes.send({ id: 10, method: 'tasks/result', params: { taskId: asking.taskId } });
  const question = await pipes.asked('elicitation/create');
  assert.equal(question.params._meta['io.modelcontextprotocol/related-task'].taskId, asking.taskId);
  pipes.send({ id: question.id, result: { action: 'accept', content: { confirm: true } } });
  assert.equal((await pipes.answer(10)).result.content[0].text, 'deleted a');
  assert.equal((await pipes.ask(11, 'tools/call', { name: 'greet', arguments: { name: 'x' }, task: {} })).error.code, -32601);
  assert.equal((await pipes.ask(12, 'tools/call', { name: 'failing_job', arguments: {} })).error.code, -32601);
  assert.equal((await pipes.ask(13, 'tasks/get', { taskId: 'task_0' })).error.code, -32602);
});

test('wrong lines get an error each, and the connection lives on', async (t) => {
  const pipes = new Pipes(t);
  await pipes.open();
  const errors = () => pipes.messages.filter((message) => message.error).map((message) => [message.id, message.error.code]);
  pipes.line('not json');
  pipes.line('[' + '['.repeat(10_000));
  pipes.program.child.stdin.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', 'latin1'));
  pipes.line('{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}');
  pipes.line('{"jsonrpc":"2.0","id":[],"method":"ping"}');
  pipes.line('[]');
  pipes.line('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
  pipes.line('');
  pipes.send({ id: 'relay-99', result: {} });
  assert.deepEqual((await pipes.ask('end', 'ping')).result, {});
  assert.deepEqual(errors(), [[null, -32700], [null, -32700], [1, -32700], [null, -32600], [null, -32600], [null, -32600], [null, -32600]],
    'an id that can be read is in the answer');
});

test('the end of the input ends the server, whatever still runs', async (t) => {
  const pipes = new Pipes(t);
  await pipes.open('2025-11-25', { elicitation: {} });
  pipes.send({ id: 1, method: 'tools/call', params: { name: 'sleep', arguments: { ms: 60_000 } } });
  pipes.send({ id: 2, method: 'tools/call', params: { name: 'test_elicitation', arguments: { message: 'anybody?' } } });
  await pipes.asked('elicitation/create');
  pipes.program.child.stdin.end();
  assert.deepEqual(await pipes.program.exit, { code: 0, signal: null });
});
