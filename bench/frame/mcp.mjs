// The requests that are measured, as values, in both eras.
import http from 'node:http';

const accept = 'application/json, text/event-stream';
const modern = '2026-07-28';
const legacy = '2025-11-25';

export const echoTool = 'test_simple_text';
export const echoText = 'This is a simple text response for testing.';

export function post(url, { headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method: 'POST', headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export function modernMessage(method, params, id = 1) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
}

export function modernRequest(method, params) {
  return {
    method: 'POST', body: JSON.stringify(modernMessage(method, params)),
    headers: { 'Content-Type': 'application/json', Accept: accept, 'MCP-Protocol-Version': modern, 'Mcp-Method': method, ...(params.name ? { 'Mcp-Name': params.name } : {}) },
  };
}

export const modernCall = (name, args = {}) => modernRequest('tools/call', { name, arguments: args });

// A call within a session that was opened for it.
export async function legacyCall(url, name, args = {}) {
  const session = await openSession(url);
  return {
    method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    headers: { 'Content-Type': 'application/json', Accept: accept, 'MCP-Protocol-Version': legacy, 'Mcp-Session-Id': session },
  };
}

export const initializeMessage = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: legacy, capabilities: {}, clientInfo: { name: 'bench', version: '1' } } };

export async function openSession(url) {
  const headers = { 'Content-Type': 'application/json', Accept: accept };
  const answer = await post(url, { headers, body: JSON.stringify(initializeMessage) });
  const session = answer.headers['mcp-session-id'];
  if (!session) throw new Error(`${url} opened no session: ${answer.status} ${answer.text.slice(0, 500)}`);
  await post(url, { headers: { ...headers, 'Mcp-Session-Id': session, 'MCP-Protocol-Version': legacy }, body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) });
  return session;
}

// The result of one modern call, for checks and for code that looks inside.
export async function callOnce(url, name, args) {
  const answer = await post(url, modernCall(name, args));
  const text = answer.headers['content-type']?.startsWith('text/event-stream')
    ? answer.text.split('\n').filter((line) => line.startsWith('data: ')).at(-1).slice(6) : answer.text;
  const message = JSON.parse(text);
  if (message.error || message.result.isError) throw new Error(`${name}: ${text.slice(0, 1000)}`);
  return message.result;
}
