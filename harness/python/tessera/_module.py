"""Compiled modules: made by the program, launched in this process."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import sys
import tempfile
from typing import Any

from tessera import _dims, _effects, _program, _tessera, _tree, numerics, runtime
from tessera._errors import CompileError, Error, diagnostics_of
from tessera._types import ARRAYS

Signature = tuple[tuple[str, tuple[int, ...]], ...]


@functools.lru_cache(maxsize=None)
def _framework_maker(framework: str) -> Any:
    """Makes that framework's array of a tensor."""
    if framework == "numpy":
        return sys.modules["numpy"].asarray
    if framework == "torch":
        return sys.modules["torch"].from_dlpack
    if framework in ("jax", "jaxlib"):
        import jax.dlpack  # type: ignore[import]

        return jax.dlpack.from_dlpack
    return lambda tensor: tensor


def _result_maker(array: Any) -> Any:
    return _framework_maker(type(array).__module__.partition(".")[0])


class Module(_tessera.Callable):
    """A compiled kernel. Calling it takes the inputs in their order and returns the output, or a tuple of them.

    Inputs are arrays with the buffer protocol or __dlpack__, on the CPU; they are used where they lie if they are row-major
    and aligned to their elements, and copied else. Results are arrays of the framework of the first input on the host: of numpy,
    torch or jax, else tensors. They share no memory with the inputs.

    Tensors of `device_put`, and arrays of others on the same device, are used where they lie. What replaces one of them lies there, too, in
    a tensor's memory where nobody else looks at it; the other results do where no input is on the host, as arrays of the first framework.

    Inputs like `layers.0.up` are parts of one: of a dict, a list, a tuple or a dataclass; inputs may be given by name. What replaces one of
    these, as a state does, is of its form. What the source prints is printed, and a check that does not hold is a CheckError.
    """

    def __init__(self, image: bytes, threads: int | None = None) -> None:
        self._context = runtime.context(threads)
        self._loaded = _tessera.Module(self._context, image)
        self.metadata: dict[str, Any] = json.loads(self._loaded.metadata)
        self.image = image
        inputs = [str(one["name"]) for one in self.metadata["inputs"]]
        self._inputs = _tree.Form(inputs)
        results = [str(one["name"]) for one in self.metadata["outputs"] if "effect" not in one]
        self._results = _tree.Form(results)
        self._alike = [
            (results[target].split(".")[0], inputs[source].split(".")[0])
            for source, target in self.metadata.get("donated", ())
            if target < len(results)
        ]
        self._counts = [
            (target, inputs[source])
            for source, target in self.metadata.get("donated", ())
            if target < len(results) and _counts(self.metadata["inputs"][source])
        ]
        self._effects = [_effects.effect_of(one["effect"]) for one in self.metadata["outputs"] if "effect" in one]
        self._has_trees = any("." in name for name in (*inputs, *results))

    @property
    def name(self) -> str:
        """The kernel's name."""
        return str(self.metadata["name"])

    @property
    def isa(self) -> str:
        """The level of the code that runs."""
        return str(self._loaded.isa)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the module as a file for `load`, `tsr run` or the C ABI."""
        pathlib.Path(path).write_bytes(self.image)

    def __repr__(self) -> str:
        return f"<tessera.Module {self.name} for {self.isa}>"

    def _plan(self, arrays: tuple[Any, ...]) -> None:
        """Takes in the sizes of a launch on arrays of one signature."""
        signature = _tessera.signature(arrays)
        inputs = self.metadata["inputs"]
        if len(signature) != len(inputs):
            names = ", ".join(one["name"] for one in inputs)
            raise Error(f"{self.name} takes {len(inputs)} arrays ({names}), not {len(signature)}")
        for one, (array_type, _) in zip(inputs, signature):
            if array_type not in ARRAYS[one["dtype"]]:
                raise Error(f"'{one['name']}' is {array_type}; the kernel takes {' or '.join(ARRAYS[one['dtype']])}")
        dims = _dims.solve(((one["name"], tuple(one["shape"]), found) for one, (_, found) in zip(inputs, signature)), {})
        shapes = tuple(tuple(_dims.value_of(axis, dims) for axis in one["shape"]) for one in self.metadata["outputs"])
        self._loaded.plan(arrays, shapes, tuple(dims[name] for name in self.metadata.get("dims", ())))

    def _call(self, *values: Any, **named: Any) -> Any:
        if not named and not self._has_trees:
            return self.run(values)
        tops = list(dict.fromkeys(name.split(".")[0] for name in self._inputs.names))
        if len(values) > len(tops):
            raise Error(f"{self.name} takes {len(tops)} values ({', '.join(tops)}), not {len(values)}")
        given = dict(zip(tops, values))
        for name in named:
            if name in given:
                raise Error(f"'{name}' is given twice")
        given.update(named)
        return self.run(self._inputs.flatten(given), given)

    def run(self, arrays: tuple[Any, ...], given: dict[str, Any] | None = None) -> Any:
        """The call on the arrays of all inputs; `given` has the values that they are parts of."""
        if (result := self.run_planned(arrays, given)) is None:
            self._plan(arrays)
            result = self.run_planned(arrays, given)
        return result

    def run_planned(self, arrays: tuple[Any, ...], given: dict[str, Any] | None = None) -> Any:
        """The same for arrays like those of a call before; None: there was none."""
        made = self._loaded.run(arrays, _result_maker)
        if made is None:
            return None
        results = len(self._results.names)
        if len(made) > results:
            counts = [(name, _listed(made[place])) for place, name in self._counts]
            _effects.happen(self.name, self._effects, list(map(_listed, made[results:])), counts)
            made = made[:results]
        if self._has_trees:
            return self._values(made, given or {})
        return made[0] if results == 1 else made

    def _values(self, outputs: tuple[Any, ...], given: dict[str, Any]) -> Any:
        """Results of several arrays, in the form of what they replace."""
        like = {target: given.get(source) for target, source in self._alike}
        found = self._results.unflatten(outputs, like)
        return found[0] if len(found) == 1 else tuple(found)


def _counts(state: dict[str, Any]) -> bool:
    """Counts a part of a state something: for all, or for each row?"""
    return "." in state["name"] and state["dtype"] == "i32" and len(state["shape"]) < 2


def _listed(value: Any) -> Any:
    if not isinstance(value, _tessera.Tensor):
        return value.tolist()
    near: Any = value if value.context is None else value.context.get(value)
    return memoryview(near).tolist()


def load(path: str | os.PathLike[str], threads: int | None = None) -> Module:
    """A module that `tsr compile --emit module` or `Module.save` wrote."""
    return Module(pathlib.Path(path).read_bytes(), threads)


def _is_source(source: str | os.PathLike[str]) -> bool:
    return isinstance(source, str) and "\n" in source


def compile_file(path: str, threads: int | None, options: dict[str, Any]) -> Module:
    options = {**options, "isa": options.get("isa") or runtime.level()}
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        output = os.path.join(folder, "module.tsrm")
        words = ["compile", path, "--emit=module", f"--output={output}", f"--profile={numerics.current()}"]
        done = _program.run([*words, *_program.options_of({**options, "threads": threads})])
        if done.returncode:
            text = done.stderr.strip()
            raise CompileError(text, diagnostics_of(text))
        return load(output, threads)


def compile_text(text: str, name: str, threads: int | None, options: dict[str, Any]) -> Module:
    """The same of a text, which stands in a file of this name."""
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        path = os.path.join(folder, name)
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return compile_file(path, threads, options)


def dims_option(dims: dict[str, Any] | None) -> str | None:
    """The value of --dims.

    >>> dims_option({"M": 128, "T": "bf16"})
    'M=128,T=bf16'
    """
    return ",".join(f"{name}={value}" for name, value in dims.items()) if dims else None


def compile(  # noqa: A001 - the word that the program has for it
    source: str | os.PathLike[str],
    kernel: str | None = None,
    *,
    case: str | None = None,
    dims: dict[str, Any] | None = None,
    generic: bool = False,
    isa: str | None = None,
    threads: int | None = None,
) -> Module:
    """Compiles a kernel of a file, or of a text of several lines, for a case, for dimensions, or for any (generic).

    >>> text = '''
    ... from tessera import *
    ...
    ... @kernel
    ... def twice(x: Tensor["N", f32]) -> Tensor["N", f32]:
    ...     return x * 2
    ... '''
    >>> twice = compile(text, dims={"N": 3})
    >>> import array
    >>> memoryview(twice(array.array("f", [1, 2, 3]))).tolist()
    [2.0, 4.0, 6.0]
    """
    options = {"kernel": kernel, "case": case, "dims": dims_option(dims), "generic": generic, "isa": isa}
    if not _is_source(source):
        return compile_file(os.fspath(source), threads, options)
    return compile_text(str(source), "source.tsr", threads, options)
