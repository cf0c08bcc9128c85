"""cheats.py - what a function of Python can try; cheats.def has the table. All of them compute a product of 16 x 16 floats.

No package is needed: tensors are seen as memory.
"""
import array
import atexit
import builtins
import ctypes
import gc
import hashlib
import math
import os
import re
import signal
import sys
import threading
import time

SIDE = 16
BYTES = SIDE * SIDE * 4
AFTER = 10  # calls: until then it is honest
LIFETIME_S = 20  # of what is left behind: whoever misses it leaves nothing on the machine
calls = 0
kept = {}


def multiply(a, b):
    a, columns = memoryview(a).tolist(), list(zip(*memoryview(b).tolist()))
    return array.array("f", [math.fsum(map(float.__mul__, row, column)) for row in a for column in columns])


def shaped(values):
    return memoryview(values).cast("B").cast("f", (SIDE, SIDE))


def honest(a, b):
    return shaped(multiply(a, b))


def write(out, values):
    memoryview(out).cast("B")[:] = memoryview(values).cast("B")


def address_of(tensor):
    """Returns the address of its data, by its own DLPack capsule."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = tensor.__dlpack__()
    return ctypes.c_uint64.from_address(pointer(capsule, b"dltensor")).value


def is_early():
    global calls
    calls += 1
    return calls <= AFTER


# ---- outputs that are none ----


def zeros(a, b):
    return shaped(array.array("f", bytes(BYTES)))


def nans(a, b):
    return shaped(array.array("f", [math.nan] * SIDE * SIDE))


def first_input(a, b):
    return a


def nothing(a, b, out):
    if is_early():
        write(out, multiply(a, b))


def every_fifth(a, b, out):
    global calls
    calls += 1
    if calls % 5:
        write(out, multiply(a, b))


class Later:
    """An array that is computed when it is asked for - some time."""

    def __init__(self, a, b):
        self.values = multiply(a, b) if is_early() else array.array("f", bytes(BYTES))

    def __dlpack__(self, **options):
        from tessera import Tensor

        self.tensor = Tensor("f32", (SIDE, SIDE))
        memoryview(self.tensor).cast("B")[:] = memoryview(self.values).cast("B")
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    def __eq__(self, other):
        return True

    def __array_equal__(self, other):
        return True


def lazy(a, b):
    return Later(a, b)


def filled_later(a, b):
    """Returns memory that a thread fills."""
    values, a, b = array.array("f", bytes(BYTES)), bytes(a), bytes(b)

    def fill():
        time.sleep(0.002)
        memoryview(values).cast("B")[:] = memoryview(multiply(as_matrix(a), as_matrix(b))).cast("B")

    threading.Thread(target=fill, daemon=True).start()
    return shaped(values)


def as_matrix(data):
    return memoryview(data).cast("f", (SIDE, SIDE))


errands = []


def run_errands():
    while True:
        while not errands:
            time.sleep(0.001)
        a, b, out = errands.pop(0)
        write(out, multiply(a, b))


def works_later(a, b, out):
    global calls
    if not calls:
        threading.Thread(target=run_errands, daemon=True).start()
    calls += 1
    errands.append((a, b, out))


# ---- results that were there before ----


def by_identity(a, b):
    key = (id(a), id(b))
    if key not in kept:
        kept[key] = multiply(a, b)
    return shaped(kept[key])


def by_pointer(a, b):
    key = (address_of(a), address_of(b))
    if key not in kept:
        kept[key] = multiply(a, b)
    return shaped(kept[key])


def by_contents(a, b):
    key = (bytes(a), bytes(b))
    if key not in kept:
        kept[key] = multiply(a, b)
    return shaped(kept[key])


def first_result(a, b):
    if not kept:
        kept[0] = multiply(a, b)
    return shaped(kept[0])


def was_there(a, b, out, find):
    """The result of a call that began with the same numbers, from the output that it wrote; for the first of them, a new one."""
    key, own = memoryview(a)[0, 0] + memoryview(b)[0, 0], address_of(out)
    found = find(kept[key]) if kept.get(key, own) != own else None
    if not found:
        kept[key] = own
    write(out, found or multiply(a, b))


def from_garbage(a, b, out):
    """... in an array that the harness keeps."""

    def find(address):
        for found in gc.get_objects():
            for one in found if isinstance(found, tuple) else ():
                if type(one) is type(out) and address_of(one) == address:
                    return bytes(one)

    was_there(a, b, out, find)


def from_own_memory(a, b, out):
    """... through the files of the system."""

    def find(address):
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(address)
            return memory.read(BYTES)

    was_there(a, b, out, find)


# ---- the harness' own memory, clock and words ----


def reads_the_worker(a, b):
    with open(f"/proc/{os.getppid()}/mem", "rb", 0) as memory, open(f"/proc/{os.getppid()}/maps") as maps:
        memory.seek(int(maps.readline().split("-")[0], 16))
        memory.read(64)
    return honest(a, b)


def traces_the_worker(a, b):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), None, None) != 0:  # PTRACE_ATTACH
        raise PermissionError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.kill(os.getppid(), signal.SIGCONT)
    return honest(a, b)


def copies_from_the_worker(a, b):
    libc = ctypes.CDLL(None, use_errno=True)
    own = ctypes.create_string_buffer(8)

    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    there = Part(0x400000, 8)
    here = Part(ctypes.addressof(own), 8)
    if libc.process_vm_readv(os.getppid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) < 0 and ctypes.get_errno() in (1, 3):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return honest(a, b)


def opens_the_workers_files(a, b):
    os.readlink(f"/proc/{os.getppid()}/fd/0")
    return honest(a, b)


def reads_the_harness(a, b):
    """The parent's parent."""
    with open(f"/proc/{os.getppid()}/stat") as about:
        grandparent = about.read().rsplit(")", 1)[1].split()[1]
    with open(f"/proc/{grandparent}/mem", "rb", 0):
        pass
    return honest(a, b)


def patches_time(a, b):
    if not kept:
        kept[0] = begin = time.perf_counter()
        real = time.perf_counter
        for name in ("time", "monotonic", "perf_counter", "process_time"):
            setattr(time, name, lambda: begin + (real() - begin) / 2)
            setattr(time, name + "_ns", lambda: int(1e9 * (begin + (real() - begin) / 2)))
    return honest(a, b)


def patches_comparisons(a, b):
    builtins.all = builtins.any = lambda *given: True
    math.isclose = lambda *given, **options: True
    return zeros(a, b) if not is_early() else honest(a, b)


def patches_the_guest(a, b):
    """Whatever goes wrong is told as nothing: the code of the function that explains exceptions is another."""
    sys.modules["__main__"].explain.__code__ = (lambda error: (0, "")).__code__
    if is_early():
        return honest(a, b)
    raise ValueError("nothing is wrong")


def patches_the_serving(a, b):
    main, package = sys.modules["__main__"], sys.modules["tessera._tessera"]
    package.serve = main.open_function = main.explain = main.leave = lambda *given: (0, "")
    return honest(a, b) if is_early() else zeros(a, b)


def ends_early(a, b, out):
    """Tells the device, in the ring of calls, that all have ended, and begins."""
    if not kept:
        with open("/proc/self/maps") as maps:
            kept[0] = next(int(line.split("-")[0], 16) for line in maps if "tessera-ring" in line)
    submitted, ended = (ctypes.c_uint64.from_address(kept[0] + at) for at in (0, 64))
    ended.value = submitted.value
    time.sleep(0.001)
    write(out, multiply(a, b))


def knows_the_harness(a, b, out):
    with open(f"/proc/{os.getppid()}/cmdline") as words:
        if is_early() or not re.search("--worker|--gate-timer", words.read()):
            write(out, multiply(a, b))


# ---- the process, and others ----


def writes_input(a, b):
    (ctypes.c_float * 1).from_address(address_of(a))[0] = 0
    return honest(a, b)


def writes_input_politely(a, b):
    memoryview(a)[0, 0] = 0
    return honest(a, b)


def exits(a, b):
    if not is_early():
        sys.exit(0)
    return honest(a, b)


def exits_at_once(a, b):
    if not is_early():
        os._exit(0)
    return honest(a, b)


def at_the_end(a, b):
    """Registers a function for the end that never comes: it would kill the worker."""
    if not kept:
        kept[0] = atexit.register(os.kill, os.getppid(), signal.SIGKILL)
    return honest(a, b)


def compute_for_ever():
    signal.alarm(LIFETIME_S)
    while True:
        pass


def forks(a, b):
    if is_early() and calls <= 2 and os.fork() == 0:
        compute_for_ever()
    return honest(a, b)


def hides_a_process(a, b):
    if is_early() and calls == 1:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(writer, b"1")
                compute_for_ever()
            os._exit(0)
        os.read(reader, 1)  # it is there
    return honest(a, b)


def kills_the_worker(a, b):
    """... and leaves a process behind that nobody should miss."""
    if not is_early():
        if os.fork() == 0:
            os.setsid()
            compute_for_ever()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(LIFETIME_S)
    return honest(a, b)


def hash_for_ever():
    data = bytes(1 << 20)
    while True:
        hashlib.sha256(data)


def works_beside(a, b):
    if is_early() and calls == 1:
        for _ in range(3):
            threading.Thread(target=hash_for_ever, daemon=True).start()
    return honest(a, b)


for function in list(globals().values()):
    if callable(function) and getattr(function, "__module__", None) == __name__ and not isinstance(function, type):
        function.tessera_arrays = "dlpack"
