"""The results of matrix units, from the table and the rules of docs/numerics.md ("what a matrix unit computes").

Factors are f32 numbers that their type holds; accumulators are f32 numbers of the accumulator's type.
"""
import math
import re

import numpy as np

import formats

F32 = np.float32
LEAST_NORMAL = F32(2.0**-126)
# fraction bits, least normal exponent
FACTORS = {"f16": (10, -14), "bf16": (7, -126), "tf32": (10, -126), "f8e4m3fn": (3, -6), "f8e5m2": (2, -14), "f32": (23, -126)}
LINE = re.compile(r"^\| `([^`]+)` \| (.*) \|$", re.M)


class Unit:
    def __init__(self, cells):
        self.rule, _, self.accumulator = cells[0], cells[1], cells[2]
        self.k, self.step = int(cells[3]), int(cells[4])
        if cells[5]:
            self.fraction, self.least = int(cells[5]), int(cells[6])
            bits, _, self.rounding = cells[7].partition(", ")
            self.result = int(bits)


def read_page(path):
    text = path.read_text()
    table = text[text.index("<!-- tsr-opt --matrix-units -->"):]
    rows = LINE.findall(table[:table.index("<!-- end of the table -->")])
    return {name: Unit([c.strip() for c in rest.split("|")]) for name, rest in rows}


# ---- numbers as integers ----


def parts(x, element, zero):
    """(significand with its sign, exponent): x is significand * 2^(exponent - fraction bits)."""
    bits, least = FACTORS[element]
    if x == 0:
        return 0, zero
    exponent = max(math.frexp(x)[1] - 1, least)
    return int(math.ldexp(x, bits - exponent)), exponent


def cut(value, shift):
    """value * 2^-shift, toward zero."""
    magnitude = abs(value) >> shift if shift >= 0 else abs(value) << -shift
    return -magnitude if value < 0 else magnitude


def down(value, shift):
    return value >> shift if shift >= 0 else value << -shift


def float_of(value, unit, bits, least, nearest):
    """value * 2^unit with `bits` of fraction, as f64; beyond the range it stays what it is."""
    if value == 0:
        return 0.0
    exponent = max(abs(value).bit_length() - 1 + unit, least)
    shift = exponent - bits - unit
    magnitude = abs(value)
    kept = cut(magnitude, shift)
    if nearest and shift > 0:
        rest, half = magnitude - (kept << shift), 1 << (shift - 1)
        kept += rest > half or (rest == half and kept & 1)
    return math.copysign(math.ldexp(float(kept), exponent - bits), value)


def special(a, b, c):
    """The sum where terms are infinite or NaN; None: there are none."""
    terms = [float(c)] + [float(x) * float(y) for x, y in zip(a, b) if not all(map(math.isfinite, (float(x), float(y))))]
    if any(math.isnan(t) for t in terms):
        return math.nan
    signs = {t > 0 for t in terms if math.isinf(t)}
    return None if not signs else math.nan if len(signs) > 1 else math.inf if True in signs else -math.inf


# ---- aligned sums ----


def step_aligned(unit, element, a, b, c):
    odd = special(a, b, c)
    if odd is not None:
        return odd
    nowhere, bits = -10**6, 2 * FACTORS[element][0]
    products = [(p[0] * q[0], p[1] + q[1]) for p, q in ((parts(x, element, nowhere), parts(y, element, nowhere)) for x, y in zip(a, b))]
    c_bits, c_least = FACTORS[unit.accumulator]
    c_part = parts(c, unit.accumulator, nowhere)
    top = max([e for _, e in products] + [c_part[1], unit.least])
    total = sum(cut(p, bits - unit.fraction + top - e) for p, e in products if p)
    total += cut(c_part[0], c_bits - unit.fraction + top - c_part[1])
    result = float_of(total, top - unit.fraction, unit.result, c_least, unit.rounding == "nearest")
    greatest = formats.PRECISION[unit.accumulator][2]
    return math.copysign(math.inf, result) if abs(result) > greatest else result + 0.0


def step_down(unit, element, a, b, c):
    odd = special(a, b, c)
    if odd is not None:
        return odd
    bits = 2 * FACTORS[element][0]
    large = {float(x) * float(y) > 0 for x, y in zip(a, b) if abs(float(x) * float(y)) >= 2.0**128}
    if large:
        return math.nan if len(large) > 1 else math.inf if True in large else -math.inf
    products = [(p[0] * q[0], p[1] + q[1]) for p, q in ((parts(x, element, -126), parts(y, element, -126)) for x, y in zip(a, b))]
    top = max(e for _, e in products)
    total = sum(cut(p, bits - 24 + top - e) for p, e in products)
    c_part = parts(c, "f32", -126)
    both = max(top, c_part[1])
    total = down(total << 7, both - top) + (down(c_part[0] << 1, both - c_part[1]) << 7)
    result = float_of(total, both - 31, 23, -126, True)
    return math.copysign(math.inf, result) if abs(result) > formats.PRECISION["f32"][2] else result


def in_steps(step):
    def run(unit, element, a, b, c):
        for k in range(0, len(a), unit.step):
            c = step(unit, element, a[k:k + unit.step], b[k:k + unit.step], c)
        return c
    return run


# ---- roundings after each operation ----


def flushed(x):
    return F32(math.copysign(0, x)) if abs(x) < LEAST_NORMAL else x


def flushed_fma(x, y, c):
    """As in pairs512."""
    far = formats.fma(F32(x * F32(2.0**64)), F32(y), F32(c * F32(2.0**64)))
    near = formats.fma(F32(x), F32(y), F32(c))
    return F32(math.copysign(0, far)) if abs(far) < F32(2.0**-62) else F32(near)


def tree_of(terms, keep):
    while len(terms) > 1:
        terms = [keep(F32(terms[i] + terms[i + 1])) for i in range(0, len(terms), 2)]
    return terms[0]


def tree(unit, element, a, b, c):
    flushes = unit.rule.endswith("flushed")
    keep = flushed if flushes else F32
    least = 2.0 ** FACTORS[element][1]
    read = (lambda x: F32(0) if abs(x) < least else F32(x)) if flushes else F32
    c = F32(0) if flushes and abs(c) < LEAST_NORMAL else F32(c)
    for k in range(0, len(a), unit.step):
        products = [keep(F32(read(x) * read(y)) + F32(0)) for x, y in zip(a[k:k + unit.step], b[k:k + unit.step])]
        c = keep(F32(c + tree_of(products, keep)))
    return c


def lanes(unit, element, a, b, c):
    sums = [F32(0), F32(0)]
    for k, (x, y) in enumerate(zip(a, b)):
        sums[k % 2] = flushed_fma(flushed(F32(x)), flushed(F32(y)), sums[k % 2])
    return flushed(F32(flushed(F32(c)) + flushed(F32(sums[0] + sums[1]))))


def exact_sum(x, y):
    """x + y of f64 numbers as an integer and its unit; None where they are no numbers."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return None
    (p, q), (r, s) = x.as_integer_ratio(), y.as_integer_ratio()
    scale = max(q.bit_length(), s.bit_length()) - 1
    return (p * (1 << scale) // q) + (r * (1 << scale) // s), -scale


def to_odd(x, y):
    """x + y, cut to 24 bits, the last one set where anything was lost."""
    whole = exact_sum(float(x), float(y))
    if whole is None or whole[0] == 0:
        return F32(float(x) + float(y))
    value, unit = whole
    exponent = abs(value).bit_length() - 1 + unit
    if exponent < -126:
        return F32(math.copysign(0, value))
    if exponent > 127:
        return F32(math.copysign(math.inf, value))
    shift = exponent - 23 - unit
    kept = cut(abs(value), shift)
    kept |= shift > 0 and kept << shift != abs(value)
    return F32(math.copysign(math.ldexp(float(kept), exponent - 23), value))


def pair_to_odd(unit, element, a, b, c):
    even, odd = (to_odd(float(flushed(F32(x))) * float(flushed(F32(y))), math.copysign(0, float(x) * float(y))) for x, y in zip(a, b))
    return to_odd(flushed(F32(c)), to_odd(even, odd))


def pair(unit, element, a, b, c):
    even, odd = (float(x) * float(y) for x, y in zip(a, b))
    whole = exact_sum(even, odd)
    both = F32(even + odd)
    if whole and whole[0]:
        both = F32(float_of(*whole, 23, -126, True))
    return F32(F32(c) + both)


def fused(unit, element, a, b, c):
    for x, y in zip(a, b):
        c = formats.fma(F32(x), F32(y), F32(c))
    return c


# Those of the units that goldens are of.
RULES = {
    "aligned": in_steps(step_aligned), "down": in_steps(step_down), "tree, flushed": tree, "lanes": lanes, "to odd": pair_to_odd,
    "pair": pair, "fma": fused,
}


def contract(unit, element, a, b):
    """[batch, M, K] by [batch, K, N] of f32 numbers of that type, as the unit adds them."""
    rule, missing = RULES[unit.rule], -a.shape[2] % unit.k
    a = np.pad(a, ((0, 0), (0, 0), (0, missing)))
    b = np.pad(b, ((0, 0), (0, missing), (0, 0)))
    out = np.zeros((a.shape[0], a.shape[1], b.shape[2]), np.float32)
    for at in np.ndindex(*out.shape):
        c = F32(0)
        for k in range(0, a.shape[2], unit.k):
            c = rule(unit, element, a[at[0], at[1], k:k + unit.k], b[at[0], k:k + unit.k, at[2]], c)
        out[at] = c
    return out
