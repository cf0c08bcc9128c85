"""Graph IR as text (docs/ir.md) to a list of operations. Dimensions that are expressions are evaluated at once."""
import re
import struct
from dataclasses import dataclass, field

TYPE_NAMES = {"ui64": "u64", "ui32": "u32", "ui16": "u16", "ui8": "u8", "f8E4M3FN": "f8e4m3fn", "f8E5M2": "f8e5m2", "i1": "bool"}
TOKEN = re.compile(r'->|#tessera\.(?:bits|dims?)|"(?:[^"\\]|\\.)*"|[%^]?[\w.?-]+(?:#\d+)?|<\{|\}>|[\[\]{}()<>,:=]')


@dataclass
class Type:
    element: str
    shape: tuple


@dataclass
class Operation:
    name: str
    operands: list
    attributes: dict
    results: list  # names
    types: list = field(default_factory=list)  # of the results
    blocks: list = field(default_factory=list)


@dataclass
class Block:
    arguments: list  # (name, Type)
    operations: list


class Parser:
    def __init__(self, text, dims):
        self.tokens, self.at, self.dims = TOKEN.findall(text), 0, dims
        # Behind the module the bytes of constants, each behind an alignment of 4 bytes.
        found = re.findall(r'([\w.$]+): "0x([0-9A-Fa-f]*)"', text.partition("\n{-#")[2])
        self.resources = {key: bytes.fromhex(digits)[4:] for key, digits in found}

    def peek(self):
        return self.tokens[self.at]

    def next(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise ValueError(f"'{wanted}' expected before '{' '.join(self.tokens[self.at:self.at + 8])}'")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def several(self, close, one):
        items = []
        while not self.accept(close):
            items.append(one())
            self.accept(",")
        return items

    def dimension(self, words):
        """`2*N`, `N + 3`, `floordiv(M + 1, 2)`: integers, symbols, + - * and parentheses."""
        words, floordiv = words.strip('"'), lambda x, y: x // y
        return int(eval(words, {"__builtins__": {}, "floordiv": floordiv}, dict(self.dims)))

    def type(self):
        word = self.next()
        if word != "tensor":
            return TYPE_NAMES.get(word, word)
        self.next("<")
        *entries, element = re.fullmatch(r"((?:(?:\?|\d+)x)*)(\w+)", self.next()).groups()
        shape = [int(d) if d != "?" else None for d in entries[0].split("x")[:-1]]
        if self.accept(","):
            self.next("#tessera.dims")
            self.next("<")
            shape = self.several(">", lambda: self.dimension(self.next()))
        self.next(">")
        return Type(TYPE_NAMES.get(element, element), tuple(shape))

    def value(self):
        token = self.next()
        if token == "[":
            return self.several("]", self.value)
        if token.startswith('"'):
            return token[1:-1]
        if token in ("true", "false"):
            return token == "true"
        if token == "#tessera.dim":
            self.next("<")
            found = self.dimension(self.next())
            self.next(">")
            return found
        if token == "#tessera.bits":
            self.next("<")
            element = TYPE_NAMES.get(self.peek(), self.peek())
            self.next()
            self.next(",")
            bits = int(self.next(), 16)
            self.next(">")
            return element, bits
        if token == "dense_resource":
            self.next("<")
            bytes_of = self.resources[self.next()]
            self.next(">")
            self.next(":")
            self.type()
            return bytes_of
        if re.fullmatch(r"-?\d+", token):
            if self.accept(":"):
                self.next()
            return int(token)
        return TYPE_NAMES.get(token, token)

    def attribute(self):
        name = self.next()
        self.next("=")
        return name, self.value()

    def attributes(self):
        return dict(self.several("}>", self.attribute)) if self.accept("<{") else {}

    def operation(self):
        names = []
        if self.peek().startswith("%"):
            name, count = self.next(), 1
            if self.accept(":"):
                count = int(self.next())
            names = [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
            self.next("=")
        name = self.next().strip('"')
        self.next("(")
        op = Operation(name, self.several(")", self.next), self.attributes(), names)
        if name == "tessera.call":
            raise HasBlocks(name)
        if self.accept("("):
            op.blocks = self.several(")", self.block)
        self.next(":")
        self.next("(")
        self.several(")", self.type)
        self.next("->")
        op.types = self.several(")", self.type) if self.accept("(") else [self.type()]
        return op


    def block(self):
        self.next("{")
        arguments, operations = [], []
        if self.peek().startswith("^"):
            self.next()
            self.next("(")
            arguments = self.several(")", self.argument)
            self.next(":")
        while not self.accept("}"):
            operations.append(self.operation())
        return Block(arguments, operations)

    def argument(self):
        name = self.next()
        self.next(":")
        return name, self.type()


class HasBlocks(Exception):
    """An operation with blocks that are not for loops, branches, scatters or transforms, or a call: no page gives its numbers apart from theirs."""


@dataclass
class Kernel:
    attributes: dict
    arguments: list  # (name, Type)
    operations: list


def parse(text, dims):
    p = Parser(text, dims)
    while p.next() != '"tessera.kernel"':
        pass
    p.next("(")
    p.next(")")
    attributes = p.attributes()
    p.next("(")
    block = p.block()
    return Kernel(attributes, block.arguments, block.operations)


def f64_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]
