"""Functions that a program keeps for later ones: save_tool(f), then `from user_tools import f` in another run."""

import ast
import importlib.machinery
import inspect
import os
import sys
import textwrap

from ._memory import replace, state


def _path():
    return state("user_tools.py")


def _kept():
    try:
        with open(_path(), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _without(source, name):
    """The source with every top-level definition of that name left out."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        if getattr(node, "name", None) == name:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
    return "".join(lines)


def save_tool(func):
    """Keeps a function's source, instead of an earlier one of the same name. Imports that it needs belong inside it."""
    if not inspect.isfunction(func) or func.__name__ == "<lambda>":
        raise TypeError("save_tool takes a function that was defined with def")
    try:
        source = textwrap.dedent(inspect.getsource(func))
    except OSError:
        raise ValueError(f"the source of {func.__name__} is not known: define it in this program") from None
    kept = _without(_kept(), func.__name__).strip()
    replace(_path(), (kept + "\n\n\n" if kept else "") + source.strip() + "\n")
    sys.modules.pop("user_tools", None)
    return f"saved {func.__name__}; later: from user_tools import {func.__name__}"


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "user_tools" or not os.path.exists(_path()):
            return None
        loader = importlib.machinery.SourceFileLoader(name, _path())
        return importlib.machinery.ModuleSpec(name, loader, origin=_path())


sys.meta_path.append(_Finder())
