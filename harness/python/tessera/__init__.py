"""Tessera: tensor kernels whose every bit is known beforehand.

`kernel`, `compile` and `load` make kernels that take and give arrays of any framework; `bench`, `check`, `verify`
and `replay` run the harness; `capture` records what a function of yours is called with. The words of the kernel
language (KTile, case, tile ...) are here, too. See docs/python.md.
"""

import importlib
from typing import Any

# Names by the module that has them. Modules are imported when they are used: an implementation's process needs none of them.
_NAMES = {
    "_capture": ("capture",),
    "_commands": ("bench", "replay"),
    "_device": ("device_get", "device_put"),
    "_errors": ("CheckError", "CompileError", "Diagnostic", "Error"),
    "_frameworks": ("FromJax", "as_jax", "as_torch", "from_jax"),
    "_kernel": ("Kernel", "jit", "kernel"),
    "_module": ("Module", "compile", "load"),
    "_packs": ("pack",),
    "_tessera": ("Tensor",),
    "_types": ("ElementType",),
    "testing": ("check", "verify"),
}
_FOLDERS = {name: folder for folder, names in _NAMES.items() for name in names}
_MODULES = ("language", "numerics", "runtime", "stdlib", "testing")


def _all() -> list[str]:
    return sorted({*_FOLDERS, *_MODULES, *importlib.import_module("tessera._words").NAMES})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tessera.{name}")
    if name == "__all__":
        return _all()
    if name == "__version__":
        return importlib.import_module("tessera._tessera").version
    if name.startswith("_"):
        raise AttributeError(f"tessera has no '{name}'")
    folder = _FOLDERS.get(name, "language")
    try:
        value = globals()[name] = getattr(importlib.import_module(f"tessera.{folder}"), name)
    except AttributeError:
        raise AttributeError(f"tessera has no '{name}'") from None
    return value


def __dir__() -> list[str]:
    return _all()
