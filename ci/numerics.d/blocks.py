"""Operations with blocks (docs/ir.md): branches, loops, scatters, reductions and sorts. A machine runs their blocks."""
import functools

import numpy as np

import formats
from graph import HasBlocks


def run(machine, op, operands):
    name = op.name.removeprefix("tessera.")
    if name not in RUNS:
        raise HasBlocks(name)
    return RUNS[name](machine, op, operands)


def branch(machine, op, operands):
    return machine.run(op.blocks[0 if operands[0][0] else 1], operands[1:])


def while_loop(machine, op, operands):
    condition, block = op.blocks
    while machine.run(condition, operands)[0][0]:
        operands = machine.run(block, operands)
    return operands


def loop(machine, op, operands):
    carried, behind = op.attributes["carried"], op.attributes["carried"] + op.attributes["sliced"]
    values, stacks = operands[:carried], [np.empty(t.shape, formats.array_type(t.element)) for t in op.types[carried:]]
    for turn in range(op.attributes["count"]):
        parts = [(a[turn], element) for a, element in operands[carried:behind]]
        made = machine.run(op.blocks[0], [(np.array(turn, np.int32), "i32"), *values, *parts, *operands[behind:]])
        values = made[:carried]
        for stack, (part, _) in zip(stacks, made[carried:]):
            stack[turn] = part
    return values + [(stack, t.element) for stack, t in zip(stacks, op.types[carried:])]


def rows(operands, axis):
    """Each tensor with the axis in front, and its element type."""
    return [(np.moveaxis(x, axis, 0), element) for x, element in operands]


def scatter(machine, op, operands):
    many, axis = len(op.types), op.attributes["axis"]
    out = [(x.copy(), element) for x, element in rows(operands[:many], axis)]
    updates = rows(operands[many + 1:], axis)
    for number, index in enumerate(operands[many][0]):
        if 0 <= index < len(out[0][0]):
            taken = [(x[index], element) for x, element in out] + [(u[number], element) for u, element in updates]
            for (x, _), (made, _) in zip(out, machine.run(op.blocks[0], taken)):
                x[index] = made
    return [(np.moveaxis(x, 0, axis), element) for x, element in out]


def reduce_with(machine, op, operands):
    """From index 0 on; by element, so whole rows at once."""
    many, axis = len(op.types), op.attributes["axis"]
    parts = rows(operands[:many], axis)
    values = [(np.broadcast_to(v, x.shape[1:]), element) for (v, element), (x, _) in zip(operands[many:], parts)]
    for number in range(len(parts[0][0])):
        made = machine.run(op.blocks[0], values + [(x[number], element) for x, element in parts])
        values = [(np.broadcast_to(v, x.shape[1:]), element) for (v, element), (x, _) in zip(made, parts)]
    return values


def sort(machine, op, operands):
    """For an order that does not contradict itself: equal elements stay as they stand."""
    axis = op.attributes["axis"]
    parts = [(x.copy(), element) for x, element in rows(operands, axis)]
    for place in np.ndindex(parts[0][0].shape[1:]):
        columns = [(x[(slice(None), *place)].copy(), element) for x, element in parts]

        def before(i, j):
            return bool(machine.run(op.blocks[0], [(c[k], element) for k in (i, j) for c, element in columns])[0][0])

        places = sorted(range(len(columns[0][0])), key=functools.cmp_to_key(lambda i, j: before(j, i) - before(i, j)))
        for (x, _), (c, _) in zip(parts, columns):
            x[(slice(None), *place)] = c[places]
    return [(np.moveaxis(x, 0, axis), element) for x, element in parts]


RUNS = {"if": branch, "while": while_loop, "loop": loop, "scatter": scatter, "reduce_with": reduce_with, "sort": sort}
