"""Shards of a mesh a second time (docs/collectives.md): each shard is a thread that runs the block, and in a collective they meet.

Before that it is found which values differ from shard to shard: a cotangent of one that does not is summed over those that do.
"""
import threading

import numpy as np

import compute
import formats

local = threading.local()  # path: (axis, number, meeting) of the shards around, the innermost last
MADE = {"all_reduce", "all_gather"}  # alike on all shards
OWN = {"reduce_scatter", "shard_slice", "all_to_all", "permute", "shard_index"}


def name_of(op):
    return op.name.removeprefix("tessera.")


# ---- which values differ


def flow(block, given, axis):
    """Tells of each of the block's results if it differs along the axis; notes it of cotangents."""
    differs = dict(zip((name for name, _ in block.arguments), given))
    for op in block.operations:
        flags = [differs[o] for o in op.operands]
        if name_of(op) in ("next", "return"):
            return flags
        differs.update(zip(op.results, flow_op(op, flags, axis)))
    raise ValueError("a block without an end")


def flow_op(op, flags, axis):
    name, own = name_of(op), op.attributes.get("axis") == axis
    if name == "cotangent":
        op.attributes.setdefault("summed", {})[axis] = flags[0] and not flags[1]
        return [flags[0] and flags[1]]
    if own and name in MADE | OWN:
        return [name in OWN]
    if name == "loop":
        return flow_loop(op, flags, axis)
    if name == "while":
        return flow_while(op, flags, axis)
    if name == "if":
        sides = [flow(block, flags[1:], axis) for block in op.blocks]
        return [flags[0] or x or y for x, y in zip(*sides)]
    if name == "shard":
        return flow(op.blocks[0], flags, axis)
    return [any(flags)] * len(op.results)


def flow_loop(op, flags, axis):
    carried = op.attributes["carried"]
    while True:
        made = flow(op.blocks[0], [False, *flags], axis)
        more = [a or b for a, b in zip(flags[:carried], made)]
        if more == flags[:carried]:
            return more + made[carried:]
        flags = more + flags[carried:]


def flow_while(op, flags, axis):
    asks, makes = op.blocks
    end, arguments = makes.operations[-1].operands, [name for name, _ in makes.arguments]
    while True:
        apart = flow(asks, flags, axis)[0]
        more = [f or m or (apart and e != a) for f, m, e, a in zip(flags, flow(makes, flags, axis), end, arguments)]
        if more == flags:
            return more
        flags = more


# ---- shards that run


class Meeting:
    """Shards of one axis: those of the same place along all inner axes meet."""

    def __init__(self, count):
        self.count, self.places, self.lock, self.broken = count, {}, threading.Lock(), False

    def gather(self, place, number, value):
        with self.lock:
            barrier, values = self.places.setdefault(place, (threading.Barrier(self.count), [None] * self.count))
            if self.broken:
                barrier.abort()
        values[number] = value
        barrier.wait()
        found = list(values)
        barrier.wait()
        return found

    def end(self):
        with self.lock:
            self.broken = True
            for barrier, _ in self.places.values():
                barrier.abort()


def run(machine, op, operands):
    a, block = op.attributes, op.blocks[0]
    count, around = a["count"], getattr(local, "path", [])
    meeting, made, failed = Meeting(count), [None] * count, []
    if not around or "flown" not in a:
        flow(block, [i < a["sliced"] for i in range(len(operands))], a["axis"])
        a["flown"] = True

    def one(number):
        np.seterr(all="ignore")
        local.path = [*around, (a["axis"], number, meeting)]
        try:
            parts = [(v[number], element) for v, element in operands[:a["sliced"]]]
            made[number] = machine.run(block, parts + operands[a["sliced"]:])
        except Exception as error:  # the others wait for it
            failed.append(error)
            meeting.end()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise next((e for e in failed if not isinstance(e, threading.BrokenBarrierError)), failed[0])
    out = []
    for i, (value, element) in enumerate(made[0]):
        if i in a.get("whole", []):
            assert all(formats.to_bytes(*m[i]) == formats.to_bytes(value, element) for m in made)
            out.append((value, element))
        else:
            out.append((np.stack([m[i][0] for m in made]), element))
    return out


def gathered(axis, value):
    """(what all shards of the axis have, this one's number)"""
    path = local.path
    at = max(i for i, (name, _, _) in enumerate(path) if name == axis)
    _, number, meeting = path[at]
    return meeting.gather(tuple(n for _, n, _ in path[at + 1:]), number, value), number


# ---- sums


def tree(values, add):
    if len(values) == 1:
        return values[0]
    left = 1
    while 2 * left < len(values):
        left *= 2
    return add(tree(values[:left], add), tree(values[left:], add))


def folded(values, kind, fold):
    """Values of all shards as one: added in f32 or wider, and rounded once."""
    element = values[0][1]
    if fold == "exact" and formats.is_float(element):
        return compute.reduce((np.stack([v for v, _ in values]), element), "sum", [0], {"order": "exact"})
    name = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}[kind]
    wide = "f32" if formats.is_float(element) and element != "f64" else element
    found = tree([(formats.convert(v, element, wide), wide) for v, _ in values], lambda x, y: compute.arithmetic(name, [x, y]))
    return formats.convert(found[0], wide, element), element


def part(value, number, count, dim):
    v, element = value
    length = v.shape[dim] // count
    return v[(slice(None),) * dim + (slice(number * length, (number + 1) * length),)], element


# ---- collectives


def collective(op, operands):
    name, a = name_of(op), op.attributes
    if name == "vary":
        return operands[0]
    if name == "cotangent":
        value = operands[0]
        for axis, _, _ in reversed(local.path):
            if a.get("summed", {}).get(axis):
                value = folded(gathered(axis, value)[0], "sum", "tree")
        return value
    value = operands[0] if operands else None
    values, number = gathered(a["axis"], value)
    count = len(values)
    if name == "shard_index":
        return np.array(number, np.int32), "i32"
    if name == "all_reduce":
        return folded(values, a["kind"], a["fold"])
    if name == "all_gather":
        return np.concatenate([v for v, _ in values], axis=a["dim"]), value[1]
    if name == "reduce_scatter":
        return part(folded(values, "sum", a["fold"]), number, count, a["dim"])
    if name == "shard_slice":
        return part(value, number, count, a["dim"])
    if name == "all_to_all":
        return np.concatenate([part(v, number, count, a["split"])[0] for v in values], axis=a["concat"]), value[1]
    pairs = list(zip(a["pairs"][::2], a["pairs"][1::2]))
    source = next((s for s, to in pairs if to == number), None)
    return (np.zeros_like(value[0]), value[1]) if source is None else values[source]


NAMES = MADE | OWN | {"cotangent", "vary"}
