#!/usr/bin/env python3
"""programs.py - writes the programs of test_pjrt.c anew, as JAX hands them to a plugin. Needs JAX: 77 without it."""
import sys
from pathlib import Path

try:
    import jax
    import jax.numpy as jnp
    from jaxlib.mlir.dialects import stablehlo
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def donated(a, b):
    return a + b, a.sum()


def foreign_code(a):
    return jax.ffi.ffi_call("code_of_others", jax.ShapeDtypeStruct(a.shape, a.dtype))(a) + 1


def spun(z, a):
    return z * jnp.conj(z) + a, jnp.imag(z)


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    z = jax.ShapeDtypeStruct((3,), jnp.complex64)
    programs = [(donated, (x, x), (0,)), (foreign_code, (x,), ()), (spun, (z, jax.ShapeDtypeStruct((3,), jnp.float32)), ())]
    for function, arguments, given in programs:
        module = jax.jit(function, donate_argnums=given).lower(*arguments).compiler_ir()
        Path(f"{function.__name__}.mlirbc").write_bytes(stablehlo.serialize_portable_artifact(module, "1.13.0"))


if __name__ == "__main__":
    main()
