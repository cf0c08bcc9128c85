"""Calls of Python functions, recorded where TESSERA_CAPTURE names a folder (docs/capture.md)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tessera import _tessera
from tessera._errors import Error


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value, or those in a list, a tuple or a dict.

    >>> list(_leaves("x", [1, {"a": 2}]))
    [('x.0', 1), ('x.1.a', 2)]
    """
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(f"{name}.{key}", one)
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from _leaves(f"{name}.{number}", one)
    else:
        yield name, value


def recorded(name: str, values: Iterable[tuple[str, Any]], run: Callable[[], Any], written: Iterable[str] = ()) -> Any:
    """Runs it between the two halves of a record."""
    outputs = set(written)
    leaves = [(leaf, value, top in outputs) for top, whole in values for leaf, value in _leaves(top, whole)]
    call = _tessera.capture_open(name, leaves)
    result = run()
    if call is not None:
        _tessera.capture_close(call, name, list(_leaves("result", result)))
    return result


def capture(function: Callable[..., Any] | None = None, *, name: str | None = None, outputs: Iterable[str] = ()) -> Any:
    """Records the calls of a function where TESSERA_CAPTURE names a folder; else it is the function itself.

    Arguments and results that are arrays are recorded with type, shape and hash, numbers and texts with their values.
    `outputs` names the parameters that the function writes to.
    """
    if function is None:
        return functools.partial(capture, name=name, outputs=outputs)
    if not _tessera.capturing:
        return function
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise Error(f"{function!r} returns before it has computed: only a plain function's calls can be recorded")
    called = name or getattr(function, "__qualname__", repr(function))
    written = tuple(outputs)
    try:
        signature: inspect.Signature | None = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    run: Callable[..., Any] = function

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        values: dict[str, Any] | None = None
        try:
            values = dict(signature.bind(*arguments, **named).arguments) if signature else None
        except TypeError:
            pass
        if values is None:
            values = {**{str(number): one for number, one in enumerate(arguments)}, **named}
        return recorded(str(called), values.items(), functools.partial(run, *arguments, **named), written)

    return wrapper
