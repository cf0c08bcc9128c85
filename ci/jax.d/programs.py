#!/usr/bin/env python3
"""programs.py [--build FOLDER] [--harnesses N] - programs of JAX on the plugin (device "tessera") beside JAX's own CPU, in one process.

Each program's integers must be the same, and its floats within the bound of their type. All of them run twice, and in processes of one thread and of
two: the same bits. Then what is no computation: donation, errors, a compiled program as bytes, the example docs/examples/mlp.py. With
--harnesses N, N programs of each group of JAX's test harnesses, too: 2 is half a minute. 77: JAX is missing. 1: something differs.
"""
import argparse
import collections
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Relative to an array's greatest magnitude: a few roundings of sums in other orders.
BOUNDS = {"float32": 2e-5, "float64": 2e-5, "complex64": 2e-5, "complex128": 2e-5, "float16": 4e-3, "bfloat16": 2e-2, "float8_e4m3fn": 0.2, "float8_e5m2": 0.4}

# ---- programs: name -> (function, arguments) ----


def inputs():
    r = np.random.default_rng(0)
    f32 = lambda *shape: r.standard_normal(shape, dtype=np.float32)  # noqa: E731
    return f32, lambda high, *shape: r.integers(0, high, shape, dtype=np.int32)


def mlp_step(parameters, x, y):
    def loss(p):
        h = jnp.tanh(x @ p[0] + p[1])
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ p[2] + p[3]) * jax.nn.one_hot(y, 10), axis=-1))

    value, gradient = jax.value_and_grad(loss)(parameters)
    return value, [p - 0.1 * g for p, g in zip(parameters, gradient)]


def attention(x, q, k, v):
    split = lambda w: (x @ w).reshape(*x.shape[:-1], 4, -1).swapaxes(-2, -3)  # noqa: E731
    scores = jnp.einsum("bhqd,bhkd->bhqk", split(q), split(k)) / 4
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), split(v))


def loops(x, n):
    total, rows = lax.scan(lambda c, a: (c * 0.5 + a, c.sum()), jnp.zeros(8), x)
    steps = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.25), (0, x))[1]
    return total, rows, steps, lax.fori_loop(0, 5, lambda i, a: a + i, x), lax.map(jnp.cumsum, x)


def branches(x, n):
    either = lax.cond(x[0, 0] > 0, lambda a: jnp.sort(a, axis=0), lambda a: a[::-1], x)
    return either, lax.switch(n % 3, [lambda a: a + 1, lambda a: a * 2, jnp.negative], x[0])


def batched(x, y):
    return jax.vmap(jnp.outer)(x, y), jax.vmap(jax.grad(lambda a: jnp.sin(a).prod()))(x), jax.vmap(jnp.interp, (0, None, None))(x, jnp.arange(4.0), jnp.arange(4.0) ** 2)


def drawn(seed):
    a, b, c, d, e = jax.random.split(jax.random.key(seed), 5)
    bits = jax.random.bits(a, (100,)), jax.random.randint(b, (50,), -5, 7), jax.random.permutation(c, 40), jax.random.bernoulli(d, 0.3, (60,))
    return *bits, jax.random.uniform(e, (33,)), jax.random.normal(e, (64,)), jax.random.gumbel(a, (9,)), jax.random.categorical(b, jnp.zeros((5, 4)))


def ordered(x, i):
    return jnp.sort(x, axis=1), jnp.argsort(i), lax.top_k(x, 3), jnp.median(x, axis=0), jnp.searchsorted(jnp.sort(i), i), jnp.argmax(x, axis=0), jnp.unique(i, size=8)


def indexed(x, i, u):
    added = x.at[i].add(u), x.at[i[0], 2:5].set(0.5), x.at[:, i[1]].max(0.0), x.at[i].multiply(u)
    return x[i], x[:, ::-2], *added, jnp.take_along_axis(x, jnp.argmax(x, axis=1)[:, None], axis=1), lax.dynamic_slice(x, (i[0], 1), (3, 4))


def pictures(x, w):
    def loss(w):
        y = lax.conv_general_dilated(x, w, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        z = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return z.mean() + lax.reduce_window(y, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME").sum() * 0.01

    return jax.value_and_grad(loss)(w)


def narrow(x, y):
    one = x.astype(y.dtype)
    return one @ y, one * y[0, 0] + 1, jnp.exp(one), jnp.sum(one, axis=0), one.astype(jnp.float32), jax.grad(lambda a: (a * a).sum().astype(jnp.float32))(one)


def whole(x, y):
    shifts = lax.shift_left(x, y & 3), lax.shift_right_logical(x, y & 3), lax.shift_right_arithmetic(x, y & 3)
    divided = x // (y | 1), x % (y | 1), lax.population_count(x), lax.clz(x)
    return x + y, x * y, x ^ y, ~x, *shifts, *divided, x.sum(), jnp.cumsum(x), x > y, jnp.where(x > y, x, y), x.astype(jnp.float32), jnp.bincount(x & 7, length=8)


def small(x):
    wide = x.astype(jnp.int32)
    return x + x, x * 3, -x, x - 1, wide, (wide * 5).astype(x.dtype), x > 1, jnp.where(x > 0, x, 0), lax.div(x, x | 1), jnp.maximum(x, 1), x ^ 1, wide.sum()


def truth(x):
    return ~x, x.sum(), x.any(axis=0), x.all(), x ^ True, x.astype(jnp.int8), jnp.cumsum(x), jnp.prod(x.astype(jnp.float32) + 1, axis=0)


def functions(x):
    p = jnp.abs(x) + 0.1
    of = jnp.exp, jnp.sin, jnp.cos, jnp.tan, jnp.tanh, jnp.arctan, jnp.expm1, jnp.sinh, jnp.arcsinh, jax.scipy.special.erf, jax.nn.gelu, jax.nn.softplus
    positive = jnp.log, jnp.sqrt, lax.rsqrt, jnp.log1p, jnp.cbrt, jax.scipy.special.gammaln
    return *(f(x) for f in of), *(f(p) for f in positive), p**x, jnp.arctan2(x, p), jax.scipy.special.logsumexp(x, axis=0), jnp.var(x), jnp.prod(x, axis=1)


def complex_numbers(x, y):
    z = lax.complex(x, y)
    return z * z.T, jnp.exp(z), jnp.abs(z), z @ z, jnp.conj(z).sum(axis=0), 1 / z, jnp.where(x > 0, z, 2j), jax.grad(lambda a: jnp.abs(a * a + z).sum())(x), jnp.arcsin(z), jnp.tan(z)


def empty(x):
    return x + 1, x.sum(axis=0), jnp.concatenate([x, jnp.ones((1, 3))]), x.T


def factored(a):
    """Factors of matrices; of eigenvectors what their signs do not change."""
    definite = a @ jnp.swapaxes(a, -1, -2) + jnp.eye(a.shape[-1])
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.cholesky(definite), q, r, jnp.linalg.eigvalsh(definite), jnp.linalg.svd(a, compute_uv=False), jnp.linalg.solve(definite, a), jax.grad(lambda x: jnp.linalg.eigvalsh(x @ x.T).max())(a[0])


def factored_complex(x, y):
    z = lax.complex(x, y)
    definite = z @ jnp.conj(z.T) + jnp.eye(len(z))
    q, r = jnp.linalg.qr(z)
    w, v = jnp.linalg.eigh(definite)
    return jnp.linalg.cholesky(definite), jnp.linalg.cholesky(definite, upper=True), q, r, w, (v * w) @ jnp.conj(v.T), jnp.linalg.svd(z, compute_uv=False), jnp.linalg.solve(definite, z)


def bits(key):
    return lax.rng_bit_generator(key, (5, 7)), lax.rng_bit_generator(key, (3, 4), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY), lax.rng_bit_generator(key, (5,), dtype=jnp.uint16)


def volumes(x, w):
    def loss(w):
        return (lax.conv_general_dilated(x, w, (1, 2, 1), "SAME", feature_group_count=2) ** 2).sum()

    z = lax.complex(x, x[::-1])
    kernels = jnp.concatenate([w, -w], axis=1) * (1 + 1j)
    return jax.grad(loss)(w), lax.conv_general_dilated(z, kernels, (1, 1, 1), "VALID"), z**kernels[0, 0, 0, 0, 0]


def nothing(x):
    return None, jnp.any(x > 0), jnp.all(x > 0), jnp.any(x > 0, axis=1)


def programs():
    f, i = inputs()
    layer = [f(32, 64), f(64), f(64, 10), f(10)]
    made = {
        "mlp_step": (mlp_step, (layer, f(16, 32), i(10, 16))),
        "attention": (attention, (f(2, 6, 64), f(64, 64) / 8, f(64, 64) / 8, f(64, 64) / 8)),
        "loops": (loops, (f(6, 8), np.int32(4))),
        "branches": (branches, (f(6, 8), np.int32(4))),
        "batched": (batched, (f(5, 4), f(5, 4))),
        "drawn": (drawn, (np.int32(7),)),
        "ordered": (ordered, (f(7, 9), i(20, 30))),
        "indexed": (indexed, (f(12, 9), i(8, 5), f(5, 9))),
        "pictures": (pictures, (f(2, 9, 8, 3), f(3, 3, 3, 4))),
        "truth": (truth, (f(6, 5) > 0,)),
        "functions": (functions, (f(40, 5),)),
        "complex_numbers": (complex_numbers, (f(5, 5), f(5, 5))),
        "empty": (empty, (f(0, 3),)),
        "factored": (factored, (f(2, 6, 6),)),
        "factored_complex": (factored_complex, (f(6, 6), f(6, 6))),
        "bits": (bits, (np.array([1, 2, 2**32 - 1, 2**32 - 1], np.uint32),)),
        "volumes": (volumes, (f(2, 4, 5, 6, 4), f(6, 2, 3, 2, 2))),
        "nothing": (nothing, (f(3, 0),)),
    }
    for name in ("float16", "bfloat16"):
        made[name] = narrow, (f(6, 8), f(8, 5).astype(jnp.dtype(name)))
    for name in ("int8", "int16", "int32", "uint8", "uint16", "uint32"):
        made[name] = whole, (i(2**31 - 1, 40).astype(name), i(2**31 - 1, 40).astype(name))
    for name in ("int2", "uint2", "int4", "uint4"):
        made[name] = small, (np.arange(12).astype(getattr(jnp, name)),)
    return made


# ---- judging ----


def on(device, function, arguments):
    with jax.default_device(jax.devices(device)[0]):
        return [np.asarray(one) for one in jax.tree.leaves(jax.jit(function)(*arguments))]


def difference(got, wanted, times=1):
    """Why an array is not the other; None where it is."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} in the place of {wanted.dtype}{wanted.shape}"
    if got.dtype.name not in BOUNDS:
        return None if (got == wanted).all() else f"{(got != wanted).sum()} of {got.size} {got.dtype} differ"
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), wanted.astype(wide)
    finite = np.abs(b[np.isfinite(b)])
    with np.errstate(all="ignore"):
        near = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= times * BOUNDS[got.dtype.name] * finite.max(initial=0))
    return None if near.all() else f"{(~near).sum()} of {near.size} {got.dtype} lie {np.nanmax(np.abs(a - b)):.3g} apart, of {finite.max(initial=0):.3g}"


def differences(function, arguments, form=lambda one: one, times=1):
    got, wanted = ([form(one) for one in on(device, function, arguments)] for device in ("tessera", "cpu"))
    found = [f"result {at}: {why}" for at, why in enumerate(difference(a, b, times) for a, b in zip(got, wanted)) if why]
    return got, found if len(got) == len(wanted) else ["another number of results"]


def hash_of(arrays):
    return hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()


class Report:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def add(self, name, why):
        self.passed += not why
        self.failed += bool(why)
        if why:
            print(f"{name}: {why}")


def check_programs(report):
    hashes = {}
    for name, (function, arguments) in programs().items():
        try:
            got, why = differences(function, arguments)
            hashes[name] = hash_of(got)
            if hash_of(on("tessera", function, arguments)) != hashes[name]:
                why.append("other bits the second time")
        except Exception as error:  # noqa: BLE001 - whatever a program does is told of it
            why = [f"{type(error).__name__}: {error}"]
        report.add(name, "; ".join(why))
    return hashes


# ---- what is no computation ----


def run(*arguments, folder=None, **environment):
    own = {"JAX_PLATFORMS": "tessera,cpu", "PYTHONPATH": os.environ["PYTHONPATH"], **environment}
    return subprocess.run([sys.executable, "-B", *map(str, arguments)], env={**os.environ, **own}, capture_output=True, text=True, cwd=folder)


def check_threads(report, hashes, given):
    for threads in ("1", "2"):
        told = run(__file__, "--hashes", "--build", given.build, TESSERA_THREADS=threads)
        other = dict(line.split() for line in told.stdout.splitlines() if line.count(" ") == 1)
        differ = [name for name in hashes if other.get(name) != hashes[name]]
        report.add(f"{threads} threads", f"other bits: {', '.join(differ)}" if differ else "")


def check_donation(report):
    with jax.default_device(jax.devices("tessera")[0]):
        add = jax.jit(lambda a, b: (a + b, a.sum()), donate_argnums=0)
        x, y = jnp.arange(12.0), jnp.ones(12)
        view = np.asarray(x)
        z, _ = add(x, y)
        report.add("donation", "" if x.is_deleted() and (np.asarray(z) == np.arange(12) + 1).all() else "the argument lives on, or the result is wrong")
        report.add("donation beside a view", "" if (view == np.arange(12)).all() else "NumPy's view of the argument was written to")
        report.add("donated twice", refusal(lambda: add(z, z), "donate"))
        report.add("used after donation", refusal(lambda: np.asarray(x + 1), "deleted"))


def refusal(call, words):
    """Why it is not refused with these words; "" where it is."""
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return "" if words in str(error) else f"the error does not say '{words}': {error}"
    return "it is no error"


def check_errors(report):
    with jax.default_device(jax.devices("tessera")[0]):
        x = jax.ShapeDtypeStruct((8,), jnp.float32)
        foreign = jax.jit(lambda a: jax.ffi.ffi_call("code_of_others", x)(a))
        for words in ("UNIMPLEMENTED", "E1202", "programs.py:"):
            report.add("code that there is not", refusal(lambda: foreign(jnp.ones(8)), words))


def check_bytes(report):
    """A compiled program as bytes, and back. (JAX's cache on disk is for platforms that it knows.)"""
    from jax.experimental import serialize_executable

    with jax.default_device(jax.devices("tessera")[0]):
        x = jnp.arange(9.0)
        compiled = jax.jit(lambda a: (jnp.sin(a).sum(), a + 1)).lower(x).compile()
        again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), backend="tessera")
        report.add("a program as bytes", "" if hash_of(map(np.asarray, compiled(x))) == hash_of(map(np.asarray, again(x))) else "other bits")


def check_example(report):
    told = [run(ROOT / "docs/examples/mlp.py", 60, JAX_PLATFORMS="tessera", TESSERA_THREADS=threads) for threads in ("1", "2")]
    lines = [one.stdout.splitlines()[-1:] for one in told]
    report.add("docs/examples/mlp.py", "" if lines[0] == lines[1] and lines[0] else f"{lines}: {told[0].stderr[-300:]}")


def check_operators(report):
    """A kernel of ours as a function of JAX on JAX's CPU, and a function of JAX as a module of ours."""
    import tessera
    from operators import gates

    f, i = inputs()
    x, s, at = f(4, 6), f(4), i(4, 3)
    own = tessera.as_jax(gates)

    def theirs(x, s, at):
        return jnp.tanh(x) * s[:, None], x[at].sum(1)

    def loss(function):
        return lambda x, s: sum((one**2).sum() for one in function(x, s, at))

    with jax.default_device(jax.devices("cpu")[0]):
        ways = {
            "jit": lambda g: jax.jit(g)(x, s, at),
            "grad": lambda g: jax.jit(jax.grad(loss(g), argnums=(0, 1)))(x, s),
            "vmap": lambda g: jax.vmap(g)(np.stack([x, x + 1]), np.stack([s, s]), np.stack([at, at])),
            "scan": lambda g: lax.scan(lambda c, one: (g(c, one, at)[0], one.sum()), x, np.stack([s, s, s])),
        }
        for name, way in ways.items():
            got, wanted = (list(map(np.asarray, jax.tree.leaves(way(function)))) for function in (own, theirs))
            report.add(f"as_jax, {name}", "; ".join(filter(None, map(difference, got, wanted))))
        report.add("as_jax of other types", refusal(lambda: own(x.astype(np.int32), s, at), "'x'"))
        module = tessera.from_jax(lambda p, a: {"y": jnp.tanh(a @ p["w"])}, {"w": jax.ShapeDtypeStruct((6, 3), jnp.float32)}, x)
        made = module({"w": np.ones((6, 3), np.float32)}, x)["y"]
        report.add("from_jax", difference(np.asarray(made), np.tanh(x @ np.ones((6, 3), np.float32))) or "")
        report.add("from_jax of another form", refusal(lambda: module(x), "form"))


PACKED = """
import jax, jax.numpy as jnp
@jax.jit
def logarithm(x):
    return jnp.log(x)
logarithm(jnp.ones(4))
logarithm(-jnp.ones(4))
logarithm(jnp.full(4, jnp.nan))
"""
# A program tsr whose interpreter gives zeros.
WRONG = """#!/bin/sh
if [ "$1" = run ]; then exec '{tsr}' "$@" --inject zero; fi
exec '{tsr}' "$@"
"""


FORKED = """
import os, signal, jax, jax.numpy as jnp, numpy as np
f = jax.jit(lambda a: jnp.tanh(a @ a) + 1)
x = jnp.asarray(np.random.default_rng(0).standard_normal((700, 700), dtype=np.float32))
before = np.asarray(f(x)).tobytes()
child = os.fork()
if child == 0:
    signal.alarm(100)
    os._exit(np.asarray(f(x)).tobytes() != before)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("the child ended with", ended, np.asarray(f(x)).tobytes() == before)
"""


def check_fork(report):
    """A product on two threads, in a child that has none of them. (A new program it cannot have: JAX compiles on threads of its own.)"""
    told = run("-c", FORKED, JAX_PLATFORMS="tessera", TESSERA_THREADS="2")
    report.add("a fork", "" if told.stdout.strip() == "the child ended with 0 True" else told.stdout + told.stderr[-300:])


BLOCKS = """
import pathlib, jax, jax.numpy as jnp, tessera
@jax.jit
def total(x, y):
    return (x * y).sum(), x[::-1]
@jax.jit
def other(x):
    return x + 1
x = jnp.arange(12.0).reshape(3, 4)
total(x, x)
with tessera.pack(total, "some") as packs:
    for _ in range(3):
        total(x, other(x))
print(*packs)
with tessera.pack(folder="all") as packs:
    total(x, jnp.sin(x)), other(x)
print(*packs)
for block, words in ((lambda: other(x), "no call of jit_total"), (lambda: tessera.pack().__enter__(), "another block")):
    try:
        with tessera.pack(total):
            block()
    except tessera.Error as error:
        assert words in str(error), error
    else:
        raise SystemExit(f"it does not say '{words}'")
pathlib.Path("file").write_text("")
try:
    with tessera.pack(total, "file/in"):
        total(x, x)
except tessera.Error as error:
    print(error)
"""


def check_blocks(report, given):
    """tessera.pack(): calls in a block leave packs that replay, and nothing is left in $TMPDIR."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scratch").mkdir()
        told = run("-c", BLOCKS, folder=folder, JAX_PLATFORMS="tessera", TMPDIR=str(Path(folder) / "scratch"))
        lines = told.stdout.splitlines()
        if len(lines) != 3:
            report.add("tessera.pack", told.stderr[-500:] or told.stdout)
            return
        some, every = (line.split() for line in lines[:2])
        report.add("tessera.pack of a function", "" if len(some) == 1 and "jit_total" in some[0] else lines[0])
        report.add("tessera.pack of all", "" if {"jit_total", "jit_other"} <= {Path(one).name.split("-")[0] for one in every} else lines[1])
        report.add("tessera.pack into a file", "" if "no pack was made of jit_total" in lines[2] else lines[2])
        report.add("$TMPDIR", ", ".join(one.name for one in (Path(folder) / "scratch").iterdir()))
        for one in some + every:
            shown = subprocess.run([given.build.absolute() / "tsr", "replay", Path(folder) / one], capture_output=True, text=True).stdout
            report.add(f"replay of {Path(one).name}", "" if shown.startswith("REPRODUCED_EXACT") else shown)


def check_packs(report, given):
    """TESSERA_PACK: a call that makes a NaN, and one whose bits are not the interpreter's, leave a pack."""
    tsr = given.build.absolute() / "tsr"
    with tempfile.TemporaryDirectory() as folder:
        wrong = Path(folder) / "wrong"
        wrong.write_text(WRONG.format(tsr=tsr))
        wrong.chmod(0o700)
        for when, program, some in (("nan", tsr, True), ("mismatch", tsr, False), ("mismatch", wrong, True)):
            packs = Path(folder) / f"{when}-{program.name}"
            told = run("-c", PACKED, JAX_PLATFORMS="tessera", TESSERA_PACK=when, TESSERA_PACK_FOLDER=str(packs), TSR=str(program))
            found = sorted(packs.glob("jit_logarithm-*"))
            why = "" if bool(found) == some and told.stderr.count("jit_logarithm: ") == len(found) else f"{len(found)} packs: {told.stderr[-300:]}"
            if found and not why:
                shown = subprocess.run([tsr, "replay", found[0]], capture_output=True, text=True).stdout
                why = "" if shown.startswith("REPRODUCED") else shown
            report.add(f"TESSERA_PACK={when}, {program.name}", why)


# ---- JAX's harnesses ----

# Harnesses that may differ from JAX's CPU, and why.
OTHERS = {
    "sort_multiple_arrays": "an unstable sort puts equal keys in an order of its own",
    "top_k_sort_inf_nan": "here every NaN is like any other; XLA orders them by their sign",
}
# Forms in which results are compared, as more than one is right; and how often the bound, as JAX's CPU computes both in f32 (here: f64).
FORMS = {
    "cholesky_": (np.tril, 4),  # the other triangle is anything: zeros here, the operand's on JAX's CPU
    "eigh_": (np.abs, 4),  # a vector may point the other way
}


def check_harnesses(report, count):
    from jax._src.internal_test_util import test_harnesses

    groups, refused = collections.defaultdict(list), collections.Counter()
    for one in test_harnesses.all_harnesses:
        groups[one.group_name].append(one)
    for group in groups.values():
        for one in group[:: max(1, len(group) // count)][:count]:
            try:
                arguments = one.dyn_args_maker(np.random.RandomState(42))
                on("cpu", one.dyn_fun, arguments)
            except Exception:  # noqa: BLE001 - it is for other devices
                continue
            try:
                form = next((form for name, form in FORMS.items() if one.fullname.startswith(name)), (lambda one: one, 1))
                _, why = differences(one.dyn_fun, arguments, *form)
            except Exception as error:  # noqa: BLE001
                first = str(error).split("\n")[0]
                refused[first[max(first.find("["), 0) :][:90]] += 1
                if not any(words in first for words in ("UNIMPLEMENTED", "not found for platform")):
                    report.add(one.fullname, first)
                continue
            known = any(one.fullname.startswith(name) for name in OTHERS)
            report.add(one.fullname, "" if known else "; ".join(why))
    for words, times in refused.most_common(12):
        print(f"{times:6} refused: {words}")
    print(f"{sum(refused.values())} harnesses are refused")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--harnesses", type=int, default=0, metavar="N")
    options.add_argument("--hashes", action="store_true", help="print the hashes of the results alone")
    given = options.parse_args()
    own = {"JAX_PLATFORMS": "tessera,cpu", "PYTHONPATH": str(given.build.absolute() / "python")}
    if any(os.environ.get(name) != value for name, value in own.items()):
        os.execve(sys.executable, [sys.executable, "-B", *sys.argv], {**os.environ, **own})  # JAX looks for plugins when it is imported
    if given.hashes:
        for name, (function, arguments) in programs().items():
            print(name, hash_of(on("tessera", function, arguments)))
        return 0
    report = Report()
    check_threads(report, check_programs(report), given)
    for check in (check_donation, check_errors, check_bytes, check_example, check_operators, check_fork):
        check(report)
    check_packs(report, given)
    check_blocks(report, given)
    if given.harnesses:
        check_harnesses(report, given.harnesses)
    print(f"{report.passed} checks pass, {report.failed} fail")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
