"""Values of several arrays: dicts, lists, tuples and dataclasses, by the names that kernels have for their parts ("layers.0.up")."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tessera import _tessera
from tessera._errors import Error


def is_tree(value: Any) -> bool:
    """Is it made of parts, and no array?"""
    return isinstance(value, (Mapping, list, tuple, types.SimpleNamespace)) or dataclasses.is_dataclass(value)


def _part(value: Any, word: str) -> Any:
    if isinstance(value, Mapping):
        return value[word]
    return value[int(word)] if isinstance(value, (list, tuple)) else getattr(value, word)


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


class _Form(dict[str, Any]):
    """Parts by their words; what has none is the place of an array."""

    @functools.cached_property
    def items_in_order(self) -> list[tuple[str, Any]] | None:
        """Those of a list; None: it is none."""
        return sorted(self.items(), key=lambda item: int(item[0])) if all(map(str.isdigit, self)) else None


@functools.lru_cache(maxsize=256)
def _form_of(names: tuple[str, ...]) -> _Form:
    form = _Form()
    for place, name in enumerate(names):
        *path, last = name.split(".")
        inside = form
        for word in path:
            inside = inside.setdefault(word, _Form())
        inside[last] = place
    return form


def flatten(names: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """Arrays in the order of the names, of values by the first word of each."""
    form = _form_of(tuple(names))
    for name in values:
        if name not in form:
            raise Error(f"there is no parameter '{name}'; there are {', '.join(form)}")
    arrays = [None] * len(names)
    for top, inside in form.items():
        if top not in values:
            raise Error(f"there is no value for '{top}'")
        found = _tessera.gather(values[top], inside, arrays)
        if found is None:
            wanted = sum(name.split(".")[0] == top for name in names)
            raise Error(f"'{top}' has {count_of(values[top])} arrays, and the kernel takes {wanted}")
        if found is not True:
            raise Error(f"there is no array for '{names[found]}'")
    return arrays


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


def _like(value: Any, form: _Form, arrays: Sequence[Any]) -> Any:
    """Arrays in the form of the value that they replace; a dict where there is none."""
    items = form.items_in_order
    made = {
        word: arrays[inside] if type(inside) is int else _like(_part(value, word) if is_tree(value) else None, inside, arrays)
        for word, inside in (form.items() if items is None else items)
    }
    if items is not None:
        return tuple(made.values()) if isinstance(value, tuple) else list(made.values())
    fields = () if isinstance(value, type) else getattr(value, "__dataclass_fields__", ())
    if fields:
        return type(value)(**made) if len(fields) == len(made) else dataclasses.replace(value, **made)
    return types.SimpleNamespace(**made) if isinstance(value, types.SimpleNamespace) else made


def unflatten(names: Sequence[str], arrays: Sequence[Any], like: Mapping[str, Any]) -> list[Any]:
    """A value for each first word of the names; `like` has, by that word, the value whose form it takes.

    >>> unflatten(["y", "w.a", "w.b.0", "w.b.1"], [1, 2, 3, 4], {})
    [1, {'a': 2, 'b': [3, 4]}]
    """
    form = _form_of(tuple(names))
    return [arrays[inside] if type(inside) is int else _like(like.get(top), inside, arrays) for top, inside in form.items()]
