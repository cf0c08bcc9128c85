"""The specified functions, from docs/functions.md alone; and the correctly rounded ones, by value."""
import decimal
import re

import numpy as np

import formats

U32 = np.uint64(0xFFFFFFFF)


def unsigned(a):
    return np.asarray(a).astype(np.int64).astype(np.uint64) & U32


def signed(a):
    return (a & U32).astype(np.uint32).view(np.int32)


def shift(a, b, left):
    by, value = unsigned(b), unsigned(a)
    small = np.minimum(by, np.uint64(31))
    return signed(np.where(by > np.uint64(31), np.uint64(0), value << small if left else value >> small))


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sqrt": np.sqrt,
    "fma": formats.fma,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "unordered": lambda a, b: np.isnan(a) | np.isnan(b),
    "select": np.where,
    "logic_and": np.logical_and,
    "logic_or": np.logical_or,
    "iadd": lambda a, b: signed(unsigned(a) + unsigned(b)),
    "isub": lambda a, b: signed(unsigned(a) - unsigned(b)),
    "imul": lambda a, b: signed(unsigned(a) * unsigned(b)),
    "umulh": lambda a, b: signed(unsigned(a) * unsigned(b) >> np.uint64(32)),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: shift(a, b, True),
    "ushr": lambda a, b: shift(a, b, False),
    "shr": lambda a, b: a >> b,
    "ilt": lambda a, b: a < b,
    "ieq": lambda a, b: a == b,
    "to_bits": lambda a: np.ascontiguousarray(a).view(np.int32),
    "from_bits": lambda a: np.ascontiguousarray(a).view(np.float32),
    "to_int": lambda a: a.astype(np.int32),
    "to_float": lambda a: a.astype(np.float32),
    "dadd": lambda a, b: a + b,
    "dsub": lambda a, b: a - b,
    "dmul": lambda a, b: a * b,
    "ddiv": lambda a, b: a / b,
    "dsqrt": np.sqrt,
    "dfma": formats.fma,
    "dlt": lambda a, b: a < b,
    "deq": lambda a, b: a == b,
    "dunordered": lambda a, b: np.isnan(a) | np.isnan(b),
    "ladd": lambda a, b: a + b,
    "lsub": lambda a, b: a - b,
    "lmul": lambda a, b: a * b,
    "land": lambda a, b: a & b,
    "lor": lambda a, b: a | b,
    "lxor": lambda a, b: a ^ b,
    "leq": lambda a, b: a == b,
    "lshl": lambda a, b: a << b,
    "lshr": lambda a, b: a >> b,
    "lushr": lambda a, b: (a.view(np.uint64) >> b.view(np.uint64)).view(np.int64),
    "dto_bits": lambda a: np.ascontiguousarray(a).view(np.int64),
    "dfrom_bits": lambda a: np.ascontiguousarray(a).view(np.float64),
}
CONSTANTS = {"f32": (np.uint32, np.float32), "i32": (np.uint32, np.int32), "f64": (np.uint64, np.float64), "i64": (np.uint64, np.int64)}


def operand(word, names, like):
    if word in names:
        return names[word]
    kind, bits = word.split(":")
    stored, read = CONSTANTS[kind]
    return np.full(like.shape, int(bits, 16), stored).view(read)


def read_page(path):
    """name, of f64 with ":f64" behind it -> list of (result, operation, operands): first ("arguments", "", names), last ("return", name, [])."""
    sequences, name = {}, None
    for line in open(path, encoding="utf-8"):
        words = line.partition("#")[0].split() if not line.startswith("#") else []
        heading = re.fullmatch(r"## `(\w+)(?:\((\w+), (\w+)\))?`( of f64)?\n", line)
        if heading:
            name = heading[1] + (":f64" if heading[4] else "")
            sequences[name] = [("arguments", "", [heading[2], heading[3]] if heading[2] else ["x"])]
        elif name and words and words[0] == "return":
            sequences[name].append(("return", words[1], []))
        elif name and len(words) > 2 and words[1] == "=":
            sequences[name].append((words[0], words[2], words[3:]))
    return sequences


def run(sequence, *arguments):
    x, names = arguments[0], {}
    for result, operation, operands in sequence:
        if result == "arguments":
            names.update(zip(operands, arguments, strict=True))
            continue
        if result == "return":
            return np.ascontiguousarray(names[operation])
        names[result] = OPERATIONS[operation](*[operand(w, names, x) for w in operands])
    raise ValueError("the sequence returns nothing")


# ---- correctly rounded: 60 digits more than the argument reduction needs, then one rounding ----

decimal.getcontext().prec = 120
D = decimal.Decimal


def pi():
    """Computes pi by Machin's formula."""
    def arctan_inverse(n):
        term = total = D(1) / n
        k, square = 1, n * n
        while abs(term) > D(10) ** -125:
            term /= -square
            k += 2
            total += term / k
        return total

    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


PI = pi()


def series_sin(r):
    term = total = r
    n = 1
    while term and abs(term) > D(10) ** -110:
        term *= -r * r / ((n + 1) * (n + 2))
        n += 2
        total += term
    return total


def exact_sin(x, quarters):
    turns = (x / (PI / 2)).to_integral_value()
    r = x - turns * (PI / 2)
    quarter = (int(turns) + quarters) % 4
    value = series_sin(r) if quarter % 2 == 0 else series_sin(PI / 2 - abs(r))
    return -value if quarter > 1 else value


def exact_erf(x):
    if abs(x) > 6:
        return D(1).copy_sign(x) - D(10) ** -30 * (1 if x > 0 else -1)
    term = total = x
    n = 0
    while term and abs(term) > D(10) ** -110:
        n += 1
        term *= -x * x / n
        total += term / (2 * n + 1)
    return 2 * total / PI.sqrt()


def exact_exp(x):
    return D(0) if x < -400 else D("Infinity") if x > 400 else x.exp()


def exact_tanh(x):
    e = exact_exp(2 * x)
    return D(1) if e == D("Infinity") else (e - 1) / (e + 1)


LN2 = D(2).ln()
EXACT = {
    "exp": exact_exp,
    "exp2": lambda x: exact_exp(x * LN2),
    "expm1": lambda x: exact_exp(x) - 1,
    "log": lambda x: x.ln(),
    "log2": lambda x: x.ln() / LN2,
    "log1p": lambda x: (1 + x).ln(),
    "tanh": exact_tanh,
    "erf": exact_erf,
    "logistic": lambda x: 1 / (1 + exact_exp(-x)),
    "sin": lambda x: exact_sin(x, 0),
    "cos": lambda x: exact_sin(x, 1),
    "rsqrt": lambda x: 1 / x.sqrt(),
}
INF, NAN = float("inf"), float("nan")


def nearest_f32(value):
    """A Decimal as the nearest f32, ties to even."""
    if value == 0 or value.is_infinite():
        return float(value)
    numerator, denominator = abs(value).as_integer_ratio()
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator < denominator << exponent if exponent >= 0 else numerator << -exponent < denominator:
        exponent -= 1
    shift_by = 23 - max(exponent, -126)
    if shift_by >= 0:
        numerator <<= shift_by
    else:
        denominator <<= -shift_by
    whole, rest = divmod(numerator, denominator)
    whole += 2 * rest > denominator or (2 * rest == denominator and whole & 1)
    magnitude = float(whole) * 2.0**-shift_by
    return float(np.copysign(INF if magnitude > formats.PRECISION["f32"][2] else magnitude, float(value.copy_sign(value) > 0) - 0.5))


def special_value(name, x):
    """A result that is no number, or has a sign that the exact value lacks; None elsewhere."""
    if x != x:
        return NAN
    if abs(x) == INF:
        table = {"sin": NAN, "cos": NAN, "erf": np.copysign(1, x), "tanh": np.copysign(1, x)}
        positive = {"exp": INF, "exp2": INF, "expm1": INF, "log": INF, "log2": INF, "log1p": INF, "logistic": 1, "rsqrt": 0.0}
        negative = {"exp": 0.0, "exp2": 0.0, "expm1": -1, "logistic": 0.0}
        return table[name] if name in table else positive[name] if x > 0 else negative.get(name, NAN)
    if x == 0 and name in ("expm1", "log1p", "tanh", "erf", "sin"):
        return x
    if name in ("log", "log2", "rsqrt") and x == 0:
        return np.copysign(INF, x) if name == "rsqrt" else -INF
    if name in ("log", "log2", "rsqrt") and x < 0 or name == "log1p" and x < -1:
        return NAN
    return -INF if name == "log1p" and x == -1 else None


def correct(name, x):
    def one(value):
        known = special_value(name, value)
        return nearest_f32(EXACT[name](D(value))) if known is None else known

    flat = [one(float(v)) for v in x.ravel()]
    return np.array(flat, np.float64).reshape(x.shape).astype(np.float32)
