"""Commands of the program as functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

from tessera import _program, numerics
from tessera._errors import Error

Implementation = str | os.PathLike[str] | Callable[..., Any]


def with_of(implementation: Implementation, kernel: str | None = None) -> str:
    """What --with takes: a function is that of its file."""
    if callable(implementation):
        file = inspect.getsourcefile(inspect.unwrap(implementation))
        name = implementation.__qualname__
        if not file or "<" in name:
            raise Error(f"{name} cannot be found in a file by its name; a function of a module's own level can")
        implementation = f"{os.path.abspath(file)}:{name}"
    return f"{os.fspath(implementation)}={kernel}" if kernel else os.fspath(implementation)


def bench(*paths: str | os.PathLike[str], implementations: list[Implementation] | None = None, **options: Any) -> dict[str, Any]:
    """Runs `tsr bench`: checks and times kernels. Returns its document (docs/bench.schema.json).

    Options are those of the command line: bench("softmax.tsr", quick=True, filter="softmax_rows/prime", threads=1).
    `implementations` are columns beside ours: functions, or what --with takes. A result that does not hold is no
    exception: each of document["results"] has its status.
    """
    others = [with_of(one) for one in implementations or []]
    if not others:
        options.setdefault("profile", numerics.current())
    return _program.document(["bench", *map(os.fspath, paths), *_program.options_of({**options, "with": others})])


def check(*paths: str | os.PathLike[str], implementations: list[Implementation] | None = None, **options: Any) -> dict[str, Any]:
    """Runs `tsr check`: does anything but the inputs decide the bits? Returns its document (docs/check.md).

    Options are those of the command line: check("softmax.tsr", relation="batch,threads", budget=10).
    `implementations` are checked in place of ours: functions, or what --with takes.
    """
    others = [with_of(one) for one in implementations or []]
    return _program.document(["check", *map(os.fspath, paths), *_program.options_of({**options, "with": others})])


def replay(pack: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Runs `tsr replay`: does what a pack recorded happen here? Returns its document (docs/packs.md)."""
    return _program.document(["replay", os.fspath(pack), *_program.options_of(options)])
