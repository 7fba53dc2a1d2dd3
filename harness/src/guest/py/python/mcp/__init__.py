"""Upstream MCP servers as Python objects.

    mcp_github.list_issues(repo="x")            plain: waits, gives the value
    await mcp_github.list_issues(repo="x")      in async code; several overlap with asyncio.gather
    mcp_servers["github"], from mcp.servers.github import *, mcp.runtime
"""

import asyncio
import json
import keyword
import re
import sys

import _relay_loop
import _relay_wire as wire

_infos = []
_named = {}
_globals = []


class MCPError(RuntimeError):
    """A tool failed, or could not be called. Knows which: `server`, `tool`."""

    def __init__(self, message, server="", tool=""):
        super().__init__(message)
        self.server = server
        self.tool = tool


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
    """Structured content if there is some, else the text, parsed when it is JSON, else the blocks."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    blocks = result["content"]
    text = "\n".join(block.get("text", "") for block in blocks if block.get("type") == "text")
    if result.get("isError"):
        raise MCPError(f"{server}.{tool}: {text or 'the tool failed'}", server, tool)
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    if any(block.get("type") != "text" for block in blocks):
        return blocks
    try:
        return json.loads(text) if text[:1] in '[{"-0123456789tfn' and text else (text or None)
    except ValueError:
        return text


def _request(server, tool, arguments):
    if not isinstance(arguments, dict):
        raise TypeError("Arguments must be an object")
    return {"server": server, "tool": tool, "arguments": arguments}


def _renamed(error, server, tool):
    return MCPError(f"{server}.{tool}: {error}", server, tool)


async def call_async(server, tool, arguments=None):
    try:
        result, _ = await _relay_loop.request("mcp.call", _request(server, tool, arguments or {}))
    except (wire.RelayError, OSError) as error:
        raise _renamed(error, server, tool) from None
    return unwrap(result, server, tool)


def call_sync(server, tool, arguments=None):
    try:
        result, _ = wire.call("mcp.call", _request(server, tool, arguments or {}))
    except (wire.RelayError, OSError) as error:
        raise _renamed(error, server, tool) from None
    return unwrap(result, server, tool)


def in_loop():
    try:
        asyncio.get_running_loop()
        return True
    except RuntimeError:
        return False


class Pending:
    """A call made inside async code: await it, or just use it as the value, which waits for it."""

    _EMPTY = object()

    def __init__(self, server, tool, arguments):
        self._what = (server, tool, arguments)
        self._task = None
        self._value = Pending._EMPTY

    def __await__(self):
        if self._value is not Pending._EMPTY:
            return self._value
        value = yield from call_async(*self._what).__await__()
        self._value = value
        return value

    def value(self):
        if self._value is Pending._EMPTY:
            self._value = call_sync(*self._what)
        return self._value

    def __getattr__(self, name):
        return getattr(self.value(), name)

    def __getitem__(self, key):
        return self.value()[key]

    def __iter__(self):
        return iter(self.value())

    def __len__(self):
        return len(self.value())

    def __bool__(self):
        return bool(self.value())

    def __eq__(self, other):
        return self.value() == other

    def __contains__(self, item):
        return item in self.value()

    def __str__(self):
        return str(self.value())

    def __repr__(self):
        return repr(self.value())

    __hash__ = None


class Tool:
    def __init__(self, server, name):
        self._server, self._name = server, name

    def __call__(self, arguments=None, /, **named):
        given = {**(arguments or {}), **named}
        if in_loop():
            return Pending(self._server, self._name, given)
        return call_sync(self._server, self._name, given)

    def __repr__(self):
        return f"<MCP tool {self._server}.{self._name}>"


class Server:
    """Attributes are tools: by their own name, or by their alias."""

    def __init__(self, info):
        self._info = info
        self._aliases = None

    def _names(self):
        if self._aliases is None:
            self._aliases = {}
            for tool in tools_of(self._info["name"]):
                self._aliases[alias_of(tool["name"], self._aliases)] = tool["name"]
        return self._aliases

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        names = self._names()
        real = names.get(name) or (name if name in names.values() else None)
        if real is None:
            near = ", ".join(sorted(names)[:20])
            raise AttributeError(f"server '{self._info['name']}' has no tool '{name}' (it has: {near})")
        return Tool(self._info["name"], real)

    def __getitem__(self, name):
        return getattr(self, name)

    def __dir__(self):
        return sorted(self._names())

    def __repr__(self):
        return f"<MCP server {self._info['name']}>"


def tools_of(server):
    try:
        result, _ = wire.call("mcp.tools", {"server": server})
    except (wire.RelayError, OSError) as error:
        raise _renamed(error, server, "tools") from None
    return result.get("tools", []) if isinstance(result, dict) else result


class Servers(dict):
    def __missing__(self, name):
        known = ", ".join(self) or "none"
        raise KeyError(f"Server '{name}' is not available in this run (available: {known})")


mcp_servers = Servers()


def infos():
    return list(_infos)


def find(name):
    """The server's info by its name or alias."""
    info = _named.get(name)
    if info is None:
        known = ", ".join(item["name"] for item in _infos) or "none"
        raise MCPError(f"Server '{name}' is not available in this run (available: {known})", name)
    return info


def _configure(servers, scope):
    """Names this run's servers in the program's globals."""
    for name in _globals:
        scope.pop(name, None)
    _globals.clear(), _infos.clear(), _named.clear(), mcp_servers.clear()
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
