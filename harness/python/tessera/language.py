"""The words of the kernel language: language.pyi says what each is, _words.py what it is at run time."""

from typing import Any

from tessera._words import NAMES


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"the kernel language has no '{name}'")
    return NAMES[name]
