#!/usr/bin/env python3
"""accuracy.py - functions that the importer of StableHLO makes of others, against mpmath: the greatest error of each, in units in the last place.

Samples are drawn by a fixed seed: even ones near 0, some of every magnitude, and some beside points where a function is 0 or ends. Of complex
numbers both parts are judged, each by itself, and the whole number by its magnitude. Prints a table for docs/stablehlo.md. 1: an error is
greater than it may be. 77: mpmath or NumPy is missing.
"""
import argparse
import random
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

try:
    import mpmath
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import suite  # noqa: E402

mp = mpmath.mp
BITS = {"f32": 24, "f64": 53}
MOST = 8  # units that an error may have; of complex numbers that of the whole
OTHERS = {"chlo.erf_inv f32": 128}  # an approximation that has its digits beside 1, not in 1 - x
LEAST = {"f32": -149, "f64": -1074}


def two(x, y):
    return mp.mpc(x, y)


def erf_inv(x):
    """Newton's steps on erfc, so that what is beside 1 has all its digits."""
    a = abs(x)
    y = mp.erfinv(a) if a < mp.mpf(0.9) else mp.sqrt(-mp.log((1 - a) * mp.sqrt(mp.pi) * mp.sqrt(-mp.log(1 - a))))
    for _ in range(60):
        step = (mp.erfc(y) - (1 - a)) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) < abs(y) * mp.mpf(2) ** -120:
            break
    return mp.sign(x) * y


def bessel_i1e(x):
    return mp.exp(-abs(x)) * mp.besseli(1, x)


def log_gamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


# Operation of StableHLO, behind it words if there are several lines: the function, a range where it is defined, and points beside which to look;
# and the least size whose units count.
REAL = {
    "chlo.erfc": (mp.erfc, (-6, 27), (0, 0.5, 1, 26)),
    "chlo.erf_inv": (erf_inv, (-1, 1), (-1, 1, 0)),
    "chlo.lgamma": (log_gamma, (0, 200), (1, 2, 3, 10)),
    "chlo.lgamma below 0, beside 1": (log_gamma, (-20, 0), (-1, -2), 1),
    "chlo.digamma": (mp.digamma, (0, 200), (1.4616321449683622, 1, 2, 3, 10)),
    "chlo.digamma below 0, beside 1": (mp.digamma, (-20, 0), (-1, -2), 1),
    "chlo.bessel_i1e": (bessel_i1e, (-100, 100), (0, 8, -8)),
    "chlo.sinh": (mp.sinh, (-80, 80), (0, 1)),
    "chlo.cosh": (mp.cosh, (-80, 80), (0, 1)),
    "chlo.asinh": (mp.asinh, (-80, 80), (0, 1)),
    "chlo.acosh": (mp.acosh, (1, 80), (1,)),
    "chlo.atanh": (mp.atanh, (-1, 1), (0, 1, -1)),
    "chlo.asin": (mp.asin, (-1, 1), (0, 1, -1)),
    "chlo.acos": (mp.acos, (-1, 1), (0, 1, -1)),
    "chlo.atan": (mp.atan, (-80, 80), (0, 1)),
    "stablehlo.tan": (mp.tan, (-80, 80), (0, 1.5707963267948966)),
    "stablehlo.cbrt": (lambda x: mp.sign(x) * mp.root(abs(x), 3), (-80, 80), (0, 1)),
}
COMPLEX = {
    "stablehlo.abs": abs,
    "stablehlo.sqrt": mp.sqrt,
    "stablehlo.rsqrt": lambda z: 1 / mp.sqrt(z),
    "stablehlo.exponential": mp.exp,
    "stablehlo.exponential_minus_one": lambda z: mp.exp(z) - 1,
    "stablehlo.log": mp.log,
    "stablehlo.log_plus_one": lambda z: mp.log(1 + z),
    "stablehlo.logistic": lambda z: 1 / (1 + mp.exp(-z)),
    "stablehlo.sine": mp.sin,
    "stablehlo.cosine": mp.cos,
    "stablehlo.tan": mp.tan,
    "stablehlo.tanh": mp.tanh,
    "chlo.sinh": mp.sinh,
    "chlo.cosh": mp.cosh,
    "chlo.asin": mp.asin,
    "chlo.acos": mp.acos,
    "chlo.atan": mp.atan,
    "chlo.asinh": mp.asinh,
    "chlo.acosh": mp.acosh,
    "chlo.atanh": mp.atanh,
}


def held(value, element):
    """The nearest number that the type holds."""
    return float(numpy.float32(value)) if element == "f32" else float(value)


def beside(draw, point):
    return point + draw.choice((-1, 1)) * 2.0 ** draw.uniform(-50, -1)


def of_any_size(draw, element, most):
    least, greatest = (-30, 30) if element == "f32" else (-200, 200)
    return draw.choice((-1, 1)) * min(2.0 ** draw.uniform(least, greatest), most)


def real_samples(draw, element, count, bounds, points):
    low, high = bounds
    kinds = (lambda: draw.uniform(max(low, -4), min(high, 4)), lambda: draw.uniform(low, high), lambda: of_any_size(draw, element, max(-low, high)),
             lambda: beside(draw, draw.choice(points)))
    found = []
    while len(found) < count:
        x = held(kinds[len(found) % len(kinds)](), element)
        if low <= x <= high and x != 0:
            found.append(x)
    return found


def complex_samples(draw, element, count):
    def circle():
        angle, size = draw.uniform(-3.14159, 3.14159), 1 + beside(draw, 0)
        return size * complex(mpmath.cos(angle), mpmath.sin(angle))

    kinds = (lambda: complex(draw.uniform(-4, 4), draw.uniform(-4, 4)), lambda: complex(draw.uniform(-30, 30), draw.uniform(-30, 30)),
             lambda: complex(of_any_size(draw, element, 80), of_any_size(draw, element, 80)), circle,
             lambda: complex(beside(draw, draw.choice((-1, 0, 1))), beside(draw, 0)),
             lambda: complex(beside(draw, draw.choice((0, 1.5707963267948966))), beside(draw, draw.choice((0, 1.5707963267948966)))))
    found = []
    while len(found) < count:
        z = kinds[len(found) % len(kinds)]()
        z = complex(held(z.real, element), held(z.imag, element))
        if z.real and z.imag:
            found.append(z)
    return found


def run(name, element, values, folder):
    tensor = f"tensor<{len(values)}x{{}}>"
    is_complex = isinstance(values[0], complex)
    operand = tensor.format(f"complex<{element}>" if is_complex else element)
    result = tensor.format(element) if name == "stablehlo.abs" else operand
    types = f": ({operand}) -> {result}"
    text = f'module {{\n  func.func public @main(%a: {operand}) -> {result} {{\n    %r = "{name}"(%a) {types}\n    func.return %r : {result}\n  }}\n}}\n'
    array = numpy.array(values, dtype=numpy.complex128 if is_complex else numpy.float64)
    pairs = array.view(numpy.float64).reshape(len(values), 2) if is_complex else array
    return suite.module_of(text, "accuracy.mlir", None, folder)(pairs.astype(numpy.float32 if element == "f32" else numpy.float64))


def units(got, exact, element, least=0):
    """Their distance in spacings of the type at the exact value, or at `least` if that is greater."""
    if not mp.isfinite(exact) or exact == 0 or abs(exact) > (mp.mpf(2) ** 127 if element == "f32" else mp.mpf(2) ** 1023):
        return 0
    exponent = max(int(mp.floor(mp.log(max(abs(exact), least), 2))) - BITS[element] + 1, LEAST[element])
    return float(abs(mp.mpf(float(got)) - exact) / mp.mpf(2) ** exponent) if numpy.isfinite(got) else float("inf")


def judge_real(name, element, count, draw, folder):
    function, bounds, points, *least = REAL[name]
    values = real_samples(draw, element, count, bounds, points)
    errors = []
    for x, got in zip(values, numpy.asarray(run(name.split()[0], element, values, folder))):
        try:
            errors.append((units(got, function(mp.mpf(x)), element, *least), x))
        except (ValueError, ZeroDivisionError):
            continue
    return max(errors), None


def judge_complex(name, element, count, draw, folder):
    values = complex_samples(draw, element, count)
    parts, wholes = [], []
    for z, got in zip(values, numpy.asarray(run(name, element, values, folder))):
        exact = mp.mpc(COMPLEX[name](mp.mpc(z.real, z.imag)))
        pair = [float(one) for one in numpy.atleast_1d(got)]
        error = max(units(one, of, element) for one, of in zip(pair, (exact.real, exact.imag)))
        parts.append((error, z))
        size = abs(exact)
        if size and size < 1e30:
            away = abs(mp.mpc(*pair) - exact) if len(pair) == 2 else abs(pair[0] - exact.real)
            wholes.append((float(away / size * mp.mpf(2) ** BITS[element]), z))
    return max(parts, key=lambda one: one[0]), max(wholes, key=lambda one: one[0])


def shown(value):
    return f"{value.real.hex()}, {value.imag.hex()}" if isinstance(value, complex) else value.hex()


REAL_HEAD = "| operation | f32 | f64 | at |\n|---|---|---|---|"
COMPLEX_HEAD = "\n| operation | complex&lt;f32> | complex&lt;f64> | its parts | at |\n|---|---|---|---|---|"


def line_of(name, is_complex, given, judge, folder, wrong):
    """A row: the greatest errors of both types, and where that of f64 is."""
    operation = name.split()[0]
    cells = [f"`{operation.split('.')[1]}`{name.removeprefix(operation)}"]
    for element in BITS:
        draw = random.Random(f"{given.seed} {name} {element}")
        try:
            (error, at), whole = judge(name, element, given.count, draw, folder)
        except suite.Refused as refused:
            wrong.append(f"{name} of {element}: {refused}")
            continue
        cells.append(f"{whole[0] if whole else error:.2f}")
        if element == "f64":
            cells += [f"{error:.2f}"] * is_complex + [f"`{shown(at)}`"]
        if (whole[0] if whole else error) > OTHERS.get(f"{name} {element}", MOST):
            wrong.append(f"{name} of {element}")
    return f"| {' | '.join(cells)} |"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=HERE.parent.parent / "build")
    options.add_argument("--count", type=int, default=2000, help="samples of each function and type")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--filter", default="", help="operations whose name holds this regular expression")
    given = options.parse_args()
    suite.start(given.build)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="accuracy-") as folder:
        for table, judge, bits, head in ((REAL, judge_real, 400, REAL_HEAD), (COMPLEX, judge_complex, 1400, COMPLEX_HEAD)):
            mp.prec = bits
            print(head)
            for name in (one for one in table if re.search(given.filter, one)):
                print(line_of(name, table is COMPLEX, given, judge, folder, wrong), flush=True)
    for one in wrong:
        print(f"{one}: refused, or off by more than it may be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
