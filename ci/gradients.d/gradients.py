"""gradients - gradients of functions, ours beside JAX's.

Each function of functions.txt is an expression that both read. Its vector-Jacobian product with a random cotangent is taken by all of its
arguments: by tsr, by JAX in f32, and by JAX in f64. An element of ours may be as far from f64 as 16 times the farthest of JAX's f32 of the
same argument, or as 16 roundings of its largest element. The table says by how many roundings each is off.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SHAPES = {"x": (5, 7), "y": (5, 7), "p": (5, 7), "r": (5, 7), "u": (5, 7), "w": (7, 3), "b": (7,), "a": (5,), "g": (7,), "q": (2, 6, 8),
          "k": (2, 6, 8), "v": (2, 6, 8), "s": (4, 4), "n": (2, 6, 5, 3), "f": (3, 3, 3, 4), "s7": (7, 7), "c4": (6, 4), "s4": (6, 4)}
INDICES = {"i": [3, 0, 3, 4], "j": [6, 0, 3, 3, 1], "u3": [4, 0, 2]}

# Functions that expressions name, in the words of both.
HELPERS = '''
def square_of(row):
    return row * row

def add_scaled(carry, row):
    carry = carry * 0.5 + row * row
    return carry, carry * row

def recurrent(carry, row):
    carry = tanh(carry * 0.7 + row)
    return carry, carry * carry

def mlp_of(m):
    return tanh(m * 2.0) * sin(m)

def norm_of(row):
    return row / sqrt(sum(row * row) + 0.1)

def energy(m):
    return sum(sin(m) * m * m)

def small(m):
    return tanh(m) * sum(m * m)

def product_so_far(m):
    return sum(sin(cumprod(m, axis=1)))

def grown(so_far, e):
    return so_far * 0.5 + sin(so_far) * e

def further(so_far, e):
    return maximum(so_far, e) + e * 0.25
'''


def listed():
    for line in (HERE / "functions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, expression = line.partition(": ")
            yield name, expression


def inputs():
    rng = np.random.default_rng(11)
    made = {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}
    made["p"], made["r"] = np.exp(made["p"] * 0.4), np.exp(made["r"] * 0.4)
    made["u"] = np.tanh(made["u"]) * 0.9
    made["g"] = 1 + made["g"] * 0.1
    made = {name: value.astype(np.float32) for name, value in made.items()}
    return made | {name: np.array(value, np.int32) for name, value in INDICES.items()}


def names_in(expression):
    words = set(re.findall(r"[a-z_][a-z_0-9]*", re.sub(r'"[^"]*"', "", re.sub(r"\b[a-z_]+=", "", expression))))
    return [n for n in list(SHAPES) + list(INDICES) if n in words]


# ---- JAX

def namespace():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def gather(x, i, axis=0, batch_dims=0):
        if batch_dims:
            return jnp.take_along_axis(x, i[:, None], axis=1)[:, 0]
        return jnp.take(x, i, axis=axis, mode="clip")

    def scatter(x, i, updates, mode="set", axis=0):
        before = (slice(None),) * axis
        if mode != "mul":
            return getattr(x.at[(*before, i)], mode)(updates)
        for number, index in enumerate(i):  # JAX derives that of indices that are unique alone
            x = x.at[(*before, index)].mul(updates[(*before, number)], unique_indices=True)
        return x

    def reduce(f, x, init, axis=-1):
        so_far = jnp.full(x.sum(axis).shape, init, x.dtype)
        for number in range(x.shape[axis]):
            so_far = f(so_far, jnp.take(x, number, axis))
        return so_far

    def running(f):
        return lambda x, axis=-1, reverse=False: f(x, axis=axis % x.ndim, reverse=reverse)

    def dot(x, y, x_contract, y_contract, x_batch=(), y_batch=()):
        many = lambda axes: axes if isinstance(axes, tuple) else (axes,)
        return lax.dot_general(x, y, ((many(x_contract), many(y_contract)), (many(x_batch), many(y_batch))))

    def layernorm(x, gain, bias, eps=1e-5):
        m = x - jnp.mean(x, -1, keepdims=True)
        return m * lax.rsqrt(jnp.mean(m * m, -1, keepdims=True) + eps) * gain + bias

    def attention(q, k, v, causal=False):
        s = q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
        if causal:
            s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool), s.shape[-1] - s.shape[-2]), s, -jnp.inf)
        return jax.nn.softmax(s, -1) @ v

    def rope(x, c, s):
        low, high = jnp.split(x, 2, -1)
        return jnp.concatenate([low * c - high * s, high * c + low * s], -1)

    def conv2d(x, w, stride=1, padding=0):
        return lax.conv_general_dilated(x, w, (stride, stride), ((padding, padding),) * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def gelu(x, approximate="tanh"):
        return jax.nn.gelu(x, approximate=approximate == "tanh")

    activations = {"none": lambda x: x, "relu": jax.nn.relu, "gelu": gelu, "silu": jax.nn.silu}

    def linear(x, w, bias=0.0, activation="none"):
        return activations[activation](x @ w + bias)

    def descending(f):
        def g(x, axis=-1, descending=False):
            return f(x, axis=axis, descending=descending)
        return g

    def split(x, parts, axis=0):
        return jnp.split(x, np.cumsum(parts)[:-1], axis)

    def scan(f, carry, xs, reverse=False):
        return lax.scan(f, carry, xs, reverse=reverse)

    own = dict(gather=gather, take=lambda x, i, axis=0: gather(x, i, axis), scatter=scatter, dot=dot, layernorm=layernorm,
               attention=attention, rope=rope, conv2d=conv2d, gelu=gelu, linear=linear, split=split, scan=scan, sort=descending(jnp.sort),
               rmsnorm=lambda x, gain, eps=1e-6: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * gain,
               softmax=jax.nn.softmax, logsumexp=jax.nn.logsumexp, relu=jax.nn.relu, silu=jax.nn.silu, logistic=jax.nn.sigmoid,
               rsqrt=lax.rsqrt, erf=lax.erf, pow=jnp.power, atan2=jnp.arctan2, fma=lambda x, y, z: x * y + z,
               stop_gradient=lax.stop_gradient, transpose=jnp.transpose, concat=jnp.concatenate,
               cross_entropy=lambda x, t: jnp.mean(jax.nn.logsumexp(x, -1) - gather(x, t, batch_dims=1)),
               cumsum=lambda x, axis=-1, reverse=False: jnp.flip(jnp.cumsum(jnp.flip(x, axis), axis), axis) if reverse else jnp.cumsum(x, axis),
               cumprod=running(lax.cumprod), cummax=running(lax.cummax), cummin=running(lax.cummin), reduce=reduce, topk=lax.top_k, dynamic_slice=lax.dynamic_slice, dynamic_update=lax.dynamic_update_slice,
               cast=lambda x, t: jnp.asarray(x, t), i32=jnp.int32, f32=None, full=lambda shape, value, _: jnp.full(shape, value, jnp.int32 if isinstance(value, int) else None),
               pad=lambda x, widths, value=0.0: jnp.pad(x, widths, constant_values=value), map=lax.map,
               checkpoint=lambda f, keep="nothing": jax.checkpoint(f), vmap=jax.vmap, grad=jax.grad, jvp=jax.jvp, jacrev=jax.jacrev,
               jacfwd=jax.jacfwd, hvp=lambda f, x, v: jax.jvp(jax.grad(f), x, v)[1])
    names = {n: getattr(jnp, n) for n in dir(jnp) if not n.startswith("_")} | own
    exec(HELPERS, names)
    return names


def of_jax(expression, given, cotangent, names, wide):
    import jax
    floats = [n for n in given if given[n].dtype == np.float32]
    values = [given[n].astype(np.float64) if wide else given[n] for n in floats]
    whole = {n: v for n, v in given.items() if n not in floats}
    value = lambda *args: eval(expression, names | whole | dict(zip(floats, args)))
    result, back = jax.vjp(value, *values)
    cotangent = np.broadcast_to(np.ravel(cotangent)[0], np.shape(result)) if np.size(cotangent) == 1 else cotangent
    return result.shape, [np.asarray(g) for g in back(np.asarray(cotangent, result.dtype).reshape(result.shape))]


# ---- tsr

def source(name, expression, given, shape):
    kinds = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}
    tensor = lambda dims, kind: "Tensor[" + ", ".join([str(d) for d in dims] + [kind]) + "]"
    floats = [n for n in given if given[n].dtype == np.float32]
    integers = [n for n in given if n not in floats]
    result = [tensor(given[n].shape, "f32") for n in floats]
    constants = "".join(f"    {n} = concat([" + ", ".join(f"full((1,), {v}, i32)" for v in given[n]) + "])\n" for n in integers)
    returns = result[0] if len(result) == 1 else "tuple[" + ", ".join(result) + "]"
    given_back = "back(cotangent)[0]" if len(result) == 1 else "back(cotangent)"
    return (f"from tessera import *\n{HELPERS}\ndef function({', '.join(floats)}):\n{constants}    return {expression}\n\n@cases(case(\"a\"))\n"
            f"@kernel\ndef {name}({', '.join(f'{n}: {tensor(given[n].shape, kinds[given[n].dtype])}' for n in floats)}, "
            f"cotangent: {tensor(shape, 'f32')}) -> {returns}:\n    y, back = vjp(function, ({', '.join(floats)},))\n"
            f"    return {given_back}\n")


def of_tsr(tsr, folder, name, text, arrays):
    import tessera
    path, module = folder / f"{name}.tsr", folder / f"{name}.tsrm"
    path.write_text(text)
    done = subprocess.run([tsr, "compile", str(path), "--kernel", name, "--case", "a", "--emit", "module", "-o", str(module)], capture_output=True, text=True)
    if done.returncode:
        return None, (done.stderr or done.stdout).strip().splitlines()[0][:150]
    made = tessera.load(str(module))(*arrays)
    return list(made) if isinstance(made, (tuple, list)) else [made], ""


def roundings(ours, jax32, exact):
    """Tells by how many roundings of its largest element ours is off, and how many it may be."""
    unit = np.max(np.abs(exact), initial=0) * 2.0**-24 or 2.0**-149
    off = np.max(np.abs(ours.astype(np.float64) - exact), initial=0) / unit
    own = np.max(np.abs(jax32.astype(np.float64) - exact), initial=0) / unit
    return off, max(16 * own, 16.0)


def judge(args, folder, name, expression, names, values):
    given = {n: values[n] for n in names_in(expression + (" b" if name == "" else ""))}
    rng = np.random.default_rng(len(name))
    shape, exact = of_jax(expression, given, np.ones(1), names, True)
    cotangent = np.asarray(rng.standard_normal(shape), np.float32)
    _, exact = of_jax(expression, given, cotangent, names, True)
    _, narrow = of_jax(expression, given, cotangent, names, False)
    floats = [v for v in given.values() if v.dtype == np.float32]
    ours, why = of_tsr(args.tsr, folder, name, source(name, expression, given, shape), [*floats, cotangent])
    if ours is None:
        return "refused", why
    worst = max((roundings(o, n, e) for o, n, e in zip(ours, narrow, exact)), key=lambda r: r[0] / r[1])
    return ("ok" if worst[0] <= worst[1] else "differs"), f"{worst[0]:8.1f} of {worst[1]:8.1f} roundings"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tsr", required=True)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    try:
        import jax
    except ImportError:
        print("gradients: skipped, this Python has no jax")
        return 0
    jax.config.update("jax_enable_x64", True)
    names, values, counts = namespace(), inputs(), {}
    chosen = [(name, expression) for name, expression in listed() if re.search(args.filter, name)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        judged = pool.map(lambda one: judge(args, Path(folder), *one, names, values), chosen)
        for (name, _), (verdict, words) in zip(chosen, judged):
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{name:24} {verdict:8} {words}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0 if set(counts) == {"ok"} else 1


if __name__ == "__main__":
    sys.exit(main())
