"""Lets JAX run on Tessera: JAX_PLATFORMS=tessera python SCRIPT.

JAX finds this package by itself and calls initialize(). The device is registered only where JAX_PLATFORMS, or the setting jax_platforms, names
tessera: a script that does not ask for it is left alone.

TESSERA_PROFILE is strict (the default), deterministic or fast. TESSERA_THREADS says how many threads run kernels; no bit depends on it.
TESSERA_PJRT_LIBRARY names the library, which is otherwise looked for beside this file and in the folders of an installation and of a build.
"""

import os
from pathlib import Path

_NAME = "tessera"
_LIBRARY = "libtessera_pjrt.so"
_HERE = Path(__file__).resolve().parent


def _places():
    """Beside this file; in a wheel; in an installation and in a build."""
    return [_HERE / _LIBRARY, _HERE.parent.parent / "tessera/program/lib/tessera" / _LIBRARY, _HERE.parents[2] / _LIBRARY]


def library_path():
    """The library's path; an ImportError says where it was looked for."""
    named = os.environ.get("TESSERA_PJRT_LIBRARY")
    places = [Path(named)] if named else _places()
    for place in places:
        if place.is_file():
            return str(place)
    looked = ", ".join(map(str, places))
    raise ImportError(f"there is no {_LIBRARY} (looked for: {looked}): TESSERA_PJRT_LIBRARY names it")


def _is_wanted():
    import jax

    return _NAME in (jax.config.jax_platforms or "").split(",")


def _allow_donation():
    """JAX gives the memory of donated arguments only to platforms that it knows."""
    from jax._src.interpreters import mlir

    platforms = getattr(mlir, "_platforms_with_donation", None)
    if isinstance(platforms, list) and _NAME not in platforms:
        platforms.append(_NAME)


def _eigh(context, operand, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    """JAX has this primitive for the platforms that it knows; the name is the one that XLA has for it. Values are always sorted."""
    import jax

    del sort_eigenvalues, algorithm
    if subset_by_index not in (None, (0, context.avals_in[0].shape[-1])):
        raise NotImplementedError("eigh of some eigenvalues is not supported on tessera; take them from all")
    return jax.ffi.ffi_lowering("Eigh")(context, operand, lower=bool(lower))


def _add_lowerings():
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    mlir.register_lowering(linalg.eigh_p, _eigh, platform=_NAME)


def initialize():
    """Called by JAX when it looks for devices."""
    if not _is_wanted():
        return
    from jax._src import xla_bridge

    xla_bridge.register_plugin(_NAME, priority=500, library_path=library_path())
    _allow_donation()
    _add_lowerings()
