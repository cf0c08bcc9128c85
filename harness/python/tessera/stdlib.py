"""Functions of tessera.stdlib (docs/stdlib.md): kernels name them, Python calls them with arrays.

>>> from tessera.stdlib import swiglu
>>> import array
>>> memoryview(swiglu(array.array("f", [0]), array.array("f", [5]))).tolist()
[0.0]
>>> swiglu.with_vector(8)
swiglu.with_vector(8)
"""

import ast
import pathlib
from typing import Any

from tessera._words import LibraryWord

_TREE = ast.parse(pathlib.Path(__file__).with_name("stdlib.tsr").read_text(encoding="utf-8"))
__all__ = [one.name for one in _TREE.body if isinstance(one, ast.FunctionDef)]  # noqa: PLE0605
_WORDS = {name: LibraryWord(name, name) for name in __all__}


def __getattr__(name: str) -> Any:
    if name not in _WORDS:
        raise AttributeError(f"tessera.stdlib has no '{name}'")
    return _WORDS[name]


def __dir__() -> list[str]:
    return sorted(__all__)
