"""asyncio's event loop over relay's wire: its selector waits for replies, so awaited requests truly overlap."""

import asyncio
from asyncio import base_events, events

import _relay_wire as wire

REPLY = 2
_waiting = {}
program = None  # the task of a program with await at its top level


class Stalled(RuntimeError):
    """Everything waits, and nothing is left that could wake it."""


class _Selector:
    def select(self, timeout):
        if timeout is None and wire.pending() == 0:
            raise Stalled("every task waits for something that nothing can finish")
        frames = []
        frame = wire.next_frame(timeout)
        while frame is not None:
            frames.append(frame)
            frame = wire.next_frame(0)
        return frames

    def close(self):
        pass

    def get_map(self):
        return {}


class RelayLoop(base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, frames):
        for kind, number, header, body in frames:
            _deliver(kind, number, header, body)

    def _write_to_self(self):
        pass

    def time(self):
        return wire.now() / 1000

    def run_in_executor(self, executor, func, *args):
        """There are no threads: the function runs now, and its future is finished when this returns."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def _deliver(kind, number, header, body):
    entry = _waiting.get(number)
    if entry is None:
        return
    if kind != REPLY:
        return
    del _waiting[number]
    wire.close(number)
    if entry.done():
        return
    try:
        entry.set_result(wire.decode(header, body))
    except Exception as error:
        entry.set_exception(error)


def begin(op, args=None, body=None):
    """Asks at once; the number and the future are for finish()."""
    future = asyncio.get_running_loop().create_future()
    number = wire.start(op, args, body)
    _waiting[number] = future
    return number, future


async def finish(number, future):
    """Awaits the answer; cancelling the task cancels the request."""
    try:
        return await future
    except asyncio.CancelledError:
        forget(number)
        wire.cancel(number)
        raise


def forget(number):
    """The loop is not told of the answer any more: somebody waits for it in another way, or nobody does."""
    _waiting.pop(number, None)


async def request(op, args=None, body=None):
    """Asks and awaits; cancelling the task cancels the request."""
    return await finish(*begin(op, args, body))


class RelayPolicy(events._BaseDefaultEventLoopPolicy):
    _loop_factory = RelayLoop


def _run(main, **options):
    """asyncio.run, also in a program that has awaited before: its own loop rests while the coroutine has one to itself."""
    outer = events._get_running_loop()
    if outer is None or asyncio.current_task() is not program:
        return asyncio.runners.run(main, **options)
    asyncio.tasks._leave_task(outer, program)
    events._set_running_loop(None)
    try:
        return asyncio.runners.run(main, **options)
    finally:
        asyncio.set_event_loop(outer)
        events._set_running_loop(outer)
        asyncio.tasks._enter_task(outer, program)


def install():
    events._set_event_loop_policy(RelayPolicy())
    events._set_running_loop(None)
    asyncio.run = _run


def cancel_all(loop):
    """As asyncio.run does when its main coroutine is over."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
