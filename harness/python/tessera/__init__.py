"""Tessera: tensor kernels whose every bit is known beforehand.

`kernel`, `compile` and `load` make kernels that take and give arrays of any framework; `bench`, `check`, `verify`
and `replay` run the harness; `capture` records what a function of yours is called with. See docs/python.md.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tessera import numerics, runtime, testing
    from tessera._capture import capture
    from tessera._commands import bench, replay
    from tessera._errors import CompileError, Diagnostic, Error
    from tessera._kernel import Kernel, kernel
    from tessera._module import Module, compile, load
    from tessera._tessera import Tensor
    from tessera._types import ElementType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i4, i8, i32, i64, tf32
    from tessera.testing import check, verify

# Where each name is. They are imported when they are used: an implementation's process needs none of them.
_NAMES = {
    "_capture": ("capture",),
    "_commands": ("bench", "replay"),
    "_errors": ("CompileError", "Diagnostic", "Error"),
    "_kernel": ("Kernel", "kernel"),
    "_module": ("Module", "compile", "load"),
    "_tessera": ("Tensor",),
    "testing": ("check", "verify"),
    "_types": ("ElementType", "f64", "f32", "tf32", "f16", "bf16", "f8e4m3fn", "f8e5m2", "i64", "i32", "i8", "i4"),
}
_FOLDERS = {name: folder for folder, names in _NAMES.items() for name in names}
_MODULES = ("numerics", "runtime", "testing")

__all__ = [
    "CompileError",
    "Diagnostic",
    "ElementType",
    "Error",
    "Kernel",
    "Module",
    "Tensor",
    "bench",
    "bf16",
    "capture",
    "check",
    "compile",
    "f16",
    "f32",
    "f64",
    "f8e4m3fn",
    "f8e5m2",
    "i32",
    "i4",
    "i64",
    "i8",
    "kernel",
    "load",
    "numerics",
    "replay",
    "runtime",
    "testing",
    "tf32",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tessera.{name}")
    if name not in _FOLDERS:
        raise AttributeError(f"tessera has no '{name}'")
    value = globals()[name] = getattr(importlib.import_module(f"tessera.{_FOLDERS[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
