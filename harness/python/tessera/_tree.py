"""Values of several arrays: dicts, lists, tuples and dataclasses, by the names that kernels have for their parts ("layers.0.up")."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (dict, list, tuple, Mapping)) else len(vars(value))


def _first(form: Any) -> int:
    while isinstance(form, _Form):
        form = next(iter(form.values()))
    return int(form)


def _gather(value: Any, form: Any, names: Sequence[str], arrays: list[Any]) -> bool:
    """Puts the arrays of a value at their places; False where it has others."""
    if not isinstance(form, _Form):
        arrays[form] = value
        return not isinstance(value, (dict, list, tuple))
    if not is_tree(value) or _size(value) != len(form):
        return False
    for word, inside in form.items():
        try:
            part = _part(value, word)
        except (AttributeError, IndexError, KeyError, ValueError):
            raise Error(f"there is no array for '{names[_first(inside)]}'") from None
        if not _gather(part, inside, names, arrays):
            return False
    return True


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
        if not _gather(values[top], inside, names, arrays):
            wanted = sum(name.split(".")[0] == top for name in names)
            raise Error(f"'{top}' has {count_of(values[top])} arrays, and the kernel takes {wanted}")
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


def _like(value: Any, parts: dict[str, Any]) -> Any:
    """Parts as the value that they replace holds them; a dict where there is none."""
    if all(word.isdigit() for word in parts):
        items = [_like_part(value, word, parts[word]) for word in sorted(parts, key=int)]
        return tuple(items) if isinstance(value, tuple) else items
    made = {word: _like_part(value, word, part) for word, part in parts.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **made)
    return types.SimpleNamespace(**made) if isinstance(value, types.SimpleNamespace) else made


def _like_part(value: Any, word: str, part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return _like(_part(value, word) if is_tree(value) else None, part)


def unflatten(names: Sequence[str], arrays: Sequence[Any], like: Mapping[str, Any]) -> list[Any]:
    """A value for each first word of the names; `like` has, by that word, the value whose form it takes.

    >>> unflatten(["y", "w.a", "w.b.0", "w.b.1"], [1, 2, 3, 4], {})
    [1, {'a': 2, 'b': [3, 4]}]
    """
    tops: dict[str, Any] = {}
    for name, array in zip(names, arrays):
        *path, last = name.split(".")
        inside = tops
        for word in path:
            inside = inside.setdefault(word, {})
        inside[last] = array
    return [_like(like.get(top), part) if isinstance(part, dict) else part for top, part in tops.items()]
