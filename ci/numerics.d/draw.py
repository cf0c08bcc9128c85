"""Random numbers and the distributions of inputs (docs/numerics.md, Inputs and Stochastic rounding)."""
import numpy as np

import formats

UNIT = np.float32(float.fromhex("0x1.3988e2p-16"))


def philox(counter, key):
    """Philox4x32-10 of four uint32 arrays under a key of two words."""
    c = [np.asarray(w, np.uint64) for w in counter]
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low = np.uint64(0xFFFFFFFF)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def words(seed, index, third, domain):
    index = np.asarray(index, np.uint64)
    counter = [index & np.uint64(0xFFFFFFFF), index >> np.uint64(32), np.full(index.shape, third, np.uint64),
               np.full(index.shape, domain, np.uint64)]
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


def normal(w, mean, stddev):
    total = sum((x & np.uint64(0xFFFF)).astype(np.int64) + (x >> np.uint64(16)).astype(np.int64) for x in w) - 262140
    return formats.fma(total.astype(np.float32) * UNIT, np.float32(stddev), np.float32(mean))


def uniform(w, low, high):
    u = (w[0] >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)
    return formats.fma(u, np.float32(high) - np.float32(low), np.float32(low))


def integers(w, low, high):
    return (w[0] * np.uint64(high - low) >> np.uint64(32)).astype(np.int64) + low


def special(w, name):
    values = normal(w, 0, 1).astype(np.float64)
    sign = np.where(w[1] & np.uint64(1), -1.0, 1.0)
    kind = w[0] >> np.uint64(29)
    values = np.where(kind == 0, sign * 0.0, np.where(kind == 1, sign * np.inf, values))
    values = np.where(kind == 3, np.where(w[1] & np.uint64(2), np.nan, sign), values)
    if formats.is_float(name):
        size = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16}.get(name, 8)
        bits = (w[2] | w[3] << np.uint64(32)) & np.uint64((1 << size) - 1)
        drawn = formats.from_bits(bits, name)
    elif formats.is_unsigned(name):
        drawn = formats.wrap(w[2] | w[3] << np.uint64(32), name)
    else:
        signed = w[2].astype(np.uint32).view(np.int32)
        drawn = formats.convert(signed.astype(np.float64), "f64", name)
    return np.where(kind == 2, drawn, formats.convert(values, "f64", name)).astype(drawn.dtype)


def tensor(distribution, seed, parameter, shape, name):
    """An input: `distribution` is (kind, a, b)."""
    kind, a, b = distribution
    count = int(np.prod(shape, dtype=np.int64))
    w = words(seed, np.arange(count, dtype=np.uint64), parameter, 0)
    if kind == "special":
        values = special(w, name)
    elif kind == "constant":
        values = formats.convert(np.full(count, a, np.float64), "f64", name)
    else:
        drawn = {"normal": normal, "uniform": uniform, "integers": integers}[kind](w, a, b)
        values = formats.convert(drawn.astype(np.float64), "f64", name)
    return values.astype(formats.array_type(name)).reshape(shape)
