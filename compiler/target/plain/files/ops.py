"""Operations on tiles as NumPy arrays, each with one rounding (docs/numerics.md of tsr)."""
import sys

import numpy as np

np.seterr(all="ignore")
FORMATS = {  # exponent's bits, significand's, greatest number, infinity (0: none), NaN
    "f16": (5, 10, 0x7bff, 0x7c00, 0x7e00),
    "bf16": (8, 7, 0x7f7f, 0x7f80, 0x7fc0),
    "f8e4m3fn": (4, 3, 0x7e, 0, 0x7f),
    "f8e5m2": (5, 2, 0x7b, 0x7c, 0x7e),
}
TYPES = {name: np.dtype(kind) for name, kind in {
    "f64": "f8", "f32": "f4", "f16": "u2", "bf16": "u2", "f8e4m3fn": "u1", "f8e5m2": "u1", "i64": "i8", "i32": "i4",
    "i16": "i2", "i8": "i1", "i4": "i1", "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1", "boolean": "?"}.items()}
NANS = {"f64": 0x7ff8000000000000, "f32": 0x7fc00000}


def constant(kind, bits):
    dtype = TYPES[kind]
    return np.frombuffer(bits.to_bytes(8, "little")[:dtype.itemsize], dtype).reshape(1, 1)


def memory(room, offset, kind):
    dtype = TYPES[kind]
    return room[offset:offset + (len(room) - offset) // dtype.itemsize * dtype.itemsize].view(dtype)


def places(offset, rows, columns, row_stride, column_stride):
    return offset + np.arange(rows)[:, None] * row_stride + np.arange(columns)[None, :] * column_stride


def load(m, at, rows, columns, valid_rows, valid_columns):
    if valid_rows is None and valid_columns is None:
        return m[at]
    inside = (np.arange(rows)[:, None] < (rows if valid_rows is None else valid_rows)) & (
        np.arange(columns)[None, :] < (columns if valid_columns is None else valid_columns))
    result = np.zeros((rows, columns), m.dtype)
    result[inside] = m[at[inside]]
    return result


def store(m, at, x, valid_rows, valid_columns):
    rows, columns = x.shape
    rows = rows if valid_rows is None else max(0, min(rows, valid_rows))
    columns = columns if valid_columns is None else max(0, min(columns, valid_columns))
    m[at[:rows, :columns]] = x[:rows, :columns]


def canonical(x, kind):
    if kind in FORMATS:
        return np.where(np.isnan(widen(x, kind)), TYPES[kind].type(FORMATS[kind][4]), x)
    return np.where(np.isnan(x), constant(kind, NANS[kind]), x) if kind in NANS else x


def add(x, y):
    return np.logical_or(x, y) if x.dtype == bool else x + y


def mul(x, y):
    return x * y


def div(x, y):
    if x.dtype.kind == "f":
        return x / y
    one = np.where((y == 0) | (y == -1 if x.dtype.kind == "i" else False), y.dtype.type(1), y)
    size = np.abs(x.astype(object)) // np.abs(one.astype(object)) if x.dtype.kind == "i" else x // one
    q = (np.where((x < 0) != (one < 0), -size, size) if x.dtype.kind == "i" else size).astype(x.dtype)
    q = np.where(y == -1, (0 - x).astype(x.dtype), q) if x.dtype.kind == "i" else q
    return np.where(y == 0, x.dtype.type(0), q)


def extreme(x, y, least):
    if x.dtype.kind != "f":
        return np.minimum(x, y) if least else np.maximum(x, y)
    zeros = np.where(np.signbit(x) == least, x, y)
    better = np.where((x < y) if least else (x > y), x, y)
    kind = "f64" if x.dtype.itemsize == 8 else "f32"
    return np.where(np.isnan(x) | np.isnan(y), constant(kind, NANS[kind]), np.where(x == y, zeros, better))


def maximum(x, y):
    return extreme(x, y, False)


def minimum(x, y):
    return extreme(x, y, True)


def compare(predicate, x, y):
    if predicate == "uno":
        return np.isnan(x) | np.isnan(y)
    return {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}[predicate](x, y)


def natural(x):
    return x.view(x.dtype.str.replace("i", "u"))


def shift(x, y, how):
    x, y = np.broadcast_arrays(x, y)
    bits, by = 8 * x.dtype.itemsize, natural(np.ascontiguousarray(y))
    inside = by < bits
    x = np.ascontiguousarray(x)
    if how == "shr" and x.dtype.kind == "i":
        return x >> np.where(inside, by, bits - 1).astype(x.dtype)
    by = np.where(inside, by, 0).astype(natural(x).dtype)
    moved = natural(x) << by if how == "shl" else natural(x) >> by
    return np.where(inside, moved, 0).astype(natural(x).dtype).view(x.dtype)


def umulh(x, y):
    return ((natural(x).astype(np.uint64) * natural(y).astype(np.uint64)) >> np.uint64(32)).astype(np.uint32).view(np.int32)


def odd_sum(x, y):
    """x + y of f64, where it is not exact the neighbour whose last bit is 1: what rounds it again rounds once."""
    s = np.asarray(x + y)
    part = s - x
    error = (x - (s - part)) + (y - part)
    bits = s.view(np.int64)
    inexact = (error != 0) & np.isfinite(s)
    bits = np.where(inexact & ((error > 0) != (s > 0)), bits - 1, bits)
    return np.where(inexact, bits | 1, bits).view(np.float64)


def fma(x, y, z):
    if x.dtype == np.float32:
        return odd_sum(x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)).astype(np.float32)
    import ctypes
    one = ctypes.CDLL("libm.so.6").fma
    one.restype, one.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    x, y, z = np.broadcast_arrays(x, y, z)
    return np.array([one(*each) for each in zip(x.flat, y.flat, z.flat)], np.float64).reshape(x.shape)


def scale(x, t):
    n = np.where(np.isnan(t) | np.isnan(x), 0, t - np.float32(12582912 + 254)).astype(np.int32)
    return np.where(np.isnan(t), t, np.ldexp(x, n))


def widen(x, kind):
    """A float of any type as f64, exactly."""
    if kind not in FORMATS:
        return x.astype(np.float64)
    exponent_bits, mantissa_bits, greatest, infinity, _ = FORMATS[kind]
    bits, bias = x.astype(np.int64), (1 << (exponent_bits - 1)) - 1
    rest = bits & ((1 << (exponent_bits + mantissa_bits)) - 1)
    exponent, mantissa = rest >> mantissa_bits, rest & ((1 << mantissa_bits) - 1)
    size = np.ldexp(np.where(exponent == 0, mantissa, mantissa + (1 << mantissa_bits)).astype(np.float64),
                    np.where(exponent == 0, 1, exponent) - bias - mantissa_bits)
    size = np.where(rest > greatest, np.nan, size)
    size = np.where((rest == infinity) & (infinity != 0), np.inf, size)
    return np.where(bits >> (exponent_bits + mantissa_bits), -size, size)


def narrow(x, kind, saturate):
    exponent_bits, mantissa_bits, greatest, infinity, nan = FORMATS[kind]
    bias, over = (1 << (exponent_bits - 1)) - 1, greatest if saturate or not infinity else infinity
    size, sign = np.abs(x), np.signbit(x).astype(np.int64) << (exponent_bits + mantissa_bits)
    finite = np.where(np.isfinite(size), size, 0.0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, 1 - bias)
    whole = np.rint(np.ldexp(finite, mantissa_bits - exponent)).astype(np.float64)
    too_large = (exponent > bias + 1) | np.isinf(size)
    whole = np.where(too_large, 0, whole).astype(np.int64)
    bits = np.where(whole < 1 << mantissa_bits, whole, ((exponent + bias).astype(np.int64) << mantissa_bits) + whole - (1 << mantissa_bits))
    bits = sign | np.where(too_large | (bits > greatest), over, bits)
    return np.where(np.isnan(x), nan, bits).astype(TYPES[kind])


def limits(kind):
    return (-8, 7) if kind == "i4" else (np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max)


def to_integer(x, kind, saturate):
    """Python's whole numbers, wrapped or cut to the range."""
    least, most = limits(kind)
    if saturate:
        x = np.clip(x, least, most)
    return np.array([(int(v) - least) % (most - least + 1) + least for v in x.flat], TYPES[kind]).reshape(x.shape)


def sticky(x):
    def one(v):
        size = abs(int(v))
        size = size if size < 1 << 53 else (size & ~0xfff) | (0x1000 if size & 0xfff else 0)
        return float(-size if v < 0 else size)
    return np.array([one(v) for v in x.flat], np.float64).reshape(x.shape)


def convert(x, of, to, saturate):
    if of == to:
        return x
    if of in FORMATS or x.dtype.kind == "f":
        x = widen(x, of)
        if to == "boolean":
            return x != 0
        if to in FORMATS:
            return narrow(x, to, saturate)
        if TYPES[to].kind == "f":
            y = x.astype(TYPES[to])
            greatest = np.finfo(TYPES[to]).max
            return np.where(np.isinf(y), np.copysign(greatest, y), y) if saturate else y
        least, most = limits(to)
        return to_integer(np.array([0 if v != v else most if v >= most else least if v <= least else int(v) for v in x.flat],
                                   object).reshape(x.shape), to, False)
    if to == "boolean":
        return x != 0
    if to in FORMATS:
        return narrow(sticky(x), to, saturate)
    if TYPES[to].kind == "f":
        return x.astype(TYPES[to])
    if not saturate and to != "i4":
        return x.astype(TYPES[to])
    return to_integer(x.astype(object), to, saturate)


def fold(combine, parts):
    row = np.concatenate(parts, axis=1)
    while row.shape[1] > 1:
        half = row.shape[1] // 2
        row = combine(row[:, :half], row[:, half:])
    return row


def scan(combine, x, before):
    last, columns = before.reshape(-1, 1)[:x.shape[0]], []
    for c in range(x.shape[1]):
        last = combine(last, x[:, c:c + 1])
        columns.append(last)
    return np.concatenate(columns, axis=1), last.reshape(1, -1)
