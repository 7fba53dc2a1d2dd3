// One client face over every way to reach a server: HTTP and stdio, in both eras. A test that is written once against it runs
// four times. Notifications that belong to no call are collected in `heard`.
import assert from 'node:assert/strict';
import { initializeMessage, legacyPost, messagesOf, modernRequest, openStream, request } from '../mcp.mjs';
import { atEnd, configured, serve, start, until } from '../program.mjs';

export const kinds = ['modern http', 'legacy http', 'modern stdio', 'legacy stdio'];

const noModelNeeded = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

class Client {
  heard = [];
  #ids = 100;
  nextId() { return ++this.#ids; }

  async call(method, params = {}) {
    const reply = await this.ask(method, params);
    if (reply.error) throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
    return reply.result;
  }
  async tool(name, args = {}) {
    return this.call('tools/call', { name, arguments: args });
  }
  // structuredContent of a call that must succeed.
  async done(name, args = {}) {
    const result = await this.tool(name, args);
    assert.ok(!result.isError, `${name} ${JSON.stringify(args).slice(0, 300)}: ${result.content?.[0]?.text}`);
    return result.structuredContent;
  }
  // The text of a call that must fail.
  async refused(name, args = {}) {
    const result = await this.tool(name, args);
    assert.ok(result.isError, `${name} ${JSON.stringify(args).slice(0, 300)} must fail; it gave ${JSON.stringify(result.structuredContent ?? null).slice(0, 300)}`);
    return result.content[0].text;
  }
  async waitFor(what, matches) {
    return until(`${what}; heard ${JSON.stringify(this.heard).slice(-1500)}`, () => this.heard.find(matches), { seconds: 40 });
  }
  async waitForUpdate(uri) {
    return this.waitFor(`an update of ${uri}`, (one) => one.method === 'notifications/resources/updated' && one.params.uri === uri);
  }
}

function collect(stream, heard) {
  let taken = 0;
  return { refresh: () => {
    const last = stream.text.lastIndexOf('\n\n');
    const end = last + 2;
    if (last < 0 || end <= taken) return;
    const body = stream.text.slice(taken, end);
    taken = end;
    heard.push(...messagesOf({ headers: { 'content-type': 'text/event-stream' }, body }).filter((one) => one.method));
  } };
}

class ModernHttp extends Client {
  constructor(t, endpoint) { super(); this.t = t; this.endpoint = endpoint; }
  async ask(method, params) {
    return messagesOf(await request(this.endpoint, modernRequest(method, params, { id: this.nextId() }))).at(-1);
  }
  // Subscribes to resources and to changes of their list.
  async listen(uris, { list = false } = {}) {
    const params = { notifications: { resourceSubscriptions: uris, ...(list ? { resourcesListChanged: true } : {}) } };
    const { body, headers } = modernRequest('subscriptions/listen', params, { id: this.nextId() });
    const stream = await openStream(this.endpoint, { method: 'POST', body, headers });
    atEnd(this.t, () => stream.close());
    const { refresh } = collect(stream, this.heard);
    const acknowledged = await until(`an acknowledgement; got ${stream.text}`, () => {
      refresh();
      return this.heard.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    });
    const timer = setInterval(refresh, 20);
    atEnd(this.t, () => clearInterval(timer));
    return { honoured: acknowledged.params.notifications.resourceSubscriptions ?? [], close: () => { clearInterval(timer); stream.close(); } };
  }
  forget() { throw new Error('a listen stream is closed, not unsubscribed'); }
}

class LegacyHttp extends Client {
  constructor(t, endpoint) { super(); this.t = t; this.endpoint = endpoint; }
  async open() {
    const answer = await legacyPost(this.endpoint, initializeMessage);
    assert.equal(answer.status, 200, answer.body);
    this.session = answer.headers['mcp-session-id'];
    await legacyPost(this.endpoint, { method: 'notifications/initialized' }, { session: this.session });
    const stream = await openStream(this.endpoint, { headers: { 'mcp-session-id': this.session, 'mcp-protocol-version': '2025-11-25' } });
    atEnd(this.t, () => stream.close());
    const { refresh } = collect(stream, this.heard);
    const timer = setInterval(refresh, 20);
    atEnd(this.t, () => clearInterval(timer));
    return this;
  }
  async ask(method, params) {
    return messagesOf(await legacyPost(this.endpoint, { id: this.nextId(), method, params }, { session: this.session })).at(-1);
  }
  async end() {
    return request(this.endpoint, { method: 'DELETE', headers: { 'mcp-session-id': this.session } });
  }
}

class Stdio extends Client {
  #waiting = new Map();
  constructor(t, server, era) {
    super();
    Object.assign(this, { t, server, era });
    let rest = '';
    server.child.stdout.on('data', (text) => {
      rest += text;
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) this.#take(JSON.parse(line));
    });
  }
  #take(message) {
    if (message.id !== undefined && this.#waiting.has(message.id)) return this.#waiting.get(message.id)(message);
    this.heard.push(message);
  }
  say(message) { this.server.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`); }
  ask(method, params, id = this.nextId()) {
    const answered = new Promise((done) => this.#waiting.set(id, done));
    this.say({ id, method, params: this.era === 'modern' ? { ...params, _meta: { ...noModelNeeded, ...params._meta } } : params });
    return answered;
  }
  async open() {
    if (this.era === 'modern') return this;
    await this.ask('initialize', initializeMessage.params);
    this.say({ method: 'notifications/initialized' });
    return this;
  }
  async listen(uris, { list = false } = {}) {
    const id = this.nextId();
    this.say({ id, method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: uris, ...(list ? { resourcesListChanged: true } : {}) }, _meta: noModelNeeded } });
    const acknowledged = await this.waitFor('an acknowledgement', ({ method }) => method === 'notifications/subscriptions/acknowledged');
    return { honoured: acknowledged.params.notifications.resourceSubscriptions ?? [], close: () => this.say({ method: 'notifications/cancelled', params: { requestId: id } }) };
  }
}

// Legacy clients subscribe one by one; what is refused is not honoured.
async function subscribeEach(client, uris) {
  const honoured = [];
  for (const uri of uris) {
    const reply = await client.ask('resources/subscribe', { uri });
    if (!reply.error) honoured.push(uri);
  }
  return { honoured, close: async () => { for (const uri of honoured) await client.call('resources/unsubscribe', { uri }); } };
}
LegacyHttp.prototype.listen = function listen(uris) { return subscribeEach(this, uris); };
const stdioListen = Stdio.prototype.listen;
Stdio.prototype.listen = function listen(uris, options) { return this.era === 'modern' ? stdioListen.call(this, uris, options) : subscribeEach(this, uris); };

// A server of its own for the test, and a client of this kind on it; on stdio `beside` is another client of the same project.
export async function connect(t, kind, { config = {}, flags = [], beside } = {}) {
  const [era, transport] = kind.split(' ');
  const whole = { toolsets: ['files'], ...config };
  if (transport === 'stdio') {
    const { cwd, file } = beside ?? configured(t, whole);
    const server = start(t, 'relay', ['stdio', '-c', file, ...flags], { cwd, input: 'pipe' });
    server.child.stdin.on('error', () => {});
    return Object.assign(await new Stdio(t, server, era).open(), { cwd, file });
  }
  const server = await serve(t, { config: whole, flags: ['--no-open', '--no-ui', ...flags] });
  return Object.assign(await another(t, server.endpoint, era), { cwd: server.cwd, server });
}

// One more client of a running HTTP server.
export async function another(t, endpoint, era = 'modern') {
  return era === 'modern' ? new ModernHttp(t, endpoint) : new LegacyHttp(t, endpoint).open();
}
