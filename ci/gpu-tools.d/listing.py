"""Describes a listing of machine code and its hot loop: shared by ci/ptx-check and ci/hsaco-check.

A listing is a list of `Instruction`s in the order of their addresses. A loop is what lies between a branch backwards and its target;
its hot part is the loop without another one inside that does the most multiply-adds or, where none does, is the longest. What a
compiler has moved out of that range is not seen.
"""
import collections
import dataclasses
import json
import sys


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    text: str           # without a predicate
    target: int | None  # of a branch


@dataclasses.dataclass(frozen=True)
class Machine:
    """Rules by which a machine's instructions are read."""

    classes: tuple  # (name, compiled expression): the first that matches is an instruction's class; "other" if none does
    fmas: object    # multiply-adds of f32 that an instruction does in each thread
    padding: object  # compiled expression: no instruction at all
    idle: frozenset  # classes that take no slot of the arithmetic units
    uniform: object  # compiled expression: instructions that are done once for all threads of a subgroup


def class_of(machine, instruction):
    return next((name for name, expression in machine.classes if expression.match(instruction.text)), "other")


def loops(instructions):
    """(first address, last address) of each, without those of one instruction, in which a program ends."""
    return sorted({(i.target, i.address) for i in instructions if i.target is not None and i.target < i.address})


def innermost(found):
    return [a for a in found if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in found)]


def count(machine, instructions):
    classes = collections.Counter(class_of(machine, i) for i in instructions)
    fmas = sum(machine.fmas(i.text) for i in instructions)
    doing = sum(1 for i in instructions if machine.fmas(i.text))
    slots = sum(n for name, n in classes.items() if name not in machine.idle)
    return {
        "instructions": len(instructions),
        "issue_slots": slots,
        "fmas": fmas,
        "uniform": sum(1 for i in instructions if machine.uniform.match(i.text)),
        "fma_share": round(doing / slots, 4) if slots else 0.0,
        "classes": dict(sorted(classes.items())),
    }


def describe(machine, instructions):
    """The whole and its hot loop, `None` where there is none."""
    kept = [i for i in instructions if not machine.padding.match(i.text)]
    bodies = [[i for i in kept if first <= i.address <= last] for first, last in innermost(loops(kept))]
    hot = max(bodies, key=lambda body: (sum(machine.fmas(i.text) for i in body), len(body)), default=None)
    return {"whole": count(machine, kept), "loops": len(loops(kept)), "hot_loop": count(machine, hot) if hot else None}


def show(document):
    json.dump(document, sys.stdout, indent=2)
    print()


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)
