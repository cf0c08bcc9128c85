"""Kernels as operators of other frameworks, with their gradients; and functions of JAX as modules."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import Any

from tessera import _tessera, runtime
from tessera._errors import Error
from tessera._kernel import Kernel
from tessera._module import Module, compile_text
from tessera._types import ARRAYS, kernel_type

Signature = tuple[tuple[str, tuple[int, ...]], ...]
_FLOATS = ("f64", "f32", "f16", "bf16")


def _annotation(element: str, shape: tuple[int, ...]) -> str:
    return f"Tensor[{', '.join([*map(str, shape), element])}]"


def _outputs_of(module: Module) -> list[tuple[str, tuple[int, ...]]]:
    """Types and shapes of the results."""
    return [(str(one["dtype"]), tuple(one["shape"])) for one in module.metadata["outputs"]]


class Operator:
    """A kernel's module, and that of its derivative, for arrays of each signature."""

    def __init__(self, kernel: Kernel) -> None:
        if not isinstance(kernel, Kernel):
            raise Error(f"a kernel is needed, made by @tessera.kernel; {kernel!r} is none")
        if kernel._source.is_nested:
            raise Error(f"{kernel.__name__} takes records of arrays, and an operator takes arrays alone")
        if runtime.backend() != "cpu":
            raise Error(f"operators of other frameworks run on the CPU, and the backend in use is {runtime.backend()}")
        self.kernel = kernel
        self.name = kernel.__name__
        self._lock = threading.Lock()
        self._backward: dict[Signature, Module] = {}

    def module(self, signature: Signature) -> Module:
        with self._lock:
            module = self.kernel._module_of(signature, {})
        if any("effect" in one for one in module.metadata["outputs"]):
            raise Error(f"{self.name} prints or checks something, which an operator of another framework cannot do")
        return module

    def wanted(self, signature: Signature) -> list[int]:
        """Places of the arguments that have a derivative: floats."""
        inputs = self.module(signature).metadata["inputs"]
        return [place for place, one in enumerate(inputs) if one["dtype"] in _FLOATS]

    def backward(self, signature: Signature) -> Module:
        """Takes the arguments and a cotangent of each result that is a float; gives cotangents of `wanted`."""
        forward = self.module(signature)
        with self._lock:
            found = self._backward.get(signature)
            if found is None:
                found = self._backward[signature] = self._derive(forward, signature)
        return found

    def _derive(self, forward: Module, signature: Signature) -> Module:
        results = _outputs_of(forward)
        floats = [place for place, (element, _) in enumerate(results) if element in _FLOATS]
        inputs = [(str(one["dtype"]), shape) for one, (_, shape) in zip(forward.metadata["inputs"], signature)]
        wanted = [place for place, (element, _) in enumerate(inputs) if element in _FLOATS]
        if not floats or not wanted:
            raise Error(f"{self.name} has no derivative: its {'results' if not floats else 'arguments'} are no floats")
        given, weights = [f"x{i}" for i in range(len(inputs))], [f"c{i}" for i in floats]
        made = ", ".join(f"r{i}" for i in range(len(results)))
        parts = " + ".join(f"r{i} * c{i}" if not results[i][1] else f"sum(r{i} * c{i})" for i in floats)
        typed = [f"{name}: {_annotation(*one)}" for name, one in zip(given, inputs)]
        typed += [f"{name}: {_annotation(*results[i])}" for name, i in zip(weights, floats)]
        numbers = ", ".join(map(str, wanted)) + ("," if len(wanted) == 1 else "")
        text = "\n".join(
            [
                self.kernel._source.text({}),
                f"def {self.name}_weighted({', '.join(given + weights)}):",
                f"    {made} = {self.name}({', '.join(given)})",
                f"    return {parts}",
                "",
                "@kernel",
                f"def {self.name}_backward({', '.join(typed)}):",
                f"    g = grad({self.name}_weighted, argnums=({numbers}))({', '.join(given + weights)})",
                f"    return {', '.join(f'g[{i}]' for i in range(len(wanted)))}",
                "",
            ]
        )
        options = {**self.kernel._options, "kernel": f"{self.name}_backward"}
        return compile_text(text, "backward.tsr", self.kernel._threads, options)


# ---- JAX ----

_TARGET = "tessera_call"


@functools.lru_cache(maxsize=None)
def _jax() -> Any:
    """JAX, which knows the handler from now on."""
    jax: Any = importlib.import_module("jax")
    jax.ffi.register_ffi_target(_TARGET, _tessera.ffi_handler(), platform="cpu")
    return jax


@functools.lru_cache(maxsize=None)
def _number_of(module: Module) -> int:
    return _tessera.ffi_keep(module._loaded)


def _jax_call(module: Module, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    import numpy

    jax = _jax()
    made = [jax.ShapeDtypeStruct(shape, ARRAYS[element][0]) for element, shape in _outputs_of(module)]
    call = jax.ffi.ffi_call(_TARGET, made, vmap_method="sequential")
    return tuple(call(*arrays, module=numpy.int64(_number_of(module))))


def _jax_signature(arrays: tuple[Any, ...]) -> Signature:
    return tuple((str(one.dtype), tuple(one.shape)) for one in arrays)


def as_jax(kernel: Kernel) -> Callable[..., Any]:
    """The kernel as a function of JAX on its CPU: within jit, grad, vmap and scan. Its gradient is the derivative of the kernel (docs/derivatives.md).

    A function gives what the kernel gives: an array, or a tuple of them.
    """
    operator = Operator(kernel)
    jax = _jax()

    def whole(arrays: tuple[Any, ...]) -> Any:
        made = _jax_call(operator.module(_jax_signature(arrays)), arrays)
        return made[0] if len(made) == 1 else made

    def primal(*arrays: Any) -> Any:
        return whole(tuple(jax.numpy.asarray(one) for one in arrays))

    def forward(*arrays: Any) -> tuple[Any, Any]:
        arrays = tuple(jax.numpy.asarray(one) for one in arrays)
        return whole(arrays), arrays

    def backward(arrays: tuple[Any, ...], cotangents: Any) -> tuple[Any, ...]:
        import numpy

        signature = _jax_signature(arrays)
        listed = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        kinds = [element for element, _ in _outputs_of(operator.module(signature))]
        weights = tuple(one for one, element in zip(listed, kinds) if element in _FLOATS)
        made = iter(_jax_call(operator.backward(signature), (*arrays, *weights)))
        wanted = set(operator.wanted(signature))
        none = jax.dtypes.float0
        return tuple(next(made) if place in wanted else numpy.zeros(one.shape, none) for place, one in enumerate(arrays))

    call: Any = jax.custom_vjp(primal)
    call.defvjp(forward, backward)
    return functools.wraps(kernel)(call)  # type: ignore[no-any-return]


class FromJax(_tessera.Callable):
    """A function of JAX as a module of this compiler. Calling it takes values of the form that it was made for."""

    def __init__(self, module: Module, given: Any, made: Any) -> None:
        self.module, self._given, self._made = module, given, made

    def _call(self, *values: Any) -> Any:
        trees: Any = importlib.import_module("jax.tree_util")
        leaves, form = trees.tree_flatten(values)
        if form != self._given:
            raise Error(f"{self.module.name} takes values of the form {self._given}, not {form}")
        results = self.module(*leaves)
        listed = results if isinstance(results, tuple) else (results,)
        return trees.tree_unflatten(self._made, listed[: self._made.num_leaves])

    def __repr__(self) -> str:
        return f"<tessera.FromJax {self.module.name}>"


def from_jax(function: Callable[..., Any], *shapes: Any, threads: int | None = None, isa: str | None = None) -> FromJax:
    """Compiles a function of JAX here, for values of these shapes: arrays, or jax.ShapeDtypeStruct, in trees of any form.

    The bits are those of docs/numerics.md, under the profile in use. `result.module` is the module, which can be saved.
    """
    jax: Any = importlib.import_module("jax")
    lowered = jax.jit(function, keep_unused=True).lower(*shapes)
    name = "".join(letter if letter.isalnum() else "_" for letter in getattr(function, "__name__", "") or "function")
    text = lowered.as_text(dialect="stablehlo").replace("module @jit_", "module @", 1)
    module = compile_text(text, f"{name}.mlir", threads, {"isa": isa})
    given = jax.tree_util.tree_structure(shapes)
    return FromJax(module, given, lowered.out_tree)


# ---- PyTorch ----

_torch_operators: list[Operator] = []


def _torch_signature(tensors: Any) -> Signature:
    return tuple((str(one.dtype).removeprefix("torch."), tuple(one.shape)) for one in tensors)


def _torch_module(tensors: Any, number: int, back: bool) -> Module:
    operator = _torch_operators[number]
    if not back:
        return operator.module(_torch_signature(tensors))
    inputs = len(operator.kernel._source.parameters)
    return operator.backward(_torch_signature(tensors[:inputs]))


def _torch_run(tensors: Any, number: int, back: bool) -> list[Any]:
    module = _torch_module(tensors, number, back)
    made = module.run(tuple(one.detach().contiguous() for one in tensors))
    return list(made) if isinstance(made, tuple) else [made]


def _torch_shapes(tensors: Any, number: int, back: bool) -> list[Any]:
    """Results without their values, for what traces a program."""
    torch: Any = importlib.import_module("torch")
    module = _torch_module(tensors, number, back)
    return [tensors[0].new_empty(shape, dtype=getattr(torch, ARRAYS[element][0])) for element, shape in _outputs_of(module)]


@functools.lru_cache(maxsize=None)
def _torch() -> Any:
    """The operator tessera::call of PyTorch, and the class that knows its derivative."""
    torch: Any = importlib.import_module("torch")
    library = torch.library.Library("tessera", "DEF")
    library.define("call(Tensor[] tensors, int number, bool back) -> Tensor[]")
    library.impl("call", _torch_run, "CPU")
    for key in ("Meta", "AutogradMeta"):
        library.impl("call", _torch_shapes, key)

    class Call(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, number: int, *tensors: Any) -> Any:
            context.number = number
            context.save_for_backward(*tensors)
            made = tuple(torch.ops.tessera.call(list(tensors), number, False))
            context.mark_non_differentiable(*[one for one in made if not one.is_floating_point()])
            return made

        @staticmethod
        def backward(context: Any, *cotangents: Any) -> Any:
            operator, tensors = _torch_operators[context.number], context.saved_tensors
            results = _outputs_of(operator.module(_torch_signature(tensors)))
            weights = [
                torch.zeros(shape, dtype=getattr(torch, ARRAYS[element][0])) if one is None else one
                for one, (element, shape) in zip(cotangents, results)
                if element in _FLOATS
            ]
            made = iter(torch.ops.tessera.call([*tensors, *weights], context.number, True))
            wanted = set(operator.wanted(_torch_signature(tensors)))
            return (None, *[next(made) if place in wanted else None for place in range(len(tensors))])

    return library, Call


def as_torch(kernel: Kernel) -> Callable[..., Any]:
    """The kernel as a function of PyTorch on the CPU, by the operator tessera::call. Its gradient is the derivative of the kernel (docs/derivatives.md).

    A function gives what the kernel gives: a tensor, or a tuple of them. Derivatives of the gradient are not there.
    """
    _, operation = _torch()
    number = len(_torch_operators)
    _torch_operators.append(Operator(kernel))

    def call(*tensors: Any) -> Any:
        made = operation.apply(number, *tensors)
        return made[0] if len(made) == 1 else made

    return functools.wraps(kernel)(call)
