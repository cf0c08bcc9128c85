"""differences.py TSR [--kernels N] [--seed S] - tangents of random functions beside central differences of the functions, all in f64.

The kernels are those of `tsr fuzz --derivatives`, derived by docs/derivatives.md (derive.py); every float is an f64 here, and functions are
NumPy's, so that what differs is a rule and not a rounding. The difference is extrapolated from two steps (Richardson). Its bound is 8 times
the distances between the slopes of these and of a third, much smaller step, and 1e-7 of the largest magnitude; where the function has a kink
within a step they are far apart, and the element is not judged. The tangents are those of jvp; that cotangents fit them the kernels check
themselves. With twice the tangent of one operation, it must be seen.
"""
import argparse
import contextlib
import math
import sys

import numpy as np

import compute
import derive
import draw
import formats
import functions
import graph
import planted
import rules
import run

STEP = 2.0**-10
FUNCTIONS = {"exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p, "tanh": np.tanh, "sin": np.sin,
             "cos": np.cos, "erf": np.vectorize(math.erf, [np.float64]), "logistic": lambda x: 1 / (1 + np.exp(-x)), "rsqrt": lambda x: 1 / np.sqrt(x),
             "pow": np.power, "atan2": np.arctan2}
narrow = formats.convert


def convert(values, source, target, saturate=False):
    """A conversion between floats changes nothing."""
    if formats.is_float(target) and target != "bool":
        return np.asarray(values, np.float64)
    return narrow(values, source, target, saturate)


def product(a, b, order, happens=None):
    return np.matmul(a if happens is None else np.where(happens, a, 0), b)


class Wide(compute.Machine):
    """Every float is an f64, whatever its type says."""

    def function(self, name, *operands):
        return FUNCTIONS[name](*(np.asarray(values, np.float64) for values, _ in operands)), operands[0][1]

    def op_constant(self, op):
        value, element = super().op_constant(op)
        return (value.astype(np.float64) if formats.is_float(element) else value), element


@contextlib.contextmanager
def widened():
    """Every float is an f64 while a kernel runs; graphs are derived before."""
    plain = formats.array_type
    new = {(compute, "F32"): np.float64, (compute, "contract"): product, (formats, "convert"): convert, (formats, "fma"): lambda a, b, c: a * b + c,
           (formats, "array_type"): lambda name: np.float64 if formats.is_float(name) else plain(name)}
    old = {place: getattr(*place) for place in new}
    for place, value in new.items():
        setattr(*place, value)
    yield
    for place, value in old.items():
        setattr(*place, value)


def tangent_of(kernel):
    """The kernel's first jvp alone: the function's values, then their tangents; and its operands' numbers among the inputs."""
    names = [name for name, _ in kernel.arguments]
    op = next(op for op in kernel.operations if op.name == "tessera.jvp")
    end = graph.Operation("tessera.return", op.results, {}, [])
    numbers = [names.index(operand) for operand in op.operands]
    return derive.expand_kernel(type(kernel)(kernel.attributes, kernel.arguments, [op, end])), numbers


def judge(kernel, numbers, machine):
    """The numbers of elements that are judged, of these that are wrong, and of all."""
    inputs = [draw.tensor(("normal", 0, 1), run.SEED, i, t.shape, t.element).astype(np.float64) for i, (_, t) in enumerate(kernel.arguments)]
    tangents, primals = numbers[:len(numbers) // 2], numbers[len(numbers) // 2:]

    def at(step):
        moved = list(inputs)
        for tangent, primal in zip(tangents, primals):
            moved[primal] = inputs[primal] + step * inputs[tangent]
        return [v for v, _ in machine.run(kernel, [(v, "f32") for v in moved])]

    def slope(step):
        return (at(step)[0] - at(-step)[0]) / (2 * step)

    value, tangent = at(0.0)
    wide, close, closest = slope(STEP), slope(STEP / 2), slope(STEP / 1024)
    found = close + (close - wide) / 3
    scale = max(np.abs(value).max(initial=0), np.abs(tangent).max(initial=0), 1e-3)
    bound = 8 * (np.abs(close - wide) + np.abs(closest - found)) + 1e-7 * scale
    judged = np.isfinite(found) & np.isfinite(tangent) & (bound < 1e-3 * scale)
    return int(judged.sum()), int((judged & (np.abs(found - tangent) > bound)).sum()), tangent.size


def is_seen(text, machine):
    """Is twice the tangent of an addition seen in this kernel?"""
    right = rules.FORWARD["add"]
    rules.FORWARD["add"] = lambda b, op, tangents: b.add(*[right(b, op, tangents)] * 2)
    kernel, operands = tangent_of(graph.parse(text, {}))
    rules.FORWARD["add"] = right
    with widened():
        return judge(kernel, operands, machine)[1] > 0


def main():
    words = argparse.ArgumentParser()
    words.add_argument("tsr")
    words.add_argument("--kernels", type=int, default=planted.KERNELS)
    words.add_argument("--seed", type=int, default=1)
    options = words.parse_args()
    np.seterr(all="ignore")
    machine = Wide(functions.read_page(run.ROOT / "docs/functions.md"), False)
    texts = list(planted.kernels(options.tsr, options.kernels, options.seed))
    judged = elements = 0
    wrong = []
    for number, text in enumerate(texts):
        kernel, operands = tangent_of(graph.parse(text, {}))
        with widened():
            some, bad, all_of = judge(kernel, operands, machine)
        judged += some
        elements += all_of
        wrong += [f"kernel {number} of seed {options.seed}: {bad} of {some} elements"] if bad else []
    if not any(is_seen(text, machine) for text in texts if '"tessera.add"' in text):
        wrong += ["twice the tangent of an addition is not seen"]
    print("\n".join(wrong + [f"{options.kernels} functions, {judged} of {elements} elements judged: {len(wrong)} wrong"]))
    return 1 if wrong or judged < elements / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
