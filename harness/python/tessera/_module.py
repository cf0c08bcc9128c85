"""Compiled modules: made by the program, launched in this process."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import sys
import tempfile
from typing import Any, NamedTuple

from tessera import _dims, _program, _tessera, _tree, numerics, runtime
from tessera._errors import CheckError, CompileError, Error, diagnostics_of
from tessera._types import ARRAYS, ELEMENT_BYTES

Signature = tuple[tuple[str, tuple[int, ...]], ...]


@dataclasses.dataclass(frozen=True)
class _Plan:
    """Sizes, outputs and dimensions of a launch on arrays of one signature."""

    elements: tuple[int, ...]
    outputs: tuple[_Output, ...]
    dims: tuple[int, ...]


class _Output(NamedTuple):
    """A result's type and shape, and the input that it replaces, None where it replaces none; whether the memory of that is worth keeping."""

    dtype: str
    shape: tuple[int, ...]
    replaced: int | None
    is_large: bool
    is_result: bool


IN_PLACE_BYTES = 4096  # smaller tensors are made anew, so that a full cache's length stays what it was


CPU = 1  # DLPack's number of it


def _on_host(array: Any) -> bool:
    if isinstance(array, _tessera.Tensor):
        return array.context is None
    asked = None if type(array).__module__ == "numpy" else getattr(array, "__dlpack_device__", None)
    return asked is None or asked()[0] == CPU


def _result_maker(array: Any) -> Any:
    """Makes the framework's array of a tensor: that of the inputs."""
    framework = type(array).__module__.split(".")[0]
    if framework == "numpy":
        return sys.modules["numpy"].asarray
    if framework == "torch":
        return sys.modules["torch"].from_dlpack
    if framework in ("jax", "jaxlib"):
        import jax.dlpack  # type: ignore[import]

        return jax.dlpack.from_dlpack
    return lambda tensor: tensor


class Module:
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
        self._inputs = [str(one["name"]) for one in self.metadata["inputs"]]
        self._results = [one for one in self.metadata["outputs"] if "effect" not in one]
        self._replaced = {target: source for source, target in self.metadata.get("donated", ())}
        self._result_names = tuple(str(one["name"]) for one in self._results)
        self._alike = [
            (self._result_names[target].split(".")[0], self._inputs[source].split(".")[0])
            for target, source in self._replaced.items()
            if target < len(self._results)
        ]
        self._effects = [one["effect"].split(":", 2) for one in self.metadata["outputs"] if "effect" in one]
        self._has_trees = any("." in name for name in self._inputs) or any("." in one["name"] for one in self._results)
        self._plans: dict[Signature, _Plan] = {}
        self._makers: dict[type, Any] = {}

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

    def _make_plan(self, signature: Signature) -> _Plan:
        inputs = self.metadata["inputs"]
        if len(signature) != len(inputs):
            names = ", ".join(one["name"] for one in inputs)
            raise Error(f"{self.name} takes {len(inputs)} arrays ({names}), not {len(signature)}")
        for one, (array_type, _) in zip(inputs, signature):
            if array_type not in ARRAYS[one["dtype"]]:
                raise Error(f"'{one['name']}' is {array_type}; the kernel takes {' or '.join(ARRAYS[one['dtype']])}")
        shapes = [(one["name"], tuple(one["shape"]), found) for one, (_, found) in zip(inputs, signature)]
        dims = _dims.solve(shapes, {})
        outputs = tuple(self._make_output(place, dims) for place in range(len(self.metadata["outputs"])))
        elements = tuple(math.prod(found) for _, found in signature)
        return _Plan(elements, outputs, tuple(dims[name] for name in self.metadata.get("dims", ())))

    def _make_output(self, place: int, dims: dict[str, int]) -> _Output:
        one = self.metadata["outputs"][place]
        shape = tuple(_dims.value_of(axis, dims) for axis in one["shape"])
        is_large = math.prod(shape) * ELEMENT_BYTES[one["dtype"]] >= IN_PLACE_BYTES
        return _Output(one["dtype"], shape, self._replaced.get(place), is_large, place < len(self._results))

    def __call__(self, *values: Any, **named: Any) -> Any:
        if not named and not self._has_trees:
            return self.run(_tessera.signature(values), values)
        tops = list(dict.fromkeys(name.split(".")[0] for name in self._inputs))
        if len(values) > len(tops):
            raise Error(f"{self.name} takes {len(tops)} values ({', '.join(tops)}), not {len(values)}")
        given = dict(zip(tops, values))
        for name in named:
            if name in given:
                raise Error(f"'{name}' is given twice")
        given.update(named)
        arrays = tuple(_tree.flatten(self._inputs, given))
        return self.run(_tessera.signature(arrays), arrays, given)

    def run(self, signature: Signature, arrays: tuple[Any, ...], given: dict[str, Any] | None = None) -> Any:
        """The call, where what the arrays are is known already; `given` has the values that they are parts of."""
        plan = self._plans.get(signature)
        if plan is None:
            plan = self._plans[signature] = self._make_plan(signature)
        near = next((one for one in arrays if _on_host(one)), None)
        resident = len(arrays) > 0 and (near is None or any(not _on_host(one) for one in arrays))
        if resident:
            outputs = tuple([self._room(one, arrays, near) for one in plan.outputs])
        else:
            outputs = tuple([_tessera.Tensor(one.dtype, one.shape) for one in plan.outputs])
        self._loaded.launch(tuple(zip(arrays, plan.elements)), outputs, plan.dims)
        if self._effects:
            _happen(self.name, self._effects, outputs[len(self._results) :])
            outputs = outputs[: len(self._results)]
        like = near
        if resident and near is None:
            like = next((one for one in arrays if not isinstance(one, _tessera.Tensor)), None)
        make = self._makers.get(type(like))
        if make is None:
            make = self._makers[type(like)] = _result_maker(like)
        all_made = like is not near
        made = tuple([self._made(output, one, arrays, make, all_made) for output, one in zip(outputs, plan.outputs)])
        if self._has_trees:
            return self._values(made, given or {})
        return made[0] if len(made) == 1 else made

    def _room(self, one: _Output, arrays: tuple[Any, ...], near: Any) -> Any:
        """The tensor of an output: on the device, if it replaces one there or no input is on the host."""
        held = None if one.replaced is None else arrays[one.replaced]
        there = one.is_result and (near is None if held is None else not _on_host(held))
        if not there:
            return _tessera.Tensor(one.dtype, one.shape)
        ours = one.is_large and isinstance(held, _tessera.Tensor) and held.donatable and held.context is self._context
        return held if ours else self._context.empty(one.dtype, one.shape)

    def _made(self, output: Any, one: _Output, arrays: tuple[Any, ...], make: Any, all_made: bool) -> Any:
        if one.replaced is not None and output is arrays[one.replaced]:
            return output.give()
        return make(output) if all_made or output.context is None else output

    def _values(self, outputs: tuple[Any, ...], given: dict[str, Any]) -> Any:
        """Results of several arrays, in the form of what they replace."""
        like = {target: given.get(source) for target, source in self._alike}
        found = _tree.unflatten(self._result_names, outputs, like)
        return found[0] if len(found) == 1 else tuple(found)


def _happen(name: str, effects: list[list[str]], values: tuple[Any, ...]) -> None:
    """Prints what print() shows, and raises for the first check that does not hold."""
    line = ""
    for place, ((kind, number, words), value) in enumerate(zip(effects, values)):
        if kind == "check":
            if 0 in bytes(value):
                raise CheckError(f"line {number} of {name}: {words}")
            continue
        before, mark, behind = words.partition("{}")
        line += (" " if kind == "more" else "") + (f"{before}{memoryview(value).tolist()}{behind}" if mark else words)
        if place + 1 == len(effects) or effects[place + 1][0] != "more":
            print(line)
            line = ""


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
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        path = os.path.join(folder, "source.tsr")
        pathlib.Path(path).write_text(str(source), encoding="utf-8")
        return compile_file(path, threads, options)
