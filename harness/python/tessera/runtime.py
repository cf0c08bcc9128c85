"""The devices of this machine that launch kernels, and the choice of one."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

from tessera import _tessera
from tessera._errors import Error

# Backends by the code that their devices run, as the command line has them; and types by names from elsewhere.
_FAMILIES = {"ptx": "cuda", "rocm": "hip"}
_BACKENDS = _tessera.backends()
# Devices that are listed where they are asked for, by their drivers.
_ASKED = {"emulated": "TESSERA_EMULATED", "vulkan": "TESSERA_SOFTWARE_DEVICES", "opencl": "TESSERA_SOFTWARE_DEVICES"}
_TENSOR_CORE = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "fp8_e4m3": "f8e4m3fn", "fp8_e5m2": "f8e5m2", "int8": "i8"}
_selected = os.environ.get("TESSERA_BACKEND") or "cpu"
_selected = _FAMILIES.get(_selected, _selected)


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
    told: dict[str, Any] = json.loads(_tessera.capabilities(_place_of(name or backend())))
    return told | _as_elsewhere(told)


def _as_elsewhere(told: dict[str, Any]) -> dict[str, Any]:
    """The same by names that programs for GPUs have for it."""
    units = told.get("matrix_unit") or {}
    return {
        "tensorcore": {name: bool(units.get(element)) for name, element in _TENSOR_CORE.items()},
        "warp_size": told.get("subgroup"),
        "cp_async": bool(told.get("async_copy")),
        "shared_bytes_per_block": told.get("shared_bytes"),
    }


def _place_of(name: str) -> int:
    """Its device's place in the list, where it is there, whether it can run or not."""
    name = _FAMILIES.get(name, name)
    driver, which, _ = _BACKENDS.get(name, (name, 0, "device"))
    if driver in _ASKED:
        os.environ.setdefault(_ASKED[driver], "1")
    places = [index for index, device in enumerate(devices()) if device["backend"] == driver]
    if which >= len(places):
        raise Error(f"there is no backend '{name}' here; there is {', '.join(d['backend'] for d in devices())}; tsr devices says why")
    return places[which]


def _index_of(name: str) -> int:
    index = _place_of(name)
    reason = devices()[index]["unavailable"]
    if reason:
        raise Error(f"backend {name} cannot run here: {reason}")
    return index


def set_policy(path: str | os.PathLike[str] | None) -> None:
    """Sets the policy (docs/policy.md) of this process and of each `tsr` that it starts, before the first launch, instead of TESSERA_POLICY's; None: there is none."""
    if _context_on.cache_info().currsize:
        raise Error("launches have a policy already, or none: set it before the first one")
    if path is None:
        os.environ.pop("TESSERA_POLICY", None)
        return
    whole = os.path.abspath(path)
    _tessera.check_policy(whole)
    os.environ["TESSERA_POLICY"] = whole


def select_backend(name: str) -> None:
    """Selects the backend, by its name or the code that it runs (ptx, rocm), on which all that is loaded from now on runs; at first it is the one that TESSERA_BACKEND names, or the CPU.

    >>> select_backend("cpu")
    >>> select_backend("abacus")
    Traceback (most recent call last):
        ...
    tessera.Error: there is no backend 'abacus' here; there is cpu; tsr devices says why
    """
    global _selected
    _index_of(_FAMILIES.get(name, name))
    _selected = _FAMILIES.get(name, name)


def backend() -> str:
    """The backend in use."""
    return _selected


def level() -> str | None:
    """The level of code that the device in use takes; None: that of this CPU, which the compiler finds by itself."""
    level = _BACKENDS.get(backend(), ("", 0, "device"))[2]
    if level == "device":
        level = devices()[_index_of(backend())]["isa"]
    return None if level.startswith(("x86-64", "aarch64")) else level or None


@functools.lru_cache(maxsize=None)
def _context_on(name: str, threads: int) -> _tessera.Context:
    return _tessera.Context(_index_of(name), threads)


def context(threads: int | None = None) -> _tessera.Context:
    """The context in which modules are loaded: one for each backend and number of threads."""
    return _context_on(backend(), threads or 0)
