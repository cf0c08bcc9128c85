#!/usr/bin/python3
"""Every composite, and functions that are in none, against a formula written independently in NumPy and f64.

    oracle.py TSR-INTERP [KERNEL...]

Inputs are drawn here and run through tsr-interp; its result must lie within the derived bound of the formula, and so
must the reference from which that bound comes. Nothing here is taken from the decompositions. Exit 77 (skipped) where
NumPy is missing.
"""
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed for this Python (python3-numpy)")
    sys.exit(77)

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.tsr")
erf = np.vectorize(math.erf, otypes=[np.float64])


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def logsumexp(x):
    return np.log(np.exp(x).sum(axis=-1))


def layernorm(x, gain, bias):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-3) * gain + bias


def rmsnorm(x, gain):
    return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + 1e-3) * gain


def gelu_erf(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


def attention(q, k, v, causal=False):
    scores = np.einsum("bmk,bnk->bmn", q, k) / math.sqrt(q.shape[-1])
    rows, columns = scores.shape[-2:]
    if causal:
        hidden = np.arange(columns)[None, :] > np.arange(rows)[:, None] + columns - rows
        scores = np.where(hidden, -np.inf, scores)
    with np.errstate(invalid="ignore"):
        weights = np.nan_to_num(softmax(scores), nan=0.0)  # a row that sees nothing
    return np.einsum("bmn,bnk->bmk", weights, v)


def convolution(x, w, bias):
    """Windows of 3 by 2, every second one, of images with one place on each side."""
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = (x.shape[1] - 3) // 2 + 1, (x.shape[2] - 2) // 2 + 1
    parts = (np.einsum("bmnk,ko->bmno", x[:, i:i + 2 * rows - 1:2, j:j + 2 * columns - 1:2], w[i, j])
             for i in range(3) for j in range(2))
    return (sum(parts) + bias).clip(min=0)


def cross_entropy(x, target):
    return np.mean([-math.log(softmax(row)[t]) for row, t in zip(x, target)])


def cross_entropy_tokens(x, target):
    return np.mean([cross_entropy(rows, wanted) for rows, wanted in zip(x, target)])


def clipped(x, lo):
    return np.clip(x, lo, 1.5), np.sign(x)


def stacked(x):
    low, high = np.split(x, 2, axis=1)
    return np.pad(np.stack([high, low], axis=-1), ((0, 0), (1, 2), (0, 0)), constant_values=0.5)


def positions(x):
    return np.argmax(x, axis=-1).astype(np.float64), np.argmin(x, axis=0).astype(np.float64)


def ordered(x):
    downwards = np.argsort(-x, axis=0, kind="stable")
    return np.sort(x), downwards.astype(np.float64), x.max(axis=1)[:, None], x.argmax(axis=1)[:, None].astype(np.float64)


def rope(x, cosine, sine):
    half = x.shape[-1] // 2
    turned = (x[..., :half] + 1j * x[..., half:]) * (cosine + 1j * sine)
    return np.concatenate([turned.real, turned.imag], axis=-1)


def adam(p, g, m, v, c1, c2, decay=0.0):
    """Kingma and Ba; the decoupled decay of Loshchilov and Hutter."""
    m, v = 0.75 * m + 0.25 * g, 0.875 * v + 0.125 * g * g
    return p * (1 - 0.01 * decay) - 0.01 * (m / c1) / (np.sqrt(v / c2) + 1e-3), m, v


def adamw(*inputs):
    return adam(*inputs, decay=0.125)


def divided(x, y):
    with np.errstate(divide="ignore"):
        i, j = x.astype(int), y.astype(int)
        return tuple(v.astype(np.float64) for v in (i // j, i % j, i // -3, i % 5))  # NumPy has 0 where j is


def shifted(x, y):
    """Shifts of small numbers, which come back; counts from 32 on leave nothing, or the sign."""
    inside = (y >= 0) & (y < 32)
    return np.where(inside, x, 0), np.where(inside, np.floor(x / 2.0**np.where(inside, y, 0)), np.where(x < 0, -1, 0)), 2 * x


def scattered(x, target, u):
    placed, added, greatest = x.copy(), x.copy(), x.copy()
    for at, update in zip(target, u):
        placed[at] = update
        added[at] += update
        greatest[at] = np.maximum(greatest[at], update)
    return placed, added, greatest


def dynamic(x, target, u):
    at = min(max(int(target[0]) - 2, 0), x.shape[0] - 1)
    changed = x.copy()
    changed[at] = u[0]
    return x[at:at + 1], changed


def multiplied(x):
    back = x[:, ::-1]
    return (x.prod(axis=1), x.cumprod(axis=1), np.maximum.accumulate(x, axis=0), np.minimum.accumulate(back, axis=1)[:, ::-1],
            back.cumsum(axis=1)[:, ::-1])


def exponents(x):
    significand, exponent = np.frexp(x)
    return exponent + 126.0, np.copysign(np.ldexp(0.5, exponent), significand)


def normal(*dims, stddev=1.0):
    return lambda r, d: r.normal(0, stddev, [d[n] for n in dims])


def positive(*dims):
    return lambda r, d: r.uniform(0.25, 1, [d[n] for n in dims])


def integers(low, high, *dims):
    return lambda r, d: r.integers(low, high, [d[n] for n in dims]).astype(np.float64)


def targets(r, d):
    return r.integers(0, d["N"], d["M"])


MATRIX = {"x": normal("M", "N", stddev=2.0)}
HEADS = {"q": normal("B", "M", "K"), "k": normal("B", "N", "K"), "v": normal("B", "N", "K")}
MOMENTS = {"p": normal("N"), "g": normal("N"), "m": normal("N"), "v": positive("N"), "c1": positive(), "c2": positive()}

# kernel, its formula, inputs in order, outputs
ORACLES = [
    ("softmax_last", softmax, MATRIX, ["out"]),
    ("softmax_first", lambda x: softmax(x, 0), MATRIX, ["out"]),
    ("logsumexp_last", logsumexp, MATRIX, ["out"]),
    ("mean_last", lambda x: x.mean(axis=-1), MATRIX, ["out"]),
    ("layernorm_last", layernorm, {**MATRIX, "gain": normal("N"), "bias": normal("N")}, ["out"]),
    ("rmsnorm_last", rmsnorm, {**MATRIX, "gain": normal("N")}, ["out"]),
    ("relu_all", lambda x: x.clip(min=0), MATRIX, ["out"]),
    ("gelu_tanh", gelu_tanh, MATRIX, ["out"]),
    ("gelu_erf", gelu_erf, MATRIX, ["out"]),
    ("silu_all", silu, MATRIX, ["out"]),
    ("powers", lambda x: (np.exp2(x), np.expm1(x)), MATRIX, ["out0", "out1"]),
    ("raised", lambda x, y: (np.abs(x) ** y, np.arctan2(x, y)), {**MATRIX, "y": normal("M", "N")}, ["out0", "out1"]),
    ("logarithms", lambda x: (np.log2(np.abs(x)), np.log1p(np.abs(x))), MATRIX, ["out0", "out1"]),
    ("waves", lambda x: (np.sin(x), np.cos(x)), {"x": normal("M", "N", stddev=1e4)}, ["out0", "out1"]),
    ("sums_of_products", lambda x, y, z: tuple(np.einsum(i, *v) for i, *v in (
        ("bmk,kn->nbm", x, y), ("bmk,mbk->b", x, z), ("bmk,kn->mn", x, y), ("bmk->kb", x), ("mbk,kn->mkbn", z, y))),
     {"x": normal("B", "M", "K"), "y": normal("K", "N"), "z": normal("M", "B", "K")}, ["out0", "out1", "out2", "out3", "out4"]),
    ("matmul_batched", np.matmul, {"x": normal("B", "M", "K"), "y": normal("K", "N")}, ["out"]),
    ("linear_gelu", lambda x, w, b: gelu_tanh(x @ w + b),
     {"x": normal("M", "K"), "w": normal("K", "N", stddev=0.2), "b": normal("N")}, ["out"]),
    ("attention_full", attention, HEADS, ["out"]),
    ("attention_causal", lambda q, k, v: attention(q, k, v, causal=True), HEADS, ["out"]),
    ("conv2d_relu", convolution, {"x": normal("B", "M", "N", "K"), "w": lambda r, d: r.normal(size=(3, 2, d["K"], 3)),
                                  "b": lambda r, d: r.normal(size=3)}, ["out"]),
    ("cross_entropy_mean", cross_entropy, {**MATRIX, "target": targets}, ["out"]),
    ("cross_entropy_tokens", cross_entropy_tokens,
     {"x": normal("B", "M", "N", stddev=2.0), "target": lambda r, d: r.integers(0, d["N"], (d["B"], d["M"]))}, ["out"]),
    ("clipped", clipped, {**MATRIX, "lo": normal("N")}, ["out0", "out1"]),
    ("whole", lambda x: (np.floor(x), np.ceil(x), np.rint(x), np.trunc(x)),
     {"x": lambda r, d: r.integers(-9, 10, [d["M"], d["N"]]) / 2.0 + r.choice([0, 0.125], [d["M"], d["N"]])},
     ["out0", "out1", "out2", "out3"]),
    ("stacked", stacked, {"x": lambda r, d: r.normal(size=(d["M"], 2 * d["K"]))}, ["out"]),
    ("matrix_vectors", lambda x, y, z: (x @ y, z @ x, y @ y),
     {"x": normal("B", "M", "K"), "y": normal("K"), "z": normal("M")}, ["out0", "out1", "out2"]),
    ("positions", positions, MATRIX, ["out0", "out1"]),
    ("ordered", ordered, MATRIX, ["out0", "out1", "values", "out3"]),
    ("running", lambda x: (np.cumsum(x, axis=1), np.cumsum(x, axis=0)), MATRIX, ["out0", "out1"]),
    ("rope_half", rope, {"x": lambda r, d: r.normal(size=(d["M"], 2 * d["K"])), "cosine": normal("M", "K"),
                         "sine": normal("M", "K")}, ["out"]),
    ("adam_step", adam, MOMENTS, ["out0", "out1", "out2"]),
    ("adamw_step", adamw, MOMENTS, ["out0", "out1", "out2"]),
    ("divided", divided, {"x": integers(-99, 100, "M", "N"), "y": integers(-4, 5, "N")}, ["out0", "out1", "out2", "out3"]),
    ("shifted", shifted, {"x": integers(-99, 100, "M", "N"), "y": lambda r, d: r.choice([0.0, 1, 3, 15, 32, -1], d["N"])},
     ["out0", "out1", "out2"]),
    ("exponents", exponents, MATRIX, ["out0", "out1"]),
    ("multiplied", multiplied, {"x": lambda r, d: r.uniform(0.97, 1.03, [d["M"], d["K"]])}, ["out0", "out1", "out2", "out3", "out4"]),
    ("dynamic", dynamic, {"x": normal("N", "K"), "target": targets, "u": lambda r, d: r.normal(size=(1, d["K"]))}, ["out0", "out1"]),
    ("scattered", scattered, {"x": normal("N", "K"), "target": targets, "u": normal("M", "K")}, ["out0", "out1", "out2"]),
    ("conditions", lambda x: ((x > -3).all(1).astype(float), (x > 3).any(0).astype(float), (x > 9).any(1, keepdims=True).astype(float)),
     MATRIX, ["out0", "out1", "out2"]),
]

SIZES = [dict(B=1, M=1, N=1, K=1), dict(B=2, M=7, N=13, K=5), dict(B=2, M=13, N=7, K=16), dict(B=1, M=3, N=4099, K=8),
         dict(B=1, M=5, N=9, K=1031)]


def widened(high):
    """bf16, held as u2, as f64."""
    return (high.reshape(-1).astype("<u4") << 16).view("<f4").reshape(high.shape).astype(np.float64)


def to_type(values, element):
    """As stored on file, and the numbers that are stored (f64)."""
    if values.dtype.kind == "i":
        return values.astype("<i4"), values
    if element == "bf16":  # cut off, not rounded: any bf16 numbers will do
        high = (values.astype("<f4").reshape(-1).view("<u4") >> 16).astype("<u2").reshape(values.shape)
        return high, widened(high)
    stored = values.astype({"f32": "<f4", "f16": "<f2"}[element])
    return stored, stored.astype(np.float64)


def from_file(path, element):
    stored = np.load(path)
    return widened(stored) if element == "bf16" else stored.astype(np.float64)


def check(tool, oracle, dims, element, folder):
    kernel, formula, inputs, outputs = oracle
    generator = np.random.default_rng(len(kernel) * 1000 + dims["N"])
    numbers = []
    for name, draw in inputs.items():
        stored, exact = to_type(np.asarray(draw(generator, dims)), element)
        np.save(os.path.join(folder, name + ".npy"), stored)
        numbers.append(exact)
    bindings = [f"{name}={value}" for name, value in dims.items()] + [f"T={element}"]
    subprocess.run([tool, KERNELS, kernel, folder] + bindings, check=True)
    expected = formula(*numbers)
    worst = 0.0
    for name, right in zip(outputs, expected if isinstance(expected, tuple) else (expected,)):
        got = from_file(os.path.join(folder, name + ".npy"), element)
        reference = np.load(os.path.join(folder, name + ".reference.npy"))
        bound = np.load(os.path.join(folder, name + ".bound.npy"))
        # f64 formulas differ among themselves by far less than an f32 rounding of anything in them.
        for what, values in (("result", got), ("reference", reference)):
            error = np.abs(values - right)
            bad = ~(error <= bound + 1e-14 * (1 + np.abs(right)))
            if bad.any():
                at = np.unravel_index(np.argmax(bad), bad.shape)
                sys.exit(f"{kernel} {dims} {element}: {what} {name}{list(at)} is {values[at]!r}, "
                         f"the formula gives {right[at]!r}, bound {bound[at]!r}")
        worst = max(worst, float(np.max(np.abs(got - right) / np.maximum(bound, 1e-300), initial=0)))
    return worst


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for oracle in (o for o in ORACLES if o[0] in sys.argv[2:] or not sys.argv[2:]):
            worst = max(check(tool, oracle, dims, element, folder)
                        for dims in SIZES for element in ("f32", "f16", "bf16"))
            print(f"{oracle[0]}: worst error {worst:.3f} of the bound")


if __name__ == "__main__":
    main()
