"""Functions of kernels that Python calls with arrays: a kernel of one call, which is kept for each of their shapes and types."""

from __future__ import annotations

import functools
from typing import Any

from tessera import _tessera, numerics, runtime
from tessera._errors import Error
from tessera._module import Module, compile
from tessera._types import kernel_type


def is_array(value: Any) -> bool:
    """Has it elements, and is it no text?

    >>> is_array(memoryview(b"ab")), is_array("ab"), is_array(3)
    (True, False, False)
    """
    if hasattr(value, "__dlpack__"):
        return True
    try:
        return not isinstance(value, bytes) and memoryview(value) is not None
    except TypeError:
        return False


def _annotation(array: Any) -> str:
    ((array_type, shape),) = _tessera.signature((array,))
    element = array.dtype if isinstance(array, _tessera.Tensor) else kernel_type(array_type)
    if element is None:
        raise Error(f"an array of {array_type} may be of several types of kernels: make it a tessera.Tensor, by device_put(x, dtype)")
    return f"Tensor[{', '.join([*map(str, shape), element])}]"


@functools.lru_cache(maxsize=256)
def _module(source: str, profile: str, backend: str) -> Module:
    return compile(source, "called")


def call(word: str, imports: str, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Gives the result of `word(*values, **named)` in a kernel, of arrays and constants."""
    arrays: list[Any] = []

    def written(value: Any) -> str:
        if not is_array(value):
            return repr(value)
        arrays.append(value)
        return f"x{len(arrays) - 1}"

    given = [*map(written, values), *(f"{name}={written(value)}" for name, value in named.items())]
    parameters = ", ".join(f"x{place}: {_annotation(array)}" for place, array in enumerate(arrays))
    source = f"from tessera import *\n{imports}\n@kernel\ndef called({parameters}):\n    return {word}({', '.join(given)})\n"
    return _module(source, numerics.current(), runtime.backend())(*arrays)
