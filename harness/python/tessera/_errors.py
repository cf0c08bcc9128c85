"""What goes wrong, as exceptions."""

from __future__ import annotations

import dataclasses
import re

from tessera._tessera import Error

__all__ = ["CompileError", "Diagnostic", "Error"]

LINE = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): error\[(?P<id>E\d+)\]: (?P<message>.*)$", re.M)


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One error of the compiler; `tsr explain ID` tells more."""

    id: str
    line: int
    column: int
    message: str


class CompileError(Error):
    """A source that the compiler refuses. `diagnostics` has its errors; the text shows them in their lines."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


def diagnostics_of(text: str) -> tuple[Diagnostic, ...]:
    """The errors in what the compiler printed.

    >>> diagnostics_of("a.tsr:4:12: error[E0501]: shapes do not broadcast")
    (Diagnostic(id='E0501', line=4, column=12, message='shapes do not broadcast'),)
    """
    return tuple(Diagnostic(m["id"], int(m["line"]), int(m["column"]), m["message"]) for m in LINE.finditer(text))
