"""States whose names need no import, as the compiler's own library declares them (state.tsr), and values of theirs."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
from typing import Any

CONSTANTS = ("bool", "float", "int", "str")


def fields_of(record: ast.ClassDef) -> dict[str, ast.AnnAssign]:
    """Those that hold arrays, by their names."""
    fields = (one for one in record.body if isinstance(one, ast.AnnAssign) and ast.unparse(one.annotation) not in CONSTANTS)
    return {ast.unparse(one.target): one for one in fields}


_TREE = ast.parse(pathlib.Path(__file__).with_name("state.tsr").read_text(encoding="utf-8"))
DECLARED = {one.name: one for one in _TREE.body if isinstance(one, ast.ClassDef)}


@functools.lru_cache(maxsize=None)
def _value_type(name: str, fields: tuple[str, ...]) -> type:
    return dataclasses.make_dataclass(name, fields)


def value_of(name: str, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A value of the fields that are given: some may be left out, as `fp32_master` is.

    >>> value_of("KVCache", (1, 2), {"length": 3})
    KVCache(K=1, V=2, length=3)
    """
    fields = list(fields_of(DECLARED[name]))
    given = dict(zip(fields, values))
    wrong = [word for word in named if word not in fields or word in given]
    if wrong or len(values) > len(fields):
        raise TypeError(f"{name} has {', '.join(fields)}, each once, and no {' or '.join(wrong) or 'more'}")
    given.update((word, named[word]) for word in fields if word in named)
    return _value_type(name, tuple(given))(**given)
