// Three places to run a behaviour: the bundles in a bare realm of this process (default), a real relay-zygote
// (RELAY_ZYGOTE=path), or a whole server over MCP (RELAY_URL=http://.../mcp). Each gives the same result shape:
// {stdout, stderr: Buffer, done: {exitCode, value?, valueText?, error?}, relay?: what the stub saw}.

import { bootChild } from "../../harness/test/stub_host.mjs";
import { startZygote } from "../../harness/test/zygote_backend.mjs";

/** A child per run for JavaScript. Pyodide takes seconds to boot, so Python runs share one and start from a clean slate. */
function stubBackend() {
  let python;
  const childFor = async (language, fresh) => {
    if (language === "js" || fresh) return bootChild(language);
    return (python ??= await bootChild("py"));
  };
  return {
    name: "stub",
    hasStubWorld: true,
    async open(language, { fresh } = {}) {
      const child = await childFor(language, fresh);
      let first = true;
      return {
        run: async (options) => {
          const reset = first;
          first = false;
          return child.run({ ...options, reset });
        },
        close: () => {},
      };
    },
    stop: () => {},
  };
}

function zygoteBackend(program) {
  const zygotes = {};
  return {
    name: "zygote",
    hasStubWorld: true,
    async open(language) {
      zygotes[language] ??= startZygote(language, program);
      return (await zygotes[language]).child();
    },
    async stop() {
      for (const zygote of Object.values(zygotes)) (await zygote).stop();
    },
  };
}

/** Streamable HTTP, the smallest client: one request per POST, JSON or one SSE message back. */
class McpClient {
  constructor(url) {
    this.url = url;
    this.id = 0;
  }
  async post(message) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
    if (this.session) headers["mcp-session-id"] = this.session;
    if (process.env.RELAY_TOKEN) headers.authorization = `Bearer ${process.env.RELAY_TOKEN}`;
    const response = await fetch(this.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    this.session ??= response.headers.get("mcp-session-id") ?? undefined;
    const text = await response.text();
    if (!(response.headers.get("content-type") ?? "").includes("event-stream")) return text ? JSON.parse(text) : undefined;
    const messages = text.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n"));
    return messages.filter((data) => data.trim()).map((data) => JSON.parse(data)).find((item) => item.id === message.id);
  }
  async call(method, params) {
    const answer = await this.post({ id: ++this.id, method, params });
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }
  async connect() {
    await this.call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "behaviours", version: "1" } });
    await this.post({ method: "notifications/initialized" });
  }
}

const bytesOf = (text) => (typeof text === "object" && text !== null ? Buffer.from(text.base64, "base64") : Buffer.from(text ?? ""));

function mcpBackend(url) {
  let client, sessions = 0;
  const call = async (language, { code, stdin, argv, env, cwd = "/tmp", servers, session, timeoutMs }) => {
    const args = { code, stdin, args: argv, env, cwd, servers, session, timeoutMs };
    const { structuredContent: result } = await client.call("tools/call", { name: `run_${language}`, arguments: args });
    const { exitCode, value, valueText, error } = result;
    const stdout = result.stdoutEncoding === "base64" ? Buffer.from(result.stdout, "base64") : bytesOf(result.stdout);
    return { stdout, stderr: bytesOf(result.stderr), done: { exitCode, value, valueText, error }, session: result.session };
  };
  return {
    name: "mcp",
    hasStubWorld: false,
    async open(language) {
      if (!client) await (client = new McpClient(url)).connect();
      let name = `behaviour-${process.pid}-${++sessions}`;
      const run = async (options) => {
        const result = await call(language, { ...options, session: options.session && name });
        name = result.session ?? name; // the key of a client that has no MCP session
        return result;
      };
      return { run, close: () => {} };
    },
    stop: () => {},
  };
}

export function chooseBackend() {
  if (process.env.RELAY_URL) return mcpBackend(process.env.RELAY_URL);
  if (process.env.RELAY_ZYGOTE) return zygoteBackend(process.env.RELAY_ZYGOTE);
  return stubBackend();
}
