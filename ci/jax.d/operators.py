"""A kernel that programs.py gives to JAX as a function."""

import tessera
from tessera import f32, i32


@tessera.kernel
def gates(x: tessera.Tensor["M", "N", f32], s: tessera.Tensor["M", f32], at: tessera.Tensor["K", i32]):
    return tanh(x) * s[:, None], sum(take(x, at, axis=0), axis=1)
