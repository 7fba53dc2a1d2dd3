// fetch and its Python faces through the guarded client: bodies that stream both ways, walls that hold, refusals on record.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { request } from '../mcp.mjs';
import { serve, stateOf, temporaryDirectory, until } from '../program.mjs';
import { loopback, peer, runJs, runPy } from './support.mjs';

const auditLines = (server) => readFileSync(join(stateOf(server.cwd), 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const refusals = async (server, count) =>
  until(`${count} refusals on record`, () => {
    const lines = auditLines(server).filter(({ tool, parent, args }) => tool === 'fetch' && parent && args.what);
    return lines.length >= count && lines;
  });
const metric = async (server, name) => {
  const { body } = await request(`${server.url}/metrics`);
  return Number(body.split('\n').find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
};

// Answers /slow piece by piece: the next one leaves when the test says so, or when GET /next is asked.
function pieces() {
  const waits = [];
  const next = () => waits.shift()?.();
  const handler = async (asked, answer) => {
    if (asked.url === '/next') {
      next();
      return answer.end('ok');
    }
    answer.writeHead(200, { 'content-type': 'text/plain' });
    for (const piece of ['one ', 'two ', 'three']) {
      answer.write(piece);
      await new Promise((go) => waits.push(go));
    }
    answer.end();
  };
  return { handler };
}

test('JavaScript reads a body while the server still writes it', async (t) => {
  const port = await peer(t, pieces().handler);
  const server = await serve(t, { config: loopback() });
  const { value, error } = await runJs(server, `
    const base = "http://localhost:${port}";
    const response = await fetch(base + "/slow");
    const seen = [];
    for await (const chunk of response.body) {
      seen.push(new TextDecoder().decode(chunk));
      await fetch(base + "/next");   // the server goes on only now: nobody can have waited for the end
    }
    seen`);
  assert.deepEqual(value, ['one ', 'two ', 'three'], JSON.stringify(error));
});

test('a reader, text() and a Python file do the same', async (t) => {
  const port = await peer(t, pieces().handler);
  const server = await serve(t, { config: loopback() });
  const js = await runJs(server, `
    const base = "http://localhost:${port}";
    const reader = (await fetch(base + "/slow")).body.getReader();
    const seen = [];
    for (let step = await reader.read(); !step.done; step = await reader.read()) { seen.push(step.value.length); await fetch(base + "/next"); }
    seen`);
  assert.deepEqual(js.value, [4, 4, 5], JSON.stringify(js.error));
  const py = await runPy(server, `
import urllib.request
base = "http://localhost:${port}"
response = urllib.request.urlopen(base + "/slow")
seen = []
for length in (4, 4, 5):
    seen.append(response.read(length).decode())
    urllib.request.urlopen(base + "/next").read()
seen.append(response.read().decode())
seen`);
  assert.deepEqual(py.value, ['one ', 'two ', 'three', ''], py.stderr + JSON.stringify(py.error));
  const awaited = await runPy(server, `
base = "http://localhost:${port}"
seen = []
async for chunk in await fetch(base + "/slow"):
    seen.append(chunk.decode())
    await fetch(base + "/next")
seen`);
  assert.deepEqual(awaited.value, ['one ', 'two ', 'three'], awaited.stderr + JSON.stringify(awaited.error));
});

test('a guest that does not read holds the server back, and one that stops ends the transfer', async (t) => {
  const total = 64 * 1024 * 1024;
  let sent = 0, closed = false;
  const port = await peer(t, (asked, answer) => {
    if (asked.url === '/state') return answer.end(JSON.stringify({ sent, closed }));
    answer.on('close', () => (closed = true));
    const piece = Buffer.alloc(256 * 1024, 'x');
    const more = () => {
      while (sent < total && !answer.destroyed) {
        sent += piece.length;
        if (!answer.write(piece)) return answer.once('drain', more);
      }
      answer.end();
    };
    more();
  });
  const server = await serve(t, { config: loopback({ maxBodyBytes: 2 * total }) });
  const { value, error } = await runJs(server, `
    const base = "http://localhost:${port}";
    const state = async () => (await fetch(base + "/state")).json();
    const reader = (await fetch(base + "/large")).body.getReader();
    await reader.read();
    let before = -1, now = (await state()).sent;
    while (now !== before) { before = now; await new Promise((done) => setTimeout(done, 300)); now = (await state()).sent; }
    await reader.cancel();
    let after = await state();
    for (let i = 0; i < 200 && !after.closed; i++) { await new Promise((done) => setTimeout(done, 50)); after = await state(); }
    [now, after.closed]`);
  assert.equal(error, undefined, JSON.stringify(error));
  assert.ok(value[0] < total / 2, `the server could send ${value[0]} bytes to somebody who read one piece`);
  assert.equal(value[1], true, 'the connection went with the reader');
});

test('what a run leaves open goes with it', async (t) => {
  let closed;
  const gone = new Promise((done) => (closed = done));
  const port = await peer(t, (asked, answer) => {
    answer.on('close', closed);
    answer.write('for ever');
  });
  const server = await serve(t, { config: loopback() });
  const { value } = await runJs(server, `const r = await fetch("http://localhost:${port}/"); process.exit(3)`);
  assert.equal(value, undefined);
  await Promise.race([gone, new Promise((_, fail) => setTimeout(() => fail(new Error('still open')), 30_000).unref())]);
});

test('request bodies stream too, and both ways are binary safe', async (t) => {
  const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');
  const port = await peer(t, async (asked, answer) => {
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    answer.writeHead(200, { 'x-sha': hash(body), 'x-length': asked.headers['content-length'] ?? 'none' });
    answer.end(body);
  });
  const server = await serve(t, { config: loopback() });
  const expected = hash(Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251)));
  const js = await runJs(server, `
    let sent = 0;
    const body = new ReadableStream({ pull(controller) {
      if (sent === 1000000) return controller.close();
      controller.enqueue(Uint8Array.from({ length: 100000 }, (_, i) => (sent + i) % 251)); sent += 100000;
    } });
    const r = await fetch("http://localhost:${port}/", { method: "POST", body, duplex: "half" });
    const back = await r.bytes();
    const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", back))].map((b) => b.toString(16).padStart(2, "0")).join("");
    [r.headers.get("x-sha"), digest, r.headers.get("x-length")]`);
  assert.deepEqual(js.value, [expected, expected, 'none'], JSON.stringify(js.error));
  const py = await runPy(server, `
import hashlib, io, urllib.request, http.client
data = bytes(i % 251 for i in range(1000000))
def generate():
    for at in range(0, len(data), 100000):
        yield data[at:at + 100000]
seen = []
for body in (data, generate(), io.BytesIO(data)):
    r = urllib.request.urlopen(urllib.request.Request("http://localhost:${port}/", data=body, method="POST", headers={"Content-Type": "application/octet-stream"}))
    seen.append([r.headers["x-sha"], hashlib.sha256(r.read()).hexdigest()])
r = await fetch("http://localhost:${port}/", method="PUT", body=generate())
seen.append([r.headers["x-sha"], hashlib.sha256(await r.bytes()).hexdigest()])
seen`);
  assert.deepEqual(py.value, Array(4).fill([expected, expected]), py.stderr + JSON.stringify(py.error));
});

test('the cap holds for what is sent, what is received and what is unpacked', async (t) => {
  const port = await peer(t, (asked, answer) => {
    asked.resume();
    if (asked.url === '/bomb') return answer.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000)));
    if (asked.url === '/endless') {
      const more = () => { while (answer.write(Buffer.alloc(65536))); if (!answer.destroyed) answer.once('drain', more); };
      return more();
    }
    asked.on('end', () => answer.end('fine'));
  });
  const server = await serve(t, { config: loopback({ maxBodyBytes: 300_000 }) });
  const { value } = await runJs(server, `
    const base = "http://localhost:${port}";
    const tell = async (work) => { try { await work(); return "through"; } catch (e) { return e.cause?.type ?? e.type ?? e.name; } };
    let sent = 0;
    const body = new ReadableStream({ pull(c) { sent += 65536; c.enqueue(new Uint8Array(65536)); } });
    [await tell(async () => (await fetch(base + "/endless")).bytes()),
     await tell(async () => (await fetch(base + "/bomb")).bytes()),
     await tell(() => fetch(base + "/", { method: "POST", body: new Uint8Array(300001) })),
     await tell(() => fetch(base + "/", { method: "POST", body })),
     sent < 2000000, await tell(() => fetch(base + "/", { method: "POST", body: new Uint8Array(300000) }))]`);
  assert.deepEqual(value, [...Array(4).fill('OutputLimitExceeded'), true, 'through']);
});

test('refusals are audited with their run and counted; addresses only as networks', async (t) => {
  const port = await peer(t, (asked, answer) => answer.writeHead(302, { location: 'http://elsewhere.example/' }).end());
  const server = await serve(t, { config: { policy: { network: { allowedDomains: ['localhost', 'localtest.example'], denyIpLiterals: true } } } });
  const open = await serve(t, { config: loopback() });
  const tell = 'const tell = async (url) => { try { return (await fetch(url)).status; } catch (e) { return e.cause.type; } };';
  const denied = await runJs(server, `${tell} [await tell("http://denied.example/x?secret=1"), await tell("http://10.1.2.3/"), await tell("http://localhost:${port}/")]`);
  assert.deepEqual(denied.value, ['PolicyDenied', 'PolicyDenied', 'PolicyDenied']);
  const redirected = await runJs(open, `${tell} await tell("http://localhost:${port}/")`);
  assert.equal(redirected.value, 'PolicyDenied');

  const lines = await refusals(server, 3);
  const run = auditLines(server).find(({ tool }) => tool === 'run_js');
  for (const line of lines) assert.deepEqual([line.parent, line.outcome, line.denied, line.tier], [run.request_id, 'denied', true, 0]);
  const whats = lines.map(({ args }) => args.what);
  assert.equal(whats.filter((what) => what === 'url').length, 2);
  assert.ok(whats.includes('address'), 'a name may have several addresses, and each is a line');
  const address = lines.find(({ args }) => args.what === 'address').args;
  assert.deepEqual([address.host, /^(127\.0\.0\.0\/24|::\/48)$/.test(address.network)], ['localhost', true], JSON.stringify(address));
  assert.ok(!JSON.stringify(lines).includes('secret'), 'paths and queries stay out');
  assert.ok(lines.some(({ ladder }) => ladder.startsWith('network*')), JSON.stringify(lines));
  assert.equal(await metric(server, 'relay_fetch_refusals_total{what="url"}'), 2);
  assert.ok((await metric(server, 'relay_fetch_refusals_total{what="address"}')) >= 1);

  const [redirect] = await refusals(open, 1);
  assert.deepEqual([redirect.args.what, redirect.args.host], ['redirect', 'elsewhere.example']);
  assert.equal(await metric(open, 'relay_fetch_refusals_total{what="redirect"}'), 1);
});

test('what a run fetches and changes on a mount is on record with its run, and many times the same is one sum', async (t) => {
  const port = await peer(t, (asked, answer) => answer.end('12345'));
  const cwd = temporaryDirectory(t);
  const config = loopback();
  config.mounts = [{ path: cwd, name: 'm', mode: 'rw' }];
  const server = await serve(t, { config });
  await runJs(server, `
    import fs from "node:fs";
    for (let i = 0; i < 20; ++i) await (await fetch("http://localhost:${port}/" + i)).text();
    await fetch("http://localhost:${port}/", { method: "POST", body: "abc" });
    fs.writeFileSync("/host/m/a.txt", "hello");
    fs.writeFileSync("/tmp/mine", "no line");`);
  const lines = auditLines(server);
  const run = lines.find(({ tool }) => tool === 'run_js');
  const effects = lines.filter(({ parent }) => parent === run.request_id).map(({ tool, action, outcome, args }) => ({ tool, action, outcome, args }));
  const host = `localhost:${port}`;
  assert.deepEqual(effects, [
    { tool: 'fetch', action: undefined, outcome: 'ok', args: { host, method: 'GET', receivedBytes: 5 } },
    { tool: 'fetch', action: undefined, outcome: 'ok', args: { host, method: 'POST', receivedBytes: 5, sentBytes: 3 } },
    { tool: 'fs.write', action: undefined, outcome: 'ok', args: { path: '/host/m/a.txt', sentBytes: 5 } },
    { tool: 'fetch', action: 'sum', outcome: 'ok', args: { count: 20, host, method: 'GET', receivedBytes: 100 } },
  ]);
  assert.ok(lines.indexOf(run) > lines.findLastIndex(({ parent }) => parent === run.request_id), 'the run closes last');
});

test('forty responses may be open at once; hundreds that nobody reads are refused', async (t) => {
  const body = Buffer.alloc(400_000, 'y');
  const port = await peer(t, (asked, answer) => answer.writeHead(200, { 'content-type': 'text/plain' }).end(body));
  const server = await serve(t, { config: loopback({ maxBodyBytes: 1_000_000 }) });
  const some = await runJs(server, `
    const all = await Promise.all(Array.from({ length: 40 }, () => fetch("http://localhost:${port}/")));
    (await Promise.all(all.map((r) => r.bytes()))).reduce((sum, one) => sum + one.length, 0)`);
  assert.equal(some.value, 40 * body.length, JSON.stringify(some.error));
  const many = await runJs(server, `
    const kept = [];
    let refused;
    for (let i = 0; i < 300 && !refused; i++) try { kept.push(await fetch("http://localhost:${port}/")); } catch (e) { refused = e.cause.type; }
    [kept.length, refused]`);
  assert.deepEqual(many.value, [256, 'TooManyRequests'], JSON.stringify(many.error));
  assert.equal((await refusals(server, 1))[0].args.what, 'flood');
});

test('a run that only asks for what it may not have does not fill the log', async (t) => {
  const server = await serve(t, {});
  const { value } = await runJs(server, `
    let denied = 0;
    for (let i = 0; i < 250; i++) await fetch("http://denied.example/").catch(() => denied++);
    for (let i = 0; i < 250; i++) await fetch("http://denied" + i + ".example/").catch(() => denied++);
    denied`);
  assert.equal(value, 500);
  assert.equal(await metric(server, 'relay_fetch_refusals_total{what="url"}'), 500);
  const lines = auditLines(server).filter(({ tool }) => tool === 'fetch');
  const sums = lines.filter(({ action }) => action === 'sum').map(({ args }) => [args.host ?? args.others, args.count]);
  assert.equal(lines.length - sums.length, 100, 'lines of their own');
  assert.deepEqual(sums, [[true, 151], ['denied.example', 250]]);
});

// The pure Python packages of this machine, where it has them: a run sees them as files, like a layer's.
function sitePackages() {
  try {
    const find = 'import os, requests; print(os.path.dirname(os.path.dirname(requests.__file__)))';
    const site = execFileSync('python3', ['-c', find], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return existsSync(join(site, 'urllib3/contrib/emscripten/response.py')) ? site : undefined;
  } catch {
    return undefined;
  }
}

test('requests and urllib3 stream both ways', async (t) => {
  const site = sitePackages();
  if (!site) return t.skip("this machine's python3 has no requests with a urllib3 for WebAssembly");
  const received = [];
  const slow = pieces().handler;
  const port = await peer(t, async (asked, answer) => {
    if (asked.url === '/received') return answer.end(String(received.length));
    if (asked.url !== '/upload') return slow(asked, answer);
    for await (const chunk of asked) received.push(String(chunk));
    return answer.end(received.join('|'));
  });
  const server = await serve(t, { config: { ...loopback(), mounts: [{ name: 'site', path: site }] } });
  const { value, stderr, error } = await runPy(server, `
import sys, time
sys.path.insert(0, "/host/site")
import requests, urllib3
base = "http://localhost:${port}"
seen = []
with requests.get(base + "/slow", stream=True) as response:
    for chunk in response.iter_content(4):
        seen.append(chunk.decode())
        if len(seen) < 4:
            requests.get(base + "/next")   # the server goes on only now
def upload():
    for i in range(3):
        yield f"piece {i}".encode()
        while requests.get(base + "/received").text != str(i + 1):   # nobody gathers the pieces
            time.sleep(0.01)
answer = requests.post(base + "/upload", data=upload())
plain = urllib3.request("GET", base + "/received")
[seen, answer.text, plain.data.decode(), requests.post(base + "/upload", json={"a": 1}).text]`);
  assert.deepEqual(value, [['one ', 'two ', 'thre', 'e'], 'piece 0|piece 1|piece 2', '3', 'piece 0|piece 1|piece 2|{"a": 1}'], stderr + JSON.stringify(error));
});
