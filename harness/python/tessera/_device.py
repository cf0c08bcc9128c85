"""Arrays in the memory of a device, where they stay from launch to launch."""

from __future__ import annotations

import sys
from typing import Any

from tessera import _tessera, _tree, runtime
from tessera._errors import Error
from tessera._types import kernel_type


def _put(array: Any, dtype: str | None, context: Any) -> Any:
    ((array_type, _),) = _tessera.signature((array,))
    found = dtype or (array.dtype if isinstance(array, _tessera.Tensor) else kernel_type(array_type))
    if found is None:
        raise Error(f"an array of {array_type} may be of several types of kernels: say which, as dtype='f8e4m3fn'")
    return context.put(array, found)


def device_put(value: Any, *, dtype: str | None = None, threads: int | None = None) -> Any:
    """Copies arrays to the device in use: one, or those of a dict, a list, a tuple or a dataclass, in the same form.

    A kernel takes them where they lie. A state of them, and what `donate` names, is changed in place: what the kernel returns has the
    memory, and what went in is not used again.

    >>> cache = device_put({"m": memoryview(bytes(12)).cast("f")})
    >>> cache["m"]
    <tessera.Tensor f32 (3,)>
    """
    context = runtime.context(threads)
    return _tree.changed(value, lambda array: _put(array, dtype, context))


def _get(tensor: Any) -> Any:
    if not isinstance(tensor, _tessera.Tensor) or tensor.context is None:
        return tensor
    found = tensor.context.get(tensor)
    return sys.modules["numpy"].asarray(found) if "numpy" in sys.modules else found


def device_get(value: Any) -> Any:
    """Copies arrays of a device to the host: to arrays of NumPy where that is imported, else tensors. Others are as they were."""
    return _tree.changed(value, _get)
