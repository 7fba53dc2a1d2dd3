"""How this package reaches relay: the one module that knows. Everything above it is plain Python, for any interpreter.

A guest brings `_relay_wire` (start, finish, call) and `_relay_loop` (the same under asyncio); see there.
"""

import asyncio

import _relay_loop
import _relay_wire as wire

Failure = (wire.RelayError, OSError)


def ask(op, args):
    """Asks and waits."""
    return wire.call(op, args)[0]


async def ask_async(op, args):
    return (await _relay_loop.request(op, args))[0]


def in_loop():
    """Whether asynchronous code is running right now."""
    try:
        asyncio.get_running_loop()
        return True
    except RuntimeError:
        return False


class Started:
    """A request that is on its way. It may be awaited, or waited for."""

    def __init__(self, op, args):
        self._number, self._future = _relay_loop.begin(op, args)

    def __await__(self):
        result, _ = yield from _relay_loop.finish(self._number, self._future).__await__()
        return result

    def wait(self):
        if self._future.done():
            return self._future.result()[0]
        _relay_loop.forget(self._number)
        return wire.finish(self._number)[0]
