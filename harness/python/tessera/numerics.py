"""The numerics that kernels are compiled for (docs/numerics.md)."""

from __future__ import annotations

import types

from tessera._errors import Error

PROFILES = ("strict", "deterministic", "fast")
_current = "strict"


class profile:
    """Sets the profile; as a context manager, for its block.

    >>> with profile("fast"):
    ...     current()
    'fast'
    >>> current()
    'strict'
    """

    def __init__(self, name: str) -> None:
        global _current
        if name not in PROFILES:
            raise Error(f"there is no profile '{name}'; there is {', '.join(PROFILES)}")
        self._before = _current
        _current = name

    def __enter__(self) -> profile:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: types.TracebackType | None) -> None:
        global _current
        _current = self._before


def current() -> str:
    """The profile in use."""
    return _current
