"""Derivatives of collectives (docs/collectives.md), as rules.py has those of other operations."""


def again(b, op, operands):
    return b.emit(op.name.removeprefix("tessera."), operands, op.types, **op.attributes)[0]


def over_axis(b, op, name, x, of, **more):
    a = op.attributes
    return b.one(name, [x], of, axis=a["axis"], count=a["count"], **more)


def of_each(b, op, t):
    return [b.one("vary", [t, op.operands[0]], b.type(t))]


def of_all(b, op, t):
    return b.one("cotangent", [t, op.results[0]], b.type(t))


def shares_of_all(b, op):
    """Shares of the greatest elements, or of factors."""
    x, y = op.operands[0], op.results[0]
    if op.attributes["kind"] == "prod":
        return b.div(y, x)
    hit = b.where(b.compare("eq", x, y), b.like(1, x), b.like(0, x))
    return b.div(hit, over_axis(b, op, "all_reduce", hit, b.type(x), kind="sum", fold="tree"))


def all_reduce(b, op, t, wanted):
    out = of_each(b, op, of_all(b, op, t))
    return out if op.attributes["kind"] == "sum" else [b.mul(out[0], shares_of_all(b, op))]


def all_reduce_forward(b, op, tangents):
    if op.attributes["kind"] == "sum":
        return again(b, op, tangents)
    return over_axis(b, op, "all_reduce", b.mul(tangents[0], shares_of_all(b, op)), op.types[0], kind="sum", fold="tree")


def first_forward(b, op, tangents):
    """The tangent is of the first operand; the other one says where values differ."""
    return again(b, op, [tangents[0], op.operands[1]]) if tangents[0] else None


def all_gather(b, op, t, wanted):
    return [over_axis(b, op, "shard_slice", of_all(b, op, t), b.type(op.operands[0]), dim=op.attributes["dim"])]


def gathered_back(b, op, t, wanted):
    return of_each(b, op, over_axis(b, op, "all_gather", t, b.type(op.operands[0]), dim=op.attributes["dim"]))


def all_to_all(b, op, t, wanted):
    a = op.attributes
    return [over_axis(b, op, "all_to_all", t, b.type(op.operands[0]), split=a["concat"], concat=a["split"])]


def permute(b, op, t, wanted):
    pairs = op.attributes["pairs"]
    return [over_axis(b, op, "permute", t, b.type(t), pairs=[pairs[i ^ 1] for i in range(len(pairs))])]


COLLECTIVES = {
    "all_reduce": all_reduce, "all_gather": all_gather, "reduce_scatter": gathered_back, "shard_slice": gathered_back,
    "all_to_all": all_to_all, "permute": permute, "vary": lambda b, op, t, wanted: [t, None],
    "cotangent": lambda b, op, t, wanted: [of_each(b, op, of_all(b, op, t))[0], None]}
COLLECTIVES_FORWARD = {name: again for name in ("all_gather", "reduce_scatter", "shard_slice", "all_to_all", "permute")} | {
    "all_reduce": all_reduce_forward, "cotangent": first_forward, "vary": first_forward}
