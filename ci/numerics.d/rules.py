"""Rules of derivatives (docs/derivatives.md, Rules): contributions of one operation, as graphs.

REVERSE[name](b, op, t, wanted) gives a contribution for each operand, None for those that are not wanted; FORWARD[name](b, op, tangents) the
tangent of the result, of tangents or None. FACTORS are element-wise: f(b, i, t, y, operands) is the contribution of operand i.
"""
import math
from math import prod

import decompose
import formats
from graph import Type
from rules_shards import COLLECTIVES, COLLECTIVES_FORWARD, again

LN2 = math.log(2)
ZERO = {"floor", "ceil", "round", "trunc", "bitcast", "random_bits", "argsort", "compare", "and", "or", "xor", "not", "left_shift",
        "right_shift", "stop_gradient", "iota", "constant", "extent", "dense", "shard_index"}

# ---- element by element


def times(f):
    return lambda b, i, t, y, x: b.mul(t, f(b, i, y, *x))


def over(f):
    return lambda b, i, t, y, x: b.div(t, f(b, i, y, *x))


def sign(b, x):
    below = b.where(b.compare("lt", x, b.like(0, x)), b.like(-1, x), b.like(0, x))
    return b.where(b.compare("gt", x, b.like(0, x)), b.like(1, x), below)


def power(b, i, y, base, exponent):
    zero, one = b.like(0, base), b.like(1, base)
    if i == 1:
        return b.mul(b.el("log", b.where(b.compare("eq", base, zero), one, base)), y)
    less = b.where(b.compare("eq", exponent, zero), one, b.sub(exponent, one))
    return b.where(b.compare("eq", exponent, zero), zero, b.mul(exponent, b.el("pow", base, less)))


def angle(b, i, y, p, q):
    total = b.add(b.mul(q, q), b.mul(p, p))
    return b.div(b.neg(p) if i else q, total)


def extreme(b, i, y, *x):
    alone = b.where(b.compare("eq", x[i], y), b.like(1, y), b.like(0, y))
    return b.where(b.compare("eq", *x), b.like(0.5, y), alone)


def bell(b, i, y, x):
    e = b.el("exp", b.neg(b.mul(x, x)))
    return b.mul(b.like(2 / math.sqrt(math.pi), x), e)


def chosen(b, i, t, y, x):
    return b.where(x[0], t, b.like(0, t)) if i == 1 else b.where(x[0], b.like(0, t), t) if i == 2 else None


def itself(b, i, t, y, x):
    return t


FACTORS = {
    "neg": lambda b, i, t, y, x: b.neg(t),
    "abs": times(lambda b, i, y, x: sign(b, x)),
    "sqrt": over(lambda b, i, y, x: b.mul(b.like(2, y), y)),
    "rsqrt": times(lambda b, i, y, x: b.mul(b.like(-0.5, y), b.div(y, x))),
    "exp": times(lambda b, i, y, x: y),
    "exp2": times(lambda b, i, y, x: b.mul(y, b.like(LN2, y))),
    "expm1": times(lambda b, i, y, x: b.add(y, b.like(1, y))),
    "log": over(lambda b, i, y, x: x),
    "log2": over(lambda b, i, y, x: b.mul(x, b.like(LN2, x))),
    "log1p": over(lambda b, i, y, x: b.add(x, b.like(1, x))),
    "tanh": times(lambda b, i, y, x: b.sub(b.like(1, y), b.mul(y, y))),
    "erf": times(bell),
    "logistic": times(lambda b, i, y, x: b.mul(y, b.sub(b.like(1, y), y))),
    "sin": times(lambda b, i, y, x: b.el("cos", x)),
    "cos": times(lambda b, i, y, x: b.neg(b.el("sin", x))),
    "pow": times(power),
    "atan2": times(angle),
    "add": itself,
    "sub": lambda b, i, t, y, x: b.neg(t) if i else t,
    "mul": times(lambda b, i, y, *x: x[1 - i]),
    "div": lambda b, i, t, y, x: b.mul(t, b.div(b.neg(y), x[1])) if i else b.div(t, x[1]),
    "fma": lambda b, i, t, y, x: t if i == 2 else b.mul(t, x[1 - i]),
    "maximum": times(extreme),
    "minimum": times(extreme),
    "select": chosen,
    "relu": lambda b, i, t, y, x: b.where(b.compare("gt", x[0], b.like(0, x[0])), t, b.like(0, t)),
}


def factor_reverse(b, op, t, wanted):
    x, y, name = [b.wide(v) for v in op.operands], b.wide(op.results[0]), op.name.removeprefix("tessera.")
    out = [None] * len(x)
    for i, v in enumerate(op.operands):
        scaled = FACTORS[name](b, i, b.wide(t), y, x) if wanted[i] else None
        out[i] = scaled and b.convert(scaled, b.type(v).element)
    return out


def chain(b, values):
    """The sum of those that are there, in order; None: there is none."""
    total = None
    for v in values:
        total = v if total is None else total if v is None else b.add(total, v)
    return total


def factor_forward(b, op, tangents):
    x, y, name = [b.wide(v) for v in op.operands], b.wide(op.results[0]), op.name.removeprefix("tessera.")
    total = chain(b, [FACTORS[name](b, i, b.wide(t), y, x) for i, t in enumerate(tangents) if t])
    return total and b.convert(total, op.types[0].element)


# ---- movement


def broadcast(b, op, t, wanted):
    x, y, axes = b.type(op.operands[0]), b.type(t), op.attributes["axes"]
    gone = [i for i in range(len(y.shape)) if i not in axes or x.shape[axes.index(i)] != y.shape[i]]
    total = b.reduce(t, gone)
    return [total if len(b.type(total).shape) == len(x.shape) else b.reshape(total, x.shape)]


def slices(b, op, t, wanted):
    x, a = b.type(op.operands[0]), op.attributes
    for i, (start, step) in enumerate(zip(a["start"], a["step"])):
        shape = b.type(t).shape
        if step != 1:
            apart = b.pad(b.reshape(t, shape[:i + 1] + (1,) + shape[i + 1:]), i + 1, 0, step - 1)
            t = b.pad(b.reshape(apart, shape[:i] + (shape[i] * step,) + shape[i + 1:]), i, 0, step)
            t = b.slice_axis(t, i, 0, x.shape[i] - start)
        t = b.pad(t, i, start, x.shape[i] - start - b.type(t).shape[i])
    return [t]


def concat(b, op, t, wanted):
    out, at, axis = [], 0, op.attributes["axis"]
    for v, w in zip(op.operands, wanted):
        length = b.type(v).shape[axis]
        out.append(b.slice_axis(t, axis, at, at + length) if w else None)
        at += length
    return out


def gather(b, op, t, wanted):
    x, at = b.type(op.operands[0]), b.type(op.operands[1]).shape
    axis, batch = op.attributes["axis"], op.attributes["batch_dims"]
    batches, before, many = prod(x.shape[:batch]), prod(x.shape[batch:axis]), prod(at[batch:])
    length, behind = x.shape[axis], prod(x.shape[axis + 1:])
    updates = b.transpose(b.reshape(t, (batches, before, many, behind)), (0, 2, 1, 3))
    updates = b.reshape(updates, (batches * many, before * behind))
    clamped = b.el("maximum", op.operands[1], b.like(0, op.operands[1]))
    clamped = b.reshape(b.el("minimum", clamped, b.like(length - 1, clamped)), (batches, many))
    number = b.iota((batches, many), 0)
    places = b.add(b.mul(number, b.like(length, number)), clamped)
    zeros = b.zeros(Type(x.element, (batches * length, before * behind)))
    y = b.scatter(zeros, b.reshape(places, (batches * many,)), updates, 0)
    return [b.reshape(b.transpose(b.reshape(y, (batches, length, before, behind)), (0, 2, 1, 3)), x.shape), None]


def together(b, op, tangents):
    """A linear operation of its tangents."""
    return again(b, op, [v if not formats.is_float(b.type(v).element) else t or b.zeros(b.type(v)) for v, t in zip(op.operands, tangents)])


def each(b, op, tangents):
    return chain(b, [again(b, op, [*op.operands[:i], t, *op.operands[i + 1:]]) for i, t in enumerate(tangents) if t])


# ---- sums


def share(b, op):
    x, axes = op.operands[0], op.attributes["axes"]
    y = b.spread(op.results[0], x, axes)
    if op.attributes["kind"] == "prod":
        return b.div(y, x)
    hit = b.where(b.compare("eq", x, y), b.like(1, x), b.like(0, x))
    return b.div(hit, b.spread(b.reduce(hit, axes), x, axes))


def reduce_reverse(b, op, t, wanted):
    t = b.spread(t, op.operands[0], op.attributes["axes"])
    return [t if op.attributes["kind"] == "sum" else b.mul(t, share(b, op))]


def reduce_forward(b, op, tangents):
    if op.attributes["kind"] == "sum":
        return again(b, op, tangents)
    return b.reduce(b.mul(tangents[0], share(b, op)), op.attributes["axes"])


# ---- running sums, products, maxima and minima


def recurrence(b, a, s, axis):
    """z[i] = a[i] * z[i - 1] + s[i], from 0."""
    def place(inner, carried, parts):
        z = inner.add(inner.mul(parts[0], carried[0]), parts[1])
        return [z], [z]

    a, s = b.moved(a, axis, 0), b.moved(s, axis, 0)
    of = b.type(s)
    _, z = b.turns([b.zeros(Type(of.element, of.shape[1:]))], [a, s], of.shape[0], place)
    return b.moved(z, 0, axis)


def chosen_of(b, x, other, y):
    """The factor by which maximum(x, other) = y multiplies the tangent of x."""
    alone = b.where(b.compare("eq", x, y), b.like(1, y), b.like(0, y))
    return b.where(b.compare("eq", x, other), b.like(0.5, y), alone)


def running(b, op):
    """The factors of the place before, and of the element; and the places."""
    x, y, axis = b.wide(op.operands[0]), b.wide(op.results[0]), op.attributes["axis"]
    place = b.iota(b.type(x).shape, axis)
    first = b.compare("eq", place, b.like(0, place))
    before = shifted(b, y, axis, -1)
    product = op.attributes["kind"] == "prod"
    kept = b.where(first, b.like(0, x), x if product else chosen_of(b, before, x, y))
    given = b.where(first, b.like(1, x), before if product else chosen_of(b, x, before, y))
    return kept, given, place


def shifted(b, x, axis, step):
    """Elements so many places further on; at an end any."""
    at = b.iota((b.type(x).shape[axis],), 0)
    return b.gather(x, b.add(at, b.like(step, at)), axis)


def cumsum(b, op, t, wanted):
    axis = op.attributes["axis"]
    if op.attributes.get("kind", "sum") == "sum":
        return [b.turned(again(b, op, [b.turned(t, axis)]), axis)]
    kept, given, place = running(b, op)
    behind = shifted(b, kept, axis, 1)
    behind = b.where(b.compare("eq", place, b.like(b.type(kept).shape[axis] - 1, place)), b.like(0, behind), behind)
    back = b.turned(recurrence(b, b.turned(behind, axis), b.turned(b.wide(t), axis), axis), axis)
    return [b.convert(b.mul(back, given), b.type(op.operands[0]).element)]


def cumsum_forward(b, op, tangents):
    if op.attributes.get("kind", "sum") == "sum":
        return again(b, op, tangents)
    kept, given, _ = running(b, op)
    z = recurrence(b, kept, b.mul(b.wide(tangents[0]), given), op.attributes["axis"])
    return b.convert(z, op.types[0].element)


# ---- products


def side(b, op, i):
    shape = b.type(op.operands[i]).shape
    batch, contracted = op.attributes.get("xy"[i] + "_batch", []), op.attributes["xy"[i] + "_contract"]
    return batch, contracted, [n for n in range(len(shape)) if n not in batch + contracted]


def placed(b, v, axes):
    """Axes of v to the places `axes`."""
    return b.transpose(v, [axes.index(i) for i in range(len(axes))])


def by_other(own, other):
    """Contracted axes of one side in the order in which the other one's stand in it."""
    return [own[i] for i in sorted(range(len(own)), key=lambda i: other[i])]


def masked(b, op, v, contracted, row):
    if len(op.operands) < 3:
        return v
    shape = b.type(v).shape
    happens = b.compare("lt", b.iota(shape, contracted), b.broadcast(op.operands[2], shape, [row]))
    return b.where(happens, v, b.like(0, v))


def dot(b, op, t, wanted):
    (xb, xc, xf), (yb, yc, yf) = side(b, op, 0), side(b, op, 1)
    x, y = op.operands[:2]
    element = b.type(x).element
    order = op.attributes.get("order", "")
    kept = {k: op.attributes[k] for k in ("order", "accumulate") if k in op.attributes}
    kept |= {"order": "chunk512"} if order.startswith("tree") else {}
    t = b.convert(t, element)
    batch, out = list(range(len(xb))), [None, None, None]
    if wanted[0]:
        rest = [len(xb) + len(xf) + i for i in range(len(yf))]
        v = b.dot(t, y, element, x_batch=batch, y_batch=yb, x_contract=rest, y_contract=yf, **kept)
        out[0] = masked(b, op, placed(b, v, xb + xf + by_other(xc, yc)), xc[0], (xf or [0])[-1])
    if wanted[1]:
        rest = [len(xb) + i for i in range(len(xf))]
        left = masked(b, op, x, xc[0], (xf or [0])[-1])
        v = b.dot(left, t, element, x_batch=xb, y_batch=batch, x_contract=xf, y_contract=rest, **kept)
        out[1] = placed(b, v, yb + by_other(yc, xc) + yf)
    return out


def convolve(b, op, t, wanted):
    x, w = op.operands[:2]
    element, a = b.type(x).element, op.attributes
    (kh, kw), stride, padding = a["window"], a["stride"], a["padding"]
    t = b.convert(t, element)
    c, o, y = b.type(x).shape[3], b.type(t).shape[3], b.type(t).shape
    out = [None, None]
    if wanted[0]:
        image = t
        for i, size in ((1, kh), (2, kw)):
            shape, before = b.type(image).shape, size - 1 - padding
            if stride != 1:
                apart = b.pad(b.reshape(image, shape[:i + 1] + (1,) + shape[i + 1:]), i + 1, 0, stride - 1)
                image = b.reshape(apart, shape[:i] + (shape[i] * stride,) + shape[i + 1:])
            length = b.type(image).shape[i]
            behind = b.type(x).shape[i] + size - 1 - length - before
            image = b.slice_axis(image, i, max(-before, 0), length + min(behind, 0))
            image = b.pad(image, i, max(before, 0), max(behind, 0))
        turned = b.turned(b.turned(b.reshape(w, (kh, kw, c, o)), 0), 1)
        turned = b.reshape(b.transpose(turned, (0, 1, 3, 2)), (kh * kw * o, c))
        out[0] = b.one("convolve", [image, turned], b.type(x), window=[kh, kw], stride=1, padding=0, order=a["order"])
    if wanted[1]:
        for i in (1, 2):
            x = b.pad(x, i, padding, padding)
        for i, size in ((1, kh), (2, kw)):
            shape = b.type(x).shape
            x = b.one("window", [x], Type(element, shape[:i] + (y[i],) + shape[i + 1:] + (size,)), axis=i, size=[size], stride=stride)
        places = prod(y[:3])
        rows = b.reshape(b.transpose(x, (0, 1, 2, 4, 5, 3)), (places, kh * kw * c))
        out[1] = b.dot(rows, b.reshape(t, (places, o)), b.type(w).element, x_batch=[], y_batch=[], x_contract=[0], y_contract=[0],
                       order=a["order"])
    return out


# ---- composites


def softmax(b, axis, y, t):
    return b.mul(y, b.sub(t, b.spread(b.reduce(b.mul(t, y), [axis]), y, [axis])))


def axis_of(b, op):
    return op.attributes["axis"] % len(b.type(op.operands[0]).shape)


def softmax_reverse(b, op, t, wanted):
    y = b.wide(op.results[0])
    return [b.convert(softmax(b, axis_of(b, op), y, b.wide(t)), b.type(op.operands[0]).element)]


def softmax_forward(b, op, tangents):
    return softmax_reverse(b, op, tangents[0], None)[0]


def weights(b, op, axis):
    x, y = b.wide(op.operands[0]), b.wide(op.results[0])
    return x, b.el("exp", b.sub(x, b.spread(y, x, [axis])))


def logsumexp_reverse(b, op, t, wanted):
    axis = axis_of(b, op)
    x, e = weights(b, op, axis)
    return [b.convert(b.mul(b.spread(b.wide(t), x, [axis]), e), b.type(op.operands[0]).element)]


def logsumexp_forward(b, op, tangents):
    axis = axis_of(b, op)
    _, e = weights(b, op, axis)
    return b.convert(b.reduce(b.mul(b.wide(tangents[0]), e), [axis]), op.types[0].element)


def norm(b, op, t, wanted):
    centred = op.name == "tessera.layernorm"
    x, t = b.wide(op.operands[0]), b.wide(t)
    last = len(b.type(x).shape) - 1
    m = b.mean(x, last) if centred else None
    c = b.sub(x, b.spread(m, x, [last])) if centred else x
    r = decompose.inverse_root(b, op, b.mean(b.mul(c, c), last))
    c = b.sub(x, b.spread(m, x, [last])) if centred else x
    h = b.mul(c, b.spread(r, x, [last]))
    out = [None] * len(op.operands)
    if wanted[0]:
        g = b.mul(t, b.align(b.wide(op.operands[1]), x))
        along = b.mul(h, b.spread(b.mean(b.mul(g, h), last), x, [last]))
        g = b.sub(g, b.spread(b.mean(g, last), x, [last])) if centred else g
        out[0] = b.mul(b.sub(g, along), b.spread(r, x, [last]))
    if wanted[1]:
        out[1] = b.reduce(b.mul(t, h), list(range(last)))
    if len(wanted) > 2 and wanted[2]:
        out[2] = b.reduce(t, list(range(last)))
    return [v and b.convert(v, b.type(o).element) for v, o in zip(out, op.operands)]


def cross_entropy(b, op, t, wanted):
    x, target = b.wide(op.operands[0]), op.operands[1]
    shape = b.type(x).shape
    flat = (prod(shape[:-1]), shape[-1])
    rows, target = (x, target) if len(shape) == 2 else (b.reshape(x, flat), b.reshape(target, flat[:1]))
    lse = b.one("logsumexp", [rows], Type("f32", flat[:1]), axis=1)
    p = b.el("exp", b.sub(rows, b.spread(lse, rows, [1])))
    hit = b.compare("eq", b.iota(flat, 1), b.broadcast(target, flat, [0]))
    p = b.sub(p, b.where(hit, b.like(1, p), b.like(0, p)))
    t = b.wide(t)
    p = b.mul(p, b.broadcast(b.div(t, b.like(flat[0], t)), flat, []))
    return [b.convert(p if len(shape) == 2 else b.reshape(p, shape), b.type(op.operands[0]).element), None]


def attention(b, op, t, wanted):
    q, k, v = (b.wide(o) for o in op.operands)
    t, last = b.wide(t), len(b.type(q).shape) - 1

    def contract(x, y, x_axis, y_axis):
        batch = list(range(last - 1))
        return b.dot(x, y, "f32", x_batch=batch, y_batch=batch, x_contract=[x_axis], y_contract=[y_axis], order="chunk512")

    _, _, _, m, _, total = decompose.attention_rows(b, op, *(b.wide(o) for o in op.operands[:2]))
    along = b.reduce(b.mul(t, b.wide(op.results[0])), [last])
    s, mask, *_ = decompose.attention_rows(b, op, *(b.wide(o) for o in op.operands[:2]))
    p = b.div(b.el("exp", b.sub(s, b.spread(m, s, [last]))), b.spread(total, s, [last]))
    p = b.where(mask, p, b.like(0, p)) if mask else p
    out = [None, None, contract(p, t, last - 1, last - 1) if wanted[2] else None]
    if wanted[0] or wanted[1]:
        z = b.sub(contract(t, v, last, last), b.spread(along, p, [last]))
        z = b.mul(b.mul(p, z), decompose.attention_scale(b, b.type(q).shape[last], p))
        out[0] = contract(z, k, last, last - 1) if wanted[0] else None
        out[1] = contract(z, q, last - 1, last - 1) if wanted[1] else None
    return [o and b.convert(o, b.type(x).element) for o, x in zip(out, op.operands)]


# ---- scatters


def mode(op):
    """The operation of what is there and the update; None: the update."""
    block = op.blocks[0]
    return None if block.operations[-1].operands[0] == block.arguments[1][0] else block.operations[0].name.removeprefix("tessera.")


def has_mode(op):
    """A scatter of one tensor that adds, multiplies, takes the greater or the lesser, or the update."""
    block = op.blocks[0]
    first, last = block.operations[0], block.operations[-1].operands
    both = list(first.operands) == [name for name, _ in block.arguments] and list(last) == list(first.results)
    return len(op.types) == 1 and (mode(op) is None or (both and mode(op) in ("add", "mul", "maximum", "minimum")))


def in_range(b, op):
    at, length = op.operands[1], b.type(op.operands[0]).shape[op.attributes["axis"]]
    return b.el("and", b.compare("ge", at, b.like(0, at)), b.compare("lt", at, b.like(length, at)))


def along_updates(b, op, v):
    return b.broadcast(v, b.type(op.operands[2]).shape, [op.attributes["axis"]])


def shares(b, op):
    """The shares of x and of the updates in the greatest or least of their place."""
    x, u, y = b.wide(op.operands[0]), b.wide(op.operands[2]), b.wide(op.results[0])
    at, axis = op.operands[1], op.attributes["axis"]
    own = b.where(b.compare("eq", x, y), b.like(1, x), b.like(0, x))
    hit = b.el("and", along_updates(b, op, in_range(b, op)), b.compare("eq", u, b.gather(y, at, axis)))
    each = b.where(hit, b.like(1, u), b.like(0, u))
    n = b.scatter(own, at, each, axis)
    part = b.div(each, b.gather(n, at, axis))
    return b.div(own, n), b.where(hit, part, b.like(0, part))


def products(b, x, at, u):
    """x by the updates, one after the other, and what each of them met; along axis 0."""
    def one(inner, carried, parts):
        index = inner.reshape(parts[0], (1,))
        row = (1, *inner.type(parts[1]).shape)
        met = inner.reshape(inner.gather(carried[0], index, 0), row[1:])
        return [inner.scatter(carried[0], index, inner.reshape(parts[1], row), 0, "mul")], [met]

    return b.turns([x], [at, u], b.type(u).shape[0], one)


def scatter(b, op, t, wanted):
    x, at, updates = op.operands
    axis, how = op.attributes["axis"], mode(op)
    out = [None, None, None]
    if how in ("maximum", "minimum"):
        own, each = shares(b, op)
        t = b.wide(t)
        out = [b.mul(t, own), None, b.mul(b.gather(t, at, axis), each)]
    elif how == "mul":
        u = b.moved(b.wide(updates), axis, 0)
        _, met = products(b, b.moved(b.wide(x), axis, 0), at, u)
        left, behind = products(b, b.moved(b.wide(t), axis, 0), b.turned(at, 0), b.turned(u, 0))
        each = b.moved(b.mul(b.turned(behind, 0), met), 0, axis)
        out = [b.moved(left, 0, axis), None, b.where(along_updates(b, op, in_range(b, op)), each, b.like(0, each))]
    else:
        there = in_range(b, op)
        if how is None:
            number = b.iota((b.type(at).shape[0],), 0)
            last = b.scatter(b.zeros(Type("i32", (b.type(x).shape[axis],))), at, number, 0, None)
            there = b.el("and", there, b.compare("eq", b.gather(last, at, 0), number))
        taken = b.gather(t, at, axis)
        out[2] = b.where(along_updates(b, op, there), taken, b.like(0, taken))
        out[0] = t if how else b.scatter(t, at, b.zeros(b.type(updates)), axis, None)
    return [b.convert(v, b.type(o).element) if v and w else None for v, o, w in zip(out, op.operands, wanted)]


def scatter_forward(b, op, tangents):
    x, at, updates = op.operands
    axis, how = op.attributes["axis"], mode(op)
    t, u = tangents[0] or b.zeros(b.type(x)), tangents[2] or b.zeros(b.type(updates))
    if how in (None, "add"):
        return b.scatter(t, at, u, axis, how)
    t, u = b.wide(t), b.wide(u)
    if how == "mul":
        made = b.scatter_pairs([b.wide(x), t], at, [b.wide(updates), u], axis)
    else:
        own, each = shares(b, op)
        made = b.scatter(b.mul(t, own), at, b.mul(u, each), axis)
    return b.convert(made, op.types[0].element)


def convert_reverse(b, op, t, wanted):
    return [b.convert(t, b.type(op.operands[0]).element)] + [None] * (len(op.operands) - 1)


def convert_forward(b, op, tangents):
    return b.convert(tangents[0], op.types[0].element)


REVERSE = COLLECTIVES | {name: factor_reverse for name in FACTORS} | {
    "convert": convert_reverse, "stochastic_round": convert_reverse, "broadcast": broadcast,
    "reshape": lambda b, op, t, wanted: [b.reshape(t, b.type(op.operands[0]).shape)],
    "transpose": lambda b, op, t, wanted: [placed(b, t, op.attributes["permutation"])],
    "slice": slices, "concat": concat, "gather": gather, "reduce": reduce_reverse, "cumsum": cumsum, "dot": dot, "convolve": convolve,
    "softmax": softmax_reverse, "logsumexp": logsumexp_reverse, "layernorm": norm, "rmsnorm": norm, "cross_entropy": cross_entropy,
    "attention": attention, "scatter": scatter}
FORWARD = COLLECTIVES_FORWARD | {name: factor_forward for name in FACTORS} | {
    name: together for name in ("broadcast", "reshape", "transpose", "slice", "concat", "gather")} | {"cumsum": cumsum_forward} | {
    "convert": convert_forward, "stochastic_round": convert_forward, "reduce": reduce_forward, "dot": each, "convolve": each,
    "softmax": softmax_forward, "logsumexp": logsumexp_forward, "scatter": scatter_forward}
