"""Discovery and state for programs: what servers and tools there are, how they are called, and what outlives a run.

Every question has a plain form and an asynchronous one: list_tools_sync(server), await list_tools(server).
"""

import warnings

import mcp
from mcp import MCPError, _transport
from mcp._files import execution_folder, render_chart, save_file, save_image
from mcp._memory import delete_memory, get_memory_info, list_memories, load_memory, memory_exists, save_memory, update_memory
from mcp._time import convert_time, list_timezones, now
from mcp._user_tools import save_tool

__all__ = [
    "MCPError", "discovered_servers", "list_servers", "list_servers_sync", "list_tools", "list_tools_sync", "query_tool_docs",
    "query_tool_docs_sync", "search_tool_docs", "search_tool_docs_sync", "describe_server", "list_loaded_server_metadata",
    "call_tool", "call_tool_sync", "capability_summary", "save_tool", "save_memory", "load_memory", "delete_memory",
    "list_memories", "update_memory", "memory_exists", "get_memory_info", "save_image", "save_file", "render_chart",
    "execution_folder", "now", "convert_time", "list_timezones",
]

SUMMARY = """\
Calling tools
  mcp_<alias>.tool(**args)           plain, or awaited in async code; asyncio.gather overlaps calls
  mcp_servers["name"]                the same server by its name
  from mcp.servers.<alias> import *  tools as functions; mcp.servers.__all__ names the servers
  A tool that fails raises mcp.MCPError with server, tool and type.
  Values are structured content, or the text; a text that is a JSON object or array arrives parsed.

import mcp.runtime as runtime        functions of one line marked * are asynchronous and have a plain form in _sync
  discovered_servers(detailed=False)                           every configured server
  * list_servers(), list_tools(server)                         servers of this run; tools of a server
  * search_tool_docs(query, limit=5, detail="summary", server=None)  find tools by words; "" lists the first ones
  * query_tool_docs(server, tool=None, detail="summary")       detail="full" has the schemas
  * call_tool(server, tool, arguments=None)                    by name
  describe_server(name), list_loaded_server_metadata()         name, alias, tools, cwd
  save_memory(key, value, metadata=None), load_memory(key, default=None), update_memory(key, fn), delete_memory(key),
  memory_exists(key), get_memory_info(key), list_memories()    JSON values that outlive the run
  save_tool(function)                                          later: from user_tools import function
  save_file(name, data), save_image(name, figure | bytes), render_chart(rows, kind, x, y, title), execution_folder()
                                                               files in /out
  now(tz), convert_time(time, from_tz, to_tz), list_timezones(contains)
  capability_summary()                                         this text

Files: /tmp, /out (results), /host/<mount>, /mcps/<server>/ (stubs and docs). display(path | bytes | figure) shows images.
"""


def _ask(op, args):
    try:
        return _transport.ask(op, args)
    except _transport.Failure as error:
        raise MCPError(str(error), args.get("server", ""), args.get("tool", ""), getattr(error, "type", None)) from None


async def _ask_async(op, args):
    try:
        return await _transport.ask_async(op, args)
    except _transport.Failure as error:
        raise MCPError(str(error), args.get("server", ""), args.get("tool", ""), getattr(error, "type", None)) from None


def _list(result, key):
    return result.get(key, []) if isinstance(result, dict) else result


def discovered_servers(detailed=False):
    """Every configured server, loaded in this run or not."""
    servers = _list(_ask("mcp.servers", {}), "servers")
    if detailed:
        return tuple({"name": item["name"], "description": item.get("description", "")} for item in servers)
    return tuple(item["name"] if isinstance(item, dict) else item for item in servers)


def list_servers_sync():
    """The servers that this run has loaded."""
    return tuple(info["name"] for info in mcp.infos())


async def list_servers():
    return list_servers_sync()


def _name_of(server):
    """A loaded server's own name for its alias; relay knows what else there is."""
    if not isinstance(server, str) or not server:
        raise ValueError("Missing 'server' value")
    info = mcp.known(server)
    return info["name"] if info else server


def _tool_info(tool):
    return {"name": tool["name"], "alias": tool.get("alias") or mcp.alias_of(tool["name"]), "description": tool.get("description", ""),
            "input_schema": tool.get("inputSchema")}


def list_tools_sync(server):
    return [_tool_info(tool) for tool in _list(_ask("mcp.tools", {"server": _name_of(server)}), "tools")]


async def list_tools(server):
    return _list(await _ask_async("mcp.tools", {"server": _name_of(server)}), "tools")


def _doc(server, tool, detail):
    info = mcp.known(server) or {"name": server, "alias": mcp.alias_of(server)}
    doc = {"server": info["name"], "serverAlias": info["alias"], "tool": tool["name"], "toolAlias": tool.get("alias") or mcp.alias_of(tool["name"])}
    if tool.get("description"):
        doc["description"] = tool["description"]
    if detail == "full":
        doc["inputSchema"] = tool.get("inputSchema")
        for key in ("outputSchema", "learnedOutputSchema"):
            if tool.get(key):
                doc[key] = tool[key]
    return doc


def _checked_detail(detail):
    if detail not in ("summary", "full"):
        raise ValueError("'detail' must be 'summary' or 'full'")


def _docs(server, tools, tool, detail):
    _checked_detail(detail)
    wanted = None if tool is None else mcp.spelled(tool)
    docs = [_doc(server, item, detail) for item in tools if wanted in (None, mcp.spelled(item["name"]))]
    if tool is not None and not docs:
        raise MCPError(f"Tool '{tool}' not found for server {server}{mcp._hint(tool, [item['name'] for item in tools])}", server, tool, "NotFound")
    return docs


def query_tool_docs_sync(server, tool=None, detail="summary"):
    name = _name_of(server)
    return _docs(name, _list(_ask("mcp.tools", {"server": name}), "tools"), tool, detail)


async def query_tool_docs(server, tool=None, detail="summary"):
    docs = _docs(_name_of(server), await list_tools(server), tool, detail)
    return docs if tool is None else docs[0]


def _search_args(query, limit, detail, server):
    if not isinstance(query, str):
        raise ValueError("Missing 'query' value")
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise ValueError("'limit' must be an integer")
    _checked_detail(detail)
    args = {"query": query, "limit": max(1, min(20, limit)), "detail": detail}
    return args if server is None else {**args, "server": _name_of(server)}


def _hits(result):
    """What was found; servers that did not answer in time are not silently left out."""
    if isinstance(result, dict) and result.get("missing"):
        warnings.warn(f"not searched, because they did not answer in time: {', '.join(result['missing'])}", stacklevel=3)
    return _list(result, "results")


def search_tool_docs_sync(query, *, limit=5, detail="summary", server=None):
    """The tools that fit the words best, over all configured servers or one of them; without words the first ones."""
    return _hits(_ask("mcp.search", _search_args(query, limit, detail, server)))


async def search_tool_docs(query, *, limit=5, detail="summary", server=None):
    return _hits(await _ask_async("mcp.search", _search_args(query, limit, detail, server)))


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
    """The manual of this sandbox, and the servers of this run."""
    loaded = "".join(f"  mcp_{info['alias']}: {info.get('description') or info['name']}\n" for info in mcp.infos())
    return SUMMARY + ("Servers of this run:\n" + loaded if loaded else "This run has no servers.\n")
