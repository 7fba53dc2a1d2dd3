"""Runs one program: compiles it with top-level await, gives back the value of its last expression, explains its errors."""

import ast
import asyncio
import builtins
import errno
import gc
import inspect
import io
import linecache
import os
import random
import sys
import tempfile
import traceback
import types
from json import dumps, loads

import _relay_loop
import _relay_wire as wire
import mcp.runtime
from mcp import Pending, _configure, _pending

BUFFER_BYTES = 8192
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# Packages that no index has for this interpreter.
COMPILED = ("numpy", "pandas", "matplotlib", "scipy", "sklearn", "PIL", "lxml", "cv2", "sympy", "statsmodels", "shapely", "pyarrow", "polars")
HIDDEN = ("/lib/python3", "/lib/relay", "<frozen ", "_relay_", "relay:", "zygote-", "wasm://")
_loop = None
_main = None
_base_path = None
_limits = {}
_text = {}


def _fresh_main():
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    return main


def event_loop():
    global _loop
    if _loop is None or _loop.is_closed():
        _loop = _relay_loop.RelayLoop()
        asyncio.set_event_loop(_loop)
    return _loop


def _compiled(source, filename):
    """The body, and the last expression apart when there is one."""
    tree = ast.parse(source, filename, "exec")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        expression = ast.Expression(tree.body.pop().value)
        last = compile(expression, filename, "eval", flags=AWAIT)
    return compile(tree, filename, "exec", flags=AWAIT), last


def _is_async(code):
    return code is not None and bool(code.co_flags & inspect.CO_COROUTINE)


async def _run_async(body, last, scope):
    _relay_loop.program = asyncio.current_task()
    for code in (body, last):
        result = eval(code, scope) if code is not None else None
        if _is_async(code):
            result = await result
    return result


def _execute(source, filename, scope):
    body, last = _compiled(source, filename)
    if not (_is_async(body) or _is_async(last)):
        exec(body, scope)
        return None if last is None else eval(last, scope)
    loop = event_loop()
    try:
        result = loop.run_until_complete(_run_async(body, last, scope))
    finally:
        _relay_loop.cancel_all(loop)
    return None if last is None else result


def _plain(value, depth):
    """Whether JSON gives the value back as it is."""
    if value is None or value is True or value is False or type(value) is str:
        return True
    if type(value) is int:
        return -(2**63) <= value < 2**64
    if type(value) is float:
        return value == value and abs(value) != float("inf")
    if depth <= 0:
        return False
    if type(value) in (list, tuple):
        return all(_plain(item, depth - 1) for item in value)
    return type(value) is dict and all(type(key) is str and _plain(item, depth - 1) for key, item in value.items())


def _clip(text, size, mark="… [cut]"):
    data = text.encode("utf-8", "relay")
    if len(data) <= size:
        return data.decode("utf-8", "replace")
    return data[: size - len(mark.encode())].decode("utf-8", "ignore") + mark


def _value(value, outcome):
    if isinstance(value, Pending):
        value = value.value()
    if value is None:
        return
    if _plain(value, _limits["depth"]):
        data = dumps(value, ensure_ascii=False).encode("utf-8", "relay")
        if len(data) <= _limits["bytes"]:
            outcome["valueJson"] = data.decode("utf-8", "replace")
            # JSON that is too long to be read at a glance is all there is: it is whole, and relay gives it in pages.
            if not isinstance(value, (list, tuple, dict)) or len(data) > _limits["text"]:
                return
    text = value if type(value) is str else repr(value)
    outcome["valueText"] = _clip(text, _limits["bytes"], f"… [cut, {len(text)} characters in all]")


def _own_frames(explanation, seen):
    """Only the program's frames, in the error, its causes, and the members of a group."""
    if explanation is None or id(explanation) in seen:
        return
    seen.add(id(explanation))
    kept = [frame for frame in explanation.stack if not frame.filename.startswith(HIDDEN)]
    explanation.stack = traceback.StackSummary.from_list(kept)
    _own_frames(explanation.__cause__, seen)
    _own_frames(explanation.__context__, seen)
    for member in explanation.exceptions or ():
        _own_frames(member, seen)


def _how_to_install(error):
    package = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0]
    if not package or package in sys.stdlib_module_names or package in sys.modules:
        return ""
    advice = f"\n'{package}' is not installed here: name its package in the run's pip.requirements"
    if package in COMPILED:
        advice += "; it comes from the mirror of Pyodide's packages that the operator names as pip.pyodideMirror"
    return advice


def _where_to_write(error):
    if not isinstance(error, OSError) or error.errno != errno.EROFS:
        return ""
    return "\nFiles can be written below /tmp and /out, and the working directory is /out unless the run has a cwd; files in /out are kept"


def explain(error):
    try:
        explanation = traceback.TracebackException(type(error), error, error.__traceback__, limit=-60, lookup_lines=False, compact=True)
        _own_frames(explanation, set())
        lines = list(explanation.format(colorize=False))
        if not explanation.stack and lines and lines[0].startswith("Traceback"):
            lines = lines[1:]
        text = "".join(lines).rstrip("\n") + _how_to_install(error) + _where_to_write(error)
    except Exception:
        text = f"{type(error).__name__}"
    if len(text) > _limits["error"]:
        half = _limits["error"] // 2 - 20
        text = text[:half] + "\n… [cut] …\n" + text[-half:]
    return text


def _message(error):
    try:
        return str(error)
    except Exception:
        return "[message cannot be shown]"


def _exit_code(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    print(code, file=sys.stderr)
    return 1


def _failed(error, outcome):
    text = explain(error)
    print(text, file=sys.stderr)
    outcome["exitCode"] = 130 if isinstance(error, KeyboardInterrupt) else 1
    outcome["error"] = {"type": type(error).__name__, "message": _message(error), "stack": text}


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def _writer(number, errors):
    raw = io.FileIO(number, "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw, BUFFER_BYTES), "utf-8", errors, line_buffering=True)


def _streams(has_input):
    """Text layers over the descriptors, made anew when an earlier run of the session closed or replaced them."""
    for number, name, errors in ((1, "stdout", "relay"), (2, "stderr", "backslashreplace")):
        kept = _text.get(name)
        if kept is None or kept.closed or getattr(sys, name, None) is not kept:
            kept = _text[name] = _writer(number, errors)
            setattr(sys, name, kept)
            setattr(sys, f"__{name}__", kept)
    if has_input or _text.get("used") or getattr(sys, "stdin", None) is not _text.get("stdin"):
        sys.stdin = _text["stdin"] = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "rb", closefd=False), BUFFER_BYTES), "utf-8", "surrogateescape")
        _text["used"] = has_input


def _environment(config):
    os.environ.clear()
    os.environ.update({"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", **config["env"]})
    sys.argv = [config["path"], *config["argv"]]
    folder = os.path.dirname(config["path"]) or "/"
    sys.path[:] = [folder, *_base_path, "/site-packages"]
    sys.path_importer_cache.pop(folder, None)
    sys.path_importer_cache.pop("/site-packages", None)
    # The root cannot be written; what a program leaves in /out is kept.
    os.chdir("/out" if config["cwd"] == "/" else config["cwd"])


def reseed():
    """The interpreter was seeded before the fork: without this, every run would draw the same numbers."""
    random.seed(wire.random_bytes(32))
    tempfile._name_sequence = None


def prepare(limits):
    """Called once at boot."""
    global _base_path, _main
    _limits.update(loads(limits))
    _base_path = [path for path in sys.path if path]
    _main = _fresh_main()
    _relay_loop.install()


def forget():
    """The next run starts with no variables, as if reset."""
    global _main
    _main = _fresh_main()


def settle():
    """Called at the end of boot: what lives now is never looked at by the collector again, so forks share its pages."""
    gc.collect()
    gc.freeze()


def run(config):
    """Everything about one run; the answer is JSON text, never an exception."""
    config = loads(config)
    outcome = {"exitCode": 0}
    if config.get("reset"):
        forget()
    _streams(config["hasInput"])
    if config["reseed"]:
        reseed()
    _environment(config)
    _configure(config["servers"], _main.__dict__)
    name = os.path.basename(config["path"]) or "main.py"
    source = config["source"]
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    _main.__file__ = config["path"]
    try:
        value = _execute(source, name, _main.__dict__)
        _pending.finish_all()
        _value(value, outcome)
    except SystemExit as error:
        outcome["exitCode"] = _exit_code(error)
    except BaseException as error:
        _failed(error, outcome)
    _pending.forget_all()
    _flush()
    return dumps(outcome)
