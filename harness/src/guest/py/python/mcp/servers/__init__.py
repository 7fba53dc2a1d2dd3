"""`from mcp.servers.github import *`: each loaded server is a module whose functions are its tools."""

import importlib.machinery
import sys
import types

import mcp


def __getattr__(name):
    """`__all__` names the servers of this run, which another run of the same session may not have."""
    if name == "__all__":
        return [info["alias"] for info in mcp.infos()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if not name.startswith("mcp.servers.") or name.count(".") != 2:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        alias = spec.name.rpartition(".")[2]
        try:
            info = mcp.find(alias)
        except mcp.MCPError as error:
            raise ModuleNotFoundError(str(error), name=spec.name) from None
        module = types.ModuleType(spec.name, info.get("description"))
        server = mcp.mcp_servers[info["name"]]
        module.__all__ = sorted(server._names())
        for tool in module.__all__:
            setattr(module, tool, getattr(server, tool))
        return module

    def exec_module(self, module):
        pass


if not any(type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__ for finder in sys.meta_path):
    sys.meta_path.append(_Finder())
