// Upstream MCP servers as objects: `await mcp.github.list_issues({...})`. Results arrive as native values: the structured
// content when there is some, parsed text otherwise; failures are exceptions that name the server and the tool.

import * as p from "./primordials";
import { request } from "./requests";

interface ServerInfo {
  name: string;
  alias: string;
  description?: string;
}

export class MCPError extends Error {
  override name = "MCPError";
  constructor(message: string, readonly server: string, readonly tool: string, readonly details?: unknown) {
    super(message);
  }
}

let servers: ServerInfo[] = [];

export function aliasOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "") || "server";
  return /^\d/.test(plain) ? "_" + plain : plain;
}

function serverInfo(item: unknown): ServerInfo {
  if (typeof item === "string") return { name: item, alias: aliasOf(item) };
  const { name, alias, description } = item as ServerInfo;
  return { name, alias: alias ?? aliasOf(name), description };
}

/** structuredContent, else the text, parsed when it is a JSON object or array, else the content blocks as they are. */
export function unwrap(result: any, server: string, tool: string): unknown {
  if (typeof result !== "object" || result === null || !p.isArray(result.content)) return result;
  if (result.isError) throw new MCPError(`${server}.${tool}: ${textOf(result.content) || "the tool failed"}`, server, tool, result);
  if (result.structuredContent !== undefined) return result.structuredContent;
  const { content } = result;
  if (content.length === 0) return null;
  if (!content.every((block: any) => block.type === "text")) return content;
  const text = textOf(content);
  return parsed(text);
}

/** A text that looks like a number, a truth value or a quoted text is a text all the same: an echo of "5" is "5". */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return p.jsonParse(text);
  } catch {
    return text;
  }
}

function textOf(content: any[]): string {
  return content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
}

export async function callTool(server: string, tool: string, args: unknown = {}): Promise<unknown> {
  if (typeof args !== "object" || args === null || p.isArray(args)) throw new TypeError(`${server}.${tool} takes one object of arguments`);
  try {
    const { result } = await request("mcp.call", { server, tool, arguments: args }).answer;
    return unwrap(result, server, tool);
  } catch (error) {
    if (error instanceof MCPError) throw error;
    const { message, type } = error as Error & { type?: string };
    throw p.assign(new MCPError(`${server}.${tool}: ${message}`, server, tool), { type });
  }
}

/** The body of `/mcps-rpc`: {mcp, tool, params}, {server, tool, arguments} or a JSON-RPC tools/call. */
export async function callRpc(message: any): Promise<unknown> {
  const inner = message.jsonrpc ? message.params ?? {} : message;
  const args = inner.arguments ?? (message.jsonrpc ? undefined : inner.params) ?? inner.args ?? {};
  const value = await callTool(String(inner.server ?? inner.mcp ?? ""), String(inner.tool ?? inner.name ?? ""), args);
  return message.jsonrpc ? { jsonrpc: "2.0", id: message.id, result: value } : { result: value };
}

const ask = async (op: string, args: object) => (await request(op, args).answer).result;

/** Names that promises and printers look up must not become tools. */
const NOT_TOOLS = ["then", "catch", "finally", "toJSON", "constructor", "prototype", "valueOf", "toString"];

function serverProxy({ name }: ServerInfo): object {
  const listTools = async () => (await ask("mcp.tools", { server: name })).tools;
  return new p.NativeProxy(p.create(null), {
    get(_target, tool) {
      if (typeof tool === "symbol" || NOT_TOOLS.includes(tool)) return undefined;
      if (tool === "$tools") return listTools;
      return (args?: unknown) => callTool(name, tool, args);
    },
    has: (_target, tool) => typeof tool === "string",
  });
}

const base = {
  call: callTool,
  search: async (query: string, options: { limit?: number; server?: string; detail?: string } = {}) => {
    const result = await ask("mcp.search", { query: String(query), ...options });
    // Servers that did not answer in time are not silently left out: they are a property of the list.
    if (p.isArray(result.results) && result.missing) p.hide(result.results, "missing", result.missing);
    return result.results ?? result;
  },
  describe: (server: string, tool?: string) => ask("mcp.describe", { server, tool }),
  servers: async () => {
    const result = await ask("mcp.servers", {});
    return result.servers ?? result;
  },
  tools: async (server: string) => (await ask("mcp.tools", { server })).tools,
};

const made: Record<string, object> = p.create(null);
const globalsSet: string[] = [];

/** my-server, my_server and myServer are one name to people. */
const plain = (name: string) => p.replaceText(name, /[^a-zA-Z0-9]/g, "").toLowerCase();

function find(key: string): object | undefined {
  const exact = servers.find((server) => server.alias === key || server.name === key);
  const alike = exact || p.hasOwn(base, key) ? [] : servers.filter((server) => plain(key) !== "" && plain(server.name) === plain(key));
  const info = exact ?? (alike.length === 1 ? alike[0] : undefined);
  return info && (made[info.name] ??= serverProxy(info));
}

export const mcp: any = new p.NativeProxy(base as Record<string, unknown>, {
  get(target, key) {
    if (typeof key === "symbol") return undefined;
    const server = find(key);
    if (server) return server;
    if (p.hasOwn(target, key)) return target[key];
    if (NOT_TOOLS.includes(key)) return undefined;
    const known = servers.map((item) => item.alias).join(", ") || "none";
    throw new MCPError(`no MCP server '${key}' in this run (available: ${known})`, key, "");
  },
  has: (target, key) => p.hasOwn(target, key) || (typeof key === "string" && find(key) !== undefined),
  ownKeys: (target) => [...p.objectKeys(target), ...servers.map((item) => item.alias)],
  getOwnPropertyDescriptor: (target, key) => ({ value: find(String(key)) ?? target[String(key)], enumerable: true, configurable: true, writable: true }),
});

/** Names this run's servers: `mcp.<alias>` and, where the name is free, a global. */
export function configureMcp(list: unknown[], target: object): void {
  if (list.length === 0 && servers.length === 0) return;
  for (const name of globalsSet.splice(0)) delete (target as Record<string, unknown>)[name];
  servers = list.map(serverInfo);
  for (const name of p.objectKeys(made)) delete made[name];
  const used = new Set<string>();
  for (const server of servers) {
    const first = server.alias;
    for (let n = 2; used.has(server.alias); n++) server.alias = `${first}_${n}`;
    used.add(server.alias);
    if (server.alias in target) continue;
    p.hide(target, server.alias, find(server.alias));
    globalsSet.push(server.alias);
  }
}
