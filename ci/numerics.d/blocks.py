"""Operations with blocks (docs/ir.md): branches, loops, and scatters of one tensor. A machine runs their blocks."""
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


def scatter(machine, op, operands):
    if len(operands) != 3:
        raise HasBlocks(op.name)
    (x, element), (indices, _), (updates, _) = operands
    axis = op.attributes["axis"]
    out = np.moveaxis(x.copy(), axis, 0)
    for index, update in zip(indices, np.moveaxis(updates, axis, 0)):
        if 0 <= index < len(out):
            out[index] = machine.run(op.blocks[0], [(out[index], element), (update, element)])[0][0]
    return [(np.moveaxis(out, 0, axis), element)]


RUNS = {"if": branch, "while": while_loop, "loop": loop, "scatter": scatter}
