"""Derivatives a second time, from docs/derivatives.md: transforms of a graph become plain operations.

A function is a block. `expand` puts operations in the place of all transforms, inner ones first; a reverse derivative is the block's
operations, then contributions from the last operation to the first, and the cotangent of a value is their chain in the order of its uses.
"""
from dataclasses import dataclass

import decompose
import formats
import rules
from build import Builder, Scope
from graph import Block, HasBlocks, Operation, Type

TRANSFORMS = ("jvp", "vjp", "checkpoint", "custom_vjp", "custom_jvp")
STEP_SITE = 2**31 - 1  # docs/numerics.md, Another step


def name_of(op):
    return op.name.removeprefix("tessera.")


def expand_kernel(kernel):
    """The kernel without transforms; functions with rules of their own become plain last."""
    scope = Scope(kernel)
    operations = expand(scope, kernel.operations, {})
    return type(kernel)(kernel.attributes, kernel.arguments, opened(scope, operations))


def substituted(op, names):
    return Operation(op.name, [names.get(o, o) for o in op.operands], op.attributes, op.results, op.types, op.blocks)


def expand(scope, operations, names, derived=False):
    """`names`: by result of a transform that was there the value that stands for it; derived: it stands in a block that is derived."""
    out = []
    for op in operations:
        op = substituted(op, names)
        name = name_of(op)
        scope.shards += name == "shard"
        op.blocks = [Block(b.arguments, expand(scope, b.operations, {}, derived or name in ("jvp", "vjp"))) for b in op.blocks]
        scope.shards -= name == "shard"
        if name not in ("jvp", "vjp", "checkpoint", "vmap"):
            out.append(op)
            continue
        if name == "vmap" and derived:
            raise HasBlocks(op.name)  # sums of parts' cotangents have another order than a loop's
        b = Builder(scope, out)
        results = {"jvp": forward, "vjp": reverse, "checkpoint": inline, "vmap": looped}[name](b, op)
        names.update(zip(op.results, results))
    return out


def opened(scope, operations):
    """Functions with rules as their operations."""
    out, names = [], {}
    for op in operations:
        op = substituted(op, names)
        op.blocks = [Block(b.arguments, opened(scope, b.operations)) for b in op.blocks]
        if name_of(op) in ("custom_vjp", "custom_jvp"):
            names.update(zip(op.results, inline(Builder(scope, out), op)))
        else:
            out.append(op)
    return out


def placed(b, block, values):
    """The block's operations with values for its arguments; its results."""
    names = dict(zip((name for name, _ in block.arguments), values))
    *operations, end = b.scope.renamed_operations(block.operations, names)
    b.operations += operations
    return end.operands


def inline(b, op):
    return placed(b, op.blocks[0], op.operands)


# ---- a batch (docs/batches.md): a loop over its parts, which have draws of their own


def looped(b, op):
    a, block, place = op.attributes, op.blocks[0], Type("i32", ())
    turn, varying = b.scope.fresh(place), {name for name, _ in block.arguments[:a["sliced"]]}
    operations = block.operations if "alike" in a else folded(b.scope, block.operations, varying, turn)
    return b.emit("loop", op.operands, op.types, [Block([(turn, place), *block.arguments], operations)], carried=0, sliced=a["sliced"],
                  count=a["count"])


def draws(op):
    own = name_of(op) == "random_bits" and op.attributes["site"] != STEP_SITE
    return own or any(draws(inner) for block in op.blocks for inner in block.operations)


def folded(scope, operations, varying, turn):
    """Draws whose step is the same for each part have one that the turn is folded into; `varying`, what differs, gets their results."""
    out = []
    for op in operations:
        own = draws(op)
        if own and op.blocks:
            op = folded_loop(scope, op, varying, turn)
        elif own and op.operands[1] not in varying:
            b, step = Builder(scope, out), op.operands[1]
            word = b.one("random_bits", [step, b.zeros(b.type(step))], b.type(step), seed=0, site=STEP_SITE)
            step = b.add(word, b.broadcast(turn, b.type(step).shape, []))
            op = Operation(op.name, [op.operands[0], step], op.attributes, op.results, op.types)
        if own or any(o in varying for o in op.operands):
            varying.update(op.results)
        out.append(op)
    return out


def folded_loop(scope, op, varying, turn):
    """A loop that draws reads the turn of the batch, too."""
    if name_of(op) != "loop":
        raise HasBlocks(op.name)
    block, carried, place = op.blocks[0], op.attributes["carried"], Type("i32", ())
    differ = [o in varying for o in op.operands]
    while True:
        own = scope.fresh(place)
        inside = {name for (name, _), d in zip(block.arguments[1:], differ) if d}
        operations = folded(scope, block.operations, inside, own)
        more = [d or (i < carried and operations[-1].operands[i] in inside) for i, d in enumerate(differ)]
        if more == differ:
            return Operation(op.name, [*op.operands, turn], op.attributes, op.results, op.types,
                             [Block([*block.arguments, (own, place)], operations)])
        differ = more


# ---- a block that is derived


@dataclass
class Derivation:
    b: Builder
    reverse: bool

    def __post_init__(self):
        self.active, self.tangents, self.tape = set(), {}, []

    def is_float(self, v):
        return formats.is_float(self.b.type(v).element)

    def tangent(self, v):
        return self.tangents.get(v) or self.b.zeros(self.b.type(v))

    def activate(self, results):
        self.active.update(r for r in results if self.is_float(r))

    def run(self, block, values):
        """The block's operations with what flows through them; its results."""
        names = dict(zip((name for name, _ in block.arguments), values))
        for op in block.operations[:-1]:
            self.build(op, names)
        return [names.get(o, o) for o in block.operations[-1].operands]

    def build(self, op, names):
        [copy] = self.b.scope.renamed_operations([op], names)
        name = name_of(copy)
        active = any(o in self.active for o in copy.operands)
        table = rules.REVERSE if self.reverse else rules.FORWARD
        if active and name in ("custom_vjp", "custom_jvp"):
            names.update(zip(op.results, self.ruled(copy)))
        elif active and name in ("reduce_with", "sort"):
            names.update(zip(op.results, (self.reduced if name == "reduce_with" else self.sorted)(copy)))
        elif active and name == "scatter" and not rules.has_mode(copy):
            names.update(zip(op.results, self.updated(copy)))
        elif active and copy.blocks and name not in table:
            names.update(zip(op.results, (reverse_control if self.reverse else forward_control)(self, copy)))
        elif active and name in decompose.DECOMPOSITIONS and name not in table:
            names.update(zip(op.results, [self.decomposed(copy)]))
        else:
            self.b.operations.append(copy)
            self.note(copy)

    def decomposed(self, op):
        first = len(self.b.operations)
        inner = Builder(self.b.scope)
        result = decompose.decompose(inner, op, op.operands)
        for one in inner.operations:
            self.b.operations.append(one)
            self.note(one)
        assert len(self.b.operations) >= first
        return result

    def noted(self, build):
        """Builds operations, and notes those that something flows through."""
        inner = Builder(self.b.scope)
        results = build(inner)
        for one in inner.operations:
            self.b.operations.append(one)
            self.note(one)
        return results

    def reduced(self, op):
        """The loop along the axis that the reduction is."""
        many, axis = len(op.types), op.attributes["axis"]
        values = self.noted(lambda b: [b.broadcast(v, t.shape, []) for v, t in zip(op.operands[many:], op.types)]
                            + [b.moved(v, axis, 0) for v in op.operands[:many]])

        def turn(inner, carried, parts):
            block = self.b.scope.renamed(op.blocks[0], {})
            names = dict(zip((name for name, _ in block.arguments), carried + parts))
            out = whole_block(inner, block, names, inner.type(carried[0]).shape)
            return out, []

        b = Builder(self.b.scope)
        b.turns(values[:many], values[many:], self.b.type(op.operands[0]).shape[axis], turn)
        return (reverse_control if self.reverse else forward_control)(self, b.operations[-1])

    def updated(self, op):
        """The loop over the updates that the scatter is."""
        many, axis = len(op.types), op.attributes["axis"]
        at = op.operands[many]
        values, updates = op.operands[:many], op.operands[many + 1:]
        if self.b.type(values[0]).shape[axis] == 0:
            return values
        moved = self.noted(lambda b: [b.moved(v, axis, 0) for v in [*values, *updates]])

        def turn(inner, carried, parts):
            def row(v):
                return inner.reshape(v, (1, *inner.type(v).shape))

            index, block = row(parts[0]), self.b.scope.renamed(op.blocks[0], {})
            both = [inner.gather(v, index, 0) for v in carried] + [row(v) for v in parts[1:]]
            names = dict(zip((name for name, _ in block.arguments), both))
            made = whole_block(inner, block, names, inner.type(both[0]).shape)
            return [inner.scatter(v, index, one, 0, None) for v, one in zip(carried, made)], []

        b = Builder(self.b.scope)
        b.turns(moved[:many], [at, *moved[many:]], self.b.type(at).shape[0], turn)
        results = (reverse_control if self.reverse else forward_control)(self, b.operations[-1])
        return self.noted(lambda b: [b.moved(v, 0, axis) for v in results])

    def sorted(self, op):
        """Positions are sorted, too, and what flows is gathered at them."""
        axis, last = op.attributes["axis"], len(op.types[0].shape) - 1
        block, many = op.blocks[0], len(op.operands)
        place = Type("i32", ())
        arguments = [*block.arguments[:many], (self.b.scope.fresh(place), place), *block.arguments[many:], (self.b.scope.fresh(place), place)]
        number = self.b.iota(op.types[0].shape, axis)
        results = self.b.emit("sort", [*op.operands, number], [*op.types, self.b.type(number)], [Block(arguments, block.operations)], axis=axis)

        def taken(b, v):
            rows, at = b.moved(v, axis, last), b.moved(results[-1], axis, last)
            return b.moved(b.gather(rows, at, last, last), last, axis)

        return [self.noted(lambda b, v=v: taken(b, v)) if v in self.active else r for v, r in zip(op.operands, results)]

    def note(self, op):
        name = name_of(op)
        if name in rules.ZERO or not any(o in self.active for o in op.operands) or not self.is_float(op.results[0]):
            return
        if self.reverse:
            self.tape.append(op)
        else:
            self.tangents[op.results[0]] = rules.FORWARD[name](self.b, op, [self.tangents.get(o) for o in op.operands])
        self.activate(op.results)

    def ruled(self, op):
        """A function with a rule: in the rule's direction nothing flows through it but by the rule."""
        a = op.attributes
        if not any(op.operands[i] in self.active for i in a["wrt"]):
            self.b.operations.append(op)
            return op.results
        if not self.reverse and op.name == "tessera.custom_vjp":
            return self.run(op.blocks[0], op.operands)
        results = placed(self.b, op.blocks[0], op.operands)
        if self.reverse:
            self.tape.append(Operation(op.name, op.operands, a, results, op.types, op.blocks))
        else:
            given = [self.tangent(op.operands[i]) for i in a["wrt"]]
            made = placed(self.b, op.blocks[1], [*op.operands, *results, *given])
            self.tangents.update(zip((results[i] for i in a["of"]), made))
        self.activate([results[i] for i in a["of"]])
        return results


def whole_block(b, block, names, shape):
    """A block of scalars on tensors of one shape; its results."""
    for op in block.operations[:-1]:
        made = b.emit(name_of(op), [names.get(o, o) for o in op.operands], [Type(t.element, shape if op.operands else ()) for t in op.types],
                      **op.attributes)
        names.update(zip(op.results, (m if op.operands else b.broadcast(m, shape, []) for m in made)))
    return [names.get(o, o) for o in block.operations[-1].operands]


def forward(b, op):
    """Operands: tangents of the arguments `wrt`, and the arguments; results: the block's, and tangents of those `of`."""
    d, a = Derivation(b, False), op.attributes
    given, values = op.operands[:len(a["wrt"])], own_values(b, op.operands[len(a["wrt"]):], a["wrt"])
    for i, t in zip(a["wrt"], given):
        d.tangents[values[i]] = t
        d.active.add(values[i])
    results = d.run(op.blocks[0], values)
    return results + [d.tangent(results[i]) for i in a["of"]]


def own_values(b, values, wrt):
    """Arguments that something flows from are values of their own, if they are given one value."""
    return [b.reshape(v, b.type(v).shape) if i in wrt and values.count(v) > 1 else v for i, v in enumerate(values)]


def reverse(b, op):
    a = op.attributes
    given, values = op.operands[:len(a["of"])], op.operands[len(a["of"]):]
    cotangents = dict(zip(a["of"], given))
    results, pulled = pull(b, op.blocks[0], values, a["wrt"], cotangents)
    return results + [of_shards(b, v, values[i]) if v else b.zeros(b.type(values[i])) for i, v in zip(a["wrt"], pulled)]


def of_shards(b, cotangent, v):
    """Within shards that of all, where `v` is alike on them (docs/collectives.md)."""
    return b.el("cotangent", cotangent, v) if b.scope.shards else cotangent


def pull(b, block, values, wrt, cotangents):
    """The block's results, and the cotangents of its arguments `wrt`, None where nothing flows."""
    d = Derivation(b, True)
    values = own_values(b, values, wrt)
    d.active.update(values[i] for i in wrt)
    results = d.run(block, values)
    contributions = {}

    def contribute(v, t):
        if t and v in d.active:
            contributions.setdefault(v, []).append(t)

    def cotangent(v):
        found = list(reversed(contributions.get(v, [])))
        return rules.chain(b, [of_shards(b, one, v) for one in found] if len(found) > 1 else found)

    for i in reversed(range(len(results))):
        given = cotangents.get(i)
        contribute(results[i], b.el("vary", given, results[i]) if given and b.scope.shards else given)
    for op in reversed(d.tape):
        given = [cotangent(r) for r in op.results]
        if not any(given):
            continue
        wanted = [o in d.active for o in op.operands]
        name = name_of(op)
        special = {"custom_vjp": ruled_reverse, "custom_jvp": linear_reverse, "loop": loop_back, "if": branch_back, "shard": shard_back}.get(name)
        out = special(b, op, given, wanted) if special else rules.REVERSE[name](b, op, given[0], wanted)
        for o, t in reversed(list(zip(op.operands, out))):
            contribute(o, t)
    return results, [cotangent(values[i]) for i in wrt]


def ruled_reverse(b, op, given, wanted):
    a = op.attributes
    cotangents = [given[i] or b.zeros(b.type(op.results[i])) for i in a["of"]]
    made = placed(b, op.blocks[1], [*op.operands, *op.results, *cotangents])
    return [made[a["wrt"].index(i)] if i in a["wrt"] else None for i in range(len(op.operands))]


def linear_reverse(b, op, given, wanted):
    """The rule of tangents, taken back at tangents of 0."""
    a = op.attributes
    zeros = [b.zeros(b.type(op.operands[i])) for i in a["wrt"]]
    known = len(op.operands) + len(op.results)
    of = {k: given[i] for k, i in enumerate(a["of"]) if given[i]}
    _, made = pull(b, op.blocks[1], [*op.operands, *op.results, *zeros], [known + i for i in range(len(zeros))], of)
    return [made[a["wrt"].index(i)] if i in a["wrt"] else None for i in range(len(op.operands))]


# ---- loops and branches


def floats(b, names):
    return [i for i, v in enumerate(names) if formats.is_float(b.type(v).element)]


def arguments(b, types):
    return [(b.scope.fresh(t), t) for t in types]


def turn(b, block, of, kind, before, values, wrt):
    """The transform of a block, expanded: its results, and the derivatives."""
    op = Operation("tessera." + kind, [*before, *values], {"wrt": wrt, "of": of}, [], [], [b.scope.copy(block)])
    return (forward if kind == "jvp" else reverse)(b, op)


def forward_control(d, op):
    ways = {"loop": forward_loop, "if": forward_branch, "while": forward_branch, "shard": forward_shard}
    return ways.get(name_of(op), refuse)(d, op)


def refuse(d, op):
    raise HasBlocks(op.name)


def with_tangents(d, op, to_all):
    return [i for i, v in enumerate(op.operands) if d.is_float(v) and (to_all(i) or v in d.tangents)]


def note_pairs(d, results, pairs):
    """(number of a result, what is its tangent)"""
    d.tangents.update((results[i], t) for i, t in pairs)
    d.activate(results)
    return results


def forward_loop(d, op):
    b, a = d.b, op.attributes
    carried, behind = a["carried"], a["carried"] + a["sliced"]
    pairs = with_tangents(d, op, lambda i: i < carried)
    parts = [range(0, carried), range(carried, behind), range(behind, len(op.operands))]
    block, end = op.blocks[0], op.blocks[0].operations[-1]
    inner, values, before, given, names = Builder(b.scope), {}, {}, [], []
    names += arguments(b, [Type("i32", ())])
    values[0] = names[0][0]
    for part in parts:
        given += [op.operands[i] for i in part] + [d.tangent(op.operands[i]) for i in part if i in pairs]
        own = arguments(b, [block.arguments[1 + i][1] for i in part])
        tangents = arguments(b, [block.arguments[1 + i][1] for i in part if i in pairs])
        values |= {1 + i: name for i, (name, _) in zip(part, own)}
        before |= {i: name for i, (name, _) in zip([i for i in part if i in pairs], tangents)}
        names += own + tangents
    of = floats(b, end.operands)
    made = turn(inner, block, of, "jvp", [before[i] for i in pairs], [values[i] for i in range(len(values))], [1 + i for i in pairs])
    count, order = len(end.operands), []
    for part in (range(0, carried), range(carried, count)):
        order += list(part) + [count + of.index(i) for i in part if i in of]
    inner.emit("next", [made[i] for i in order], [])
    types = [op.types[i] if i < count else op.types[of[i - count]] for i in order]
    more = [sum(i in pairs for i in part) for part in parts]
    results = b.emit("loop", given, types, [Block(names, inner.operations)], carried=carried + more[0], sliced=a["sliced"] + more[1],
                     count=a["count"])
    where = {i: results[order.index(i)] for i in order}
    return note_pairs(d, [where[i] for i in range(count)], [(i, where[count + k]) for k, i in enumerate(of)])


def forward_branch(d, op):
    b, loop = d.b, name_of(op) == "while"
    first = 0 if loop else 1
    pairs = with_tangents(d, op, lambda i: loop)
    given = [*op.operands, *(d.tangent(op.operands[i]) for i in pairs)]
    blocks = []
    for k, block in enumerate(op.blocks):
        names = arguments(b, [b.type(v) for v in given[first:]])
        inner, many = Builder(b.scope), len(op.operands) - first
        plain = [name for name, _ in names[:many]]
        if loop and k == 0:
            inner.emit("next", placed(inner, block, plain), [])
        else:
            of = floats(b, block.operations[-1].operands)
            inner.emit("next", turn(inner, block, of, "jvp", [name for name, _ in names[many:]], plain, [i - first for i in pairs]), [])
        blocks.append(Block(names, inner.operations))
    types = list(op.types)
    of = [i for i, t in enumerate(types) if formats.is_float(t.element)]
    results = b.emit(name_of(op), given, types + [types[i] for i in of], blocks, **op.attributes)
    return note_pairs(d, results[:len(types)], zip(of, results[len(types):]))


def reverse_control(d, op):
    b = d.b
    if name_of(op) in ("if", "shard"):
        b.operations.append(op)
    elif name_of(op) == "loop":
        op = kept_loop(b, op)
    else:
        refuse(d, op)
    d.tape.append(op)
    d.activate(op.results)
    return op.results


def kept_loop(b, op):
    """The loop, which also stacks what each turn begins with."""
    carried, count = op.attributes["carried"], op.attributes["count"]
    block = op.blocks[0]
    starts = [name for name, _ in block.arguments[1:1 + carried]]
    end = block.operations[-1]
    more = Operation(end.name, [*end.operands, *starts], {}, [], [])
    types = [Type(t.element, (count, *t.shape)) for _, t in block.arguments[1:1 + carried]]
    results = op.results + [b.scope.fresh(t) for t in types]
    b.operations.append(Operation(op.name, op.operands, op.attributes, results, op.types + types,
                                  [b.scope.copy(Block(block.arguments, [*block.operations[:-1], more]))]))
    return Operation(op.name, op.operands, op.attributes, results, op.types, op.blocks)


def loop_back(b, op, given, wanted):
    a, block = op.attributes, op.blocks[0]
    carried, behind, count = a["carried"], a["carried"] + a["sliced"], a["count"]
    end = block.operations[-1]
    own = len(end.operands)
    ways = [i for i in range(carried) if formats.is_float(b.type(op.operands[i]).element)]
    parts = [i for i in range(carried, behind) if wanted[i]]
    wholes = [i for i in range(behind, len(op.operands)) if wanted[i]]
    stacks = [i for i in range(carried, own) if given[i]]
    taken = [given[i] or b.zeros(b.type(op.operands[i])) for i in ways] + [b.zeros(b.type(op.operands[i])) for i in wholes]
    sliced = [b.turned(v, 0) for v in [*op.results[own:], *op.operands[carried:behind], *(given[i] for i in stacks)]]
    inner = Builder(b.scope)
    kinds = dict(enumerate(t for _, t in block.arguments[1:]))
    number, = arguments(b, [Type("i32", ())])
    ways_in, sums = arguments(b, [kinds[i] for i in ways]), arguments(b, [kinds[i] for i in wholes])
    starts = arguments(b, [kinds[i] for i in range(behind)])
    stacked = arguments(b, [b.type(end.operands[i]) for i in stacks])
    all_turns = arguments(b, [kinds[i] for i in range(behind, len(op.operands))])
    at = inner.sub(inner.like(count - 1, number[0]), number[0])
    cotangents = dict(zip(ways, (n for n, _ in ways_in))) | dict(zip(stacks, (n for n, _ in stacked)))
    of = floats(b, end.operands)
    before = [cotangents[i] if i in cotangents else inner.zeros(b.type(end.operands[i])) for i in of]
    wrt = ways + parts + wholes
    made = turn(inner, block, of, "vjp", before, [at, *(n for n, _ in starts), *(n for n, _ in all_turns)], [1 + i for i in wrt])[own:]
    by = dict(zip(wrt, made))
    added = [inner.add(n, by[i]) for (n, _), i in zip(sums, wholes)]
    inner.emit("next", [*(by[i] for i in ways), *added, *(by[i] for i in parts)], [])
    types = [b.type(v) for v in taken] + [b.type(op.operands[i]) for i in parts]
    results = b.emit("loop", [*taken, *sliced, *op.operands[behind:]], types,
                     [Block([number, *ways_in, *sums, *starts, *stacked, *all_turns], inner.operations)],
                     carried=len(taken), sliced=len(sliced), count=count)
    out = dict(zip([*ways, *wholes], results)) | {i: b.turned(r, 0) for i, r in zip(parts, results[len(taken):])}
    return [out.get(i) for i in range(len(op.operands))]


def branch_back(b, op, given, wanted):
    of = floats(b, op.results)
    wrt = [i for i in range(1, len(op.operands)) if wanted[i]]
    cotangents = [given[i] or b.zeros(b.type(op.results[i])) for i in of]
    blocks = []
    for block in op.blocks:
        inner = Builder(b.scope)
        names = arguments(b, [b.type(v) for v in [*op.operands[1:], *cotangents]])
        values, before = [n for n, _ in names[:len(op.operands) - 1]], [n for n, _ in names[len(op.operands) - 1:]]
        inner.emit("next", turn(inner, block, of, "vjp", before, values, [i - 1 for i in wrt])[len(op.results):], [])
        blocks.append(Block(names, inner.operations))
    results = b.emit("if", [*op.operands, *cotangents], [b.type(op.operands[i]) for i in wrt], blocks)
    out = dict(zip(wrt, results))
    return [out.get(i) for i in range(len(op.operands))]


# ---- shards from outside: shards of derivatives


def shards(b, op, kind, more, wrt, first):
    """Shards of a derivative of the block: `more` are tangents or cotangents with a mark of those that are sliced; of the results those from
    `first` on."""
    a, block = op.attributes, op.blocks[0]
    cut = a["sliced"]
    operands = [(v, i < cut) for i, v in enumerate(op.operands)] + more
    own = [t for _, t in block.arguments] + [Type(b.type(v).element, b.type(v).shape[1 if sliced else 0:]) for v, sliced in more]
    names = arguments(b, own)
    order = [i for i, (_, sliced) in enumerate(operands) if sliced] + [i for i, (_, sliced) in enumerate(operands) if not sliced]
    inner, of = Builder(b.scope), floats(b, block.operations[-1].operands)
    plain, before = [n for n, _ in names[:len(op.operands)]], [n for n, _ in names[len(op.operands):]]
    b.scope.shards += 1
    made = turn(inner, block, of, kind, before, plain, wrt)[first:]
    b.scope.shards -= 1
    inner.emit("next", made, [])
    if kind == "jvp":
        like = [*range(len(op.results)), *of]
        types, whole = [op.types[i] for i in like], [k for k, i in enumerate(like) if i in a.get("whole", [])]
    else:
        types, whole = [b.type(op.operands[i]) for i in wrt], [k for k, i in enumerate(wrt) if i >= cut]
    return b.emit("shard", [operands[i][0] for i in order], types, [Block([names[i] for i in order], inner.operations)], axis=a["axis"],
                  count=a["count"], sliced=sum(sliced for _, sliced in operands), whole=whole)


def forward_shard(d, op):
    wrt = [i for i, v in enumerate(op.operands) if v in d.tangents]
    more = [(d.tangent(op.operands[i]), i < op.attributes["sliced"]) for i in wrt]
    results, count = shards(d.b, op, "jvp", more, wrt, 0), len(op.results)
    return note_pairs(d, results[:count], zip(floats(d.b, op.results), results[count:]))


def shard_back(b, op, given, wanted):
    of, wrt = floats(b, op.results), [i for i, w in enumerate(wanted) if w]
    whole = op.attributes.get("whole", [])
    more = [(given[i] or b.zeros(b.type(op.results[i])), i not in whole) for i in of]
    out = dict(zip(wrt, shards(b, op, "vjp", more, wrt, len(op.results))))
    return [out.get(i) for i in range(len(op.operands))]
