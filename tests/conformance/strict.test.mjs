// What the suite does not look at closely enough, over HTTP: exact answers, and input that is wrong on purpose.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { initialize, initializeMessage, legacyPost, messagesOf, modernRequest, openStream, request } from '../mcp.mjs';
import { until } from '../program.mjs';
import { startFixtures } from './run.mjs';

let server;
let endpoint;
before(async () => {
  server = await startFixtures();
  endpoint = server.endpoint;
});
after(async () => {
  const how = await server.stop({ grace: 5000 });
  assert.equal(how.code, 0, `the fixture server ended with ${JSON.stringify(how)}: ${server.stderr}`);
});

const send = (method, params, options) => request(endpoint, modernRequest(method, params, options));
const reply = async (method, params, options) => messagesOf(await send(method, params, options)).at(-1);
const call = (name, args = {}, extra = {}, options) => reply('tools/call', { name, arguments: args, ...extra }, options);
const capabilities = (declared) => ({ _meta: { 'io.modelcontextprotocol/clientCapabilities': declared } });
const legacyCall = async (session, name, args = {}, id = 5) =>
  messagesOf(await legacyPost(endpoint, { id, method: 'tools/call', params: { name, arguments: args } }, { session })).at(-1);

test('a tool that does not exist is a JSON-RPC error in both eras', async () => {
  assert.equal((await call('no_such_tool')).error.code, -32602);
  const session = await initialize(endpoint);
  assert.equal((await legacyCall(session, 'no_such_tool')).error.code, -32602);
});

test('a simple call is one JSON body, exactly', async () => {
  const answer = await send('tools/call', { name: 'echo', arguments: { message: 'hé' } }, { id: 'x' });
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(answer.body), {
    jsonrpc: '2.0', id: 'x',
    result: {
      resultType: 'complete', content: [{ type: 'text', text: 'hé' }],
      _meta: { 'io.modelcontextprotocol/serverInfo': JSON.parse(answer.body).result._meta['io.modelcontextprotocol/serverInfo'] },
    },
  });
});

test('a client that reads only events gets events', async () => {
  const answer = await send('tools/call', { name: 'test_simple_text' }, { headers: { accept: 'text/event-stream' } });
  assert.match(answer.headers['content-type'], /^text\/event-stream/);
  assert.equal(messagesOf(answer)[0].result.content[0].text, 'This is a simple text response for testing.');
});

test('arguments that do not fit are a tool error that names the field', async () => {
  for (const args of [{ message: 7 }, {}, { message: 'a', extra: 1 }]) {
    const { result } = await call('echo', args);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /message|extra/);
  }
  assert.equal((await reply('tools/call', { name: 'echo', arguments: [1] })).error.code, -32602);
});

test('arguments reach a tool as they were spelled', async () => {
  const body = modernRequest('tools/call', { name: 'show_arguments', arguments: {} });
  body.body = body.body.replace('"arguments":{}', '"arguments":{"n":1.50,"big":123456789012345678901234567890,"u":"\\u00e9"}');
  const answer = messagesOf(await request(endpoint, body)).at(-1);
  assert.equal(answer.result.content[0].text, '{"n":1.50,"big":123456789012345678901234567890,"u":"\\u00e9"}');
});

test('structured content and text agree', async () => {
  const { result } = await call('add_numbers', { a: 1, b: 2 });
  assert.deepEqual(result.structuredContent, { sum: 3 });
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
});

test('a resource that does not exist has the code of its era', async () => {
  assert.equal((await reply('resources/read', { uri: 'test://none' })).error.code, -32602);
  const session = await initialize(endpoint);
  const answer = await legacyPost(endpoint, { id: 2, method: 'resources/read', params: { uri: 'test://none' } }, { session });
  assert.equal(messagesOf(answer)[0].error.code, -32002);
});

test('a session belongs to its life: missing 400, unknown and ended 404', async () => {
  const list = { id: 3, method: 'tools/list' };
  assert.equal((await legacyPost(endpoint, list)).status, 400);
  assert.equal((await legacyPost(endpoint, list, { session: 'made-up' })).status, 404);
  const session = await initialize(endpoint);
  assert.equal((await legacyPost(endpoint, list, { session })).status, 200);
  assert.equal((await request(endpoint, { method: 'DELETE', headers: { 'mcp-session-id': session } })).status, 204);
  assert.equal((await legacyPost(endpoint, list, { session })).status, 404);
  assert.equal((await legacyPost(endpoint, list, { session, headers: { 'mcp-protocol-version': '1999-01-01' } })).status, 400);
});

test('bodies that are no messages are refused, and the server lives on', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = async (body) => {
    const answer = await request(endpoint, { method: 'POST', headers, body });
    return [answer.status, JSON.parse(answer.body).error.code];
  };
  assert.deepEqual(await post(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1')), [400, -32700]);
  assert.deepEqual(await post('['.repeat(50_000)), [400, -32700]);
  assert.deepEqual(await post('{"jsonrpc":"2.0","id":1,"method":"x","params":' + '{"a":'.repeat(1000) + '1' + '}'.repeat(1001)), [400, -32700]);
  assert.deepEqual(await post('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'), [400, -32600]);
  assert.deepEqual(await post('{"jsonrpc":"2.0","id":{},"method":"ping"}'), [400, -32600]);
  assert.deepEqual(await post(`{"jsonrpc":"2.0","id":"${'x'.repeat(10_000)}","method":"ping"}`), [400, -32600]);
  for (const id of ['1e400', '-1e400', '1.5', 'true', 'null', '[1]', `"${'x'.repeat(10_000)}"`, '9'.repeat(400)])
    assert.deepEqual(await post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`), [400, -32600], id.slice(0, 20));
  assert.deepEqual(await post('{"jsonrpc":"2.0","id":1,"method":7}'), [400, -32600]);
  assert.deepEqual(await post('{"jsonrpc":2,"id":1,"method":"ping"}'), [400, -32600]);
  assert.deepEqual(await post('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'), [400, -32600]);
  assert.deepEqual(await post('[]'), [400, -32600]);
  assert.equal((await request(endpoint, { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' })).status, 415);
  assert.equal((await request(endpoint, { method: 'PUT', headers, body: '{}' })).status, 405);
  assert.equal((await call('echo', { message: 'still here' })).result.content[0].text, 'still here');
});

test('batches belong to 2025-03-26 and are bounded', async () => {
  const open = { ...initializeMessage, params: { ...initializeMessage.params, protocolVersion: '2025-03-26' } };
  const session = (await legacyPost(endpoint, open)).headers['mcp-session-id'];
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': session };
  const batch = (messages, also = {}) => request(endpoint, { method: 'POST', headers: { ...headers, ...also }, body: JSON.stringify(messages) });
  const answers = JSON.parse((await batch([
    { jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/initialized' }, 7,
    { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'echo', arguments: { message: 'in a batch' } } },
  ])).body);
  assert.equal(answers.length, 3);
  assert.deepEqual(answers.find((answer) => answer.id === 1).result, {});
  assert.equal(answers.find((answer) => answer.id === 'b').result.content[0].text, 'in a batch');
  assert.equal(answers.find((answer) => answer.id === null).error.code, -32600);
  assert.equal((await batch([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status, 202);
  const bomb = Array.from({ length: 1000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  assert.equal((await batch(bomb)).status, 400);
  const newest = await initialize(endpoint);
  assert.equal((await batch([{ jsonrpc: '2.0', id: 1, method: 'ping' }], { 'mcp-session-id': newest })).status, 400);
});

test('messages that mix the eras are refused', async () => {
  const modern = { 'mcp-protocol-version': '2026-07-28' };
  const withHeader = await legacyPost(endpoint, initializeMessage, { headers: modern });
  assert.deepEqual([withHeader.status, JSON.parse(withHeader.body).error.code], [400, -32020]);
  const session = await initialize(endpoint);
  const noEnvelope = await legacyPost(endpoint, { id: 2, method: 'tools/list' }, { session, headers: modern });
  assert.deepEqual([noEnvelope.status, JSON.parse(noEnvelope.body).error.code], [400, -32602]);
  const oldVersion = modernRequest('tools/list', {});
  oldVersion.body = oldVersion.body.replace('2026-07-28', '2025-11-25');
  oldVersion.headers['mcp-protocol-version'] = '2025-11-25';
  const refused = await request(endpoint, oldVersion);
  assert.deepEqual([refused.status, JSON.parse(refused.body).error.code], [400, -32022]);
  for (const method of ['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'tasks/result', 'tasks/list'])
    assert.deepEqual([(await send(method)).status, (await reply(method)).error.code], [404, -32601], method);
});

test('requestState belongs to one request, one round and one time', async () => {
  const name = 'test_input_required_result_request_state';
  const can = capabilities({ elicitation: {} });
  const inputResponses = { confirm: { action: 'accept', content: { ok: true } } };
  const { result } = await call(name, {}, can);
  assert.equal(result.resultType, 'input_required');
  const state = result.requestState;
  for (const forged of [state + 'A', state.slice(1), 'AAAA.BBBB', '', 'x'.repeat(100_000)])
    assert.equal((await call(name, {}, { ...can, inputResponses, requestState: forged })).error.code, -32602);
  assert.equal((await call(name, { other: 1 }, { ...can, inputResponses, requestState: state })).error.code, -32602, 'other arguments');
  assert.equal((await call('test_input_required_result_tampered_state', {}, { ...can, inputResponses, requestState: state })).error.code, -32602);
  const again = await call(name, {}, { ...can, inputResponses: { confirm: 7 }, requestState: state });
  assert.equal(again.result.resultType, 'input_required', 'an ill-typed answer is asked for again');
  const done = await call(name, {}, { ...can, inputResponses, requestState: again.result.requestState });
  assert.match(done.result.content[0].text, /state-ok/);
  assert.equal((await call(name, {}, { ...can, inputResponses, requestState: state })).error.code, -32602, 'it is over');
});

test('a cursor from elsewhere is refused', async () => {
  for (const cursor of ['', 'MTAw', 'x'.repeat(5000), 7, null])
    assert.equal((await reply('tools/list', { cursor })).error.code, -32602, String(cursor));
});

test('a subscription flood is bounded', async () => {
  const uris = Array.from({ length: 300 }, (_, i) => `test://${i}`);
  const flooded = await send('subscriptions/listen', { notifications: { resourceSubscriptions: uris } });
  assert.equal(JSON.parse(flooded.body).error.code, -32602);
  const session = await initialize(endpoint);
  let refused = 0;
  for (const [id, uri] of uris.entries()) {
    const answer = await legacyPost(endpoint, { id, method: 'resources/subscribe', params: { uri } }, { session });
    if (JSON.parse(answer.body).error) refused += 1;
  }
  assert.equal(refused, uris.length - 256);
});

test('answers to requests never sent change nothing', async () => {
  const session = await initialize(endpoint);
  for (const id of ['relay-1', 1, 'x']) {
    const answer = await legacyPost(endpoint, { id, result: { action: 'accept' } }, { session });
    assert.equal(answer.status, 202);
  }
  assert.equal((await legacyCall(session, 'echo', { message: 'fine' })).result.content[0].text, 'fine');
});

test('a client may tell of progress that nobody asked about, at any time', async () => {
  const session = await initialize(endpoint);
  for (const progressToken of ['relay-1', 1, 'x', {}, null]) {
    const answer = await legacyPost(endpoint, { method: 'notifications/progress', params: { progressToken, progress: 1e308 } }, { session });
    assert.equal(answer.status, 202, JSON.stringify(progressToken));
  }
  assert.equal((await legacyCall(session, 'echo', { message: 'fine' })).result.content[0].text, 'fine');
});

test('an id that is in use is refused, and free again afterwards', async () => {
  const session = await initialize(endpoint);
  const slow = legacyCall(session, 'sleep', { ms: 600 }, 9);
  await sleep(150);
  assert.equal((await legacyCall(session, 'echo', { message: 'x' }, 9)).error.code, -32600);
  assert.equal((await slow).result.content[0].text, 'slept');
  assert.equal((await legacyCall(session, 'echo', { message: 'x' }, 9)).result.content[0].text, 'x');
});

test('no progress and no log after the end, none without asking', async () => {
  const meta = { progressToken: 'p' };
  const asked = messagesOf(await send('tools/call', { name: 'test_tool_with_progress', _meta: meta }));
  assert.deepEqual(asked.slice(0, -1).map((message) => [message.method, message.params.progress]),
    [['notifications/progress', 0], ['notifications/progress', 50], ['notifications/progress', 100]]);
  assert.ok(asked.at(-1).result, 'the answer comes last');
  assert.equal(messagesOf(await send('tools/call', { name: 'test_tool_with_progress' })).length, 1);
  const logged = messagesOf(await send('tools/call', { name: 'test_logging_tool', _meta: { 'io.modelcontextprotocol/logLevel': 'info' } }));
  assert.equal(logged.filter((message) => message.method === 'notifications/message').length, 3);
  const quiet = messagesOf(await send('tools/call', { name: 'test_logging_tool', _meta: { 'io.modelcontextprotocol/logLevel': 'error' } }));
  assert.equal(quiet.length, 1);
});

// Sends a call and gives the means to break its connection off.
function abandonable(options) {
  const sent = http.request(endpoint, { method: 'POST', agent: false, headers: options.headers });
  sent.on('error', () => {});
  sent.on('response', (answer) => answer.on('error', () => {}).resume());
  sent.end(options.body);
  return { breakOff: () => sent.destroy() };
}
const fateOf = async (name) => (await call('sleep_fate', { name })).result.content[0].text;
const fateBecomes = (name, fate) => until(`${name} to be ${fate}`, async () => (await fateOf(name)) === fate);
const legacyHeaders = (session) => ({
  'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25', 'content-type': 'application/json', accept: 'application/json, text/event-stream',
});

test('a modern call is cancelled when its connection closes', async () => {
  const one = abandonable(modernRequest('tools/call', { name: 'sleep', arguments: { ms: 60_000, name: 'modern' } }));
  await fateBecomes('modern', 'asleep');
  one.breakOff();
  await fateBecomes('modern', 'cancelled');
});

test('a legacy call runs to its end when its connection closes', async () => {
  const session = await initialize(endpoint);
  const params = { name: 'sleep', arguments: { ms: 1500, name: 'legacy' } };
  const one = abandonable({ headers: legacyHeaders(session), body: JSON.stringify({ jsonrpc: '2.0', id: 77, method: 'tools/call', params }) });
  await fateBecomes('legacy', 'asleep');
  one.breakOff();
  assert.equal((await legacyCall(session, 'echo', { message: 'x' }, 77)).error.code, -32600, 'it still runs under its id');
  await fateBecomes('legacy', 'slept');
  assert.equal((await legacyCall(session, 'echo', { message: 'x' }, 77)).result.content[0].text, 'x', 'its id is free');
});

test('what a legacy call said after its connection broke is there for the client that comes back', async () => {
  const session = await initialize(endpoint);
  const params = { name: 'test_tool_with_progress', arguments: {}, _meta: { progressToken: 'p' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 78, method: 'tools/call', params });
  const broken = await openStream(endpoint, { method: 'POST', headers: legacyHeaders(session), body });
  await until('some progress', () => /^id: \S+\ndata: \{.*\n\n/m.test(broken.text));
  broken.close();
  const last = [...broken.text.matchAll(/^id: (\S+)$/gm)].at(-1)[1];
  const resumed = await openStream(endpoint, { headers: { 'mcp-session-id': session, 'last-event-id': last } });
  await until('the answer', () => resumed.text.includes('progress done'));
  resumed.close();
  const told = [...(broken.text + resumed.text).matchAll(/^data: (\{.*)$/gm)].map(([, text]) => JSON.parse(text));
  assert.deepEqual(told.map((message) => message.params?.progress ?? message.result.content[0].text), [0, 50, 100, 'progress done'], 'all of it, once');
});

test('a polled call is resumed with Last-Event-ID', async () => {
  const session = await initialize(endpoint);
  const headers = legacyHeaders(session);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'test_reconnection', arguments: {} } });
  const first = await openStream(endpoint, { method: 'POST', headers, body });
  assert.equal(await first.ended, 'complete');
  assert.match(first.text, /^id: \S+\nretry: \d+\ndata: \n\n$/);
  const last = /id: (\S+)/.exec(first.text)[1];
  const resumed = await openStream(endpoint, { headers: { 'mcp-session-id': session, 'last-event-id': last } });
  await resumed.ended;
  assert.match(resumed.text, /Reconnection test completed/);
  const repeated = await openStream(endpoint, { headers: { 'mcp-session-id': session, 'last-event-id': last } });
  await repeated.ended;
  assert.match(repeated.text, /Reconnection test completed/, 'kept for a client that lost it again');
});

test('subscriptions tell of changes, old and new', async () => {
  const uri = 'test://watched-resource';
  const session = await initialize(endpoint);
  await legacyPost(endpoint, { id: 2, method: 'resources/subscribe', params: { uri } }, { session });
  const old = await openStream(endpoint, { headers: { 'mcp-session-id': session } });
  const listen = modernRequest('subscriptions/listen', { notifications: { resourceSubscriptions: [uri], toolsListChanged: true } }, { id: 'listen:0' });
  const fresh = await openStream(endpoint, { method: 'POST', headers: listen.headers, body: listen.body });
  await until('the acknowledgement', () => fresh.text.includes('subscriptions/acknowledged'));
  await call('test_update_resource', { uri });
  await until('the update', () => fresh.text.includes('resources/updated') && old.text.includes('resources/updated'));
  assert.match(fresh.text, /"io.modelcontextprotocol\/subscriptionId":"listen:0"/);
  await call('test_trigger_tool_change');
  await until('the change', () => fresh.text.includes('tools/list_changed') && old.text.includes('tools/list_changed'));
  fresh.close();
  old.close();
});

test('the old SSE transport serves old clients', async () => {
  const base = endpoint.replace('/mcp', '');
  const stream = await openStream(`${base}/sse`);
  await until('the endpoint', () => /event: endpoint\ndata: (\S+)/.test(stream.text));
  const url = base + /event: endpoint\ndata: (\S+)/.exec(stream.text)[1];
  const post = (message) => request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const open = { ...initializeMessage, params: { ...initializeMessage.params, protocolVersion: '2024-11-05' } };
  assert.equal((await post(open)).status, 202);
  await until('initialize', () => stream.text.includes('"protocolVersion":"2024-11-05"'));
  await post({ method: 'notifications/initialized' });
  await post({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { message: 'old but well' } } });
  await until('the answer', () => stream.text.includes('old but well'));
  stream.close();
  await until('the end of the session', async () => (await post({ id: 3, method: 'ping' })).status === 404);
});

test('the server card is cheap and cacheable', async () => {
  const card = await request(`${endpoint}/server-card`);
  assert.equal(card.headers['content-type'], 'application/mcp-server-card+json');
  assert.ok(JSON.parse(card.body).remotes[0].supportedProtocolVersions.includes('2026-07-28'));
  const again = await request(`${endpoint}/server-card`, { headers: { 'if-none-match': card.headers.etag } });
  assert.equal(again.status, 304);
  const catalogue = await request(endpoint.replace('/mcp', '/.well-known/ai-catalog.json'));
  assert.match(JSON.parse(catalogue.body).entries[0].url, /\/mcp\/server-card$/);
});

test('a thousand requests on one connection are answered in order', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 1000; i += 1) {
    const sent = modernRequest('tools/call', { name: 'echo', arguments: { message: String(i) } });
    const answer = await request(endpoint, { ...sent, agent });
    assert.equal(JSON.parse(answer.body).result.content[0].text, String(i));
  }
  agent.destroy();
});
