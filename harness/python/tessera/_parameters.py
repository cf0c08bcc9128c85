"""Parameters of a kernel, as their annotations say them: an array, or several in a record, a list or a tuple."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from typing import Any

from tessera import _dims, _states
from tessera._errors import Error
from tessera._types import ElementType

LENGTH = "S_kv"  # of a KVCache that is shaped like the first KTile


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One array: its axes, and its type, which may be a variable."""

    name: str
    axes: tuple[_dims.Formula, ...]
    element: str
    variable: bool


def _word(annotation: ast.expr) -> str:
    """The last word of tessera.Tensor[...] or Layer."""
    node = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


class _WithoutDevices(ast.NodeTransformer):
    """An annotation without `@ device(gpu)`: where a function runs is no part of what a value is."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        right = node.right
        return node.left if isinstance(right, ast.Call) and ast.unparse(right.func).split(".")[-1] == "device" else node


class _WithValues(ast.NodeTransformer):
    """An annotation with the values of names that are numbers or types outside of it: Tensor[HEADS, "S", TYPE]."""

    def __init__(self, outside: dict[str, Any], hidden: set[str]) -> None:
        self.outside = {name: value for name, value in outside.items() if name not in hidden}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.outside.get(node.id)
        if isinstance(value, ElementType):
            return ast.Name(value.name)
        return ast.Constant(value) if isinstance(value, int) and not isinstance(value, bool) else node


def _items(annotation: ast.Subscript) -> list[ast.expr]:
    return list(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]


def _entries(annotation: ast.expr) -> tuple[tuple[_dims.Formula, ...], str, bool]:
    """Formulas of the axes, the type, and whether that is a variable: of Tensor["M", 3, f32]."""
    if not isinstance(annotation, ast.Subscript):
        raise Error(
            f"a parameter's type is {ast.unparse(annotation)}; it is Tensor[...] or KTile[...] of axes and an element type, a record, "
            "or list[...] or tuple[...] of these"
        )
    parts = _items(annotation)
    axes = tuple(part.value if isinstance(part, ast.Constant) else ast.unparse(part) for part in parts[:-1])
    last = parts[-1]
    while isinstance(last, ast.BinOp):
        last = last.left  # without policies
    if isinstance(last, ast.Constant):
        return axes, str(last.value), True
    return axes, last.attr if isinstance(last, ast.Attribute) else ast.unparse(last), False


class _Replace(ast.NodeTransformer):
    """Puts what Generic[...] stands for into the strings of annotations."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        if node.value in self.given:
            return self.given[node.value]
        words = {name: one.value if isinstance(one, ast.Constant) else ast.unparse(one) for name, one in self.given.items()}
        return ast.Constant(re.sub(r"[A-Za-z_]\w*", lambda found: str(words.get(found[0], found[0])), node.value))


class Parameters:
    """Arrays by their names ("layers.0.up"), of records that are classes."""

    def __init__(self, records: dict[str, ast.ClassDef], outside: dict[str, Any]) -> None:
        self._records = _states.DECLARED | records
        self._named: dict[str, ast.expr] = {}
        self._values = _WithValues(outside, set())
        self._has_tiles = False
        self.leaves: list[Parameter] = []
        self.tops: list[str] = []

    def add_all(self, arguments: list[ast.arg]) -> None:
        self._values = _WithValues(self._values.outside, {one.arg for one in arguments})
        annotations = [
            self._values.visit(_WithoutDevices().visit(copy.deepcopy(one.annotation or ast.Constant(None)))) for one in arguments
        ]
        self._has_tiles = any(_word(one) == "KTile" for one in annotations)
        for argument, annotation in zip(arguments, annotations):
            if isinstance(annotation, ast.BinOp) and ast.unparse(annotation.right).split(".")[-1] == "out":
                continue  # a result
            self.tops.append(argument.arg)
            self._named[argument.arg] = annotation
            if self._has_tiles and _word(annotation) == "KVCache":
                self._add_pair(argument.arg, annotation)
            else:
                self._add(argument.arg, annotation)

    def _add_pair(self, name: str, annotation: ast.expr) -> None:
        """A KVCache beside a KTile is two arrays, and alone it is shaped like the first KTile."""
        if not isinstance(annotation, ast.Subscript):
            if not self.leaves:
                raise Error("KVCache alone is shaped like the first KTile, and none stands before it")
            first = self.leaves[0]
            like = ((*first.axes[:-2], LENGTH, *first.axes[-1:]), first.element, first.variable)
        else:
            like = _entries(annotation)
        self.leaves += [Parameter(f"{name}.{field}", *like) for field in "KV"]

    def _add(self, name: str, annotation: ast.expr) -> None:
        there = set()
        while isinstance(annotation, ast.BinOp):  # constants of a record, and fields that are there
            there.add(_word(annotation.right))
            annotation = annotation.left
        word = _word(annotation)
        if word in self._records:
            self._add_record(name, annotation, self._records[word], there)
        elif word == "Like" and isinstance(annotation, ast.Subscript):
            self._add_like(name, *_items(annotation))
        elif word == "list" and isinstance(annotation, ast.Subscript):
            kind, count = _items(annotation)
            for place in range(_dims.value_of(ast.unparse(count), {})):
                self._add(f"{name}.{place}", kind)
        elif word == "tuple" and isinstance(annotation, ast.Subscript):
            for place, kind in enumerate(_items(annotation)):
                self._add(f"{name}.{place}", kind)
        else:
            self.leaves.append(Parameter(name, *_entries(annotation)))

    def _add_like(self, name: str, annotation: ast.expr, element: ast.expr) -> None:
        """The arrays of the annotation, of another type."""
        first = len(self.leaves)
        self._add(name, annotation)
        kind = element.attr if isinstance(element, ast.Attribute) else ast.unparse(element)
        self.leaves[first:] = [dataclasses.replace(one, element=kind, variable=False) for one in self.leaves[first:]]

    def _add_record(self, name: str, annotation: ast.expr, record: ast.ClassDef, there: set[str]) -> None:
        generic = [_items(base) for base in record.bases if isinstance(base, ast.Subscript)]
        given = _items(annotation) if isinstance(annotation, ast.Subscript) else []
        given = [self._named.get(str(one.value) if isinstance(one, ast.Constant) else ast.unparse(one), one) for one in given]
        replaced = {ast.literal_eval(one): value for one, value in zip(generic[0] if generic else [], given)}
        for word, field in _states.fields_of(record).items():
            optional = isinstance(field.value, ast.Constant) and field.value.value is None
            if not optional or word in there:
                written = ast.parse(ast.unparse(field.annotation), mode="eval").body
                self._add(f"{name}.{word}", _Replace(replaced).visit(self._values.visit(written)))
