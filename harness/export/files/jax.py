"""The case by JAX: XLA compiles the StableHLO below. Its sums have other orders and its functions other bits, so look at how far apart."""
import sys

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
TYPES = {name: np.dtype(kind) for name, kind in {
    "f64": "f8", "f32": "f4", "tf32": "f4", "f16": "f2", "bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2, "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1",
    "bool": "?"}.items()}


def run(arrays, results):
    from jaxlib import xla_client
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    device = jax.devices("cpu")[0]
    with mlir.make_ir_context():
        module = ir.Module.parse(PROGRAM)
        loaded = device.client.compile_and_load(module, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    out = loaded.execute([jax.device_put(a, device) for a in arrays])
    return [np.asarray(o).reshape(r.shape) for o, r in zip(out, results)]
