// Peers for the HTTP client: servers that speak HTTP/2, and a forward proxy, all on ports of their own.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { join } from 'node:path';
import { atEnd, run, temporaryDirectory } from '../program.mjs';

// A fresh self-signed certificate for localhost.
export function certificate(t) {
  const directory = temporaryDirectory(t);
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { file: cert, cert: readFileSync(cert), key: readFileSync(key) };
}

async function listening(t, server, close) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, close);
  return server.address().port;
}

// Says what it got; /cut drops the connection in the middle, /reset ends the stream before its head, /large sends 8 MB, /events two of them.
function answer(stream, headers, drop) {
  const path = headers[':path'];
  stream.on('error', () => {});
  if (path === '/reset') return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
  if (path === '/cut') {
    stream.respond({ ':status': 200 });
    stream.write('half');
    return setTimeout(drop, 20);
  }
  if (path === '/large') {
    stream.respond({ ':status': 200 });
    return stream.end(Buffer.alloc(8 << 20, 0x6c));
  }
  if (path === '/events') {
    stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
    stream.write('data: 1\n\n');
    return setTimeout(() => stream.end('data: 2\n\n'), 10);
  }
  let bytes = 0;
  stream.on('data', (piece) => (bytes += piece.length));
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'x-secret': 'kept' });
    stream.end(JSON.stringify({ method: headers[':method'], bytes, authorization: headers.authorization, proxyAuthorization: headers['proxy-authorization'] }));
  });
}

// An HTTP/2 server over TLS; `sessions` counts the connections that clients opened.
export async function secureServer(t) {
  const pair = certificate(t);
  const server = http2.createSecureServer({ cert: pair.cert, key: pair.key });
  const open = new Set();
  const peer = { sessions: 0, ca: pair.file };
  server.on('session', (session) => {
    peer.sessions += 1;
    open.add(session.on('error', () => {}).on('close', () => open.delete(session)));
  });
  const sockets = new Set();
  server.on('secureConnection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  server.on('stream', (stream, headers) => answer(stream, headers, () => sockets.forEach((socket) => socket.destroy())));
  peer.port = await listening(t, server, () => {
    open.forEach((session) => session.destroy());
    server.close();
  });
  peer.url = `https://localhost:${peer.port}`;
  return peer;
}

// A plain server that says with which fields it was asked.
export async function plainServer(t) {
  const server = http.createServer((request, response) => response.end(JSON.stringify({ target: request.url, headers: request.headers })));
  const port = await listening(t, server, () => { server.closeAllConnections(); server.close(); });
  return { port, url: `http://127.0.0.1:${port}` };
}

function forward(request, response) {
  const { hostname, port, pathname, search } = new URL(request.url);
  const { 'proxy-authorization': mine, 'proxy-connection': also, ...headers } = request.headers;
  const onward = http.request({ hostname, port, path: pathname + search, method: request.method, headers }, (answered) => {
    response.writeHead(answered.statusCode, { ...answered.headers, via: '1.1 test' });
    answered.pipe(response);
  });
  onward.on('error', () => response.writeHead(502).end());
  request.pipe(onward);
}

// Every request it carries stands in `seen`; `only` is what Proxy-Authorization has to say.
export async function forwardProxy(t, { only } = {}) {
  const proxy = { seen: [] };
  const sockets = new Set();
  const allowed = (request) => only === undefined || request.headers['proxy-authorization'] === only;
  const server = http.createServer((request, response) => {
    proxy.seen.push(`${request.method} ${request.url}`);
    if (allowed(request)) forward(request, response);
    else response.writeHead(407, { 'proxy-authenticate': 'Basic realm="test"' }).end();
  });
  server.on('connect', (request, socket, head) => {
    proxy.seen.push(`CONNECT ${request.url}`);
    socket.on('error', () => {});
    if (!allowed(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="test"\r\nContent-Length: 0\r\n\r\n');
    const onward = net.connect(Number(request.url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  proxy.port = await listening(t, server, () => { sockets.forEach((socket) => socket.destroy()); server.close(); });
  proxy.url = `http://127.0.0.1:${proxy.port}`;
  return proxy;
}

// Sends with Relay's client; gives one outcome for each time. Settings of the machine about proxies do not count.
export async function send(wish, { env = {} } = {}) {
  const none = Object.fromEntries(['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [[name, ''], [name.toUpperCase(), '']]));
  const { code, stdout, stderr } = await run('relay-http-client', [], { input: JSON.stringify(wish), env: { ...none, ...env } });
  if (code !== 0) throw new Error(`relay-http-client ended with ${code}: ${stderr}`);
  return stdout.trim().split('\n').map((line) => JSON.parse(line));
}
