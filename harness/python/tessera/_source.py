"""A Python function as a source of the language: its own lines, where they stand in its file."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from tessera import _parameters, _words
from tessera._errors import Diagnostic, Error
from tessera._types import ElementType

def _lines_of(function: Any) -> tuple[list[str], int]:
    try:
        return inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise Error(
            f"the text of {function.__name__} cannot be read, so it cannot be compiled; put it into a .py file, and import that"
        ) from None


def _words_of(node: ast.expr) -> list[str]:
    """["kernel", "autotune"] of tessera.kernel.autotune(...), whatever the module is called here."""
    while isinstance(node, ast.Call):
        node = node.func
    words = ast.unparse(node).split(".")
    return words[1:] if len(words) > 1 and words[0] not in _words.DECORATORS else words


@dataclasses.dataclass(frozen=True)
class Other:
    """A function or a record that the kernel names: its lines, and where they stand."""

    name: str
    file: str
    first: int
    indent: int
    lines: list[str]
    tree: ast.stmt
    value: Any


def _other(name: str, value: Any) -> Other:
    lines, first = _lines_of(value)
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text).body[0]
    kept = text.splitlines()
    if isinstance(tree, ast.FunctionDef):  # a kernel that is called is a function
        for one in tree.decorator_list:
            kept[one.lineno - 1 : one.end_lineno] = [""] * ((one.end_lineno or one.lineno) - one.lineno + 1)
    named = {key for key, module in vars(inspect.getmodule(value)).items() if getattr(module, "__name__", "") == "tessera"}
    return Other(
        name, inspect.getsourcefile(value) or "<unknown>", first, len(lines[0]) - len(lines[0].lstrip()),
        _without_prefix(kept, tree, named), tree, value,
    )


def _plain(value: Any) -> Any:
    """The function of a kernel; a function or a record of the user's; None: something else."""
    value = getattr(value, "__wrapped__", value)
    mine = isinstance(value, (types.FunctionType, type)) and not value.__module__.split(".")[0] in ("tessera", "builtins")
    return value if mine and (isinstance(value, types.FunctionType) or dataclasses.is_dataclass(value)) else None


def _names_of(value: Any, tree: ast.AST) -> Iterator[tuple[str, Any]]:
    outside = dict(vars(inspect.getmodule(value)))
    if isinstance(value, types.FunctionType):
        outside.update(inspect.getclosurevars(value).nonlocals)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in outside:
            yield node.id, outside[node.id]


def _others_of(function: types.FunctionType) -> Iterator[Other]:
    """Functions and records that the function names, and those that these name, each once."""
    waiting, seen = [_other(function.__name__, function)], {function.__name__}
    while waiting:
        one = waiting.pop()
        if one.value is not function:
            yield one
        for name, value in _names_of(one.value, one.tree):
            if name not in seen and _plain(value):
                seen.add(name)
                waiting.append(_other(name, _plain(value)))


def _without_prefix(lines: list[str], tree: ast.AST, named: set[str]) -> list[str]:
    """`tessera.` becomes blanks, so that columns stay."""
    raw = [line.encode() for line in lines]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
            line, begin = node.value.lineno - 1, node.value.col_offset
            length = len(node.value.id.encode()) + 1
            raw[line] = raw[line][:begin] + b" " * length + raw[line][begin + length :]
    return [line.decode() for line in raw]


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
        named = {name for name, value in function.__globals__.items() if getattr(value, "__name__", "") == "tessera"}
        self._body = _without_prefix(textwrap.dedent(text).splitlines(), tree, named)
        self._drop_decorators()
        self.constants = [one.arg for one in tree.args.kwonlyargs]
        self._others = list(_others_of(function))
        self._head = ["from tessera import *", *self._constants_of(function)]
        records = {one.name: one.tree for one in self._others if isinstance(one.tree, ast.ClassDef)}
        found = _parameters.Parameters(records, dict(self._outer_names(function)))
        found.add_all(tree.args.args)
        self.parameters = found.leaves
        self.tops = found.tops
        self.is_nested = any("." in one.name for one in found.leaves)

    # ---- the text ----

    def donate(self, names: str | tuple[str, ...]) -> None:
        self._kernel = f"@kernel(donate={names!r})"

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
        for other in self._others:
            yield from _names_of(other.value, other.tree)
        annotations = [*(one.annotation for one in arguments), self._tree.returns]
        for node in [*self._tree.decorator_list, *filter(None, annotations)]:
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
            yield from ((name, function.__globals__[name]) for name in names if name in function.__globals__)

    def _constants_of(self, function: types.FunctionType) -> list[str]:
        constants = {
            name: value._lines(name) if isinstance(value, _words.LibraryWord) else [f"{name} = {value!r}"]
            for name, value in self._outer_names(function)
            if name not in _words.NAMES and isinstance(value, (bool, int, float, ElementType, _words.Word))
        }
        return list(dict.fromkeys(line for name in sorted(constants) for line in constants[name]))

    def _before(self, constants: dict[str, Any]) -> list[str]:
        """The lines above those of the function, as many as there are in its file where these suffice."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(constants.items()))
        own = [f"@constants({given})" if given else "", self._kernel]
        return [*self._head, *[""] * max(self._first - 1 - len(self._head) - len(own), 0), *own]

    def text(self, constants: dict[str, Any]) -> str:
        lines = [*self._before(constants), *self._body]
        for one in self._others:
            lines += ["", *one.lines]
        return "\n".join([*lines, ""])

    def place(self, found: Diagnostic) -> tuple[str | None, Diagnostic]:
        """The file, None for the kernel's, and the error with its line there."""
        end = len(self._before({})) + len(self._body)
        if found.line <= end:
            shift = self._first - len(self._before({})) - 1
            return None, dataclasses.replace(found, line=found.line + shift, column=found.column + self._indent)
        for one in self._others:
            end += 1
            if found.line <= end + len(one.lines):
                return one.file, dataclasses.replace(found, line=found.line - end + one.first - 1, column=found.column + one.indent)
            end += len(one.lines)
        return None, found
