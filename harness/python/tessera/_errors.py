"""Exceptions of the package."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from tessera._tessera import Callable, Error

__all__ = ["CheckError", "CompileError", "Diagnostic", "Error", "Plain"]

P = ParamSpec("P")
R = TypeVar("R")

LINE = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): error\[(?P<id>E\d+)\]: (?P<message>.*)"
                  r"(?:\n +\d* \|.*)*(?:\n +=(?! help:).*)*(?:\n += help: (?P<help>.*))?$", re.M)


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One error of the compiler; `tsr explain ID` tells more."""

    id: str
    line: int
    column: int
    message: str
    help: str = ""

    def __str__(self) -> str:
        return f"error[{self.id}]: {self.message}" + (f"\n    help: {self.help}" if self.help else "")


class CompileError(Error):
    """A source that the compiler refuses. `diagnostics` has its errors; the text shows them in their lines."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


class CheckError(Error):
    """A debug.check() of the source, or of a state, that does not hold; the text has its message."""


def diagnostics_of(text: str) -> tuple[Diagnostic, ...]:
    """The errors in what the compiler printed.

    >>> diagnostics_of("a.tsr:4:12: error[E0501]: shapes do not broadcast")
    (Diagnostic(id='E0501', line=4, column=12, message='shapes do not broadcast', help=''),)
    >>> print(*diagnostics_of('''a.tsr:1:9: error[E0305]: 'np' is no name in a kernel
    ...     1 |     y = np.exp(x)
    ...       |         ^~~~~~
    ...       = help: write exp(...)
    ... a.tsr:2:9: error[E0301]: unknown name z'''), sep="|")
    error[E0305]: 'np' is no name in a kernel
        help: write exp(...)|error[E0301]: unknown name z
    """
    return tuple(Diagnostic(m["id"], int(m["line"]), int(m["column"]), m["message"], m["help"] or "") for m in LINE.finditer(text))


class Plain(Callable, Generic[P, R]):
    """A function whose own errors are shown at the line that called it, without the frames below."""

    _errors = (Error, AssertionError)

    def __init__(self, function: collections.abc.Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._call = function

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Plain[P, R]:
        return self  # with it, help() shows the function
