"""Values of several arrays: dicts, lists, tuples and dataclasses, by the names that kernels have for their parts ("layers.0.up")."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tessera._errors import Error


def is_tree(value: Any) -> bool:
    """Is it made of parts, and no array?"""
    return isinstance(value, (Mapping, list, tuple, types.SimpleNamespace)) or dataclasses.is_dataclass(value)


def _part(value: Any, word: str, name: str) -> Any:
    try:
        if isinstance(value, Mapping):
            return value[word]
        return value[int(word)] if isinstance(value, (list, tuple)) else getattr(value, word)
    except (AttributeError, IndexError, KeyError, ValueError):
        raise Error(f"there is no array for '{name}'") from None


def part_of(value: Any, name: str) -> Any:
    """The array that a dotted name means, below the value that its first word is.

    >>> part_of({"up": [1, 2]}, "layer.up.1")
    2
    """
    for word in name.split(".")[1:]:
        value = _part(value, word, name)
    return value


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


def flatten(names: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """Arrays in the order of the names, of values by the first word of each."""
    tops = list(dict.fromkeys(name.split(".")[0] for name in names))
    for name in values:
        if name not in tops:
            raise Error(f"there is no parameter '{name}'; there are {', '.join(tops)}")
    missing = [name for name in tops if name not in values]
    if missing:
        raise Error(f"there is no value for '{missing[0]}'")
    for top in tops:
        wanted = sum(name.split(".")[0] == top for name in names)
        if count_of(values[top]) != wanted:
            raise Error(f"'{top}' has {count_of(values[top])} arrays, and the kernel takes {wanted}")
    return [part_of(values[name.split(".")[0]], name) for name in names]


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
    return _like(_part(value, word, word) if is_tree(value) else None, part)


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
