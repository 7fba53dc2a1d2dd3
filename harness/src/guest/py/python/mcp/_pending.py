"""A call made inside async code without `await`: it is on its way at once, and is its own value for whoever looks."""

import builtins
import operator
import sys

_EMPTY = object()
_open = {}


class Pending:
    """Await it, or use it as the value, which waits for it. Either way the tool is called exactly once."""

    def __init__(self, started, finish, name):
        self._started, self._finish, self._name = started, finish, name
        self._result = _EMPTY
        self._error = None
        _open[id(self)] = self

    def _settle(self, get):
        try:
            self._result = self._finish(get)
        except Exception as error:
            self._error = error
        _open.pop(id(self), None)

    def _outcome(self):
        if self._error is not None:
            raise self._error
        return self._result

    def __await__(self):
        if self._result is _EMPTY and self._error is None:
            try:
                result = yield from self._started.__await__()
            except Exception as error:
                self._settle(_raiser(error))
            except BaseException:  # cancelled: the request is, too
                _open.pop(id(self), None)
                raise
            else:
                self._settle(lambda: result)
        return self._outcome()

    def value(self):
        """The value itself, waited for if need be."""
        if self._result is _EMPTY and self._error is None:
            self._settle(self._started.wait)
        return self._outcome()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __bool__(self):
        return bool(self.value())

    def __str__(self):
        return str(self.value())

    def __repr__(self):
        return repr(self.value())

    def __format__(self, spec):
        return format(self.value(), spec)

    def __iter__(self):
        return iter(self.value())

    def __reversed__(self):
        return reversed(self.value())

    def __hash__(self):
        return id(self)  # asyncio.gather keeps awaitables in a dictionary, before any of them has a value


def _raiser(error):
    def raise_it():
        raise error

    return raise_it


def plain(value):
    return value.value() if isinstance(value, Pending) else value


def _delegate(name, function):
    def method(self, *others):
        return function(self.value(), *map(plain, others))

    setattr(Pending, name, method)


def _reflect(name, function):
    def method(self, other):
        return function(plain(other), self.value())

    setattr(Pending, name, method)


for _name in ("len", "int", "float", "round", "abs", "bytes", "complex"):
    _delegate(f"__{_name}__", getattr(builtins, _name))
for _name in ("getitem", "setitem", "delitem", "contains", "eq", "ne", "lt", "le", "gt", "ge", "index", "neg", "pos", "invert"):
    _delegate(f"__{_name}__", getattr(operator, _name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    _function = getattr(operator, _name, None) or getattr(operator, _name + "_")
    _delegate(f"__{_name}__", _function)
    _reflect(f"__r{_name}__", _function)


def finish_all():
    """The end of a program: calls that nobody waited for are done all the same, and a failure among them is not lost."""
    for pending in list(_open.values()):
        try:
            pending.value()
        except Exception as error:
            print(f"{pending._name} failed, and nobody waited for it: {error}", file=sys.stderr)
    _open.clear()


def forget_all():
    """The program failed or left: nothing of it goes on."""
    _open.clear()
