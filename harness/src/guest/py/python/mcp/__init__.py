"""Upstream MCP servers as Python objects.

    mcp_github.list_issues(repo="x")            plain: waits, gives the value
    await mcp_github.list_issues(repo="x")      in async code; several overlap with asyncio.gather
    mcp_servers["github"], from mcp.servers.github import *, mcp.runtime
"""

import json
import keyword
import re
import sys

from . import _transport
from ._pending import Pending

_infos = []
_named = {}
_globals = []


class MCPError(RuntimeError):
    """A tool failed, or could not be called. Knows which: `server`, `tool`; `type` is relay's word for why, such as PolicyDenied."""

    def __init__(self, message, server="", tool="", type=None, result=None):
        super().__init__(message)
        self.server = server
        self.tool = tool
        self.type = type
        self.result = result


def alias_of(name, used=()):
    """The identifier under which a server or tool is reached."""
    alias = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "server"
    if alias[0].isdigit():
        alias = "_" + alias
    if keyword.iskeyword(alias):
        alias += "_"
    first, number = alias, 2
    while alias in used:
        alias, number = f"{first}_{number}", number + 1
    return alias


def unwrap(result, server, tool):
    """Structured content if there is some, else the text, parsed when it is a JSON object or array, else the blocks."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    blocks = result["content"]
    text = "\n".join(block.get("text", "") for block in blocks if block.get("type") == "text")
    if result.get("isError"):
        raise MCPError(f"{server}.{tool}: {text or 'the tool failed'}", server, tool, "ToolError", result)
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    if any(block.get("type") != "text" for block in blocks):
        return blocks
    try:
        return json.loads(text) if text.lstrip()[:1] in ("[", "{") else (text if blocks else None)
    except ValueError:
        return text


def _request(server, tool, arguments):
    if not isinstance(arguments, dict):
        raise TypeError("Arguments must be an object")
    return {"server": server, "tool": tool, "arguments": arguments}


def _renamed(error, server, tool):
    return MCPError(f"{server}.{tool}: {error}", server, tool, getattr(error, "type", None))


def _finished(get, server, tool):
    try:
        result = get()
    except _transport.Failure as error:
        raise _renamed(error, server, tool) from None
    return unwrap(result, server, tool)


async def call_async(server, tool, arguments=None):
    try:
        result = await _transport.ask_async("mcp.call", _request(server, tool, arguments or {}))
    except _transport.Failure as error:
        raise _renamed(error, server, tool) from None
    return unwrap(result, server, tool)


def call_sync(server, tool, arguments=None):
    request = _request(server, tool, arguments or {})
    return _finished(lambda: _transport.ask("mcp.call", request), server, tool)


def call_either(server, tool, arguments=None):
    """The value in plain code; in async code something that may be awaited or used as the value."""
    if not _transport.in_loop():
        return call_sync(server, tool, arguments)
    started = _transport.Started("mcp.call", _request(server, tool, arguments or {}))
    return Pending(started, lambda get: _finished(get, server, tool), f"{server}.{tool}")


class Tool:
    def __init__(self, server, name):
        self._server, self._name = server, name

    def __call__(self, arguments=None, /, **named):
        return call_either(self._server, self._name, {**(arguments or {}), **named})

    def __repr__(self):
        return f"<MCP tool {self._server}.{self._name}>"


def spelled(name):
    """list-issues, list_issues and listIssues are one name to people."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Server:
    """Attributes are tools: by their own name, by their alias, or by any spelling that means one tool."""

    def __init__(self, info):
        self._info = info
        self._aliases = None

    def _names(self):
        """Alias -> name, asked for once."""
        if self._aliases is None:
            self._aliases = {}
            for tool in tools_of(self._info["name"], "names"):
                self._aliases[tool.get("alias") or alias_of(tool["name"], self._aliases)] = tool["name"]
        return self._aliases

    def _find(self, name):
        names = self._names()
        if name in names:
            return names[name]
        if name in names.values():
            return name
        alike = [real for real in names.values() if spelled(real) == spelled(name)]
        return alike[0] if len(alike) == 1 else None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        real = self._find(name)
        if real is None:
            raise AttributeError(f"server '{self._info['name']}' has no tool '{name}'{_hint(name, self._names())}")
        return Tool(self._info["name"], real)

    def __getitem__(self, name):
        return getattr(self, name)

    def __dir__(self):
        return sorted(self._names())

    def __repr__(self):
        return f"<MCP server {self._info['name']}>"


def _hint(name, names):
    import difflib

    near = difflib.get_close_matches(name, list(names), 3)
    if near:
        return f"; did you mean {', '.join(near)}?"
    shown = ", ".join(sorted(names)[:20])
    return f" (it has: {shown}{', ...' if len(names) > 20 else ''})"


def tools_of(server, detail="full"):
    try:
        result = _transport.ask("mcp.tools", {"server": server, "detail": detail})
    except _transport.Failure as error:
        raise _renamed(error, server, "tools") from None
    return result.get("tools", []) if isinstance(result, dict) else result


class Servers(dict):
    def __missing__(self, name):
        known = ", ".join(self) or "none"
        raise KeyError(f"Server '{name}' is not available in this run (available: {known})")


mcp_servers = Servers()


def infos():
    return list(_infos)


def known(name):
    """The info of a loaded server by its name, its alias or another spelling; None when it is not loaded."""
    info = _named.get(name)
    if info is not None or not isinstance(name, str):
        return info
    alike = [item for item in _infos if spelled(item["name"]) == spelled(name) != ""]
    return alike[0] if len(alike) == 1 else None


def find(name):
    """The same, or an error that names the servers there are."""
    info = known(name)
    if info is None:
        names = ", ".join(item["name"] for item in _infos) or "none"
        raise MCPError(f"Server '{name}' is not available in this run (available: {names})", name, type="NotFound")
    return info


def _configure(servers, scope):
    """Names this run's servers in the program's globals."""
    for name in _globals:
        scope.pop(name, None)
    for kept in (_globals, _infos, _named, mcp_servers):
        kept.clear()
    used = set()
    for item in servers:
        info = {"name": item} if isinstance(item, str) else dict(item)
        info["alias"] = info.get("alias") or alias_of(info["name"], used)
        used.add(info["alias"])
        _infos.append(info)
        _named[info["alias"]] = _named[info["name"]] = info
        server = Server(info)
        mcp_servers[info["name"]] = server
        scope[f"mcp_{info['alias']}"] = server
        _globals.append(f"mcp_{info['alias']}")
    scope["mcp_servers"] = mcp_servers
    scope["LOADED_MCP_SERVERS"] = tuple(info["name"] for info in _infos)
    for name in [name for name in sys.modules if name.startswith("mcp.servers.")]:
        del sys.modules[name]
