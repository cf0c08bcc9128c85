"""JAX on the CPU as an implementation of ci/peers.d/kernels.tsr: functions as jax.jit compiles them for each shape."""
import os

# XLA takes no notice of OMP_NUM_THREADS: NPROC is the size of its pool, whose threads and those that hand out the work spin while they
# wait, on the processors that it may use.
threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
os.environ["NPROC"] = str(threads)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if threads == 1:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"

import jax  # noqa: E402 - after what it reads
import jax.numpy as jnp  # noqa: E402

EPSILON = 1e-5


@jax.jit
def matmul_f32(x, y):
    return x @ y


matmul_bf16 = matmul_f32


@jax.jit
def linear_f32(x, w):
    return x @ w.T


linear_bf16 = linear_f32


@jax.jit
def softmax_f32(x):
    return jax.nn.softmax(x, axis=1)


@jax.jit
def layernorm_f32(x, gain, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON) * gain + bias


@jax.jit
def rmsnorm_f32(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(axis=1, keepdims=True) + EPSILON) * gain


@jax.jit
def gelu_f32(x):
    return jax.nn.gelu(x, approximate=True)


@jax.jit
def saxpy_f32(x, y):
    return 0.5 * x + y


@jax.jit
def chain_f32(x, y, z):
    return jax.nn.relu(x * y + z) / (1 + jnp.abs(z))


@jax.jit
def transpose_f32(x):
    return x.T


@jax.jit
def sum_rows_f32(x):
    return x.sum(axis=1)


@jax.jit
def sum_columns_f32(x):
    return x.sum(axis=0)


@jax.jit
def attention_f32(q, k, v):
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("bhij,bhjd->bhid", jax.nn.softmax(scores, axis=-1), v)


@jax.jit
def conv3x3_f32(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
