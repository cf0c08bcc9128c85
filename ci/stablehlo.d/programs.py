#!/usr/bin/env python3
"""programs.py FOLDER - writes the programs of corpus/stablehlo anew, as the JAX that runs this lowers them.

They are kept in the corpus as text, since JAX is needed to make them and not to run them. 77: JAX is missing.
"""
import re
import sys
from pathlib import Path

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def mlp_step(params, x, y):
    """A training step of a small classifier: tanh, softmax and cross entropy, their gradient, and SGD."""

    def loss(p):
        h = jnp.tanh(x @ p[0] + p[1])
        z = h @ p[2] + p[3]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(z) * jax.nn.one_hot(y, 10), axis=-1))

    value, grads = jax.value_and_grad(loss)(params)
    return value, [p - 0.1 * g for p, g in zip(params, grads)]


def loops(x, n):
    """scan, while_loop, cond and switch."""
    total, rows = lax.scan(lambda c, a: (c * 0.5 + a, c.sum()), jnp.zeros(8), x)
    steps = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.25), (0, x))[1]
    either = lax.cond(x[0, 0] > 0, lambda a: jnp.sort(a, axis=0), lambda a: a[::-1], x)
    picked = lax.switch(n % 3, [lambda a: a + 1, lambda a: a * 2, jnp.negative], x[0])
    return total, rows, steps, either, picked


def indexed(x, i, u):
    """Gathers, scatters, argmax and top_k."""
    d = jnp.argmax(x, axis=1)
    return x[i], x.at[i].add(u), x.at[i[0], 2:5].set(0.5), d, *lax.top_k(x, 3), jnp.take_along_axis(x, d[:, None], axis=1)


def drawn(seed):
    """Random numbers: threefry in integers, and what is made of them."""
    key = jax.random.key(seed)
    a, b, c = jax.random.split(key, 3)
    return jax.random.normal(a, (33,)), jax.random.uniform(b, (4, 5)), jax.random.bits(c, (7,)), jax.random.permutation(key, 12)


def pictures(x, w, v):
    """Convolutions with groups and dilation, pooling, and their gradients."""

    def loss(w, v):
        axes = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=axes)
        z = lax.conv_general_dilated(y, v, (2, 1), ((0, 1), (2, 0)), rhs_dilation=(1, 2), dimension_numbers=axes, feature_group_count=2)
        greatest = lax.reduce_window(z, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        sums = lax.reduce_window(z, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
        return greatest.mean() + sums.sum() * 0.01

    return jax.value_and_grad(loss, argnums=(0, 1))(w, v)


def ones(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


PROGRAMS = [
    (mlp_step, ([ones(32, 64), ones(64), ones(64, 10), ones(10)], ones(16, 32), ones(16, dtype=jnp.int32))),
    (loops, (ones(6, 8), ones(dtype=jnp.int32))),
    (indexed, (ones(12, 9), ones(5, dtype=jnp.int32), ones(5, 9))),
    (drawn, (ones(dtype=jnp.int32),)),
    (pictures, (ones(2, 9, 8, 3), ones(3, 3, 3, 4), ones(2, 2, 2, 6))),
]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for function, arguments in PROGRAMS:
        text = jax.jit(function).lower(*arguments).as_text()
        text = re.sub(r' \{jax.result_info = "[^"]*"\}', "", text)
        text = re.sub(r"module @jit_(\w+) attributes \{[^}]*\}", r"module @jax_\1", text)
        head = f"// {function.__doc__} Written by JAX {jax.__version__} (ci/stablehlo.d/programs.py).\n"
        (folder / f"{function.__name__}.mlir").write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
