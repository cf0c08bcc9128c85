"""The results of the kernels of cases/kernels.ll, computed exactly and then rounded once."""
import fractions
import math
import random
import struct


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def rounded(value, fraction_bits=23, least=-149):
    """The nearest float to a fraction, ties to even; far from overflow."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = math.frexp(float(size))[1] if size > fractions.Fraction(1, 2**1000) else -1000
    unit = fractions.Fraction(2) ** max(exponent - fraction_bits - 1, least)
    while size >= unit * 2 ** (fraction_bits + 1):
        unit *= 2
    steps = size / unit
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    half = fractions.Fraction(1, 2)
    whole += rest > half or (rest == half and whole % 2 == 1)
    return math.copysign(float(whole * unit), value)


def fma(a, b, c):
    exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
    return rounded(exact)


def single(value):
    """A double of one operation on singles: its second rounding changes nothing (Figueroa, 1995)."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def packed(values, kind="f"):
    return struct.pack(f"<{len(values)}{kind}", *values)


def numbers(count, seed, low=-1.0, high=1.0):
    draw = random.Random(seed)
    return [single(draw.uniform(low, high)) for _ in range(count)]


def spread(count, seed):
    """Positive numbers of every size, subnormal ones among them."""
    draw = random.Random(seed)
    return [struct.unpack("<f", struct.pack("<I", draw.randrange(1, 0x7F000000)))[0] for _ in range(count)]


def divided(a, b):
    return rounded(fractions.Fraction(a) / fractions.Fraction(b))


def chain(x, y, n):
    a = y
    for _ in range(n):
        a = fma(x, a, y)
    return a


def bf16(value):
    """Rounds a float whose bf16 is no NaN."""
    image = bits(value)
    return (image + 0x7FFF + (image >> 16 & 1)) >> 16
