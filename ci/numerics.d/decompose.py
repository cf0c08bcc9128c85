"""Composites as graphs: the operations of docs/numerics.md, in the order in which docs/derivatives.md counts their uses.

Each takes a builder, the operation and its operands, which are as wide as the page says, and gives its result.
"""
from math import prod

import formats
from graph import Type, f64_of


def contract(b, x, y, element, batch, y_axis, op=None, third=()):
    rank = len(b.type(x).shape)
    attributes = {"order": "chunk512"} | {k: op.attributes[k] for k in ("order", "accumulate") if op is not None and k in op.attributes}
    return b.dot(x, y, element, third, x_batch=list(range(batch)), y_batch=list(range(batch)), x_contract=[rank - 1], y_contract=[y_axis],
                 **attributes)


def product(b, op, x, y, element):
    """The last axis of x by the last but one of y; leading axes are batches."""
    if len(b.type(y).shape) == 2:
        return contract(b, x, y, element, 0, 0, op)
    shape = op.types[0].shape[:-2]
    x, y = (b.align_batch(v, shape) for v in (x, y))
    return contract(b, x, y, element, len(shape), len(shape), op)


def matmul(b, op, x, y):
    return product(b, op, x, y, op.types[0].element)


def relu(b, x):
    return b.el("maximum", x, b.like(0, x))


def silu(b, x):
    return b.mul(x, b.el("logistic", x))


def gelu(b, x):
    cube = b.mul(b.mul(x, x), x)
    inner = b.add(x, b.mul(b.like(0.044715, x), cube))
    t = b.el("tanh", b.mul(b.like(float.fromhex("0x1.988454p-1"), x), inner))
    half = b.mul(b.like(0.5, x), x)
    return b.mul(half, b.add(b.like(1, x), t))


def gelu_erf(b, x):
    e = b.el("erf", b.mul(x, b.like(float.fromhex("0x1.6a09e6p-1"), x)))
    half = b.mul(b.like(0.5, x), x)
    return b.mul(half, b.add(b.like(1, x), e))


def finish(b, op, y, bias):
    if bias is not None:
        y = b.add(y, b.align(bias, y))
    return {"none": lambda b, v: v, "relu": relu, "gelu": gelu, "gelu_erf": gelu_erf, "silu": silu}[op.attributes["activation"]](b, y)


def linear(b, op, x, w, bias=None):
    return finish(b, op, product(b, op, x, w, "f32"), bias)


def conv2d(b, op, x, w, bias=None):
    kh, kw, c, o = b.type(w).shape
    w = b.reshape(w, (kh * kw * c, o))
    shape = op.types[0].shape
    y = b.one("convolve", [x, w], Type("f32", shape), window=[kh, kw], stride=op.attributes["stride"], padding=op.attributes["padding"],
              order=op.attributes["order"])
    return finish(b, op, y, bias)


def scale_along(b, y, scale, axis):
    return b.mul(y, b.broadcast(scale, b.type(y).shape, [axis % len(b.type(y).shape)] if b.type(scale).shape else []))


def scaled_matmul(b, op, x, y, sx, sy):
    v = product(b, op, x, y, "f32" if formats.is_float(b.type(x).element) else "i32")
    return scale_along(b, scale_along(b, b.convert(v, "f32"), sx, -2), sy, -1)


def dequantize(b, op, x, scale):
    return scale_along(b, b.convert(x, "f32"), scale, op.attributes["axis"])


def mean(b, op, x):
    return b.mean(x, op.attributes["axis"], op.attributes.get("order", "lanes64"))


def inverse_root(b, op, variance):
    return b.el("rsqrt", b.add(variance, b.like(f64_of(op.attributes["eps"][1]), variance)))


def layernorm(b, op, x, gain, bias):
    last = len(b.type(x).shape) - 1
    c = b.sub(x, b.spread(b.mean(x, last), x, [last]))
    r = inverse_root(b, op, b.mean(b.mul(c, c), last))
    y = b.mul(c, b.spread(r, x, [last]))
    return b.add(b.mul(y, b.align(gain, x)), b.align(bias, x))


def rmsnorm(b, op, x, gain):
    last = len(b.type(x).shape) - 1
    r = inverse_root(b, op, b.mean(b.mul(x, x), last))
    return b.mul(b.mul(x, b.spread(r, x, [last])), b.align(gain, x))


def logsumexp_along(b, x, axis):
    m = b.reduce(x, [axis], "max")
    total = b.reduce(b.el("exp", b.sub(x, b.spread(m, x, [axis]))), [axis])
    whole = b.compare("eq", b.el("abs", m), b.like(float("inf"), m))
    return b.where(whole, m, b.add(m, b.el("log", total)))


def cross_entropy(b, op, x, target):
    length = b.type(x).shape[-1]
    rows = prod(b.type(x).shape[:-1])
    x = x if len(b.type(x).shape) == 2 else b.reshape(x, (rows, length))
    target = target if len(b.type(target).shape) == 1 else b.reshape(target, (rows,))
    losses = logsumexp_along(b, x, 1)
    return b.mean(b.sub(losses, b.gather(x, target, 1, 1)), 0)


def attention_rows(b, op, q, k):
    """Scores, their mask and counts or None, the greatest of a row, the exponentials, and their sum."""
    shape = b.type(q).shape
    last, sq, sk = len(shape) - 1, shape[-2], b.type(k).shape[-2]
    s = contract(b, q, k, "f32", last - 1, last)
    s = b.mul(s, attention_scale(b, shape[-1], s))
    mask = counts = None
    seen = s
    if op.attributes["causal"]:
        i = b.iota((sq,), 0)
        n = b.el("maximum", b.add(i, b.like(sk - sq + 1, i)), b.like(0, i))
        counts = b.el("minimum", n, b.like(sk, n))
        mask = b.compare("lt", b.iota(b.type(s).shape, last), b.broadcast(counts, b.type(s).shape, [last - 1]))
        seen = b.where(mask, s, b.like(float("-inf"), s))
    m = b.reduce(seen, [last], "max")
    e = b.el("exp", b.sub(s, b.spread(m, s, [last])))
    e = b.where(mask, e, b.like(0, e)) if mask else e
    return s, mask, counts, m, e, b.reduce(e, [last])


def attention_scale(b, depth, like):
    d = b.like(depth, like)
    return b.div(b.like(1, like), b.el("sqrt", d))


def attention(b, op, q, k, v):
    _, mask, counts, _, e, total = attention_rows(b, op, q, k)
    last = len(b.type(q).shape) - 1
    o = contract(b, e, v, "f32", last - 1, last - 1, third=[counts] if mask else [])
    o = b.div(o, b.spread(total, o, [last]))
    if not mask:
        return o
    n = b.broadcast(counts, b.type(o).shape, [last - 1])
    return b.where(b.compare("eq", n, b.like(0, n)), b.like(0, o), o)


def rope(b, op, x, cos, sin):
    last = len(b.type(x).shape) - 1
    depth = b.type(x).shape[last]
    low, high = b.slice_axis(x, last, 0, depth // 2), b.slice_axis(x, last, depth // 2, depth)
    c, s = b.align(cos, low), b.align(sin, low)
    first = b.sub(b.mul(low, c), b.mul(high, s))
    return b.concat([first, b.add(b.mul(high, c), b.mul(low, s))], last)


def plain(function):
    return lambda b, op, x: function(b, x)


DECOMPOSITIONS = {"matmul": matmul, "linear": linear, "conv2d": conv2d, "scaled_matmul": scaled_matmul, "dequantize": dequantize,
                  "mean": mean, "layernorm": layernorm, "rmsnorm": rmsnorm, "cross_entropy": cross_entropy, "attention": attention,
                  "rope": rope, "silu": plain(silu),
                  "gelu": lambda b, op, x: (gelu if op.attributes["approximate"] == "tanh" else gelu_erf)(b, x)}


def decompose(b, op, operands):
    """The result of an operation of these operands, in its own type."""
    name = op.name.removeprefix("tessera.")
    if name != "matmul":
        operands = [b.convert(v, "f32") if formats.is_float(b.type(v).element) else v for v in operands]
    return b.convert(DECOMPOSITIONS[name](b, op, *operands), op.types[0].element)
