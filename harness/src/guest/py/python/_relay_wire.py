"""Requests to relay from Python, synchronous and asynchronous.

This is the only module that knows what carries them. In Pyodide it is a JavaScript object that the harness registers;
a native CPython guest brings its own `_relay_host` with the same few functions, and everything above stays as it is.
"""

import codecs
import errno
from json import dumps, loads

import _relay_host as _host

_start, _wait_for, _next, _take_body = _host.start, _host.wait_for, _host.next, _host.take_body
_cancel, _close, _sleep, _pending = _host.cancel, _host.close, _host.sleep, _host.pending
_wait_event = _host.wait_event
now, _random = _host.now, _host.random


class RelayError(Exception):
    """Relay refused or failed a request. `type` is relay's name for the reason, such as PolicyDenied."""

    def __init__(self, message, type="Error"):
        super().__init__(message)
        self.type = type


def _replaced(error):
    """Characters that UTF-8 cannot hold: bytes that came in as text (surrogateescape) leave as they came, others are U+FFFD."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = map(ord, error.object[error.start : error.end])
    return b"".join(bytes((code - 0xDC00,)) if 0xDC80 <= code <= 0xDCFF else b"\xef\xbf\xbd" for code in codes), error.end


codecs.register_error("relay", _replaced)


def _error(error):
    error = error or {}
    message = error.get("message") or "the request failed"
    number = getattr(errno, error.get("errno") or "", None)
    if number is not None:
        return OSError(number, message)
    return RelayError(message, error.get("type") or "Error")


def _decoded(header, body):
    header = loads(header)
    if not header.get("ok"):
        raise _error(header.get("error"))
    return header.get("result"), body


def _body():
    body = _take_body()
    return b"" if body is None else body.to_bytes() if hasattr(body, "to_bytes") else bytes(body)


def call(op, args=None, body=None):
    """Asks and waits. Returns the result and the bytes that came with it."""
    return finish(start(op, args, body))


def start(op, args=None, body=None):
    """Asks without waiting; the number is for finish(), or for the event loop."""
    return int(_start(op, dumps(args or {}), body))


def finish(number):
    header = _wait_for(number)
    return _decoded(header, _body())


def cancel(number):
    _cancel(number)
    _close(number)


def sleep(seconds):
    _sleep(max(0.0, float(seconds)) * 1000)


def random_bytes(count):
    made = _random(count)
    return made.to_bytes() if hasattr(made, "to_bytes") else bytes(made)


def pending():
    return int(_pending())


def next_frame(timeout):
    """The next reply or event as (kind, number, header, body), or None after `timeout` seconds (None: for ever)."""
    line = _next(-1 if timeout is None else max(0.0, timeout) * 1000)
    if line is None:
        return None
    kind, number, header = line.split(" ", 2)
    return int(kind), int(number), header, _body()


def next_event(number):
    """Blocks for the next event of one streaming request: (kind, header, body)."""
    header = _wait_event(number)
    return 3, header, _body()


def close(number):
    _close(number)


def decode(header, body):
    return _decoded(header, body)
