"""@tessera.kernel: a Python function that is compiled as a kernel."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from tessera import _capture, _dims, _tessera, _tree, numerics, runtime
from tessera._errors import CompileError, Error
from tessera._module import Module, compile_text, dims_option
from tessera._source import Source
from tessera._types import ARRAYS, kernel_type

Signature = tuple[tuple[str, tuple[int, ...]], ...]
Constants = tuple[tuple[str, Any], ...]


class Kernel(_tessera.Callable):
    """A function that is compiled for the arrays that it is called with, once for each of their shapes and types."""

    __name__: str

    def __init__(self, function: types.FunctionType, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self._source = Source(function)
        self._file = inspect.getsourcefile(function) or "<unknown>"
        self._modules: dict[tuple[Signature, Constants, str, str], Module] = {}
        self._last: tuple[Any, Any] = (None, None)
        self._known: dict[str, Any] = {}
        self._threads: int | None = None
        self._options: dict[str, Any] = {}
        self.set(**options)

    def set(
        self, dims: dict[str, Any] | None = None, threads: int | None = None, donate: str | tuple[str, ...] | None = None, **options: Any
    ) -> Kernel:
        """Takes options: threads, isa, dims for what no array tells, and donate, the parameters that results replace."""
        if donate:
            self._source.donate(donate)
        self._known.update(dims or {})
        self._threads = threads if threads is not None else self._threads
        self._options.update(options)
        return self

    @property
    def source(self) -> str:
        """The source that the compiler reads."""
        return self._source.text({})

    def __get__(self, instance: Any, owner: Any = None) -> Kernel:
        return self  # with it, help() shows the kernel

    def _call(self, *values: Any, **named: Any) -> Any:
        given, arrays = self._flat(values, named)
        constants = {name: value for name, value in named.items() if name not in self._source.tops}
        if not _tessera.capturing:
            return self._run(constants, arrays, given)
        run = functools.partial(self._run, constants, arrays, given)
        return _capture.recorded(self.__name__, zip(self._form.names, arrays), run)

    def _run(self, constants: dict[str, Any], arrays: tuple[Any, ...], given: dict[str, Any] | None) -> Any:
        """Launches the module that was last in use, if it fits the arrays, else the one for them."""
        use = (tuple(constants.items()), numerics.current(), runtime.backend())
        if self._last[0] == use and (result := self._last[1].run_planned(arrays, given)) is not None:
            return result
        module = self._module_of(_tessera.signature(arrays), constants)
        self._last = use, module
        return module.run(arrays, given)

    def module_for(self, *values: Any, **named: Any) -> Module:
        """The module for arrays of these shapes and types, compiled the first time."""
        constants = {name: value for name, value in named.items() if name not in self._source.tops}
        return self._module_of(_tessera.signature(self._flat(values, named)[1]), constants)

    def _flat(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[dict[str, Any] | None, tuple[Any, ...]]:
        """Values by their parameters, and their arrays; a KVCache beside a KTile may be a pair (K, V)."""
        tops = self._source.tops
        if not self._source.is_nested and not any(name in tops for name in named):
            return None, values
        if len(values) > len(tops):
            raise Error(f"{self.__name__} takes {len(tops)} values ({', '.join(tops)}), not {len(values)}")
        given = {**dict(zip(tops, values)), **{name: value for name, value in named.items() if name in tops}}
        shown = dict(given)
        for name, is_pair in self._caches.items():
            value = given.get(name, ())
            if not _tree.is_tree(value):
                raise Error(f"'{name}' of {self.__name__} is a KVCache: give a pair (K, V), or a tessera.KVCache with a length")
            if is_pair and isinstance(value, tuple) and len(value) == 2:
                shown[name] = {"K": value[0], "V": value[1]}
        return given, self._form.flatten(shown)

    @functools.cached_property
    def _form(self) -> _tree.Form:
        return _tree.Form([one.name for one in self._source.parameters])

    @functools.cached_property
    def _caches(self) -> dict[str, bool]:
        """Parameters with keys and values in them, and whether these are all that is in them."""
        parts: dict[str, list[str]] = {}
        for name in self._form.names:
            top, _, part = name.partition(".")
            parts.setdefault(top, []).append(part)
        return {top: found == ["K", "V"] for top, found in parts.items() if any(("." + part).endswith(".K") for part in found)}

    def _module_of(self, signature: Signature, constants: dict[str, Any]) -> Module:
        key = (signature, tuple(constants.items()), numerics.current(), runtime.backend())
        module = self._modules.get(key)
        if module is None:
            module = self._modules[key] = self._compile(signature, constants)
        return module

    def _bind(self, signature: Signature) -> dict[str, Any]:
        """Dimensions and type variables, as --dims has them."""
        parameters = self._source.parameters
        if len(signature) != len(parameters):
            raise Error(f"{self.__name__} takes {len(parameters)} arrays, not {len(signature)}")
        variables: dict[str, Any] = {}
        shapes = []
        for one, (array_type, shape) in zip(parameters, signature):
            element = one.element
            bound = self._known.get(element) or kernel_type(array_type) if one.variable else element
            if bound not in ARRAYS or array_type not in ARRAYS[variables.setdefault(element, bound) if one.variable else bound]:
                raise Error(f"'{one.name}' is {array_type}, which is not its type in the kernel ({element})")
            shapes.append((one.name, one.axes, shape))
        known = {name: value for name, value in self._known.items() if isinstance(value, int)}
        return {**_dims.solve(shapes, known), **variables}

    def _compile(self, signature: Signature, constants: dict[str, Any]) -> Module:
        for name in constants:
            if name not in self._source.constants:
                there = f"; there are {', '.join(self._source.constants)}" if self._source.constants else ""
                raise Error(f"{self.__name__} has no constant '{name}'{there}")
        options = {**self._options, "kernel": self.__name__, "dims": dims_option(self._bind(signature))}
        try:
            return compile_text(self._source.text(constants), "kernel.tsr", self._threads, options)
        except CompileError as error:
            found = tuple(map(self._source.place, error.diagnostics))
            where = [f"{file or self._file}:{one.line}:{one.column}: {one}" for file, one in found]
            raise CompileError("\n".join(where) or str(error), tuple(one for _, one in found)) from None


class KernelDecorator(_tessera.Callable):
    """Makes a kernel of a function: its text is compiled, never run by Python.

    Calling it compiles it for the arrays' shapes and types the first time, and launches it in this process. Options:
    threads, isa, and dims for what no array tells. Parameters after a bare `*` are constants, given by their names.
    """

    def _call(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        if function is None:
            return functools.partial(self, **options)
        if isinstance(function, Kernel):
            return function.set(**options)
        return Kernel(function, **options)  # type: ignore[arg-type]

    def autotune(
        self, *, space: dict[str, Any], metric: str = "latency_ms", budget_ms: int | None = None, cache: str | None = None
    ) -> Any:
        """A kernel of tiles whose sizes are the first of these lists, unless others are chosen (docs/tiles.md)."""
        return self

    def schedule(self, schedule: Any) -> Any:
        """A kernel of tiles with the sizes of a Schedule(block=(64, 32), warps=8)."""
        return self

    def auto(self, function: Callable[..., Any]) -> Any:
        """A kernel of tiles whose sizes are the compiler's."""
        return self(function)


kernel = KernelDecorator()
jit = kernel  # the same, as other frameworks name it
