#!/usr/bin/env python3
"""test_package.py ROOT - the package tessera, in the Python that runs this; in a scratch folder."""
import array
import ast
import contextlib
import ctypes
import doctest
import functools
import importlib
import importlib.util
import io
import math
import os
import pathlib
import pkgutil
import pydoc
import re
import subprocess
import sys
import traceback
import types
import unittest

import tessera
from tessera import *  # noqa: F403
from tessera import stdlib
from tessera.stdlib import swiglu as gate

try:
    import numpy
except ImportError:
    numpy = None

ROOT = pathlib.Path(sys.argv[1])
FACTOR = 3.0
HEADS, KIND = 2, f32
MODULES = """
from tessera import *

@cases(case("small", N=4))
@kernel
def halves(x: Tensor["2*N", f32]) -> (Tensor["N", f32], Tensor["N", f32]):
    return x[:N], x[N:]

@cases(case("small", N=4))
@kernel
def ones_of(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x - x + 1
"""


@tessera.kernel
def tripled(x: tessera.Tensor["N", "T"]) -> tessera.Tensor["N", "T"]:
    """A type variable, a dimension, a number of the module."""
    return tessera.maximum(x, x) * FACTOR


quick = stdlib.geglu.with_vector(8)


@tessera.kernel
def library_called(x: tessera.Tensor["N", f32]):
    return gate(x, quick(x, x))


@tessera.kernel
def low_bit(x: tessera.Tensor["N", "T"]) -> tessera.Tensor["N", "T"]:
    return x & 1


@tessera.kernel
def gated(x: tessera.Tensor["N", f32]):
    return op.geglu(x, x), tessera.ops.relu(x)  # noqa: F405


@tessera.kernel
def paged(cache: tessera.PagedKVCache[1, 1, 2, 3, 2, 1, f32], k: tessera.Tensor[1, 1, 1, 1, f32]):
    cache = cache.append(k, k)
    return cache.keys(), cache


def product(x, y):
    return x @ y


@tessera.kernel
def placed(x: Tensor["M", "K", f32] @ device(cpu), w: Tensor["K", "N", f32]):
    with device(cpu), prefetch(w, into="l2"):
        y = product.with_tile(2, 1)(x, w)
    return y


@tessera.kernel
def elsewhere(x: Tensor["N", f32]):
    with device(gpu):
        y = x + x
    return y


class Shape(ctypes.Structure):
    """A DLTensor of DLPack."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    """A DLManagedTensorVersioned, whose flag 1 says that it may only be read."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Shape)]


class ReadOnly:
    """Floats that may only be read, as DLPack 1 says it; older NumPys cannot."""

    def __init__(self, values):
        self.values = (ctypes.c_float * len(values))(*values)
        self.shape = (ctypes.c_int64 * 1)(len(values))
        self.managed = Versioned(1, 0, None, None, 1, Shape(ctypes.addressof(self.values), 1, 0, 1, 2, 32, 1, self.shape, None, 0))

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, max_version=None, **_):
        self.asked = max_version
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)


@tessera.kernel(threads=1, dims={"K": 2})
def windows(x: tessera.Tensor["N + K - 1", f32]) -> tessera.Tensor["N", "K", f32]:
    return window(x, 0, K)  # noqa: F821 - text of the language


SIZES = Schedule(block=(16,))


@kernel.schedule(SIZES.with_block(32, 64))
def doubled_tiles(x: KTile["M", "N", f32], y: KTile["M", "N", f32] @ out):
    T = tile.context()
    tile.store(y, tile.load(x, T.rows, T.cols) * 2.0, T.rows, T.cols)


@constants(add=True)
@tessera.kernel(threads=1)
@kernel.autotune(space=dict(BM=[16]))
@cases(case("small", S=3, D=2, S_kv=3, x=normal(0, 3)))
def beside_cache(x: KTile["S", "D", f32], cache: KVCache @ device(cpu), *, add: bool):
    T = tile.context()
    k = sum(tile.load(cache.K), axis=0, keepdims=True)
    v = max(tile.load(cache.V), axis=0, keepdims=True)
    a = tile.load(x, T.rows)
    if add:
        a = a + k
    return a * v


@tessera.kernel
@same_as("tripled")
@math("correct")
@verify.numerics(bounded=[-1000, 1000])
def policies(x: Tensor["M", "N", bf16 @ accum(f32)], *, shift=0.5) -> Tensor["M", f32]:
    """Sums of rows."""
    return cast(sum(x, axis=1), f32) + shift


@tessera.record
class Pair:
    a: Tensor["N", f32]
    b: list[Tensor["N", f32], HEADS]

    def total(self):
        return self.a + self.b[0] + self.b[1]


@tessera.jit
def total_of_pair(p: Pair, *, twice=False) -> Tensor["N", f32]:
    y = p.total()
    if twice:
        y = y * 2.0
    return y


@tessera.jit
def told(x: Tensor["N", f32]) -> Tensor["N", f32]:
    n = 0
    while bounded(max(x) < 9.0, 5):
        n, x = n + 1, x * 2.0
        print("turn", n, "of", x)
        if n > 1:
            for i in range(N):
                print("place", i)
        else:
            print("first", n)
        debug.check(n < 4, "too many turns")
    return x


@tessera.record
class Split(Generic["M"]):
    parts: Tensor[HEADS * 2, "M", KIND]


@tessera.jit
def by_heads(x: Tensor[HEADS, "N", KIND], s: Split[HEADS + 1]) -> tuple[Tensor[HEADS, "N", KIND], Tensor[HEADS + 1, KIND]]:
    return x * 2.0, sum(s.parts, axis=0)


@tessera.jit(donate="w")
def optimised(
    w: Tensor["N", f32], g: Tensor["N", f32], opt: OptimizerState["w"] @ fp32_master
) -> tuple[Tensor["N", f32], OptimizerState["w"] @ fp32_master]:
    w, opt = opt.adamw(w, g, lr=0.5)
    return w, opt


def helper(x):
    return x + absent  # noqa: F821 - an error of the test


@tessera.kernel
def calls_helper(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return helper(x)


ON_DEVICES = """
import array, tessera
source = '''
from tessera import *

@cases(case("small", N=2))
@kernel
def twice(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x * 2
'''
x = array.array("f", [1, 2])
apart = [d["backend"] for d in tessera.runtime.devices() if not d["unavailable"] and not d["host_addressable"]]
for name in [*apart, "ptx-emulated", "rocm-emulated"]:
    tessera.runtime.select_backend(name)
    assert tessera.runtime.capabilities()["subgroup"] == {"ptx-emulated": 32, "rocm-emulated": 64}.get(name, tessera.runtime.capabilities()["subgroup"])
    twice = tessera.compile(source, case="small")
    assert memoryview(twice(x)).tolist() == [2, 4]
    there = twice(tessera.device_put(x))
    assert memoryview(tessera.device_get(there)).tolist() == [2, 4]
    try:
        memoryview(there)
    except BufferError as error:
        assert "device_get" in str(error)
        print(name)
"""


def floats(*values):
    return array.array("f", values)


def listed(tensor):
    return memoryview(tensor).tolist()


def place_of(tensor):
    return ctypes.addressof(ctypes.c_char.from_buffer(memoryview(tensor).cast("B")))


def frames_of(call, kind=tessera.Error):
    """Functions of the package that an error shows."""
    try:
        call()
    except kind as error:
        return [one.name for one in traceback.extract_tb(error.__traceback__) if one.filename != __file__]
    return None


class Kernels(unittest.TestCase):
    def test_calls_of_two_shapes(self):
        self.assertEqual(listed(tripled(floats(1, 2))), [3, 6])
        self.assertEqual(listed(tripled(floats(1, 2, 4))), [3, 6, 12])
        self.assertIs(tripled.module_for(floats(1, 2)), tripled.module_for(floats(5, 6)))

    def test_type_variable(self):
        x = tessera.Tensor("bf16", (2,))
        memoryview(x)[:] = array.array("H", [0x3F80, 0x4000])
        result = tripled(x)
        self.assertEqual((result.dtype, listed(result)), ("bf16", [0x4040, 0x40C0]))
        with self.assertRaisesRegex(tessera.CompileError, "cannot take part in u8 arithmetic"):
            tripled(b"abc")

    def test_known_dimension(self):
        self.assertEqual(listed(windows(floats(1, 2, 3))), [[1, 2], [2, 3]])

    def test_prints_of_the_turns_that_happen(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            told(floats(1, 3))
            told(floats(9, 9))
            with self.assertRaisesRegex(tessera.CheckError, "too many turns"):
                told(floats(0.5))
        lines = said.getvalue().splitlines()
        self.assertEqual(lines[:5], ["turn 1 of [2.0, 6.0]", "first 1", "turn 2 of [4.0, 12.0]", "place 0", "place 1"])
        turns = [f"turn {n} of [{2.0 ** (n - 1)}]" for n in range(1, 6)]
        self.assertEqual([line for line in lines[5:] if "place" not in line], [turns[0], "first 1", *turns[1:]])

    def test_constants_of_the_module_in_annotations(self):
        ones, parts = memoryview(floats(*[1] * 12)).cast("B"), {}
        parts["parts"] = ones.cast("f", (4, 3))
        doubled, summed = by_heads(ones[:40].cast("f", (2, 5)), parts)
        self.assertEqual((listed(doubled), listed(summed)), ([[2] * 5] * 2, [4] * 3))
        with self.assertRaisesRegex(tessera.Error, "an axis of 3 where the kernel has 2"):
            by_heads(ones.cast("f", (3, 4)), parts)

    def test_results_without_annotation(self):
        gate, relu = gated(floats(-1, 0, 2))
        self.assertEqual((listed(relu), len(listed(gate))), ([0, 0, 2], 3))

    def test_devices(self):
        matrix = memoryview(floats(1, 2, 3, 4)).cast("B").cast("f", (2, 2))
        self.assertEqual(listed(placed(matrix, matrix)), [[7, 10], [15, 22]])
        with self.assertRaisesRegex(tessera.Error, "E0818"):
            elsewhere(floats(1, 2))

    def test_a_cache_in_pages(self):
        def shaped(values, *shape):
            return memoryview(values).cast("B").cast(values.typecode, shape)
        keys, after = paged(
            tessera.PagedKVCache(shaped(floats(*range(6)), 3, 1, 2, 1), shaped(floats(*range(6)), 3, 1, 2, 1),
                                 shaped(array.array("i", [2, 0]), 1, 2), array.array("i", [1])),
            shaped(floats(9), 1, 1, 1, 1))
        self.assertEqual(listed(keys), [[[[4], [9], [0], [1]]]])
        self.assertEqual((listed(after.lengths), listed(after.key_pages)[2]), ([2], [[[4], [9]]]))

    def test_tiles(self):
        matrix = memoryview(floats(*range(6))).cast("B").cast("f", (3, 2))
        self.assertEqual(listed(doubled_tiles(matrix)), [[0, 2], [4, 6], [8, 10]])
        self.assertEqual(listed(beside_cache(matrix, (matrix, matrix), add=False)), [[0, 5], [8, 15], [16, 25]])
        self.assertEqual(listed(beside_cache(matrix, (matrix, matrix))), [[24, 50], [32, 60], [40, 70]])
        for call, words in ((lambda: beside_cache(matrix, matrix), r"is a KVCache: give a pair \(K, V\)"),
                            (lambda: beside_cache(matrix, (matrix, matrix), ad=1), "no constant 'ad'; there are add"),
                            (lambda: exp(matrix), r"exp\(\) is a function of the kernel language")):
            with self.assertRaisesRegex(tessera.Error, words):
                call()

    def test_a_type_variable_is_what_its_array_holds(self):
        for letter, dtype in (("i", "i32"), ("q", "i64"), ("b", "i8"), ("h", "i16"), ("B", "u8"), ("H", "u16"), ("I", "u32"), ("Q", "u64")):
            result = low_bit(array.array(letter, range(5)))
            self.assertEqual((result.dtype, list(memoryview(result))), (dtype, [0, 1, 0, 1, 0]))

    def test_an_array_that_may_only_be_read(self):
        x = ReadOnly([1, 2, 3])
        self.assertEqual(list(memoryview(tripled(x))), [3, 6, 9])
        self.assertEqual((x.asked, list(x.values)), ((1, 0), [1, 2, 3]))

    def test_constants_and_policies(self):
        x = memoryview(array.array("H", [0x3F80] * 6)).cast("B").cast("H", (2, 3))
        self.assertEqual(listed(policies(x)), [3.5, 3.5])
        self.assertEqual(listed(policies(x, shift=-1)), [2, 2])

    def test_help(self):
        self.assertIn("Sums of rows.", pydoc.render_doc(policies))
        self.assertIn("(docs/bench.schema.json)", pydoc.render_doc(tessera.bench))

    def test_no_text(self):
        words = "import tessera\n@tessera.kernel\ndef k(x: tessera.Tensor['N', tessera.f32]) -> tessera.Tensor['N', tessera.f32]:\n    return x\n"
        run = subprocess.run([sys.executable, "-"], input=words, capture_output=True, text=True)
        self.assertIn("tessera.Error: the text of k cannot be read", run.stderr)
        self.assertNotIn("OSError", run.stderr)

    def test_no_process_for_a_call(self):
        tripled(floats(1, 2))
        before, os.environ["TSR"] = os.environ.get("TSR"), "/none"
        try:
            self.assertEqual(listed(tripled(floats(7, 8))), [21, 24])
            with self.assertRaisesRegex(tessera.Error, "cannot run /none"):
                tripled(floats(1, 2, 3, 4, 5))
        finally:
            del os.environ["TSR"]
            if before:
                os.environ["TSR"] = before

    def test_errors_of_helpers_stand_where_they_are(self):
        """In the line of the function that the kernel calls."""
        with self.assertRaises(tessera.CompileError) as caught:
            calls_helper(floats(1, 2))
        (found,) = caught.exception.diagnostics
        self.assertIn("return x + absent", pathlib.Path(__file__).read_text().splitlines()[found.line - 1])

    def test_trees(self):
        """Parameters of several arrays take these, and refuse others."""
        pair = {"a": floats(1, 2), "b": [floats(3, 4), floats(5, 6)]}
        plain = types.SimpleNamespace(**pair)
        for value in (pair, plain, Pair(**pair)):
            self.assertEqual(listed(total_of_pair(value)), [9, 12])
            self.assertEqual(listed(total_of_pair(p=value, twice=True)), [18, 24])
        for values, words in (
            (({"a": pair["a"]},), "'p' has no 'b'"),
            (({"a": pair["a"], "b": pair["b"], "c": pair["a"]},), "'p' has 'c'"),
            (({"a": pair["a"], "c": pair["b"]},), "no array for 'p.b.0'"),
            ((), "no value for 'p'"),
            ((pair, pair), "takes 1 values"),
        ):
            with self.assertRaisesRegex(tessera.Error, words):
                total_of_pair(*values)

    def test_trees_that_do_not_fit(self):
        one = array.array("f", [1, 2])
        for given, words in (
            (Pair(a=one, b=[one]), "'p.b' has 1 items, and the kernel takes 2"),
            ({"a": one}, "'p' has no 'b', which the kernel takes"),
            ({"a": one, "b": [one, one], "c": one}, "'p' has 'c', which the kernel does not take"),
            ({"a": one, "b": one}, "'p.b' is one array, and the kernel takes p.b.0, p.b.1"),
            ({"a": [one, one], "b": [one, one]}, "'p.a' is one array in the kernel, and has 2"),
        ):
            with self.assertRaises(tessera.Error) as raised:
                total_of_pair(given)
            self.assertEqual(str(raised.exception), words)

    def test_functions_with_arrays(self):
        x = array.array("f", [0, 1, 2, 3])
        self.assertEqual(memoryview(tessera.op.maximum(x, 1.5)).tolist(), [1.5, 1.5, 2, 3])
        self.assertEqual(memoryview(tessera.op.cumsum(x, reverse=True)).tolist(), [6, 6, 5, 3])
        self.assertEqual(memoryview(stdlib.embedding(memoryview(x).cast("B").cast("f", (2, 2)), array.array("i", [1]))).tolist(), [[2, 3]])
        self.assertEqual(repr(tessera.op.exp(3)), "op.exp(3)")
        with self.assertRaises(tessera.CompileError) as raised:
            tessera.op.flash_attention_fp8(x, x, x)
        self.assertEqual(raised.exception.diagnostics[0].id, "E0302")

    def test_the_standard_library(self):
        self.assertEqual(memoryview(library_called(array.array("f", [0, 0]))).tolist(), [0, 0])
        lines = library_called.source.splitlines()
        self.assertIn("from tessera.stdlib import swiglu as gate", lines)
        self.assertIn("from tessera.stdlib import geglu", lines)
        self.assertIn("quick = geglu.with_vector(8)", lines)
        with self.assertRaises(AttributeError):
            stdlib.nothing  # noqa: B018

    def test_names_from_elsewhere(self):
        caps = tessera.runtime.capabilities()
        self.assertEqual(caps["tensorcore"]["bf16"], "bf16" in caps["matrix_unit"])
        self.assertFalse(caps["tensorcore"].get("fp8_e4m3", False))
        self.assertEqual((caps["warp_size"], caps["cp_async"]), (caps["subgroup"], caps["async_copy"]))
        with self.assertRaisesRegex(tessera.Error, "'cuda'"):
            tessera.runtime.select_backend("ptx")

    def test_states(self):
        """An optimiser's state comes out in its form; the first step of Adam is as long as the rate."""
        zeros = floats(0, 0)
        state = {"m": zeros, "v": zeros, "step": memoryview(array.array("i", [0])).cast("B").cast("i", ()), "fp32_master": floats(1, 1)}
        w, after = optimised(floats(9, 9), floats(4, -4), state)
        self.assertEqual([round(one, 5) for one in listed(w)], [0.5, 1.5])
        self.assertEqual(list(after), list(state))
        self.assertEqual(listed(after["fp32_master"]), listed(w))

    def test_states_are_the_librarys(self):
        """Their values, and what type checkers read, have the fields of their declarations."""
        stub = ast.parse(pathlib.Path(tessera.__file__).with_name("language.pyi").read_text())
        shown = {one.name: one for one in stub.body if isinstance(one, ast.ClassDef)}
        library = ast.parse((ROOT / "compiler/library/state.tsr").read_text())
        states = [one for one in library.body if isinstance(one, ast.ClassDef)]
        self.assertIn("OptimizerState", [one.name for one in states])
        for one in states:
            fields = [field.target.id for field in one.body if isinstance(field, ast.AnnAssign) and ast.unparse(field.annotation) != "bool"]
            made = getattr(tessera, one.name)(*range(len(fields)))
            self.assertEqual(vars(made), dict(zip(fields, range(len(fields)))))
            self.assertEqual([field.target.id for field in shown[one.name].body if isinstance(field, ast.AnnAssign)], fields)
            for values, named in ((range(len(fields) + 1), {}), (range(2), {fields[0]: 1}), (range(2), {"absent": 1})):
                with self.assertRaisesRegex(TypeError, fields[-1]):
                    getattr(tessera, one.name)(*values, **named)
        zeros = floats(0, 0)
        step = memoryview(array.array("i", [0])).cast("B").cast("i", ())
        w, after = optimised(floats(9, 9), floats(4, -4), tessera.OptimizerState(m=zeros, v=zeros, step=step, fp32_master=floats(1, 1)))
        self.assertEqual(listed(after.fp32_master), listed(w))
        with self.assertRaisesRegex(tessera.Error, "'opt' has no 'fp32_master'"):
            optimised(floats(9, 9), floats(4, -4), tessera.OptimizerState(m=zeros, v=zeros, step=step))

    def test_a_state_stays_where_it_is(self):
        """On a device each step changes it in place, and the handle of before is gone; what somebody looks at is left alone."""
        count = 2048
        one = floats(*[1] * count)
        fresh = {"m": floats(*[0] * count), "v": floats(*[0] * count),
                 "step": memoryview(array.array("i", [0])).cast("B").cast("i", ()), "fp32_master": one}
        w, plain = optimised(one, one, fresh)
        held = tessera.device_put(fresh)
        first = place_of(held["m"])
        weights, after = optimised(tessera.device_put(one), one, held)
        self.assertEqual((place_of(after["m"]), listed(after["m"])), (first, listed(plain["m"])))
        self.assertEqual(listed(weights), listed(w))
        with self.assertRaisesRegex(tessera.Error, "was donated"):
            optimised(weights, one, held)
        self.assertEqual(listed(held["step"]), 0)
        twice = tessera.device_put({**fresh, "fp32_master": one})
        twice["v"] = twice["m"]
        with self.assertRaisesRegex(tessera.Error, "'opt_out.m' overlaps 'opt.v'"):
            optimised(one, one, twice)
        look = memoryview(after["v"])
        seen = look.tolist()
        _, later = optimised(weights, one, after)
        self.assertEqual((look.tolist(), place_of(later["m"])), (seen, first))
        self.assertNotEqual(listed(later["v"]), seen)
        self.assertEqual(listed(tessera.device_get(later)["step"]), 2)

    def test_errors_stand_where_they_are(self):
        @tessera.kernel
        def wrong(x: tessera.Tensor["M", "N", bf16]) -> tessera.Tensor["M", "N", f32]:
            return tessera.exp(x) + nothing + np.exp(x)  # noqa: F821

        with self.assertRaises(tessera.CompileError) as caught:
            wrong(memoryview(bytearray(12)).cast("H", (2, 3)))
        found = caught.exception.diagnostics[0]
        line = pathlib.Path(__file__).read_text().splitlines()[found.line - 1]
        self.assertEqual(line[found.column - 1 :][:7], "nothing")
        self.assertIn(f"{__file__}:{found.line}:", str(caught.exception))
        self.assertEqual([one.help for one in caught.exception.diagnostics], ["", "write exp(...)"])
        self.assertIn("\n    help: write exp(...)", str(caught.exception))
        self.assertEqual(frames_of(lambda: wrong(memoryview(bytearray(12)).cast("H", (2, 3)))), [])

    def test_names(self):
        """Those of the stub, which type checkers read, are those of the package; the corpus needs no other."""
        folder = pathlib.Path(tessera.__file__).parent
        stub = ast.parse((folder / "__init__.pyi").read_text())
        named = {one.asname for node in stub.body if isinstance(node, ast.ImportFrom) for one in node.names if one.asname}
        words = set(importlib.import_module("tessera._words").NAMES)
        self.assertEqual(named | words, set(dir(tessera)))
        for name in dir(tessera):
            self.assertTrue(hasattr(tessera, name), name)
        builtin = {"bool", "dict", "float", "int", "list", "print", "range", "tuple"}
        for path in (ROOT / "corpus").rglob("*.tsr"):
            tree = ast.parse(path.read_text())
            names = [one for one in ast.walk(tree) if isinstance(one, ast.Name)]
            own = {one.id for one in names if isinstance(one.ctx, ast.Store)} | {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
            own |= {one.name for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
            own |= {name.asname or name.name for one in tree.body if isinstance(one, ast.ImportFrom) and one.module != "tessera" for name in one.names}
            texts = [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            own |= {name for one in texts for name in re.findall(r"[A-Za-z_]\w*", one)}
            unknown = {one.id for one in names} - own - builtin - set(dir(tessera))
            self.assertEqual(unknown, set(), path)

    def test_wrong_arrays(self):
        for arrays, words in (
            ((), "takes 1 arrays, not 0"),
            ((floats(1), floats(2)), "takes 1 arrays, not 2"),
            ((memoryview(bytearray(16)).cast("f", (2, 2)),), r"'x' has the shape \(2, 2\); the kernel's is \(N\)"),
        ):
            with self.assertRaisesRegex(tessera.Error, words):
                tripled(*arrays)
        with self.assertRaisesRegex(TypeError, "no array"):
            tripled(5)


class Modules(unittest.TestCase):
    def test_any_dimensions(self):
        halves = tessera.compile(MODULES, "halves", generic=True)
        for values in ([1, 2], [1, 2, 3, 4, 5, 6], []):
            first, second = halves(floats(*values))
            self.assertEqual(listed(first) + listed(second), values)
        with self.assertRaisesRegex(tessera.Error, "'x' has an axis of 3|do not tell"):
            halves(floats(1, 2, 3))

    def test_saved_and_loaded(self):
        tessera.compile(MODULES, "ones_of", case="small", threads=1).save("ones.tsrm")
        ones = tessera.load("ones.tsrm", threads=1)
        self.assertEqual((ones.name, listed(ones(floats(*range(4))))), ("ones_of", [1, 1, 1, 1]))
        with self.assertRaisesRegex(tessera.Error, "has an axis of 5 where the kernel has 4$"):
            ones(floats(*range(5)))
        with self.assertRaisesRegex(tessera.Error, "'x' is int32; the kernel takes float32"):
            ones(array.array("i", range(4)))
        pathlib.Path("cut.tsrm").write_bytes(ones.image[:1000])
        with self.assertRaisesRegex(tessera.Error, "corrupt module"):
            tessera.load("cut.tsrm")

    def test_profile(self):
        with tessera.numerics.profile("fast"):
            self.assertEqual(tessera.compile(MODULES, "ones_of").metadata["profile"], "fast")
        self.assertEqual(tessera.compile(MODULES, "ones_of").metadata["profile"], "strict")
        with self.assertRaisesRegex(tessera.Error, "no profile 'loose'"):
            tessera.numerics.profile("loose")

    def test_refusals(self):
        with self.assertRaisesRegex(tessera.CompileError, "no kernel none"):
            tessera.compile(MODULES, "none")
        for wrong in (("f99", (1,)), ("f32", (-1,)), ("f32", (1 << 40, 1 << 40))):
            with self.assertRaises(ValueError):
                tessera.Tensor(*wrong)

    def test_devices_with_memory_of_their_own(self):
        """Arrays go there and come back; tensors that stay there cannot be looked at from here."""
        places = {"TESSERA_SIMULATED": "1", "TESSERA_SOFTWARE_DEVICES": "1"}
        run = subprocess.run([sys.executable, "-c", ON_DEVICES], env={**os.environ, **places}, capture_output=True, text=True)
        self.assertEqual((run.stderr, run.returncode), ("", 0))
        self.assertLessEqual({"simulated", "ptx-emulated", "rocm-emulated"}, set(run.stdout.split()))

    def test_backend_of_the_environment(self):
        words = "import tessera; tessera.runtime.context()"
        run = subprocess.run([sys.executable, "-c", words], env={**os.environ, "TESSERA_BACKEND": "abacus"}, capture_output=True, text=True)
        self.assertIn("there is no backend 'abacus' here; there is cpu", run.stderr)


class Harness(unittest.TestCase):
    def setUp(self):
        pathlib.Path("k.tsr").write_text(MODULES)
        pathlib.Path("mine.py").write_text("calls = 0\n"
                                           "def ones_of(x, out):\n    for i in range(x.shape[0]):\n        memoryview(out)[i] = 1\n"
                                           "def counts(x, out):\n    global calls\n    calls += 1\n    ones_of(x, out)\n"
                                           "    if x.shape[0]:\n        memoryview(out)[0] = calls\n"
                                           "def knows_its_size(x, out):\n    for i in range(x.shape[0]):\n        memoryview(out)[i] = x.shape[0]\n"
                                           "def never(x):\n    raise ValueError('no such luck')\n"
                                           "class Op:\n    def __call__(self, x, out):\n        ones_of(x, out)\n    def bound(self, x, out):\n        ones_of(x, out)\n"
                                           "    @staticmethod\n    def static(x, out):\n        ones_of(x, out)\n"
                                           "    @classmethod\n    def of_class(cls, x, out):\n        ones_of(x, out)\n"
                                           "class More(Op):\n    pass\n"
                                           "def other(x):\n    raise NotImplementedError('not here')\n")
        sys.path.insert(0, os.getcwd())

    def test_bench(self):
        document = tessera.bench("k.tsr", filter=["ones_of/small"], quick=True, threads=1)
        self.assertEqual([one["status"] for one in document["results"]], ["ok"])
        with self.assertRaisesRegex(tessera.Error, "gone.tsr"):
            tessera.bench("gone.tsr")

    def test_verify(self):
        import mine
        from tessera.testing import Mismatch, verify

        self.assertEqual([one["case"] for one in verify(mine.ones_of, "k.tsr:ones_of", profile="strict")], ["small"])
        with self.assertRaisesRegex(Mismatch, "ones_of/small: error: ValueError: no such luck"):
            verify(mine.never, "k.tsr:ones_of")
        with self.assertRaisesRegex(tessera.Error, "could be judged: ones_of/small: unsupported: .*not here"):
            verify("mine.py:other", "k.tsr:ones_of")
        for name, words in (("one_of", "k.tsr has no kernel 'one_of'; did you mean 'ones_of'"), ("sum", "there are halves, ones_of")):
            for call in (verify, tessera.check):
                with self.assertRaisesRegex(tessera.Error, words):
                    call(mine.ones_of, f"k.tsr:{name}")
                self.assertEqual(frames_of(lambda: call(mine.ones_of, f"k.tsr:{name}")), [])
        self.assertEqual(frames_of(lambda: verify(mine.never, "k.tsr:ones_of"), Mismatch), [])
        self.assertEqual(frames_of(lambda: tessera.bench("gone.tsr")), [])
        self.assertEqual(frames_of(lambda: tessera.kernel(len)), [])
        with self.assertRaisesRegex(tessera.Error, "ones_of has no case 'smal'; did you mean 'small'"):
            verify(mine.ones_of, "k.tsr:ones_of", cases="smal")
        def inner(x):
            return x

        for nameless in (lambda x: x, inner, functools.partial(mine.ones_of, out=None), mine.More()):
            with self.assertRaisesRegex(tessera.Error, "cannot be found by its name"):
                verify(nameless, "k.tsr:ones_of")
        with self.assertRaisesRegex(tessera.Error, "Op.bound is bound to an object"):
            verify(mine.Op().bound, "k.tsr:ones_of")
        for one in (mine.Op.static, mine.Op.of_class, mine.More.of_class):
            self.assertEqual([result["status"] for result in verify(one, "k.tsr:ones_of")], ["ok"])
        with self.assertRaisesRegex(Mismatch, "'Op.bound' is called with an object of Op"):
            verify(mine.Op.bound, "k.tsr:ones_of")

    def test_a_function_without_a_file(self):
        words = "import tessera\ndef ones_of(x): return x\ntessera.verify(ones_of, 'k.tsr:ones_of')\n"
        run = subprocess.run([sys.executable, "-"], input=words, capture_output=True, text=True)
        self.assertIn("tessera.Error: ones_of stands in no file", run.stderr)

    def test_a_script_that_verifies_itself(self):
        pathlib.Path("script.py").write_text("import tessera\n"
                                             "def ones(x, out):\n    for i in range(x.shape[0]):\n        memoryview(out)[i] = 1\n"
                                             "tessera.verify(ones, 'k.tsr:ones_of')\n")
        run = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("if __name__ == '__main__'", run.stderr)

    def test_check(self):
        import mine
        from tessera.testing import Mismatch, Violation, check

        self.assertIs(check, tessera.check)
        for function in (mine.ones_of, None):
            found = check(function, "k.tsr:ones_of", relations=["poison"], budget=20)
            self.assertEqual([(one["relation"], one["verdict"]) for one in found], [("poison", "holds")])
        with self.assertRaisesRegex(Violation, r"repetition is violated\n +out\[\d+\] is 0x[0-9a-f]+ \(.*\) and 0x"):
            check(mine.counts, "k.tsr:ones_of", relations="repetition,poison", budget=20)
        with self.assertRaisesRegex(Mismatch, "repetition could not be tried: error: ValueError: no such luck") as caught:
            check(mine.never, "k.tsr:ones_of", relations=["repetition"], budget=20)
        self.assertNotIsInstance(caught.exception, Violation)
        with self.assertRaisesRegex(tessera.Error, "could be verified: .*not here"):
            check(mine.other, "k.tsr:ones_of", relations=["repetition"], budget=20)
        with self.assertRaisesRegex(tessera.Error, "^unknown relation 'bach'; did you mean batch[^\n]*$"):
            check(mine.ones_of, "k.tsr:ones_of", relations="bach")

    def test_packs(self):
        import mine

        with self.assertRaises(tessera.testing.Violation) as caught:
            tessera.check(mine.knows_its_size, "k.tsr:ones_of", relations="batch", budget=20)
        example = caught.exception.results[0]["example"]
        self.assertEqual((example["dims"], example["index"]), ("N=2", "0"))
        (pack,) = caught.exception.packs
        self.assertEqual(tessera.replay(pack)["verdict"], "NEEDS_TRUST")
        self.assertEqual(tessera.replay(pack, trust=True)["verdict"], "REPRODUCED_EXACT")
        fixed = tessera.replay(pack, **{"with": "mine.py:ones_of"})
        self.assertEqual(fixed["verdict"], "NOT_REPRODUCED")
        self.assertEqual(tessera.replay(pack, **{"with": "mine.py:never"})["verdict"], "DIFFERENT_FAILURE")
        with self.assertRaises(tessera.testing.Mismatch) as caught:
            tessera.check(mine.never, "k.tsr:ones_of", relations="threads", budget=20)
        (pack,) = caught.exception.packs
        self.assertEqual(tessera.replay(pack, trust=True)["verdict"], "REPRODUCED_CLASS")

    def test_replay(self):
        with self.assertRaisesRegex(tessera.Error, "no.tsrpack"):
            tessera.replay("no.tsrpack")


@unittest.skipUnless(numpy, "numpy is not installed")
class Numpy(unittest.TestCase):
    def test_results_are_arrays(self):
        for x in (numpy.arange(12, dtype="f4"), numpy.arange(24, dtype="f4")[::2], numpy.arange(13, dtype="f4")[1:],
                  numpy.arange(12, dtype="f4")[::-1]):
            result = tripled(x)
            self.assertIs(type(result), numpy.ndarray)
            self.assertTrue((result == 3 * x).all())

    def test_shared_both_ways(self):
        tensor = tessera.Tensor("f32", (2, 3))
        numpy.asarray(tensor)[:] = 7
        self.assertEqual(listed(tensor), [[7] * 3] * 2)
        self.assertTrue((numpy.from_dlpack(tensor) == 7).all())
        self.assertEqual(numpy.from_dlpack(tensor).ctypes.data % 64, 0)

    def test_arrays_that_speak_dlpack_alone(self):
        class Old:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self):
                return self.array.__dlpack__()

        class New(Old):
            def __dlpack__(self, **words):
                self.words = words
                return self.array.__dlpack__(**words)

        x = numpy.arange(12, dtype="f4")
        for kind in (Old, New):
            self.assertEqual(list(memoryview(tripled(kind(x)))), list(3 * x))
        tensor = tripled(New(x))
        self.assertEqual(list(memoryview(tripled(tensor))), list(9 * x))
        capsule = tensor.__dlpack__(copy=True, max_version=(1, 0))
        self.assertIn("dltensor_versioned", repr(capsule))
        for copied in (tensor.__dlpack__(copy=True), tensor.__dlpack__(copy=False)):
            self.assertIn('"dltensor"', repr(copied))
        with self.assertRaisesRegex(BufferError, "device \\(1, 0\\)"):
            tensor.__dlpack__(dl_device=(2, 0))
        if tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 1):
            return
        x.flags.writeable = False
        self.assertEqual(list(memoryview(tripled(New(x)))), list(3 * x))
        apart = numpy.from_dlpack(tensor, copy=True)
        apart[:] = 0
        self.assertEqual(list(memoryview(tensor)), list(3 * x))

    def test_lives_as_long_as_the_array(self):
        arrays = [tripled(numpy.full(1000, i, "f4")) for i in range(50)]
        self.assertTrue(all((one == 3 * i).all() for i, one in enumerate(arrays)))

    def test_special_values(self):
        result = tripled(numpy.array([math.nan, math.inf, -0.0], "f4"))
        self.assertEqual([str(value) for value in result], ["nan", "inf", "-0.0"])

    def test_the_page(self):
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)
        pathlib.Path("page.py").write_text("\n".join(blocks))
        run = subprocess.run([sys.executable, "page.py"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(len(blocks), 10)


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(tessera.__path__):
        if module.name == "pytest_plugin" and importlib.util.find_spec("pytest") is None:
            continue
        if module.name != "guest":
            tests.addTests(doctest.DocTestSuite(importlib.import_module(f"tessera.{module.name}")) if not module.name == "_tessera" else [])
    return tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
