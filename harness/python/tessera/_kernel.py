"""@tessera.kernel: a Python function that is compiled as a kernel."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import pathlib
import tempfile
import textwrap
import types
from collections.abc import Callable
from typing import Any

from tessera import _capture, _dims, _tessera, numerics, runtime
from tessera._errors import CompileError, Diagnostic, Error
from tessera._module import Module, Signature, compile_file, dims_option
from tessera._types import ARRAYS, kernel_type


class _Source:
    """The function's own lines as a source of the language, where they stand in its file."""

    def __init__(self, function: types.FunctionType) -> None:
        lines, first = inspect.getsourcelines(function)
        text = "".join(lines)
        self.indent = len(text) - len(text.lstrip())
        tree = ast.parse(textwrap.dedent(text)).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise Error(f"{function.__name__} is no function that def makes")
        self.tree = tree
        body = self._without_prefix(textwrap.dedent(text).splitlines(), function)[tree.lineno - 1 :]
        used = inspect.getclosurevars(function)
        numbers = {**used.globals, **used.nonlocals}
        head = ["from tessera import *"]
        head += [f"{name} = {value!r}" for name, value in sorted(numbers.items()) if type(value) in (int, float)]
        blank = max(first + tree.lineno - 3 - len(head), 0)
        self.text = "\n".join([*head, *[""] * blank, "@kernel", *body, ""])
        self.shift = first + tree.lineno - 1 - (len(head) + blank + 2)

    def _without_prefix(self, lines: list[str], function: types.FunctionType) -> list[str]:
        """`tessera.` becomes blanks, so that columns stay."""
        named = {name for name, value in function.__globals__.items() if getattr(value, "__name__", "") == "tessera"}
        raw = [line.encode() for line in lines]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
                line, begin = node.value.lineno - 1, node.value.col_offset
                length = len(node.value.id.encode()) + 1
                raw[line] = raw[line][:begin] + b" " * length + raw[line][begin + length :]
        return [line.decode() for line in raw]

    def place(self, found: Diagnostic) -> Diagnostic:
        return Diagnostic(found.id, found.line + self.shift, found.column + self.indent, found.message)


def _entries(annotation: ast.expr) -> tuple[tuple[_dims.Formula, ...], str, bool]:
    """Formulas of the axes, the type, and whether that is a variable: of Tensor["M", 3, f32]."""
    if not isinstance(annotation, ast.Subscript):
        raise Error(f"a parameter's type is {ast.unparse(annotation)}; it is Tensor[...] of axes and an element type")
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    axes = tuple(part.value if isinstance(part, ast.Constant) else ast.unparse(part) for part in parts[:-1])
    last = parts[-1].left if isinstance(parts[-1], ast.BinOp) else parts[-1]
    if isinstance(last, ast.Constant):
        return axes, str(last.value), True
    return axes, last.attr if isinstance(last, ast.Attribute) else ast.unparse(last), False


class Kernel:
    """A function that is compiled for the arrays that it is called with, once for each of their shapes and types."""

    __name__: str

    def __init__(self, function: types.FunctionType, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self._source = _Source(function)
        self._known: dict[str, Any] = options.pop("dims", None) or {}
        self._threads: int | None = options.pop("threads", None)
        self._options = options
        self._file = inspect.getsourcefile(function) or "<unknown>"
        self._modules: dict[tuple[Signature, str, str], Module] = {}
        tree = self._source.tree
        self._parameters = [(one.arg, *_entries(one.annotation or ast.Constant(None))) for one in tree.args.args]

    @property
    def source(self) -> str:
        """The source that the compiler reads."""
        return self._source.text

    def __call__(self, *arrays: Any) -> Any:
        signature = _tessera.signature(arrays)
        module = self._module_of(signature)
        if not _tessera.capturing:
            return module.run(signature, arrays)
        named = zip((one[0] for one in self._parameters), arrays)
        return _capture.recorded(self.__name__, named, functools.partial(module.run, signature, arrays))

    def module_for(self, *arrays: Any) -> Module:
        """The module for arrays of these shapes and types, compiled the first time."""
        return self._module_of(_tessera.signature(arrays))

    def _module_of(self, signature: Signature) -> Module:
        key = (signature, numerics.current(), runtime.backend())
        module = self._modules.get(key)
        if module is None:
            module = self._modules[key] = self._compile(signature)
        return module

    def _bind(self, signature: Signature) -> dict[str, Any]:
        """Dimensions and type variables, as --dims has them."""
        if len(signature) != len(self._parameters):
            raise Error(f"{self.__name__} takes {len(self._parameters)} arrays, not {len(signature)}")
        variables: dict[str, Any] = {}
        shapes = []
        for (name, axes, element, variable), (array_type, shape) in zip(self._parameters, signature):
            bound = self._known.get(element) or kernel_type(array_type) if variable else element
            if bound not in ARRAYS or array_type not in ARRAYS[variables.setdefault(element, bound) if variable else bound]:
                raise Error(f"'{name}' is {array_type}, which is not its type in the kernel ({element})")
            shapes.append((name, axes, shape))
        known = {name: value for name, value in self._known.items() if isinstance(value, int)}
        return {**_dims.solve(shapes, known), **variables}

    def _compile(self, signature: Signature) -> Module:
        options = {**self._options, "kernel": self.__name__, "dims": dims_option(self._bind(signature))}
        with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
            path = os.path.join(folder, "kernel.tsr")
            pathlib.Path(path).write_text(self.source, encoding="utf-8")
            try:
                return compile_file(path, self._threads, options)
            except CompileError as error:
                found = tuple(map(self._source.place, error.diagnostics))
                where = [f"{self._file}:{one.line}:{one.column}: error[{one.id}]: {one.message}" for one in found]
                raise CompileError("\n".join(where) or str(error), found) from None


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a kernel of a function: its text is compiled, never run by Python.

    Calling it compiles it for the arrays' shapes and types the first time, and launches it in this process. Options:
    threads, isa, and dims for what no array tells.
    """
    if function is None:
        return functools.partial(kernel, **options)
    return Kernel(function, **options)  # type: ignore[arg-type]
