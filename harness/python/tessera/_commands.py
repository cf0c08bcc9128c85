"""Commands of the program as functions."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from tessera import _program, numerics
from tessera._errors import Error, Plain

Implementation = str | os.PathLike[str] | Callable[..., Any]


def _file_of(function: Callable[..., Any]) -> str | None:
    try:
        return inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return None  # it is not written in Python


def _name_of(function: Callable[..., Any]) -> str:
    """Its place in its module. A class has one, too, and an object of it has none."""
    name = getattr(function, "__qualname__", None) or repr(function)
    if not inspect.ismethod(function):
        return name
    if not isinstance(function.__self__, type):
        raise Error(
            f"{name} is bound to an object, which no other process has; a function of a module's own level, a static "
            "method or a class method can be found by its name"
        )
    return f"{function.__self__.__qualname__}.{function.__name__}"


def with_of(implementation: Implementation, kernel: str | None = None) -> str:
    """The argument of --with: a function is that of its file, or of its module where that stands in a package."""
    if callable(implementation):
        module = getattr(implementation, "__module__", None) or ""
        name = _name_of(implementation)
        file = _file_of(implementation)
        if "<" in name or not (file or module in sys.modules):
            raise Error(f"{name} cannot be found by its name; a function of a module's own level can")
        if module == "__main__" and not (file and os.path.isfile(file)):
            raise Error(f"{name} stands in no file, so no other process can import it; put it into a .py file and import that")
        whole = module if "." in module or not file else os.path.abspath(file)
        implementation = f"{whole}:{name}"
    return f"{os.fspath(implementation)}={kernel}" if kernel else os.fspath(implementation)


@Plain
def bench(*paths: str | os.PathLike[str], implementations: list[Implementation] | None = None, **options: Any) -> dict[str, Any]:
    """Runs `tsr bench`: checks and times kernels. Returns its document (docs/bench.schema.json).

    Options are those of the command line: bench("softmax.tsr", quick=True, filter="softmax_rows/prime", threads=1).
    `implementations` are columns beside ours: functions, or what --with takes. A result that does not hold is no
    exception: each of document["results"] has its status.
    """
    others = [with_of(one) for one in implementations or []]
    if not others:
        options.setdefault("profile", numerics.current())
    return _program.document("bench", *paths, **{**options, "with": others})


@Plain
def replay(pack: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Runs `tsr replay`: does what a pack recorded happen here? Returns its document (docs/packs.md)."""
    return _program.document("replay", pack, **options)
