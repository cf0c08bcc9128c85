"""The devices of this machine that launch kernels, and the choice of one."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

from tessera import _tessera
from tessera._errors import Error

_selected = os.environ.get("TESSERA_BACKEND") or "cpu"


def devices() -> list[dict[str, Any]]:
    """The devices, the host's first.

    >>> devices()[0]["backend"]
    'cpu'
    """
    return _tessera.devices()


def capabilities(name: str | None = None) -> dict[str, Any]:
    """Returns what the device of a backend can do (docs/devices.md); of the one in use, unless another is named.

    >>> capabilities()["types"]["tf32"]["as"]
    'f32'
    >>> capabilities()["matrix_unit"].get("f8e4m3fn")
    """
    wanted = name or backend()
    for index, device in enumerate(devices()):
        if device["backend"] == wanted:
            told: dict[str, Any] = json.loads(_tessera.capabilities(index))
            return told
    raise _no_backend(wanted)


def _no_backend(name: str) -> Error:
    return Error(f"there is no backend '{name}' here; there is {', '.join(d['backend'] for d in devices())}; tsr devices says why")


def _index_of(name: str) -> int:
    for index, device in enumerate(devices()):
        if device["backend"] == name:
            if device["unavailable"]:
                raise Error(f"backend {name} cannot run here: {device['unavailable']}")
            return index
    raise _no_backend(name)


def select_backend(name: str) -> None:
    """Selects the backend on which all that is loaded from now on runs; at first it is the one that TESSERA_BACKEND names, or the CPU.

    >>> select_backend("cpu")
    >>> select_backend("abacus")
    Traceback (most recent call last):
        ...
    tessera.Error: there is no backend 'abacus' here; there is cpu; tsr devices says why
    """
    global _selected
    _index_of(name)
    _selected = name


def backend() -> str:
    """The backend in use."""
    return _selected


def level() -> str | None:
    """The level of code that the device in use takes; None: that of this CPU, which the compiler finds by itself."""
    found = devices()[_index_of(backend())]["isa"]
    return None if found.startswith(("x86-64", "aarch64")) else found


@functools.lru_cache(maxsize=None)
def _context_on(index: int, threads: int) -> _tessera.Context:
    return _tessera.Context(index, threads)


def context(threads: int | None = None) -> _tessera.Context:
    """The context in which modules are loaded: one for each backend and number of threads."""
    return _context_on(_index_of(backend()), threads or 0)
