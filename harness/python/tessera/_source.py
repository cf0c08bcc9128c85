"""A Python function as a source of the language: its own lines, where they stand in its file."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from tessera import _dims, _words
from tessera._errors import Diagnostic, Error
from tessera._types import ElementType

LENGTH = "S_kv"  # of a KVCache that is shaped like the first KTile


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One array: its axes, and its type, which may be a variable."""

    name: str
    axes: tuple[_dims.Formula, ...]
    element: str
    variable: bool


def _lines_of(function: types.FunctionType) -> tuple[list[str], int]:
    try:
        return inspect.getsourcelines(function)
    except OSError:
        raise Error(
            f"the text of {function.__name__} cannot be read, so it cannot be compiled; put it into a .py file, and import that"
        ) from None


def _words_of(node: ast.expr) -> list[str]:
    """["kernel", "autotune"] of tessera.kernel.autotune(...), whatever the module is called here."""
    while isinstance(node, ast.Call):
        node = node.func
    words = ast.unparse(node).split(".")
    return words[1:] if len(words) > 1 and words[0] not in _words.DECORATORS else words


class Source:
    """The text that the compiler reads, and what stands where in it."""

    def __init__(self, function: types.FunctionType) -> None:
        lines, self._first = _lines_of(function)
        text = "".join(lines)
        self._indent = len(text) - len(text.lstrip())
        tree = ast.parse(textwrap.dedent(text)).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise Error(f"{function.__name__} is no function that def makes")
        self._tree = tree
        self._kernel = "@kernel"
        self._body = self._without_prefix(textwrap.dedent(text).splitlines(), function)
        self._drop_decorators()
        self._head = ["from tessera import *", *self._constants_of(function)]
        self.constants = [one.arg for one in tree.args.kwonlyargs]
        self.parameters: list[Parameter] = []
        self.records: list[int] = []  # places of the parameters that are two arrays
        for one in tree.args.args:
            self._add_parameter(one.arg, one.annotation or ast.Constant(None))

    # ---- the text ----

    def _without_prefix(self, lines: list[str], function: types.FunctionType) -> list[str]:
        """`tessera.` becomes blanks, so that columns stay."""
        named = {name for name, value in function.__globals__.items() if getattr(value, "__name__", "") == "tessera"}
        raw = [line.encode() for line in lines]
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
                line, begin = node.value.lineno - 1, node.value.col_offset
                length = len(node.value.id.encode()) + 1
                raw[line] = raw[line][:begin] + b" " * length + raw[line][begin + length :]
        return [line.decode() for line in raw]

    def _drop_decorators(self) -> None:
        """Those of Python, @kernel itself, which may have options of Python, and @same_as, as no other kernel is in the text: they become
        blank lines."""
        for one in self._tree.decorator_list:
            words = _words_of(one)
            if words[0] == "kernel" and len(words) > 1:
                self._kernel = ""
            elif words[0] in ("jit", "kernel", "same_as") or words[0] not in _words.DECORATORS:
                end = one.end_lineno or one.lineno
                self._body[one.lineno - 1 : end] = [""] * (end - one.lineno + 1)

    def _outer_names(self, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
        """Names that the body, the decorators and the annotations use from outside, with their values."""
        used = inspect.getclosurevars(function)
        yield from used.globals.items()
        yield from used.nonlocals.items()
        arguments = [*self._tree.args.args, *self._tree.args.kwonlyargs]
        for node in [*self._tree.decorator_list, *(one.annotation for one in arguments if one.annotation)]:
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
            yield from ((name, function.__globals__[name]) for name in names if name in function.__globals__)

    def _constants_of(self, function: types.FunctionType) -> list[str]:
        constants = {
            name: f"{name} = {value!r}"
            for name, value in self._outer_names(function)
            if name not in _words.NAMES and isinstance(value, (bool, int, float, ElementType, _words.Word))
        }
        return [constants[name] for name in sorted(constants)]

    def _before(self, constants: dict[str, Any]) -> list[str]:
        """The lines above those of the function, as many as there are in its file where these suffice."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(constants.items()))
        own = [f"@constants({given})" if given else "", self._kernel]
        return [*self._head, *[""] * max(self._first - 1 - len(self._head) - len(own), 0), *own]

    def text(self, constants: dict[str, Any]) -> str:
        return "\n".join([*self._before(constants), *self._body, ""])

    def place(self, found: Diagnostic) -> Diagnostic:
        shift = self._first - len(self._before({})) - 1
        return dataclasses.replace(found, line=found.line + shift, column=found.column + self._indent)

    # ---- parameters ----

    def _add_parameter(self, name: str, annotation: ast.expr) -> None:
        words = _words_of(annotation.value if isinstance(annotation, ast.Subscript) else annotation)
        if isinstance(annotation, ast.BinOp) and ast.unparse(annotation.right).split(".")[-1] == "out":
            return  # a result
        if words[-1] == "KVCache":
            self.records.append(len(self.parameters) - len(self.records))
            like = self._like_first(annotation) if not isinstance(annotation, ast.Subscript) else _entries(annotation)
            self.parameters += [Parameter(f"{name}.{field}", *like) for field in "KV"]
            return
        self.parameters.append(Parameter(name, *_entries(annotation)))

    def _like_first(self, annotation: ast.expr) -> tuple[tuple[_dims.Formula, ...], str, bool]:
        if not self.parameters:
            raise Error("KVCache alone is shaped like the first KTile, and none stands before it")
        first = self.parameters[0]
        return (*first.axes[:-2], LENGTH, *first.axes[-1:]), first.element, first.variable


def _entries(annotation: ast.expr) -> tuple[tuple[_dims.Formula, ...], str, bool]:
    """Formulas of the axes, the type, and whether that is a variable: of Tensor["M", 3, f32]."""
    if not isinstance(annotation, ast.Subscript):
        raise Error(f"a parameter's type is {ast.unparse(annotation)}; it is Tensor[...] or KTile[...] of axes and an element type")
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    axes = tuple(part.value if isinstance(part, ast.Constant) else ast.unparse(part) for part in parts[:-1])
    last = parts[-1]
    while isinstance(last, ast.BinOp):
        last = last.left  # without policies
    if isinstance(last, ast.Constant):
        return axes, str(last.value), True
    return axes, last.attr if isinstance(last, ast.Attribute) else ast.unparse(last), False
