#!/usr/bin/env python3
"""Prints compiler/math/coefficients.h: the polynomials of the specified functions as f32 constants.

Plain Python, no packages: Remez exchange on a grid in 60-digit decimals. Coefficients are rounded to f32 one after the
other, from the lowest power up, and the rest is fitted again each time, so later coefficients absorb the rounding of
earlier ones. The output is a function of this file alone:

    python3 compiler/math/generate/coefficients.py > compiler/math/coefficients.h
"""
import struct
from decimal import Decimal, getcontext
from functools import lru_cache

getcontext().prec = 60
ONE, TWO = Decimal(1), Decimal(2)
LN2 = TWO.ln()
GRID = 400

# tanh and erf are a polynomial below the split and a function of e^-x above it. The polynomial is in a^2 - centre: its
# variable is small where the result is largest beside its spacing, so that its roundings hardly count there.
TANH_SPLIT, TANH_CENTRE = Decimal("1.046875"), Decimal("0.625")
ERF_SPLIT, ERF_CENTRE = Decimal("1.1875"), Decimal("0.75")


def arctangent_of_inverse(n, one):
    """atan(1/n) in units of 1/one (Gregory's series)."""
    term, total, k = one // n, 0, 1
    while term:
        total += term // k if k % 4 == 1 else -(term // k)
        term //= n * n
        k += 2
    return total


def pi_times(one):
    """J. Machin's formula, right but for the last few units."""
    return 4 * (4 * arctangent_of_inverse(5, one) - arctangent_of_inverse(239, one))


PI = Decimal(pi_times(10 ** 70)) / 10 ** 70


def to_f32(x):
    """Nearest f32 as an exact Decimal; ties cannot happen for these values."""
    return Decimal(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def hex_f32(x):
    mantissa, exponent = float(x).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + str(int(exponent)) + "f"


def cosine(i, n):
    """cos(pi * (i + 1/2) / n): f64 is enough, it only places the grid."""
    import math
    return Decimal(math.cos(math.pi * (i + 0.5) / n))


def solve(matrix, right):
    """Gaussian elimination with partial pivoting."""
    n = len(right)
    rows = [row[:] + [r] for row, r in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    x = [Decimal(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def alternation(errors, count):
    """`count` indices where the errors alternate in sign, as large as possible."""
    runs = []
    for i, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    size = lambda run: abs(errors[runs[run]])
    while len(runs) > count:
        least = min(range(len(runs)), key=size)
        if len(runs) == count + 1 or least in (0, len(runs) - 1):
            runs.pop(0 if size(0) < size(-1) else -1)
        else:  # its neighbours have one sign: the greater of them stays
            del runs[least], runs[least - 1 if size(least - 1) < size(least) else least]
    return runs


def remez(points, values, weights, count):
    """The polynomial of `count` coefficients with the least maximum of weight * |error| over the points."""
    columns = [[x ** p for p in range(count)] for x in points]
    chosen = [round(i * (len(points) - 1) / count) for i in range(count + 1)]
    for _ in range(30):
        matrix = [columns[k] + [(-1) ** i / weights[k]] for i, k in enumerate(chosen)]
        c = solve(matrix, [values[k] for k in chosen])[:-1]
        errors = [w * (v - sum(a * b for a, b in zip(c, col)))
                  for w, v, col in zip(weights, values, columns)]
        following = alternation(errors, count + 1)
        if following == chosen or len(following) <= count:
            break
        chosen = following
    return c


def fit(function, weight, low, high, count):
    """Coefficients rounded to f32, and the weighted error that remains.

    After a coefficient is fixed, what remains is divided by x (and its weight multiplied), so that every problem is an
    ordinary polynomial with a positive weight, also where the interval contains 0."""
    low, high = Decimal(low), Decimal(high)
    points = [(low + high) / 2 - (high - low) / 2 * cosine(i, GRID) for i in range(GRID)]
    rest, weights = [function(x) for x in points], [abs(weight(x)) for x in points]
    rounded = []
    for i in range(count):
        rounded.append(to_f32(remez(points, rest, weights, count - i)[0]))
        rest = [(v - rounded[-1]) / x for v, x in zip(rest, points)]
        weights = [w * abs(x) for w, x in zip(weights, points)]
    return rounded, max(w * abs(v) for w, v in zip(weights, rest))


@lru_cache(None)
def erf(x):
    term, total, n = x, x, 0
    while abs(term) > Decimal("1e-58"):
        n += 1
        term *= -x * x / n
        total += term / (2 * n + 1)
    return total * 2 / PI.sqrt()


def tanh(x):
    e = (2 * x).exp()
    return (e - 1) / (e + 1)


def exp_tail(r):
    """e^r = 1 + r + r^2 * tail"""
    return (r.exp() - 1 - r) / (r * r)


def exp2_tail(r):
    """2^r = 1 + r * tail"""
    return ((r * LN2).exp() - 1) / r


def log2_tail(f):
    """log2(1 + f) = f * LOG2_E + f * tail: the tail begins with what LOG2_E lacks"""
    return (1 + f).ln() / LN2 / f - to_f32(ONE / LN2)


def series(z, first):
    """1 - z/((first+1)(first+2)) + ...: sin(r)/r for first = 1, cos(r) for 0, at z = r^2; less its 1, divided by z"""
    term, total, n = -ONE / ((first + 1) * (first + 2)), Decimal(0), first + 2
    while abs(term) > Decimal("1e-58"):
        total += term
        term *= -z / ((n + 1) * (n + 2))
        n += 2
    return total


def sin_tail(z):
    """sin(r) = r + r z * tail"""
    return series(z, 1)


def cos_tail(z):
    """cos(r) = 1 + z * tail"""
    return series(z, 0)


def log_tail(f):
    """log(1 + f) = f - f^2/2 + f^3 * tail"""
    return ((1 + f).ln() - f + f * f / 2) / f ** 3


def tanh_tail(u):
    """tanh(a) = a + a * tail"""
    a = (u + TANH_CENTRE).sqrt()
    return tanh(a) / a - 1


def erf_tail(u):
    """erf(a) = a + a * tail"""
    a = (u + ERF_CENTRE).sqrt()
    return erf(a) / a - 1


def erfc_tail(a):
    """erf(a) = 1 - e^-g, g = a + a * tail"""
    return -(1 - erf(a)).ln() / a - 1


def ratio_tail(z):
    """log2((1 + s) / (1 - s)) = s (2/ln2 + z 2/(3 ln2) + z^2 * tail), z = s^2"""
    term, total, n = ONE, Decimal(0), 5
    while term > Decimal("1e-58"):
        total += term / n
        term *= z
        n += 2
    return 2 * total / LN2


def arctangent_tail(z):
    """atan(q) = q + q z * tail, z = q^2"""
    term, total, n = -ONE, Decimal(0), 3
    while abs(term) > Decimal("1e-58"):
        total += term / n
        term *= -z
        n += 2
    return total


# name, what, function, weight (error of the result relative to it), interval, coefficients
POLYNOMIALS = [
    ("EXP", "e^r = 1 + r + r^2 * (EXP_0 + EXP_1 r + ...), |r| <= log(2)/2", exp_tail,
     lambda r: r * r / r.exp(), "-0.3467", "0.3467", 5),
    ("LOG", "log(1 + f) = f - f^2/2 + f^3 * (LOG_0 + LOG_1 f + ...), -1/3 <= f <= 1/3", log_tail,
     lambda f: f ** 3 / (1 + f).ln(), "-0.33334", "0.33334", 8),
    ("EXPM1", "likewise, with less error for e^r - 1: EXPM1_0 + EXPM1_1 r + ...", exp_tail,
     lambda r: r * r / r.exp(), "-0.3467", "0.3467", 6),
    ("EXP2", "2^r = 1 + r * (EXP2_0 + EXP2_1 r + ...), |r| <= 1/2", exp2_tail,
     lambda r: r / (r * LN2).exp(), "-0.5", "0.5", 6),
    ("LOG2", "log2(1 + f) = f LOG2_E + f * (LOG2_0 + LOG2_1 f + ...), -1/3 <= f <= 1/3", log2_tail,
     lambda f: f / (1 + f).ln() * LN2, "-0.33334", "0.33334", 10),
    ("RATIO", "log2((1 + s)/(1 - s)) = s (RATIO_FIRST + z RATIO_SECOND + z^2 (RATIO_0 + ...)), z = s^2 <= 1/25",
     ratio_tail, lambda z: z * z / (TWO / LN2 * (1 + z / 3)), "0", "0.04001", 4),
    ("ATAN", "atan(q) = q + q z (ATAN_0 + ATAN_1 z + ...), z = q^2, |q| <= 1/2", arctangent_tail,
     lambda z: z / (1 + z * arctangent_tail(z)), "0", "0.25", 6),
    ("SIN", "sin(r) = r + r z (SIN_0 + SIN_1 z + ...), z = r^2, 0 <= r <= 1", sin_tail,
     lambda z: z / (1 + z * sin_tail(z)), "0", "1", 4),
    ("COS", "cos(r) = 1 + z (COS_0 + COS_1 z + ...), z = r^2, 0 <= r <= 1", cos_tail,
     lambda z: z / (1 + z * cos_tail(z)), "0", "1", 4),
    ("TANH", "tanh(a) = a + a (TANH_0 + TANH_1 u + ...), u = a^2 - TANH_CENTRE", tanh_tail,
     lambda u: 1 / (tanh_tail(u) + 1), -TANH_CENTRE, TANH_SPLIT ** 2 - TANH_CENTRE, 8),
    ("ERF", "erf(a) = a + a (ERF_0 + ERF_1 u + ...), u = a^2 - ERF_CENTRE", erf_tail,
     lambda u: 1 / (erf_tail(u) + 1), -ERF_CENTRE, ERF_SPLIT ** 2 - ERF_CENTRE, 8),
    ("ERFC", "erf(a) = 1 - e^-g, g = a + a (ERFC_0 + ERFC_1 a + ...), ERF_SPLIT <= a <= 4", erfc_tail,
     lambda a: a * (1 - erf(a)) / erf(a), ERF_SPLIT, "4", 6),
]


def two_over_pi(words):
    """2/pi with 25 zeros before it, as words of 32 bits, the first one first."""
    bits = 32 * words - 25
    guard = 64
    total = 2 * (1 << (2 * (bits + guard))) // pi_times(1 << (bits + guard)) >> guard
    return [total >> (32 * (words - 1 - i)) & 0xffffffff for i in range(words)]


def main():
    print("/* coefficients.h - constants of the specified functions; generated by generate/coefficients.py, which"
          " explains them. */\n#ifndef TESSERA_MATH_COEFFICIENTS_H\n#define TESSERA_MATH_COEFFICIENTS_H\n")
    high = Decimal(int(LN2 * 2 ** 16)) / 2 ** 16
    eighth = Decimal(int(PI / 4 * 2 ** 22)) / 2 ** 22  # 1 to 4 times this are f32
    ratio = TWO / LN2
    print("/* Added and taken away, rounds to an integer, which stands in the low bits of the sum. */")
    print("#define MATH_ROUND 0x1.8p23f")
    print("/* Bits of 2/3: log's mantissas run from here to twice here. */\n#define MATH_LOG_SPLIT 0x3f2aaaab")
    for name, value in (("LOG2_E", ONE / LN2), ("LN2", LN2), ("LN2_HIGH", high), ("LN2_LOW", LN2 - high),
                        ("TANH_SPLIT", TANH_SPLIT), ("TANH_CENTRE", TANH_CENTRE), ("ERF_SPLIT", ERF_SPLIT),
                        ("ERF_CENTRE", ERF_CENTRE), ("HALF_PI", PI / 2), ("HALF_PI_LOW", PI / 2 - to_f32(PI / 2)),
                        ("EIGHTH_TURN", eighth), ("EIGHTH_TURN_LOW", PI / 4 - eighth),
                        ("RATIO_FIRST", ratio), ("RATIO_FIRST_LOW", ratio - to_f32(ratio)),
                        ("RATIO_SECOND", ratio / 3), ("RATIO_SECOND_LOW", ratio / 3 - to_f32(ratio / 3))):
        print(f"#define MATH_{name} {hex_f32(to_f32(value))}")
    print("/* 25 zero bits and 2/pi, as words of 32 bits. */")
    for i, word in enumerate(two_over_pi(7)):
        print(f"#define MATH_TWO_OVER_PI_{i} 0x{word:08x}")
    for name, text, function, weight, low, top, count in POLYNOMIALS:
        coefficients, error = fit(function, weight, low, top, count)
        bits = error.ln() / LN2
        print(f"\n/* {text}; error of the whole 2^{bits:.1f} */")
        for i, c in enumerate(coefficients):
            print(f"#define MATH_{name}_{i} {hex_f32(c)}")
    print("\n#endif")


if __name__ == "__main__":
    main()
