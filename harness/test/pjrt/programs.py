#!/usr/bin/env python3
"""programs.py - writes the programs of test_pjrt_programs.c and test_pjrt_devices.c anew, as JAX hands them to a plugin. Needs JAX: 77 without it."""
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

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


def sharded(w, x):
    """Each of four devices has two rows of x; all have w."""

    def of_one(w, x):
        return w - jax.lax.psum(x.sum(axis=0), "d"), 2 * x + jax.lax.axis_index("d")

    spec = jax.sharding.PartitionSpec
    return jax.shard_map(of_one, mesh=jax.make_mesh((4,), ("d",)), in_specs=(spec(), spec("d")), out_specs=(spec(), spec("d")))(w, x)


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    z = jax.ShapeDtypeStruct((3,), jnp.complex64)
    programs = [(donated, (x, x), (0,)), (foreign_code, (x,), ()), (spun, (z, jax.ShapeDtypeStruct((3,), jnp.float32)), ())]
    for function, arguments, given in programs:
        module = jax.jit(function, donate_argnums=given).lower(*arguments).compiler_ir()
        Path(f"{function.__name__}.mlirbc").write_bytes(stablehlo.serialize_portable_artifact(module, "1.13.0"))
    mesh = jax.make_mesh((4,), ("d",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    lying = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=rows)
    module = jax.jit(sharded, donate_argnums=(1,)).lower(jax.ShapeDtypeStruct((8,), jnp.float32), lying).compiler_ir()
    Path("sharded.mlirbc").write_bytes(stablehlo.serialize_portable_artifact(module, "1.13.0", True))  # Shardy's operations are left in it


if __name__ == "__main__":
    main()
