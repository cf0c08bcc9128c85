"""Shapes as formulas of names: "M", "2*N", "floordiv(N, 2) + 1"."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable

from tessera._errors import Error

Formula = int | str
LARGEST = 1 << 40


@functools.lru_cache(maxsize=None)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def names_of(formula: Formula) -> list[str]:
    """The names in it, in the order of their appearance.

    >>> names_of("2*N + floordiv(M, 2)")
    ['N', 'M']
    """
    if isinstance(formula, int):
        return []
    called = {id(node.func) for node in ast.walk(_parsed(formula)) if isinstance(node, ast.Call)}
    found = [node for node in ast.walk(_parsed(formula)) if isinstance(node, ast.Name) and id(node) not in called]
    return list(dict.fromkeys(node.id for node in sorted(found, key=lambda node: node.col_offset)))


def _value(node: ast.expr, dims: dict[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return dims[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, dims)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "floordiv":
        return _value(node.args[0], dims) // _value(node.args[1], dims)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, dims), _value(node.right, dims)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv):
            return left // right
    raise Error(f"a shape cannot be {ast.unparse(node)}")


def value_of(formula: Formula, dims: dict[str, int]) -> int:
    """
    >>> value_of("2*N + 1", {"N": 3})
    7
    """
    return formula if isinstance(formula, int) else _value(_parsed(formula), dims)


def _invert(formula: str, name: str, wanted: int, dims: dict[str, int]) -> int | None:
    """The one number that gives `wanted`, of a formula that grows with the name; None: there is none, or several."""
    low, high = 0, LARGEST
    while low < high:
        middle = (low + high) // 2
        if value_of(formula, {**dims, name: middle}) < wanted:
            low = middle + 1
        else:
            high = middle
    unique = value_of(formula, {**dims, name: low + 1}) > wanted
    return low if unique and value_of(formula, {**dims, name: low}) == wanted else None


def _described(formula: Formula, dims: dict[str, int]) -> str:
    """
    >>> _described(3, {}), _described("N", {"N": 4}), _described("N + M", {"N": 4, "M": 2})
    ('3', 'N = 4', 'N + M = 6 (with N = 4, M = 2)')
    """
    value = value_of(formula, dims)
    names = names_of(formula)
    if not names:
        return str(value)
    with_names = "" if formula in names else f" (with {', '.join(f'{name} = {dims[name]}' for name in names)})"
    return f"{formula} = {value}{with_names}"


def solve(shapes: Iterable[tuple[str, tuple[Formula, ...], tuple[int, ...]]], known: dict[str, int]) -> dict[str, int]:
    """The dimensions that give arrays their shapes: of (name, formulas, found) each.

    >>> solve([("x", ("M", "2*N"), (3, 8)), ("y", ("N",), (4,))], {})
    {'M': 3, 'N': 4}
    """
    dims = dict(known)
    open_axes = []
    for name, formulas, found in shapes:
        if len(formulas) != len(found):
            raise Error(f"'{name}' has the shape {found}; the kernel's is ({', '.join(map(str, formulas))})")
        open_axes += [(name, formula, size) for formula, size in zip(formulas, found)]
    # Names alone first; each pass may tell what the next one needs.
    open_axes.sort(key=lambda axis: not (isinstance(axis[1], str) and axis[1].isidentifier()))
    for _ in range(len(open_axes) + 1):
        for _, formula, size in open_axes:
            missing = [symbol for symbol in names_of(formula) if symbol not in dims]
            value = _invert(str(formula), missing[0], size, dims) if len(missing) == 1 else None
            if value is not None:
                dims[missing[0]] = value
    for name, formula, size in open_axes:
        if any(symbol not in dims for symbol in names_of(formula)):
            raise Error(f"the arrays do not tell what {formula} of '{name}' is made of: say it with dims=")
        if value_of(formula, dims) != size:
            raise Error(f"'{name}' has an axis of {size} where the kernel has {_described(formula, dims)}")
    return dims
