"""Element types: how numbers are rounded to them, and their bytes (docs/numerics.md, Element types and Conversions).

A tensor is a NumPy array with a type of ours beside it. Narrow floats are float32 arrays that hold numbers of the type.
"""
import ctypes
import ctypes.util
from fractions import Fraction

import numpy as np

FLOATS = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3fn", "f8e5m2")
INTEGER_BITS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4, "u64": 64, "u32": 32, "u16": 16, "u8": 8}
# significand bits, least exponent of a normal number, greatest number
PRECISION = {
    "f64": (53, -1022, np.finfo(np.float64).max),
    "f32": (24, -126, float(np.finfo(np.float32).max)),
    "f16": (11, -14, 65504.0),
    "bf16": (8, -126, float.fromhex("0x1.fep127")),
    "f8e4m3fn": (4, -6, 448.0),
    "f8e5m2": (3, -14, 57344.0),
}
ARRAY = {"f64": np.float64, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i4": np.int8,
         "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_}
CANONICAL_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f8e5m2": 0x7E, "f8e4m3fn": 0x7F}


def array_type(name):
    return ARRAY.get(name, np.float32)


def is_float(name):
    return name in FLOATS


def is_narrow(name):
    return name in ("f16", "bf16", "f8e4m3fn", "f8e5m2")


def decode_f8(name):
    """The number behind each of the 256 patterns."""
    fraction_bits, bias = (3, 7) if name == "f8e4m3fn" else (2, 15)
    values = np.empty(256, np.float32)
    for bits in range(256):
        exponent, fraction = (bits & 0x7F) >> fraction_bits, bits & ((1 << fraction_bits) - 1)
        if exponent == 0:
            value = fraction * 2.0 ** (1 - bias - fraction_bits)
        else:
            value = (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)
        if name == "f8e4m3fn" and bits & 0x7F == 0x7F:
            value = np.nan
        if name == "f8e5m2" and exponent == 31:
            value = np.nan if fraction else np.inf
        values[bits] = -value if bits & 0x80 else value
    return values


F8 = {name: decode_f8(name) for name in ("f8e4m3fn", "f8e5m2")}


def round_to(values, name, saturate=False):
    """f64 numbers to the nearest of a float type, ties to even; the result is exact in f64."""
    precision, least, greatest = PRECISION["f32" if name == "tf32" else name]
    if name == "f64":
        return values
    exponent = np.maximum(np.frexp(values)[1] - 1, least) - (precision - 1)
    rounded = np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent)
    rounded = np.where(np.isfinite(values), rounded, values)
    beyond = np.abs(rounded) > greatest
    limit = greatest if saturate or name == "f8e4m3fn" else np.inf
    return np.where(beyond, np.copysign(limit, values), rounded)


def nearest_of_integer(number, precision):
    """A Python integer as f64 that has at most `precision` bits, rounded once."""
    excess = max(abs(number).bit_length() - precision, 0)
    quotient = Fraction(number, 1 << excess)
    return float(round(quotient)) * 2.0**excess  # round() of a Fraction takes ties to even


def is_unsigned(name):
    return name.startswith("u")


def ends(name):
    """The least and the greatest integer of a type."""
    bits = INTEGER_BITS[name]
    return (0, (1 << bits) - 1) if is_unsigned(name) else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def wide(values, name):
    """Integers in 64 bits, with the sign of their type."""
    return values.astype(np.uint64 if is_unsigned(name) else np.int64)


def wrap(values, name):
    """The low bits of an array of 64-bit integers, as the integer type."""
    bits = INTEGER_BITS[name]
    if bits == 64:
        return values.astype(array_type(name))
    low = values.astype(np.int64) & ((1 << bits) - 1)
    return np.where((low >> (bits - 1)) * (not is_unsigned(name)), low - (1 << bits), low).astype(array_type(name))


def convert(values, source, target, saturate=False):
    if target == "bool":
        return values != 0
    if is_float(target):
        if source in INTEGER_BITS:
            precision = PRECISION["f32" if target == "tf32" else target][0]
            flat = [nearest_of_integer(int(v), precision) for v in values.ravel()]
            exact = np.array(flat, np.float64).reshape(values.shape)
        else:
            exact = values.astype(np.float64)
        return round_to(exact, target, saturate).astype(array_type(target))
    low, high = ends(target)
    if is_float(source):
        flat = [0 if v != v else min(max(int(v), low), high) if abs(v) != np.inf else (high if v > 0 else low)
                for v in values.astype(np.float64).ravel()]
        return np.array(flat, array_type(target)).reshape(values.shape)
    if saturate:
        return np.array([min(max(int(v), low), high) for v in values.ravel()], array_type(target)).reshape(values.shape)
    return wrap(wide(values, source), target)


def to_bytes(values, name):
    """The bytes of an output: every NaN is the canonical one."""
    if name == "f64" or name in ("f32", "tf32"):
        nan = np.array([0x7FF8000000000000 if name == "f64" else 0x7FC00000], np.uint64 if name == "f64" else np.uint32)
        return np.where(np.isnan(values), nan.view(values.dtype)[0], values).astype(values.dtype).tobytes()
    if not is_narrow(name):
        return np.ascontiguousarray(values).tobytes()
    if name == "f16":
        bits = values.astype(np.float16).view(np.uint16)
    elif name == "bf16":
        bits = (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16)
    else:
        magnitudes = np.abs(F8[name][:128])
        order = np.argsort(magnitudes, kind="stable")  # a NaN comes last
        place = order[np.searchsorted(magnitudes[order], np.abs(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)))]
        bits = (place | (np.signbit(values) << 7)).astype(np.uint8)
    return np.where(np.isnan(values), CANONICAL_NAN[name], bits).astype(bits.dtype).tobytes()


def from_bits(bits, name):
    """An array of unsigned integers, as numbers of the type."""
    if name == "f64":
        return bits.astype(np.uint64).view(np.float64)
    if name in ("f32", "tf32"):
        return bits.astype(np.uint32).view(np.float32)
    if name == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float32)
    if name == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if name in F8:
        return F8[name][bits.astype(np.uint8)]
    if name == "bool":
        return bits != 0
    return wrap(bits.astype(np.int64), name)


# ---- arithmetic that NumPy lacks ----

_libm = ctypes.CDLL(ctypes.util.find_library("m"))
_libm.fma.restype, _libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
_fma64 = np.frompyfunc(_libm.fma, 3, 1)


def fma32(a, b, c):
    """a * b + c of f32, rounded once: the product is exact in f64, and the f64 sum is rounded to odd (S. Boldo and
    G. Melquiond, Emulation of FMA and correctly rounded sums, IEEE TC 57, 2008) before it is rounded to f32."""
    product, addend = a.astype(np.float64) * b, np.asarray(c, np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    inexact = np.isfinite(total) & (error != 0) & np.isfinite(error)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact & even, np.nextafter(total, toward), total).astype(np.float32)


def fma64(a, b, c):
    return np.asarray(_fma64(a, b, c), np.float64)


def fma(a, b, c):
    a, b, c = np.broadcast_arrays(a, b, c)
    return fma64(a, b, c) if a.dtype == np.float64 else fma32(a, b, c)


def maximum(a, b):
    """IEEE 754-2019: a NaN wins, and -0 is below +0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    larger = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.array(np.nan, a.dtype), larger)


def minimum(a, b):
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    return -maximum(-a, -b)
