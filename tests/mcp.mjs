// The smallest MCP clients there are: plain HTTP requests and lines on a pipe, so that tests see the bytes themselves.
import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';

export const modern = '2026-07-28';
const accept = 'application/json, text/event-stream';

// One request; any header may be set, Host and Origin too. Gives status, headers and the whole body.
export function request(url, { method = 'GET', headers = {}, body, agent, ca, signal } = {}) {
  const library = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = library.request(url, { method, headers, agent, ca, signal }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks).toString('utf8') }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// The JSON-RPC messages of an answer, whether it came as one JSON body or as an event stream.
export function messagesOf({ headers, body }) {
  if (!headers['content-type']?.startsWith('text/event-stream')) return body ? [JSON.parse(body)] : [];
  return body.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart()).join('\n');
    return data ? [JSON.parse(data)] : [];
  });
}

let ids = 0;

// A modern request: self-contained, so that one POST is a whole conversation.
export function modernRequest(method, params = {}, { name, headers = {}, id = ++ids } = {}) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientCapabilities': {} };
  const subject = name ?? params.name ?? params.uri;
  return {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, ...params._meta } } }),
    headers: {
      'content-type': 'application/json', accept, 'mcp-protocol-version': modern, 'mcp-method': method,
      ...(subject ? { 'mcp-name': subject } : {}), ...headers,
    },
  };
}

export async function ask(endpoint, method, params, { token, ...options } = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await request(endpoint, { ...modernRequest(method, params, { headers }), ...options });
  const reply = messagesOf(answer).at(-1);
  assert.ok(reply, `an answer to ${method}; got ${answer.status} ${answer.body.slice(0, 500)}`);
  if (reply.error) throw Object.assign(new Error(`${method}: ${reply.error.message}`), { code: reply.error.code, status: answer.status });
  return reply.result;
}

export const callTool = (endpoint, name, args = {}, options) => ask(endpoint, 'tools/call', { name, arguments: args }, options);

const legacyHeaders = (session) => ({
  'content-type': 'application/json', accept, ...(session ? { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } : {}),
});

export const legacyPost = (endpoint, message, { session, headers = {} } = {}) =>
  request(endpoint, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }), headers: { ...legacyHeaders(session), ...headers } });

export const initializeMessage = {
  id: 1, method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'plain', version: '1' } },
};

// A legacy session; gives its id.
export async function initialize(endpoint, options = {}) {
  const answer = await legacyPost(endpoint, initializeMessage, options);
  assert.equal(answer.status, 200, answer.body);
  const session = answer.headers['mcp-session-id'];
  await legacyPost(endpoint, { method: 'notifications/initialized' }, { ...options, session });
  return session;
}

// A stream that stays open: collects its text until the server ends it. `ended` says how.
export async function openStream(endpoint, { method = 'GET', headers = {}, body } = {}) {
  const answer = await new Promise((resolve, reject) => {
    const sent = http.request(endpoint, { method, headers: { accept: 'text/event-stream', ...headers } }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
  const stream = { status: answer.statusCode, headers: answer.headers, text: '', close: () => answer.destroy() };
  answer.setEncoding('utf8').on('data', (text) => (stream.text += text));
  stream.ended = new Promise((resolve) => {
    answer.on('end', () => resolve('complete')).on('aborted', () => resolve('cut off')).on('error', () => resolve('cut off'));
  });
  return stream;
}
