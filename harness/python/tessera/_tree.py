"""Values of several arrays: dicts, lists, tuples and dataclasses, by the names that kernels have for their parts ("layers.0.up")."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tessera import _tessera
from tessera._errors import Error


def is_tree(value: Any) -> bool:
    """Is it made of parts, and no array?"""
    return isinstance(value, (list, tuple, dict, types.SimpleNamespace, Mapping)) or dataclasses.is_dataclass(value)


def count_of(value: Any) -> int:
    """Number of arrays in it.

    >>> count_of({"a": 1, "b": [2, 3]})
    3
    """
    if not is_tree(value):
        return 1
    if isinstance(value, Mapping):
        return sum(map(count_of, value.values()))
    return sum(map(count_of, value if isinstance(value, (list, tuple)) else vars(value).values()))


def _insert(form: dict[str, Any], words: list[str], place: int) -> None:
    for word in words[:-1]:
        form = form.setdefault(word, {})
    form[words[-1]] = place


def _ordered(form: dict[str, Any]) -> dict[str, Any]:
    """With the parts of lists in their order."""
    words = sorted(form, key=int) if all(map(str.isdigit, form)) else form
    return {word: _ordered(form[word]) if isinstance(form[word], dict) else form[word] for word in words}


def _part(value: Any, word: str) -> Any:
    if isinstance(value, Mapping):
        return value[word]
    return value[int(word)] if isinstance(value, (list, tuple)) else getattr(value, word)


def _misfit(path: str, value: Any, inside: dict[str, Any] | int) -> str | None:
    """The first place where a value has not the parts of a form; None: there is none."""
    if isinstance(inside, int):
        return f"'{path}' is one array in the kernel, and has {count_of(value)}" if is_tree(value) else None
    if not is_tree(value):
        return f"'{path}' is one array, and the kernel takes {', '.join(f'{path}.{word}' for word in inside)}"
    items = isinstance(value, (list, tuple))
    if items and len(value) != len(inside):
        return f"'{path}' has {len(value)} items, and the kernel takes {len(inside)}"
    there = map(str, range(len(value))) if items else value if isinstance(value, Mapping) else vars(value)
    for word in there:
        if word not in inside:
            return f"'{path}' has '{word}', which the kernel does not take"
    for word, part in inside.items():
        try:
            found = _misfit(f"{path}.{word}", _part(value, word), part)
        except (KeyError, AttributeError):
            found = f"'{path}' has no '{word}', which the kernel takes"
        if found:
            return found
    return None


class Form:
    """Values by the names of their arrays.

    >>> form = Form(["y", "w.a", "w.b.0", "w.b.1"])
    >>> form.flatten({"y": 1, "w": {"a": 2, "b": [3, 4]}})
    (1, 2, 3, 4)
    >>> form.unflatten((1, 2, 3, 4), {"w": types.SimpleNamespace(a=0, b=(0, 0))})
    [1, namespace(a=2, b=(3, 4))]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        form: dict[str, Any] = {}
        for place, name in enumerate(self.names):
            _insert(form, name.split("."), place)
        self._tops = {top: _ordered(inside) if isinstance(inside, dict) else inside for top, inside in form.items()}

    def flatten(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Arrays in the order of the names, of values by the first word of each."""
        if unknown := values.keys() - self._tops.keys():
            raise Error(f"there is no parameter '{min(unknown)}'; there are {', '.join(self._tops)}")
        arrays: list[Any] = [None] * len(self.names)
        for top, inside in self._tops.items():
            if top not in values:
                raise Error(f"there is no value for '{top}'")
            found = _tessera.gather(values[top], inside, arrays)
            if found is None:
                wanted = sum(name.split(".")[0] == top for name in self.names)
                known = f"'{top}' has {count_of(values[top])} arrays, and the kernel takes {wanted}"
                raise Error(_misfit(top, values[top], inside) or known)
            if found is not True:
                raise Error(f"there is no array for '{self.names[found]}'")
        return tuple(arrays)

    def unflatten(self, arrays: tuple[Any, ...], like: Mapping[str, Any]) -> list[Any]:
        """A value for each first word of the names; `like` has, by that word, the value whose form it takes."""
        return [_tessera.scatter(like.get(top), inside, arrays) for top, inside in self._tops.items()]


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same with each array changed.

    >>> changed({"a": 1, "b": [2, 3]}, lambda x: -x)
    {'a': -1, 'b': [-2, -3]}
    """
    if not is_tree(value):
        return change(value)
    if isinstance(value, Mapping):
        return {name: changed(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(changed(part, change) for part in value)
    parts = {name: changed(part, change) for name, part in vars(value).items()}
    return dataclasses.replace(value, **parts) if dataclasses.is_dataclass(value) else types.SimpleNamespace(**parts)
