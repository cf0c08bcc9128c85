"""The operations of Graph IR (docs/numerics.md): primitives, orders of accumulation, composites.

A value is a pair (array, element type). Composites are written with primitives, as the page's table has them.
"""
import math
import pathlib
import sys
from math import prod

import numpy as np

import blocks
import draw
import formats
import functions
import shards
import units
from graph import f64_of

CHUNK, BLOCK, LANES = 512, 4096, 64
matrix_units = units.read_page(pathlib.Path(__file__).resolve().parents[2] / "docs/numerics.md")
F32 = np.float32
BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


# ---- sums ----


def lanes64(rows):
    """The sum of each row of a matrix, in the order lanes64."""
    count, length = rows.shape
    if length == 0:
        return np.zeros(count, rows.dtype)
    blocks = -(-length // BLOCK)
    sums = np.empty((count, blocks), rows.dtype)
    for b in range(blocks):
        part = rows[:, b * BLOCK:(b + 1) * BLOCK]
        lanes = np.zeros((count, LANES), rows.dtype)
        for at in range(0, part.shape[1], LANES):
            strip = part[:, at:at + LANES]
            lanes[:, :strip.shape[1]] += strip
        width = LANES // 2
        while width:
            lanes = lanes[:, :width] + lanes[:, width:2 * width]
            width //= 2
        sums[:, b] = lanes[:, 0]
    return sums[:, 0] + rows.dtype.type(0) if blocks == 1 else lanes64(sums)


def exact(rows, odd=False):
    """The exact sum of each row, rounded once: in integers, of 2^-1127."""
    bits, least, most = (53, -1074, 1024) if rows.dtype.itemsize == 8 else (24, -149, 128)
    return np.array([exactly(row, bits, least + 1127, most + 1127, odd) for row in rows.astype(np.float64)], rows.dtype)


def exact_odd(rows):
    return exact(rows, True)


def exactly(row, bits, least, most, odd):
    if not np.isfinite(row).all():
        return row[~np.isfinite(row)].sum()
    total = sum(int(math.ldexp(m, 53)) << (e + 1074) for m, e in map(math.frexp, row.tolist()))
    if not total:
        return -0.0 if len(row) and np.signbit(row).all() else 0.0
    by = max(abs(total).bit_length() - bits, least)
    kept, rest = divmod(abs(total), 1 << by)
    if odd:
        kept |= rest > 0
    else:
        kept += (rest, kept & 1) > (1 << (by - 1), 0)  # to nearest, ties to even
    beyond = sys.float_info.max if odd else math.inf
    size = beyond if kept.bit_length() + by > most else math.ldexp(kept, by - 1127)
    return -size if total < 0 else size


def products64(rows):
    """The product of each row, in the order lanes64: lanes begin with 1."""
    count, length = rows.shape
    parts = [rows[:, b:b + BLOCK] for b in range(0, max(length, 1), BLOCK)]
    found = np.empty((count, len(parts)), rows.dtype)
    for b, part in enumerate(parts):
        lanes = np.ones((count, LANES), rows.dtype)
        for at in range(0, part.shape[1], LANES):
            strip = part[:, at:at + LANES]
            lanes[:, :strip.shape[1]] *= strip
        while lanes.shape[1] > 1:
            half = lanes.shape[1] // 2
            lanes = lanes[:, :half] * lanes[:, half:]
        found[:, b] = lanes[:, 0]
    return found[:, 0] if len(parts) == 1 else products64(found)


def without_subnormals(x):
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


def flushed_fma(x, y, acc):
    """fma of f32 whose product of bf16 is exact in f64; a result that 24 bits with any exponent would hold below 2^-126 is 0."""
    tiny = formats.fma(x * np.float32(2.0**64), y, acc * np.float32(2.0**64))
    return np.where(np.abs(tiny) < np.float32(2.0**-62), np.copysign(np.float32(0), tiny), formats.fma(x, y, acc))


def contract_pairs(a, b):
    """pairs512: of each pair of a chunk the odd element first; an odd end has a zero for it."""
    odd = a.shape[2] % 2
    a = without_subnormals(np.pad(a, ((0, 0), (0, 0), (0, odd))))
    b = without_subnormals(np.pad(b, ((0, 0), (0, odd), (0, 0))))
    total = np.zeros((a.shape[0], a.shape[1], b.shape[2]), np.float32)
    for start in range(0, a.shape[2], CHUNK):
        acc = np.zeros_like(total)
        for i in range(start, min(start + CHUNK, a.shape[2])):
            acc = flushed_fma(a[:, :, i ^ 1, None], b[:, i ^ 1, None, :], acc)
        total = total + acc
    return total + np.float32(0)


def contract(a, b, order, happens=None):
    """[batch, M, K] by [batch, K, N] of f32 or f64; happens: [batch, M, K] or None, which steps do."""
    if order == "pairs512":
        return contract_pairs(a, b)
    batch, m, k = a.shape
    total = np.zeros((batch, m, b.shape[2]), a.dtype)
    chunk = int(order[5:]) if order.startswith("chunk") else max(k, 1)
    for start in range(0, k, chunk):
        acc = np.zeros_like(total)
        for i in range(start, min(start + chunk, k)):
            step = formats.fma(a[:, :, i, None], b[:, i, None, :], acc)
            acc = step if happens is None else np.where(happens[:, :, i, None], step, acc)
        total = total + acc if order.startswith("chunk") else acc
    return total + total.dtype.type(0)


def accumulator(element, attributes):
    if "accumulate" in attributes:
        return attributes["accumulate"]
    return "f32" if formats.is_float(element) and element != "f64" else element


def dot(x, y, attributes, result, counts=None):
    (a, a_type), (b, b_type) = x, y
    xb, xc = attributes.get("x_batch", []), attributes["x_contract"]
    yb, yc = attributes.get("y_batch", []), attributes["y_contract"]
    xf = [i for i in range(a.ndim) if i not in xb + xc]
    yf = [i for i in range(b.ndim) if i not in yb + yc]
    batch, free_x = [a.shape[i] for i in xb], [a.shape[i] for i in xf]
    free_y, depth = [b.shape[i] for i in yf], prod(a.shape[i] for i in xc)
    a = a.transpose(xb + xf + xc).reshape(prod(batch), prod(free_x), depth)
    b = b.transpose(yb + yc + yf).reshape(prod(batch), depth, prod(free_y))
    shape = batch + free_x + free_y
    if not formats.is_float(a_type):
        wide = np.matmul(a.astype(np.int64), b.astype(np.int64)).reshape(shape)
        kind = attributes.get("accumulate") or (a_type if formats.INTEGER_BITS[a_type] >= 32 else "i32")
        return formats.convert(formats.wrap(wide, kind), kind, result), result
    if attributes.get("order") in matrix_units:
        unit = matrix_units[attributes["order"]]
        return formats.convert(units.contract(unit, a_type, a, b).reshape(shape), unit.accumulator, result), result
    kind = accumulator(a_type, attributes)
    a, b = formats.convert(a, a_type, kind), formats.convert(b, b_type, kind)
    happens = None if counts is None else np.arange(depth) < np.broadcast_to(counts, batch + free_x).reshape(prod(batch), prod(free_x), 1)
    return formats.convert(contract(a, b, attributes.get("order", "chunk512"), happens).reshape(shape), kind, result), result


def reduce(x, kind, axes, attributes=()):
    a, element = x
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = [a.shape[i] for i in kept]
    rows = a.transpose(kept + list(axes)).reshape(prod(shape), prod(a.shape[i] for i in axes))
    if kind == "sum" and formats.is_float(element):
        wide = accumulator(element, dict(attributes))
        add = {"exact": exact, "exact_odd": exact_odd}.get(dict(attributes).get("order"), lanes64)
        out = formats.convert(add(formats.convert(rows, element, wide)), wide, element)
    elif kind == "prod" and formats.is_float(element):
        wide = "f64" if element == "f64" else "f32"
        out = formats.convert(products64(formats.convert(rows, element, wide)), wide, element)
    elif kind == "prod":
        out = np.ones(rows.shape[0], np.int64)
        for i in range(rows.shape[1]):
            out = formats.wrap(out * rows[:, i].astype(np.int64), element).astype(np.int64)
        out = formats.wrap(out, element)
    elif kind == "sum":
        wide = dict(attributes).get("accumulate", element)
        out = formats.convert(formats.wrap(rows.astype(np.int64).sum(axis=1), wide), wide, element)
    else:
        combine = formats.maximum if kind == "max" else formats.minimum
        out = np.full(rows.shape[0], extreme_of_nothing(element, kind), rows.dtype)
        for i in range(rows.shape[1]):
            out = combine(out, rows[:, i])
    return out.reshape(shape), element


def cumsum(x, axis, attributes):
    """The order seq: from the first element itself, one addition for each, or another operation."""
    combine = {"sum": np.add, "prod": np.multiply, "max": formats.maximum, "min": formats.minimum}[attributes.get("kind", "sum")]
    a, element = x
    wide = accumulator(element, attributes)
    rows = np.moveaxis(formats.convert(a, element, wide), axis, 0)
    out = np.empty_like(rows)
    for i in range(rows.shape[0]):
        if formats.is_float(wide) or i == 0:
            out[i] = rows[0] if i == 0 else combine(out[i - 1], rows[i])
        else:
            out[i] = formats.wrap(combine(formats.wide(out[i - 1], wide), formats.wide(rows[i], wide)), wide)
    return formats.convert(np.moveaxis(out, 0, axis), wide, element), element


def argsort(x, axis, descending):
    """Stable; a NaN is above all numbers, and zeros are equal."""
    rows = np.moveaxis(x[0], axis, -1)
    out = np.empty(rows.shape, np.int32)
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at].tolist()
        sign = -1 if descending else 1  # of the keys: equal elements stay as they stand
        keys = [(sign, 0) if v != v else (0, sign * v) for v in row]
        out[at] = sorted(range(len(row)), key=keys.__getitem__)
    return np.moveaxis(out, -1, axis), "i32"


def extreme_of_nothing(element, kind):
    sign = -1 if kind == "max" else 1
    if formats.is_float(element):
        return sign * (448.0 if element == "f8e4m3fn" else np.inf)
    return formats.ends(element)[kind != "max"]


# ---- element by element ----


def arithmetic(name, operands):
    """Operands of one type. Narrow floats compute as f32 and are rounded back once."""
    element = operands[0][1]
    values = [v for v, _ in operands]
    if name in BITWISE:
        return BITWISE[name](*values), element
    if name == "not":
        return ~values[0], element
    if formats.is_float(element):
        wide = "f64" if element == "f64" else "f32"
        found = floating(name, [formats.convert(v, element, wide) for v in values])
        return formats.convert(found, wide, element), element
    return formats.wrap(whole(name, [formats.wide(v, element) for v in values], element), element), element


def floating(name, v):
    table = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt, "neg": np.negative,
             "abs": np.abs, "maximum": formats.maximum, "minimum": formats.minimum, "fma": formats.fma,
             "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}
    return table[name](*v)


def whole(name, v, element):
    if name == "div" and formats.is_unsigned(element):
        x, y = v
        return np.where(y == 0, 0, x // np.where(y == 0, 1, y)).astype(np.uint64)
    if name == "div":
        x, y = v
        safe = np.where((y == 0) | (y == -1), 1, y)
        quotient = x // safe + ((x % safe != 0) & ((x < 0) != (safe < 0)))  # NumPy's is rounded down
        return np.where(y == 0, 0, np.where(y == -1, -x, quotient))
    if name in ("left_shift", "right_shift"):
        x, count = v
        bits = formats.INTEGER_BITS[element]
        within = (count >= 0) & (count < bits)
        by = np.where(within, count, 0).astype(x.dtype)
        if name == "left_shift" or formats.is_unsigned(element):
            return np.where(within, x << by if name == "left_shift" else x >> by, 0).astype(x.dtype)
        return x >> np.where(within, count, bits - 1)
    table = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.abs,
             "maximum": np.maximum, "minimum": np.minimum, "fma": lambda a, b, c: a * b + c}
    return table[name](*v)


def stochastic(x, index, target, seed, stream, saturate):
    a, element = x
    exact = formats.convert(a, element, "f32").astype(np.float64)
    precision, least, greatest = formats.PRECISION[target]
    magnitude = np.abs(exact)
    spacing = np.ldexp(1.0, np.maximum(np.frexp(magnitude)[1] - 1, least) - (precision - 1))
    low = np.floor(magnitude / spacing) * spacing
    threshold = np.floor((magnitude - low) / spacing * 2.0**32)
    drawn = draw.words(seed, index.astype(np.uint64), stream, 1)[0].astype(np.float64)
    chosen = np.where(drawn < threshold, low + spacing, low)
    limit = greatest if saturate or target == "f8e4m3fn" else np.inf
    chosen = np.copysign(np.where(chosen > greatest, limit, chosen), exact)
    plain = formats.convert(a, element, target, saturate)
    return np.where(np.isfinite(exact) & (magnitude <= greatest + spacing), chosen, plain).astype(F32), target


# ---- the operations of a graph ----


class Machine:
    """Runs one kernel. `sequences` are those of docs/functions.md; `correct` is @math("correct")."""

    def __init__(self, sequences, correct):
        self.sequences, self.correct = sequences, correct

    def run(self, kernel, inputs):
        """A kernel or a block."""
        values = dict(zip((name for name, _ in kernel.arguments), inputs))
        for op in kernel.operations:
            operands = [values[o] for o in op.operands]
            if op.name in ("tessera.return", "tessera.next"):
                return operands
            for name, value in zip(op.results, self.apply(op, operands)):
                values[name] = value
        raise ValueError("the kernel returns nothing")

    def apply(self, op, operands):
        name = op.name.removeprefix("tessera.")
        if name == "shard":
            return shards.run(self, op, operands)
        if op.blocks:
            return blocks.run(self, op, operands)
        if name in shards.NAMES:
            return [shards.collective(op, operands)]
        method = getattr(self, "op_" + name, None)
        if name in self.sequences:
            return [self.function(name, *operands)]
        if method is None:
            return [arithmetic(name, operands)]
        if name not in COMPOSITES:
            return [method(op, *operands)]
        # A composite computes in f32, and rounds to its own type at the end.
        if name != "matmul":
            operands = [(formats.convert(v, t, "f32"), "f32") if formats.is_float(t) else (v, t) for v, t in operands]
        found = method(op, *operands)
        found = found if isinstance(found, list) else [found]
        return [(formats.convert(v, t, out.element), out.element) for (v, t), out in zip(found, op.types)]

    def function(self, name, *operands):
        element = operands[0][1]
        if element == "f64":
            return functions.run(self.sequences[name + ":f64"], *[values for values, _ in operands]), element
        wide = [formats.convert(values, element, "f32") for values, _ in operands]
        found = functions.correct(name, *wide) if self.correct else functions.run(self.sequences[name], *wide)
        return formats.convert(found, "f32", element), element

    # primitives

    def op_constant(self, op):
        element, bits = op.attributes["value"]
        return formats.from_bits(np.array([bits & 0xFFFFFFFFFFFFFFFF], np.uint64), element)[0:1].reshape(()), element

    def op_dense(self, op):
        out, size = op.types[0], int(np.prod(op.types[0].shape))
        width = len(op.attributes["value"]) // size if size else 1
        bits = np.frombuffer(op.attributes["value"], np.dtype(f"<u{width}")).astype(np.uint64)
        return formats.from_bits(bits, out.element).reshape(out.shape), out.element

    def op_extent(self, op):
        return np.array(op.attributes["of"][0], np.int32), "i32"

    def op_iota(self, op):
        shape = op.types[0].shape
        along = [1] * len(shape)
        along[op.attributes["axis"]] = -1
        ramp = np.arange(shape[op.attributes["axis"]], dtype=np.int32).reshape(along)
        return np.broadcast_to(ramp, shape), "i32"

    def op_convert(self, op, x):
        target = op.attributes["to"]
        return formats.convert(x[0], x[1], target, op.attributes.get("saturate", False)), target

    def op_random_bits(self, op, index, step):
        counter = index[0].astype(np.uint32).astype(np.uint64) | step[0].astype(np.uint32).astype(np.uint64) << np.uint64(32)
        drawn = draw.words(op.attributes["seed"], counter, op.attributes["site"], 4)[0]
        return drawn.astype(np.uint32).view(np.int32).astype(index[0].dtype), "i32"

    def op_stochastic_round(self, op, x, index):
        a = op.attributes
        return stochastic(x, index[0], a["to"], a["seed"], a["stream"], a.get("saturate", False))

    def op_bitcast(self, op, x):
        to = op.types[0].element
        data = formats.to_bytes(x[0], x[1])
        bits = np.frombuffer(data, f"<u{len(data) // max(x[0].size, 1) or 1}").reshape(x[0].shape)
        return formats.from_bits(bits, to), to

    def op_compare(self, op, x, y):
        return COMPARE[op.attributes["predicate"]](x[0], y[0]), "bool"

    def op_select(self, op, condition, x, y):
        return np.where(condition[0], x[0], y[0]), x[1]

    def op_broadcast(self, op, x):
        shape = op.types[0].shape
        along = [1] * len(shape)
        for i, axis in enumerate(op.attributes["axes"]):
            along[axis] = x[0].shape[i]
        return np.broadcast_to(x[0].reshape(along), shape), x[1]

    def op_reshape(self, op, x):
        return x[0].reshape(op.types[0].shape), x[1]

    def op_transpose(self, op, x):
        return x[0].transpose(op.attributes["permutation"]), x[1]

    def op_slice(self, op, x):
        a = op.attributes
        return x[0][tuple(slice(*s) for s in zip(a["start"], a["stop"], a["step"]))], x[1]

    def op_window(self, op, x):
        return windows(x[0], op.attributes["axis"], op.attributes["size"][0], op.attributes["stride"]), x[1]

    def op_stop_gradient(self, op, x):
        return x

    def op_placed(self, op, x):
        """Says where a value lies, and nothing of its bits."""
        return x

    def op_convolve(self, op, x, w):
        """w is a matrix of the window's places by channels."""
        a = op.attributes
        y = self.convolved(formats.convert(*x, "f32"), formats.convert(*w, "f32"), a["window"], a["stride"], a["padding"], a["order"])
        return formats.convert(y, "f32", op.types[0].element), op.types[0].element

    def convolved(self, x, w, window, stride, padding, order):
        (kh, kw), p, (depth, o) = window, padding, w.shape
        around = ((0, 0), (p, p), (p, p), (0, 0))
        rows, happens = (matrix_of_windows(np.pad(v, around), kh, kw, stride) for v in (x, np.ones(x.shape, bool)))
        flat = (1, prod(rows.shape[:3]), depth)
        y = contract(rows.reshape(flat), w.reshape(1, depth, o), order, happens.reshape(flat))
        return y.reshape(*rows.shape[:3], o)

    def op_concat(self, op, *xs):
        return np.concatenate([x[0] for x in xs], axis=op.attributes["axis"]), xs[0][1]

    def op_gather(self, op, x, indices):
        axis, batch = op.attributes["axis"], op.attributes["batch_dims"]
        limit = x[0].shape[axis] - 1
        at = np.clip(indices[0], 0, limit)
        if batch == 0:
            return np.take(x[0], at, axis=axis), x[1]
        out = np.empty(op.types[0].shape, x[0].dtype)
        for where in np.ndindex(*x[0].shape[:batch]):
            out[where] = np.take(x[0][where], at[where], axis=axis - batch)
        return out, x[1]

    def op_reduce(self, op, x):
        return reduce(x, op.attributes["kind"], op.attributes["axes"], op.attributes)

    def op_cumsum(self, op, x):
        return cumsum(x, op.attributes["axis"], op.attributes)

    def op_argsort(self, op, x):
        return argsort(x, op.attributes["axis"], op.attributes.get("descending", False))

    def op_dot(self, op, x, y, k_count=None):
        return dot(x, y, op.attributes, op.types[0].element, None if k_count is None else k_count[0])

    # composites

    def op_matmul(self, op, x, y, result=None):
        a, b = x[0], y[0]
        free = a.ndim - (2 if b.ndim > 2 else 1)
        if b.ndim == 2:
            attributes = {"x_contract": [a.ndim - 1], "y_contract": [0]}
        else:
            batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])
            axes = list(range(len(batch)))
            attributes = {"x_batch": axes, "y_batch": axes, "x_contract": [a.ndim - 1], "y_contract": [b.ndim - 2]}
        assert free >= 0
        attributes |= {k: op.attributes[k] for k in ("order", "accumulate") if k in op.attributes}
        return dot((a, x[1]), (b, y[1]), attributes, result or op.types[0].element)

    def op_linear(self, op, x, w, bias=None):
        return self.finish(op, self.op_matmul(op, x, w, "f32")[0], bias)

    def finish(self, op, y, bias):
        y = y if bias is None else y + bias[0]
        activate = {"none": lambda v: v, "relu": relu, "gelu": self.gelu_tanh, "gelu_erf": self.gelu_erf, "silu": self.silu}
        return activate[op.attributes["activation"]](y), "f32"

    def op_scaled_matmul(self, op, x, y, sx, sy):
        kind = "f32" if formats.is_float(x[1]) else "i32"
        exact = formats.convert(self.op_matmul(op, x, y, kind)[0], kind, "f32")
        return exact * along(sx[0], exact, exact.ndim - 2) * along(sy[0], exact, exact.ndim - 1), "f32"

    def op_dequantize(self, op, x, scale):
        y = formats.convert(x[0], x[1], "f32")
        return y * along(scale[0], y, op.attributes["axis"]), "f32"

    def op_relu(self, op, x):
        return relu(x[0]), "f32"

    def op_silu(self, op, x):
        return self.silu(x[0]), "f32"

    def op_gelu(self, op, x):
        return (self.gelu_tanh if op.attributes["approximate"] == "tanh" else self.gelu_erf)(x[0]), "f32"

    def f(self, name, v):
        return self.function(name, (np.asarray(v, F32), "f32"))[0]

    def silu(self, x):
        return x * self.f("logistic", x)

    def gelu_tanh(self, x):
        inner = F32(float.fromhex("0x1.988454p-1")) * (x + F32(0.044715) * ((x * x) * x))
        return (F32(0.5) * x) * (F32(1) + self.f("tanh", inner))

    def gelu_erf(self, x):
        return (F32(0.5) * x) * (F32(1) + self.f("erf", x * F32(float.fromhex("0x1.6a09e6p-1"))))

    def op_conv2d(self, op, x, w, bias=None):
        a, (kh, kw, c, o) = op.attributes, w[0].shape
        y = self.convolved(x[0], w[0].reshape(kh * kw * c, o), (kh, kw), a["stride"], a["padding"], a["order"])
        return self.finish(op, y, bias)

    def op_mean(self, op, x):
        return mean(x[0], op.attributes["axis"], op.attributes.get("order", "lanes64")), "f32"

    def op_softmax(self, op, x):
        axis = op.attributes["axis"]
        e = self.f("exp", x[0] - np.expand_dims(extreme(x[0], axis), axis))
        return e / np.expand_dims(total(e, axis), axis), "f32"

    def op_logsumexp(self, op, x):
        return self.logsumexp(x[0], op.attributes["axis"]), "f32"

    def logsumexp(self, x, axis):
        m = extreme(x, axis)
        e = self.f("exp", x - np.expand_dims(m, axis))
        return np.where(np.abs(m) == np.inf, m, m + self.f("log", total(e, axis)))

    def inverse_root(self, op, variance):
        return np.expand_dims(self.f("rsqrt", variance + F32(f64_of(op.attributes["eps"][1]))), -1)

    def op_layernorm(self, op, x, gain, bias):
        c = x[0] - np.expand_dims(mean(x[0], -1), -1)
        return ((c * self.inverse_root(op, mean(c * c, -1))) * gain[0]) + bias[0], "f32"

    def op_rmsnorm(self, op, x, gain):
        return (x[0] * self.inverse_root(op, mean(x[0] * x[0], -1))) * gain[0], "f32"

    def op_attention(self, op, q, k, v):
        depth, sq, sk = q[0].shape[-1], q[0].shape[-2], k[0].shape[-2]
        batch = list(range(q[0].ndim - 2))
        n = q[0].ndim
        attributes = {"x_batch": batch, "y_batch": batch, "x_contract": [n - 1]}
        s = dot(q, k, attributes | {"y_contract": [n - 1]}, "f32")[0] * (F32(1) / np.sqrt(F32(depth)))
        seen, counts = np.ones(s.shape, bool), None
        if op.attributes["causal"]:
            counts = np.clip(np.arange(sq) + sk - sq + 1, 0, sk)
            seen = np.broadcast_to(np.arange(sk) < counts[:, None], s.shape)
        m = extreme(np.where(seen, s, F32(-np.inf)), -1)
        e = np.where(seen, self.f("exp", s - np.expand_dims(m, -1)), F32(0))
        o = dot((e, "f32"), v, attributes | {"y_contract": [n - 2]}, "f32", counts)[0]
        o = o / np.expand_dims(total(e, -1), -1)
        return o if counts is None else np.where((counts == 0)[:, None], F32(0), o), "f32"

    def op_cross_entropy(self, op, x, target):
        length = x[0].shape[-1]
        scores, hits = x[0].reshape(prod(x[0].shape[:-1]), length), np.clip(target[0].reshape(-1), 0, length - 1)
        return mean(self.logsumexp(scores, 1) - scores[np.arange(len(scores)), hits], 0), "f32"

    def op_rope(self, op, x, cos, sin):
        half = x[0].shape[-1] // 2
        low, high = x[0][..., :half], x[0][..., half:]
        return np.concatenate([low * cos[0] - high * sin[0], high * cos[0] + low * sin[0]], axis=-1), "f32"

    def op_adam(self, op, p, g, m, v, c1, c2):
        lr, b1, b2, eps, wd = (F32(f64_of(op.attributes[n][1])) for n in ("lr", "b1", "b2", "eps", "wd"))
        m = b1 * m[0] + (F32(1) - b1) * g[0]
        v = b2 * v[0] + ((F32(1) - b2) * g[0]) * g[0]
        start = p[0] - (lr * wd) * p[0] if wd > 0 else p[0]
        return [(start - lr * ((m / c1[0]) / (np.sqrt(v / c2[0]) + eps)), "f32"), (m, "f32"), (v, "f32")]


COMPOSITES = {"matmul", "linear", "scaled_matmul", "dequantize", "relu", "silu", "gelu", "conv2d", "mean", "softmax", "logsumexp",
              "layernorm", "rmsnorm", "attention", "cross_entropy", "rope", "adam"}


def relu(x):
    return formats.maximum(x, np.zeros_like(x))


def extreme(x, axis):
    return reduce((x, "f32"), "max", [axis % x.ndim])[0]


def total(x, axis, order="lanes64"):
    return reduce((x, "f32"), "sum", [axis % x.ndim], {"order": order})[0]


def mean(x, axis, order="lanes64"):
    return total(x, axis, order) / F32(x.shape[axis])


def along(scale, like, axis):
    """A scale, or one for each position along an axis of `like`."""
    return scale if scale.ndim == 0 else scale.reshape([-1 if i == axis % like.ndim else 1 for i in range(like.ndim)])


def matrix_of_windows(x, kh, kw, stride):
    """[N, H, W, C] to [N, OH, OW, KH*KW*C]."""
    a = windows(windows(x, 1, kh, stride), 2, kw, stride)  # [N, H, W, C, KH, KW]
    return a.transpose(0, 1, 2, 4, 5, 3).reshape(*a.shape[:3], kh * kw * x.shape[3])


def windows(x, axis, size, stride):
    """The axis becomes the number of the window, a new last axis the place in it."""
    view = np.lib.stride_tricks.sliding_window_view(x, size, axis=axis) if x.shape[axis] >= size else None
    if view is None:
        return np.empty(x.shape[:axis] + (0,) + x.shape[axis + 1:] + (size,), x.dtype)
    return view[(slice(None),) * axis + (slice(None, None, stride),)]
