"""Discovery and state for programs: what servers and tools there are, how they are called, and notes that outlive a run."""

import importlib.machinery
import inspect
import json
import os
import re
import sys
import time

import _relay_loop
import _relay_wire as wire
import mcp
from mcp import MCPError, alias_of

__all__ = [
    "MCPError", "discovered_servers", "list_servers", "list_servers_sync", "list_tools", "list_tools_sync", "query_tool_docs",
    "query_tool_docs_sync", "search_tool_docs", "search_tool_docs_sync", "describe_server", "list_loaded_server_metadata",
    "call_tool", "call_tool_sync", "capability_summary", "save_tool", "save_memory", "load_memory", "delete_memory",
    "list_memories", "update_memory", "memory_exists", "get_memory_info",
]

SUMMARY = """\
In this sandbox:
  mcp_<alias>.tool(**args)          call a tool (plain, or awaited in async code; asyncio.gather overlaps calls)
  mcp_servers["name"]               the same server by its name
  from mcp.servers.<alias> import * tools as functions
  import mcp.runtime as runtime     discovery:
    runtime.discovered_servers()    every configured server
    runtime.list_tools_sync(server) tools of a loaded server
    runtime.search_tool_docs_sync("words")  find tools; query_tool_docs_sync(server, tool, detail="full") for the schema
    runtime.save_memory(key, value), load_memory(key)  keep JSON values between runs
Files: /tmp, /out (results), /host/<mount>, /mcps/<server>/ (stubs and docs). display(path | bytes | figure) shows images.
"""


def _ask(op, args):
    return wire.call(op, args)[0]


async def _ask_async(op, args):
    return (await _relay_loop.request(op, args))[0]


def _list(result, key):
    return result.get(key, []) if isinstance(result, dict) else result


def discovered_servers(detailed=False):
    """Every configured server, loaded in this run or not."""
    servers = _list(_ask("mcp.servers", {}), "servers")
    if detailed:
        return tuple({"name": item["name"], "description": item.get("description", "")} for item in servers)
    return tuple(item["name"] if isinstance(item, dict) else item for item in servers)


def list_servers_sync():
    return tuple(info["name"] for info in mcp.infos())


async def list_servers():
    return list_servers_sync()


def _tool_info(tool, used):
    alias = alias_of(tool["name"], used)
    used.add(alias)
    return {"name": tool["name"], "alias": alias, "description": tool.get("description", ""), "input_schema": tool.get("inputSchema")}


def list_tools_sync(server=None):
    if server is None:
        return [tool for name in list_servers_sync() for tool in list_tools_sync(name)]
    used = set()
    return [_tool_info(tool, used) for tool in mcp.tools_of(mcp.find(server)["name"])]


async def list_tools(server):
    return _list(await _ask_async("mcp.tools", {"server": mcp.find(server)["name"]}), "tools")


def _doc(info, tool, detail):
    doc = {"server": info["name"], "serverAlias": info["alias"], "tool": tool["name"], "toolAlias": alias_of(tool["name"])}
    if tool.get("description"):
        doc["description"] = tool["description"]
    if detail == "full":
        doc["inputSchema"] = tool.get("inputSchema")
        if tool.get("outputSchema"):
            doc["outputSchema"] = tool["outputSchema"]
    return doc


def _checked_detail(detail):
    if detail not in ("summary", "full"):
        raise ValueError("'detail' must be 'summary' or 'full'")


def _docs(info, tools, tool, detail):
    _checked_detail(detail)
    docs = [_doc(info, item, detail) for item in tools if tool in (None, item["name"], alias_of(item["name"]))]
    if tool is not None and not docs:
        raise MCPError(f"Tool '{tool}' not found for server {info['name']}", info["name"], tool)
    return docs


def query_tool_docs_sync(server, tool=None, detail="summary"):
    info = mcp.find(server)
    return _docs(info, mcp.tools_of(info["name"]), tool, detail)


async def query_tool_docs(server, tool=None, detail="summary"):
    info = mcp.find(server)
    docs = _docs(info, await list_tools(server), tool, detail)
    return docs if tool is None else docs[0]


def _search_args(query, limit, detail):
    if not isinstance(query, str) or not query.strip():
        raise ValueError("Missing 'query' value")
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise ValueError("'limit' must be an integer")
    _checked_detail(detail)
    return {"query": query, "limit": max(1, min(20, limit)), "detail": detail}


def search_tool_docs_sync(query, *, limit=5, detail="summary"):
    return _list(_ask("mcp.search", _search_args(query, limit, detail)), "results")


async def search_tool_docs(query, *, limit=5, detail="summary"):
    return _list(await _ask_async("mcp.search", _search_args(query, limit, detail)), "results")


def describe_server(name):
    info = mcp.find(name)
    return {"name": info["name"], "alias": info["alias"], "tools": list_tools_sync(name), "cwd": info.get("cwd")}


def list_loaded_server_metadata():
    return tuple(describe_server(info["name"]) for info in mcp.infos())


async def call_tool(server, tool, arguments=None):
    return await mcp.call_async(mcp.find(server)["name"], tool, arguments)


def call_tool_sync(server, tool, arguments=None):
    return mcp.call_sync(mcp.find(server)["name"], tool, arguments)


def capability_summary():
    return SUMMARY


def _state(*parts):
    return os.path.join(os.environ.get("RELAY_STATE_DIR", "/tmp/.relay"), *parts)


def save_tool(func):
    """Keeps a function's source; `from user_tools import <name>` finds it in later runs."""
    source = inspect.getsource(func)
    os.makedirs(_state(), exist_ok=True)
    with open(_state("user_tools.py"), "a") as file:
        file.write("\n\n" + inspect.cleandoc(source) + "\n")
    return f"saved {func.__name__}"


class _UserTools:
    def find_spec(self, name, path=None, target=None):
        if name != "user_tools" or not os.path.exists(_state("user_tools.py")):
            return None
        loader = importlib.machinery.SourceFileLoader(name, _state("user_tools.py"))
        return importlib.machinery.ModuleSpec(name, loader, origin=_state("user_tools.py"))


sys.meta_path.append(_UserTools())


def _memory_path(key):
    clean = re.sub(r"[^a-zA-Z0-9_-]", "_", str(key))[:100]
    if not clean:
        raise ValueError("the key is empty")
    return _state("memory", clean + ".json")


def _memory(key):
    try:
        with open(_memory_path(key)) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def save_memory(key, value, *, metadata=None):
    old = _memory(key)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    record = {"key": key, "value": value, "metadata": metadata or {}, "created_at": old["created_at"] if old else now, "updated_at": now}
    text = json.dumps(record)
    os.makedirs(_state("memory"), exist_ok=True)
    path = _memory_path(key)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)
    return record


def load_memory(key, *, default=None):
    record = _memory(key)
    return default if record is None else record["value"]


def delete_memory(key):
    try:
        os.remove(_memory_path(key))
        return True
    except FileNotFoundError:
        return False


def list_memories():
    try:
        names = sorted(os.listdir(_state("memory")))
    except FileNotFoundError:
        return []
    return [get_memory_info(name[:-5]) for name in names if name.endswith(".json")]


def update_memory(key, fn):
    return save_memory(key, fn(load_memory(key)))["value"]


def memory_exists(key):
    return _memory(key) is not None


def get_memory_info(key):
    record = _memory(key)
    if record is None:
        return None
    return {name: record[name] for name in ("key", "metadata", "created_at", "updated_at")}
