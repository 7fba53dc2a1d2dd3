"""Fits the standard library to a guest that has no threads, sockets or JavaScript, but has relay."""

import builtins
import errno
import io
import os
import sys
import threading
import time

import _relay_wire as wire

_native_open = io.open
NO_THREADS = "threads are not available in this sandbox: use asyncio (await asyncio.gather(...)) to overlap work"


def _sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    sys.stdout.flush()
    wire.sleep(seconds)


def _no_threads(*args, **kwargs):
    raise RuntimeError(NO_THREADS)


class _Refused:
    """`js` and its kin lead into the host's JavaScript; programs have no business there."""

    NAMES = ("js", "pyodide_js", "_relay_host", "_pyodide_core")

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.NAMES:
            raise ModuleNotFoundError(f"the module '{name}' is not available in this sandbox", name=name)
        return None


def _refuse_processes():
    """libc refuses these by itself, with numbers that are not Linux's."""
    for number, names in ((errno.ENOSYS, ("fork", "forkpty", "execv", "execve")), (errno.EPERM, ("kill", "killpg"))):
        for name in names:
            if hasattr(os, name):
                setattr(os, name, _failing(number))


def _open(*args, **kwargs):
    try:
        return _native_open(*args, **kwargs)
    except IsADirectoryError as error:
        error.errno = errno.EISDIR  # Python itself says so here, with another number
        raise


def _failing(number):
    def refuse(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return refuse


def _no_javascript(*args, **kwargs):
    raise PermissionError("JavaScript is not available in this sandbox")


def _close_javascript():
    import pyodide.code

    pyodide.code.run_js = _no_javascript
    pyodide.code.eval_ = _no_javascript
    sys.modules.pop("pyodide._run_js", None)
    for finder in list(sys.meta_path):
        if type(finder).__name__ == "JsFinder":
            sys.meta_path.remove(finder)
    for name in list(sys.modules):
        if name.partition(".")[0] in _Refused.NAMES and name != "_pyodide_core":
            del sys.modules[name]
    sys.meta_path.insert(0, _Refused())


def install():
    import _relay_display
    import _relay_net

    time.sleep = _sleep
    # Without a clock of the processor, which WASM does not have, the time that passes is the nearest.
    time.process_time = time.perf_counter
    time.process_time_ns = time.perf_counter_ns
    threading.Thread.start = _no_threads
    threading._start_joinable_thread = _no_threads
    import _thread

    _thread.start_new_thread = _thread.start_new = _thread.start_joinable_thread = _no_threads
    _refuse_processes()
    _open.__name__ = _open.__qualname__ = "open"
    builtins.open = io.open = _open
    _relay_net.install()
    builtins.display = _relay_display.display
    builtins.fetch = _relay_net.fetch
    _close_javascript()
