"""Operations of Graph IR, built one after the other: values are names, and a scope knows their types."""
import itertools

import numpy as np

import formats
from graph import Block, Operation, Type


class Scope:
    """Names and types of all values of a kernel."""

    def __init__(self, kernel):
        self.types, self.numbers, self.shards = {}, itertools.count(), 0  # shards: how many are around what is built
        self.note(Block(kernel.arguments, kernel.operations))

    def note(self, block):
        self.types.update(block.arguments)
        for op in block.operations:
            self.types.update(zip(op.results, op.types))
            for inner in op.blocks:
                self.note(inner)

    def fresh(self, of):
        name = f"%d{next(self.numbers)}"
        self.types[name] = of
        return name

    def copy(self, block):
        """The same block of names of its own."""
        return self.renamed(block, {})

    def renamed(self, block, names):
        names = dict(names)
        arguments = []
        for name, of in block.arguments:
            names[name] = self.fresh(of)
            arguments.append((names[name], of))
        return Block(arguments, self.renamed_operations(block.operations, names))

    def renamed_operations(self, operations, names):
        """`names` gets those of the results."""
        out = []
        for op in operations:
            blocks = [self.renamed(b, names) for b in op.blocks]
            operands = [names.get(o, o) for o in op.operands]
            names.update({r: self.fresh(t) for r, t in zip(op.results, op.types)})
            out.append(Operation(op.name, operands, op.attributes, [names[r] for r in op.results], op.types, blocks))
        return out


class Builder:
    def __init__(self, scope, operations=None):
        self.scope, self.operations = scope, [] if operations is None else operations

    def type(self, v):
        return self.scope.types[v]

    def emit(self, name, operands, types, blocks=(), **attributes):
        op = Operation("tessera." + name, list(operands), attributes, [self.scope.fresh(t) for t in types], list(types), list(blocks))
        self.operations.append(op)
        return op.results

    def one(self, name, operands, of, **attributes):
        return self.emit(name, operands, [of], **attributes)[0]

    # element by element

    def el(self, name, *operands):
        return self.one(name, operands, self.type(operands[-1]))

    def add(self, x, y):
        return self.el("add", x, y)

    def sub(self, x, y):
        return self.el("sub", x, y)

    def mul(self, x, y):
        return self.el("mul", x, y)

    def div(self, x, y):
        return self.el("div", x, y)

    def neg(self, x):
        return self.el("neg", x)

    def compare(self, predicate, x, y):
        return self.one("compare", [x, y], Type("bool", self.type(x).shape), predicate=predicate)

    def where(self, condition, x, y):
        return self.el("select", condition, x, y)

    def convert(self, x, element):
        of = self.type(x)
        return x if of.element == element else self.one("convert", [x], Type(element, of.shape), to=element)

    def wide(self, x):
        return self.convert(x, "f32") if formats.is_narrow(self.type(x).element) else x

    def number(self, value, like):
        """A number of a type, rounded once."""
        exact = formats.convert(np.array([value]), "f64", like.element) if formats.is_float(like.element) else np.array([value], np.int32)
        bits = int.from_bytes(formats.to_bytes(exact, like.element), "little")
        scalar = self.one("constant", [], Type(like.element, ()), value=(like.element, bits))
        return self.one("broadcast", [scalar], like, axes=[])

    def like(self, value, x):
        return self.number(value, self.type(x))

    def zeros(self, of):
        return self.number(0, of)

    # movement

    def broadcast(self, x, shape, axes):
        return self.one("broadcast", [x], Type(self.type(x).element, tuple(shape)), axes=list(axes))

    def spread(self, x, like, gone):
        """x, which lacks these axes, along them."""
        shape = self.type(like).shape
        return self.broadcast(x, shape, [i for i in range(len(shape)) if i not in gone])

    def align(self, x, like):
        """x for the last axes."""
        shape, rank = self.type(like).shape, len(self.type(x).shape)
        return self.broadcast(x, shape, range(len(shape) - rank, len(shape)))

    def align_batch(self, x, batch):
        """A matrix for each of a batch, from missing or single leading axes."""
        own = self.type(x).shape
        return self.broadcast(x, tuple(batch) + own[-2:], range(len(batch) + 2 - len(own), len(batch) + 2))

    def reshape(self, x, shape):
        return self.one("reshape", [x], Type(self.type(x).element, tuple(shape)))

    def transpose(self, x, permutation):
        of = self.type(x)
        return self.one("transpose", [x], Type(of.element, tuple(of.shape[p] for p in permutation)), permutation=list(permutation))

    def slice(self, x, start, stop, step):
        of = self.type(x)
        shape = tuple(len(range(*s)) for s in zip(start, stop, step))
        return self.one("slice", [x], Type(of.element, shape), start=list(start), stop=list(stop), step=list(step))

    def slice_axis(self, x, axis, start, stop):
        shape = self.type(x).shape
        return self.slice(x, [start if i == axis else 0 for i in range(len(shape))],
                          [stop if i == axis else n for i, n in enumerate(shape)], [1] * len(shape))

    def concat(self, parts, axis):
        shape = list(self.type(parts[0]).shape)
        shape[axis] = sum(self.type(p).shape[axis] for p in parts)
        return self.one("concat", parts, Type(self.type(parts[0]).element, tuple(shape)), axis=axis)

    def pad(self, x, axis, before, after):
        shape, element = list(self.type(x).shape), self.type(x).element
        around = [shape[:axis] + [n] + shape[axis + 1:] for n in (before, after)]
        return self.concat([self.zeros(Type(element, tuple(around[0]))), x, self.zeros(Type(element, tuple(around[1])))], axis)

    def iota(self, shape, axis):
        return self.one("iota", [], Type("i32", tuple(shape)), axis=axis)

    def gather(self, x, indices, axis, batch_dims=0):
        of, at = self.type(x), self.type(indices).shape
        shape = of.shape[:axis] + at[batch_dims:] + of.shape[axis + 1:]
        return self.one("gather", [x, indices], Type(of.element, shape), axis=axis, batch_dims=batch_dims)

    def turned(self, x, axis):
        """From the last place to the first."""
        length = self.type(x).shape[axis]
        place = self.iota((length,), 0)
        return self.gather(x, self.sub(self.like(length - 1, place), place), axis)

    # sums

    def reduce(self, x, axes, kind="sum", order="lanes64"):
        of = self.type(x)
        shape = tuple(n for i, n in enumerate(of.shape) if i not in axes)
        return self.one("reduce", [x], Type(of.element, shape), kind=kind, axes=list(axes), order=order) if axes else x

    def mean(self, x, axis, order="lanes64"):
        total = self.reduce(x, [axis], order=order)
        return self.div(total, self.like(self.type(x).shape[axis], total))

    def dot(self, x, y, element, third=(), **attributes):
        a, b = self.type(x).shape, self.type(y).shape
        free = [n for i, n in enumerate(a) if i not in attributes["x_batch"] + attributes["x_contract"]]
        free += [n for i, n in enumerate(b) if i not in attributes["y_batch"] + attributes["y_contract"]]
        shape = tuple([a[i] for i in attributes["x_batch"]] + free)
        return self.one("dot", [x, y, *third], Type(element, shape), **attributes)

    def scatter(self, x, indices, updates, axis, how="add"):
        """An operation of what is at the places that indices name and of updates; None: the updates."""
        def one(inner, there, update):
            return [inner.el(how, there[0], update[0]) if how else update[0]]

        return self.scatter_by([x], indices, [updates], axis, one)[0]

    def scatter_pairs(self, pairs, indices, updates, axis):
        """Products, and their tangents, which come out."""
        def one(inner, there, update):
            return [inner.mul(there[0], update[0]), inner.add(inner.mul(there[1], update[0]), inner.mul(there[0], update[1]))]

        return self.scatter_by(pairs, indices, updates, axis, one)[1]

    def scatter_by(self, xs, indices, updates, axis, one):
        scalars = [Type(self.type(x).element, ()) for x in xs]
        there, update = ([(self.scope.fresh(s), s) for s in scalars] for _ in range(2))
        inner = Builder(self.scope)
        inner.emit("next", one(inner, [n for n, _ in there], [n for n, _ in update]), [])
        block = Block(there + update, inner.operations)
        return self.emit("scatter", [*xs, indices, *updates], [self.type(x) for x in xs], [block], axis=axis)

    def turns(self, carried, parts, count, one):
        """A loop that carries values, and takes a part of others in each turn; `one` gives what is carried on, and what is stacked."""
        names = [(self.scope.fresh(t), t) for t in
                 [Type("i32", ())] + [self.type(v) for v in carried] + [Type(self.type(v).element, self.type(v).shape[1:]) for v in parts]]
        inner, inside = Builder(self.scope), [name for name, _ in names[1:]]
        on, stacked = one(inner, inside[:len(carried)], inside[len(carried):])
        inner.emit("next", [*on, *stacked], [])
        types = [self.type(v) for v in carried] + [Type(self.type(v).element, (count, *self.type(v).shape)) for v in stacked]
        return self.emit("loop", [*carried, *parts], types, [Block(names, inner.operations)], carried=len(carried), sliced=len(parts), count=count)

    def moved(self, x, at, to):
        """One axis at another place."""
        order = [i for i in range(len(self.type(x).shape)) if i != at]
        order.insert(to, at)
        return x if at == to else self.transpose(x, order)
