// relay's end of the run socket, in memory and in one thread: it signs capsules, answers calls from a small file tree
// and fake upstreams, and keeps what the child sent. Replies may be delayed; receive() sleeps until the earliest is due.

import { createHash, generateKeyPairSync, sign, verify, createPublicKey, randomBytes } from "node:crypto";
import { StubFiles } from "./stub_files.mjs";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const spki = publicKey.export({ type: "spki", format: "der" });
const b64url = (data) => Buffer.from(data).toString("base64url");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** As the zygote does it, as far as these tests go. */
function verifyManifest(manifest, jws, key) {
  const [head, payload, signature, ...more] = jws.split(".");
  if (signature === undefined || more.length > 0) return "it is not a compact JWS";
  if (payload !== "" && payload !== b64url(manifest)) return "it is over something else";
  const { alg, typ } = JSON.parse(Buffer.from(head, "base64url"));
  if (alg !== "EdDSA" || typ !== "relay-capsule") return "its algorithm is not EdDSA, or it was made for another purpose";
  try {
    const known = createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
    return verify(null, Buffer.from(`${head}.${b64url(manifest)}`), known, Buffer.from(signature, "base64url")) ? "" : "it does not match what was signed";
  } catch {
    return "the key is no Ed25519 key";
  }
}

export function startFrame(options) {
  const { language, code, argv = [], env = {}, cwd = "/tmp", stdin = "", servers = [], extraLayers = [], session, reset, tamper } = options;
  const path = options.path ?? `/app/main.${language}`;
  const source = Buffer.from(code);
  const layers = [{ id: "code", format: "raw", path, data: source }, ...extraLayers];
  const fsLayers = layers.map(({ id, format, data }) => ({ id, format, bytes: data.length, sha256: sha256(data) }));
  let manifest = JSON.stringify({ version: "1", language, runtime: { id: "test" }, entry: { path, argv, env, cwd }, fsLayers, policy: {} });
  const head = b64url(JSON.stringify({ alg: "EdDSA", kid: "0", typ: "relay-capsule" }));
  const signature = sign(null, Buffer.from(`${head}.${b64url(manifest)}`), privateKey);
  const input = Buffer.from(stdin);
  let body = Buffer.concat([...layers.map((layer) => layer.data), input]);
  const header = {
    run: "r1", sig: `${head}..${b64url(signature)}`, key: spki.toString("base64"), manifest, servers, session, reset,
    layers: layers.map(({ id, format, path: at, data }) => ({ id, format, path: at, bytes: data.length })), stdinBytes: input.length,
  };
  if (tamper) body = tamper(header, body) ?? body;
  return { kind: 1, header: JSON.stringify(header), body: new Uint8Array(body) };
}

function isWellFormed(value) {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}

export class StubRelay {
  constructor({ wallClock = () => Date.now(), handlers = {} } = {}) {
    this.queue = [];
    this.sent = [];
    this.files = new StubFiles();
    this.wallClock = wallClock;
    this.handlers = handlers;
    this.maxInFlight = 0;
    this.inFlight = 0;
  }

  push(frame, delayMs = 0) {
    this.queue.push({ due: performance.now() + delayMs, order: this.queue.length, frame });
  }

  /** The `host` of the zygote contract, minus what reads files at boot. */
  channel() {
    return {
      send: (kind, header, body) => this.accept(kind, header, body ? Buffer.from(body) : Buffer.alloc(0)),
      receive: (timeoutMs) => this.receive(timeoutMs),
      now: () => performance.now(),
      wallClock: this.wallClock,
      random: (count) => new Uint8Array(randomBytes(count)),
      cpuMs: () => process.cpuUsage().user / 1000,
      sha256: (bytes) => sha256(bytes),
      verifyManifest,
    };
  }

  receive(timeoutMs) {
    const until = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    for (;;) {
      const now = performance.now();
      this.queue.sort((a, b) => a.due - b.due || a.order - b.order);
      if (this.queue[0] && this.queue[0].due <= now) return this.deliver(this.queue.shift().frame);
      const next = Math.min(until, this.queue[0]?.due ?? Infinity);
      if (next === Infinity || now >= until) return null;
      Atomics.wait(sleeper, 0, 0, Math.max(0.05, next - now));
    }
  }

  deliver(frame) {
    if (frame.kind === 2) this.inFlight--;
    return { kind: frame.kind, header: frame.header, body: new Uint8Array(frame.body ?? []) };
  }

  accept(kind, header, body) {
    const parsed = JSON.parse(header);
    // Relay ends a run whose header has text that UTF-8 cannot hold.
    if (!isWellFormed(parsed)) throw new Error("a lone surrogate in a header: SandboxViolation");
    this.sent.push({ kind, header: parsed, body });
    if (kind !== 18) return;
    this.inFlight++;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    this.answer(parsed, body);
  }

  answer({ id, op, args }, body) {
    const handler = this.handlers[op] ?? this.files.handlers[op] ?? STANDARD[op];
    try {
      if (!handler) throw Object.assign(new Error(`unknown op ${op}`), { type: "ValidationError" });
      const answer = handler(args, body, this) ?? {};
      this.push({ kind: 2, header: JSON.stringify({ id, ok: true, result: answer.result ?? {} }), body: answer.body }, answer.delayMs ?? 0);
      for (const event of answer.events ?? [])
        this.push({ kind: 3, header: JSON.stringify({ id, ...event.header }), body: event.body }, event.delayMs ?? 0);
    } catch (error) {
      const failure = { type: error.type ?? "FileError", message: error.message, errno: error.errno };
      this.push({ kind: 2, header: JSON.stringify({ id, ok: false, error: failure }) });
    }
  }

  /** What a client would see of the last run. */
  result() {
    const text = (stream) => Buffer.concat(this.sent.filter((f) => f.kind === 17 && f.header.stream === stream).map((f) => f.body));
    const done = this.sent.findLast((f) => f.kind === 20)?.header;
    const displays = this.sent.filter((f) => f.kind === 18 && f.header.op === "display");
    return { stdout: text("stdout"), stderr: text("stderr"), done, displays };
  }
}

const TOOLS = [
  { name: "add", description: "Adds two numbers", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] } },
  { name: "list-issues", description: "Lists issues of a repository", inputSchema: { type: "object", properties: { repo: { type: "string" } } } },
  { name: "fail", description: "Always fails", inputSchema: { type: "object" } },
];

function callTool({ tool, arguments: args }) {
  if (tool === "add") return { result: { content: [{ type: "text", text: String(args.a + args.b) }], structuredContent: { sum: args.a + args.b } } };
  if (tool === "slow") return { delayMs: args.ms ?? 50, result: { content: [{ type: "text", text: `{"n":${args.n ?? 0}}` }] } };
  if (tool === "fail") return { result: { isError: true, content: [{ type: "text", text: "it is broken" }] } };
  if (tool.replace(/_/g, "-") === "list-issues") return { result: { content: [{ type: "text", text: JSON.stringify([{ id: 1, repo: args.repo }]) }] } };
  throw Object.assign(new Error(`Tool '${tool}' not found`), { type: "ValidationError" });
}

function fetchStub({ url, method, headers }, body, relay) {
  const { hostname, pathname } = new URL(url);
  if (hostname === "denied.example") throw Object.assign(new Error(`host ${hostname} is not allowed`), { type: "PolicyDenied" });
  if (pathname === "/slow") return { delayMs: 50, result: { status: 200, statusText: "OK", url, headers: [["content-type", "text/plain"]] }, body: Buffer.from("slow") };
  if (pathname === "/stream") {
    relay.pieces = ["one ", "two ", "three"];
    return { result: { status: 200, url, headers: [["content-type", "text/plain"]], stream: 1 } };
  }
  if (pathname === "/missing") return { result: { status: 404, statusText: "Not Found", url, headers: [] }, body: Buffer.from("nope") };
  const echo = { method, url, headers: Object.fromEntries(headers), body: body.toString() };
  return { result: { status: 200, statusText: "OK", url, headers: [["content-type", "application/json"], ["x-test", "yes"]] }, body: Buffer.from(JSON.stringify(echo)) };
}

function readStub(_args, _body, relay) {
  const piece = relay.pieces.shift();
  return { delayMs: 2, result: { done: piece === undefined }, body: piece && Buffer.from(piece) };
}

const STANDARD = {
  fetch: fetchStub,
  "fetch.read": readStub,
  "fetch.close": () => ({}),
  display: () => ({}),
  "mcp.call": callTool,
  "mcp.tools": () => ({ result: { tools: TOOLS } }),
  "mcp.servers": () => ({ result: { servers: [{ name: "my-server", description: "a test server" }, { name: "other", description: "not loaded" }] } }),
  "mcp.search": ({ query }) => ({ result: { results: TOOLS.filter((t) => t.description.toLowerCase().includes(query.toLowerCase())).map((t) => ({ server: "my-server", tool: t.name, description: t.description })) } }),
  "mcp.describe": ({ server, tool }) => ({ result: { server, ...TOOLS.find((t) => !tool || t.name === tool) } }),
};
