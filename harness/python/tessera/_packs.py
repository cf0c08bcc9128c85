"""Packs of the calls that JAX makes on the device `tessera`."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tessera._errors import Error

_EXTENSION = 0x747372  # that of the plugin (harness/pjrt/pack.h)


class _Functions(ctypes.Structure):
    pass


_Functions._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("type", ctypes.c_int),
    ("next", ctypes.POINTER(_Functions)),
    ("begin", ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_char_p, ctypes.c_char_p)),
    ("end", ctypes.CFUNCTYPE(ctypes.c_char_p)),
]


class _Table(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extensions", ctypes.POINTER(_Functions))]


@functools.lru_cache(maxsize=None)
def _functions() -> Any:
    """Those of the library that JAX has loaded, too: it is the same file."""
    path = importlib.import_module("jax_plugins.tessera").library_path()
    start = ctypes.CDLL(path).GetPjrtApi
    start.restype = ctypes.POINTER(_Table)
    found = start().contents.extensions
    while found and found.contents.type != _EXTENSION:
        found = found.contents.next
    if not found:
        raise Error(f"{path} is of another version than this package: it makes no packs of calls")
    return found.contents


def _program_of(function: Callable[..., Any] | str) -> str:
    """JAX's name of the program of a function."""
    name = function if isinstance(function, str) else getattr(function, "__name__", repr(function))
    return "jit_" + re.sub(r"[^\w.-]", "_", name)


@contextlib.contextmanager
def pack(of: Callable[..., Any] | str | None = None, folder: str | os.PathLike[str] = ".tsr/failures") -> Iterator[list[Path]]:
    """Makes packs of what JAX runs on the device `tessera` within the block: the first call of each program, or of those of a jitted function.

        with tessera.pack(train_step) as packs:
            train_step(parameters, batch)
        print(packs)  # `tsr replay FILE` runs it anywhere

    The list is filled when the block ends. An Error tells of calls that could not be packed, and that there was none. One block at a time.
    """
    functions = _functions()
    wanted = None if of is None else _program_of(of)
    packs: list[Path] = []
    if not functions.begin(os.fsencode(folder), wanted and wanted.encode()):
        raise Error("another block of tessera.pack() has not ended")
    lines: list[str] = []
    try:
        yield packs
    finally:
        lines = os.fsdecode(functions.end()).splitlines()
        packs.extend(Path(line) for line in lines if not line.startswith("!"))
    failed = [line[1:] for line in lines if line.startswith("!")]
    if failed:
        raise Error("no pack was made of " + "; ".join(failed))
    if not packs:
        raise Error(f"no call of {wanted or 'a program'} ran on the device tessera in this block (JAX_PLATFORMS=tessera, or jax.default_device)")
