"""Names of the kernel language at run time, where they stand in annotations and decorators of kernels; language.pyi says what each is.

A kernel's text is compiled and never run, so its functions do nothing here but say so.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import math as python_math
import pathlib
import types
from typing import Any

from tessera import _states, _tessera, _types
from tessera._errors import Error

DECORATORS = ("cases", "constants", "graph", "independent", "jit", "kernel", "math", "same_as", "schedule", "specialize", "ste", "verify")


class Word:
    """A word with what follows it, kept as text: Schedule(block=(64, 64)).with_warps(4).

    >>> Word("Schedule")(block=(64, 64)).with_warps(4)
    Schedule(block=(64, 64)).with_warps(4)
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, *values: Any, **named: Any) -> Any:
        if len(values) == 1 and not named and callable(values[0]) and not isinstance(values[0], Word):
            return values[0]  # a decorator leaves what it stands above as it is: its text is read
        shown = [*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())]
        return Word(f"{self._text}({', '.join(shown)})")

    def __getattr__(self, name: str) -> Word:
        if name.startswith("_"):
            raise AttributeError(name)
        return Word(f"{self._text}.{name}")

    __iter__ = None  # a word has no items, although it has subscripts

    def __getitem__(self, parts: Any) -> Word:
        return Word(f"{self._text}[{', '.join(map(repr, parts if isinstance(parts, tuple) else (parts,)))}]")

    def __matmul__(self, other: Any) -> Word:
        return Word(f"{self._text} @ {other!r}")

    def __rmatmul__(self, other: Any) -> Word:
        return Word(f"{other!r} @ {self._text}")

    def __repr__(self) -> str:
        return self._text


class Operations(Word):
    """op: its functions, which Python calls with arrays."""

    def __getattr__(self, name: str) -> Word:
        if name.startswith("_"):
            raise AttributeError(name)
        return LibraryWord("", f"{self._text}.{name}")


class LibraryWord(Word):
    """A function of kernels, of tessera.stdlib where it has a name, with a schedule or without: flash_attention.with_block(48, 64)."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self._name = name

    def __getattr__(self, name: str) -> Word:
        if name.startswith("_"):
            raise AttributeError(name)
        return LibraryWord(self._name, f"{self._text}.{name}")

    def __call__(self, *values: Any, **named: Any) -> Any:
        from tessera import _eager  # it runs modules, which kernels alone need not

        if any(map(_eager.is_array, [*values, *named.values()])):
            return _eager.call(self._text, _imported(self._name), values, named)
        return LibraryWord(self._name, repr(super().__call__(*values, **named)))

    def _lines(self, local: str) -> list[str]:
        """In a source, for which it is called `local`."""
        if self._text == self._name:
            return [_imported(self._name) + (f" as {local}" if local != self._name else "")]
        return [*filter(None, [_imported(self._name)]), f"{local} = {self._text}"]


def _imported(name: str) -> str:
    return f"from tessera.stdlib import {name}" if name else ""


class Generic:
    """class Pair(Generic["M", "T"]): what stands there is read from the record's text."""

    def __class_getitem__(cls, parts: Any) -> type:
        return cls


def record(fields: type) -> type:
    """A class of tensors, which is a dataclass here."""
    return dataclasses.dataclass(fields)


class StateWord(Word):
    """KVCache["B", "H", "S_max", "D_h", f32] in annotations; KVCache(K=..., V=..., length=...) is one."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        first = next(iter(_states.fields_of(_states.DECLARED[self._text])))
        whole = len(values) > 1 or first in named
        return _states.value_of(self._text, values, named) if whole else super().__call__(*values, **named)


class Math(Word):
    """@math("correct"); else Python's module, which `from tessera import *` hides."""

    def __getattr__(self, name: str) -> Any:
        return getattr(python_math, name)


class Function:
    """A function of kernels, which Python cannot call."""

    def __init__(self, name: str, doc: str | None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __call__(self, *values: Any, **named: Any) -> Any:
        raise Error(f"{self.__name__}() is a function of the kernel language: it stands in a kernel, whose text Python does not run")

    def __get__(self, instance: Any, owner: Any = None) -> Function:
        return self  # with it, help() shows the function

    def __repr__(self) -> str:
        return f"<function {self.__name__} of kernels>"


def _functions_of(body: list[ast.stmt], prefix: str = "") -> dict[str, Any]:
    """Those that give tensors. One with several forms is a word of cases, too."""
    found: dict[str, Any] = {}
    for one in body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            found[one.name] = Word(one.name) if one.name in found else Function(prefix + one.name, ast.get_docstring(one))
    return found


def _make() -> dict[str, Any]:
    tree = ast.parse(pathlib.Path(__file__).with_name("language.pyi").read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for one in tree.body:
        if isinstance(one, ast.ClassDef) and one.name == "_Tile":
            found["tile"] = types.SimpleNamespace(**_functions_of(one.body, "tile."))
        elif isinstance(one, ast.ClassDef):
            found[one.name] = Word(one.name)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found[one.target.id] = Word(one.target.id)
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            found[one.targets[0].id] = Word(one.targets[0].id)
    functions = _functions_of(tree.body)
    tensors = {one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one.returns and "Tensor" in ast.unparse(one.returns)}
    found.update({name: function if name in tensors else Word(name) for name, function in functions.items()})
    found.update({name: getattr(builtins, name) for name in functions if hasattr(builtins, name)})
    found.update({name: getattr(_types, name) for name in found if hasattr(_types, name)})
    found.update(Generic=Generic, record=record, state=record, op=Operations("op"), ops=Operations("ops"))
    found.update({name: StateWord(name) for name in _states.DECLARED})
    found.update(Tensor=_tessera.Tensor, math=Math("math"), inf=python_math.inf, INF=python_math.inf, nan=python_math.nan)
    return {name: value for name, value in found.items() if not name.startswith("_")}


NAMES = _make()
