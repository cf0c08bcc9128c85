"""The cases of a source (docs/language.md, Cases), read with Python's own parser."""
import ast
import operator
import re

ELEMENT_TYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3fn", "f8e5m2", "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8",
                 "bool")
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
          ast.Div: operator.truediv, ast.Pow: operator.pow}
DEFAULTS = {"i8": ("integers", -128, 128), "i4": ("integers", -8, 8), "u8": ("integers", 0, 256), "bool": ("integers", 0, 2),
            **{wide: ("integers", 0, 100) for wide in ("i64", "i32", "i16", "u64", "u32", "u16")}}


def number(node, names):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return number(ast.parse(node.value, mode="eval").body, names)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return {"inf": float("inf"), "nan": float("nan")}.get(node.id, names.get(node.id))
    if isinstance(node, ast.UnaryOp):
        return -number(node.operand, names)
    return BINARY[type(node.op)](number(node.left, names), number(node.right, names))


def distribution(node, names):
    kind = node.func.id
    values = [number(a, names) for a in node.args]
    if kind == "normal":
        given = {k.arg: number(k.value, names) for k in node.keywords}
        values += [given.get(n, d) for n, d in (("mean", 0), ("stddev", 1))][len(values):]
    return {"zeros": ("constant", 0, 0), "ones": ("constant", 1, 0)}.get(kind) or (kind, *(values + [0, 0])[:2])


def plain(annotation):
    """Tensor[...] of Tensor[...] @ sharding(...), which says nothing of bits."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        annotation.slice.elts = [plain(e) if isinstance(e, ast.BinOp) and isinstance(e.left, ast.Subscript) else e for e in annotation.slice.elts]
    return annotation.left if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.MatMult) else annotation


def symbols(kernel):
    """Names in the strings of the annotations, in the order of the source."""
    annotations = [plain(a.annotation) for a in kernel.args.args] + ([plain(kernel.returns)] if kernel.returns else [])
    strings = [n.value for a in annotations for n in ast.walk(a) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return list(dict.fromkeys(name for s in strings for name in re.findall(r"[A-Za-z_]\w*", s)))


class Case:
    def __init__(self, kernel, call, constants):
        self.kernel, self.name, self.symbols = kernel.name, call.args[0].value, symbols(kernel)
        self.dims, self.types, self.inputs, self.large = {}, {}, {}, False
        for k in call.keywords:
            if k.arg == "large":
                self.large = k.value.value
            elif isinstance(k.value, ast.Name) and k.value.id in ELEMENT_TYPES:
                self.types[k.arg] = k.value.id
            elif not isinstance(k.value, ast.Call):
                self.dims[k.arg] = number(k.value, constants)
        for k in call.keywords:
            if isinstance(k.value, ast.Call):
                self.inputs[k.arg] = distribution(k.value, {**constants, **self.dims})

    def distribution_of(self, parameter, element):
        return self.inputs.get(parameter) or DEFAULTS.get(element, ("normal", 0, 1))


def made_of_tiles(function):
    """Such kernels have the bits of others, on tensors (harness/test/cli/test_cli_tiles.sh), or an order that only the interpreter spells."""
    shaped = [plain(p.annotation) for p in function.args.args]
    return any(isinstance(a, ast.Name) or getattr(getattr(a, "value", None), "id", None) != "Tensor" for a in shaped)


def read(path):
    tree = ast.parse(open(path, encoding="utf-8").read())
    constants, found = {}, []
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.BinOp, ast.UnaryOp)):
            try:
                constants[node.targets[0].id] = number(node.value, constants)
            except (KeyError, TypeError):
                continue  # a type with policies, or a schedule
        if isinstance(node, ast.FunctionDef) and node.decorator_list and not made_of_tiles(node):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", None) == "cases":
                    found += [Case(node, call, constants) for call in decorator.args]
    return found
