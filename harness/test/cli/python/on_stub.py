"""on_stub.py BACKEND KIND - arrays of others on a GPU of a library that pretends to be BACKEND's, whose kind DLPack numbers KIND."""
import array
import ctypes
import os
import sys

import tessera
from tessera import _tessera

BACKEND, KIND = sys.argv[1], int(sys.argv[2])
SOURCE = """
from tessera import *

@cases(case("small"))
@kernel
def twice_1000(x: Tensor[1000, f32]) -> Tensor[1000, f32]:
    return x * 2
"""


class Counts(ctypes.Structure):
    """stub_counts of stub_control.h."""

    _fields_ = [(name, ctypes.c_uint64) for name in (
        "allocations contexts modules streams events current launches given submissions graphs graph_launches default_asked").split()]


class Shape(ctypes.Structure):
    """A DLTensor of DLPack, as far as it is read here; and where a capsule of its second generation has it."""

    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("type", ctypes.c_uint32), ("shape", ctypes.POINTER(ctypes.c_int64))]


def pointer_in(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Shape.from_address(get(capsule, b"dltensor_versioned") + 32)


def counts():
    found = Counts()
    ctypes.CDLL(os.environ["STUB"]).stub_gpu_counts(ctypes.byref(found))
    return found


class Foreign:
    """An array of another library on the GPU: memory of a context of its own."""

    def __init__(self, values, device=None, part=slice(0, 1000)):
        self.tensor = OTHER.put(array.array("f", values), "f32")
        self.device, self.part, self.asked = device or (KIND, 0), part, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **words):
        self.asked.append(words)
        capsule = self.tensor.__dlpack__(**words)
        inside = pointer_in(capsule)
        inside.kind, inside.index = self.device
        inside.data += 4 * self.part.start
        inside.shape[0] = self.part.stop - self.part.start
        return capsule


def listed(tensor):
    return memoryview(tessera.device_get(tensor)).tolist()


def refused(call, kind, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"nothing refused it: {words}")


tessera.runtime.select_backend(BACKEND)
index = [one["backend"] for one in tessera.runtime.devices()].index(BACKEND)
OTHER = _tessera.Context(index, 1)
twice = tessera.compile(SOURCE, case="small")
x = array.array("f", range(1000))
doubled = [2.0 * one for one in x]

# One that others see: at its place, as long as they hold it.
held = tessera.device_put(x)
assert held.__dlpack_device__() == (KIND, 0)
capsule = held.__dlpack__(max_version=(1, 0))
inside = pointer_in(capsule)
assert (inside.kind, inside.index) == (KIND, 0) and not held.donatable
del capsule
assert held.donatable
there = pointer_in(held.__dlpack__(max_version=(1, 0), dl_device=(KIND, 0))).data
assert there == inside.data
copied = held.__dlpack__(max_version=(1, 0), copy=True)
assert pointer_in(copied).data != there and pointer_in(copied).kind == KIND
assert pointer_in(held.__dlpack__(max_version=(1, 0), dl_device=(1, 0))).kind == 1
refused(lambda: held.__dlpack__(dl_device=(1, 0), copy=False), BufferError, "only a copy")
refused(lambda: held.__dlpack__(dl_device=(KIND, 1)), BufferError, f"({KIND}, 0)")
for stream in {2: (0,), 10: (1, 2)}[KIND]:
    refused(lambda: held.__dlpack__(stream=stream), BufferError, f"no stream {stream}")
assert held.__dlpack__(stream=-1) and held.__dlpack__(stream=12345)

# One of another library: where it lies, once its default stream has ended; so are the results.
given = Foreign(x)
before = counts()
result = twice(given)
after = counts()
assert result.__dlpack_device__() == (KIND, 0) and listed(result) == doubled
assert given.asked[-1]["stream"] == {2: 1, 10: 0}[KIND] and given.asked[-1]["max_version"] == (1, 0)
assert after.launches == before.launches + 1 and after.submissions == before.submissions + 1  # no copies
assert after.default_asked >= before.default_asked + 2
assert given.tensor.donatable  # and given back
assert listed(twice(held)) == doubled and listed(twice(result)) == [4.0 * one for one in x]

# ... copied within the device where it is not aligned, or put.
assert listed(twice(Foreign([7.0, *x], part=slice(1, 1001)))) == doubled
assert listed(twice(given.tensor)) == doubled  # of another context
put = tessera.device_put(given)
assert put.donatable and listed(put) == x.tolist()
assert listed(twice(put)) == doubled

# Elsewhere, and what the host cannot reach.
refused(lambda: twice(Foreign(x, device=(KIND, 1))), ValueError, f"({KIND}, 1)")
refused(lambda: twice(Foreign(x, device=(7, 0))), ValueError, "(7, 0)")
tessera.runtime.select_backend("cpu")
on_cpu = tessera.compile(SOURCE, case="small")
refused(lambda: on_cpu(given), ValueError, f"({KIND}, 0)")
assert memoryview(on_cpu(x)).tolist() == doubled
print("done")
