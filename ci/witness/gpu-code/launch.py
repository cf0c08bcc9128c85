"""A launch of GPU code as a folder, and whether what it made is what was expected: shared by run-amd and run-ptx.

    launch.json
    {
      "kernel": "saxpy",                symbol
      "arch": "gfx1100",                or sm_80
      "code": "saxpy.hsaco",            or PTX text
      "grid": 4,                        workgroups
      "threads": 64,                    of a workgroup
      "shared_bytes": 0,                beyond those that the code itself asks for
      "arguments": [{"buffer": "x.bin"}, {"bytes": 1024}, {"i64": 5}, {"i32": 5}],
      "outputs": [{"argument": 1, "expected": "y.bin", "type": "f32"}]
    }

A `buffer` begins with the bytes of a file; `bytes` is memory of that size, every byte 0xa5. An output is the whole memory of an
argument. Its type only says how a difference is shown. `{"map": {"argument": 0, "element_bytes": 2, "dims": [64, 80], "strides":
[2, 128], "box": [64, 16], "swizzle": 128}}` is a CUtensorMap by value of an argument before it (docs/modules.md, `maps`).

Exit codes: 0, all bytes are equal; 1, they are not, or the code went wrong (the reason is on stdout); 2, the launch makes no sense;
77, it could not be run here (the reason is on stderr).
"""
import ctypes
import json
import mmap
import pathlib
import struct
import sys

FILL = 0xA5
PAGE = mmap.PAGESIZE
TYPES = {"f32": "<f", "f64": "<d", "i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H", "i32": "<i", "u32": "<I", "i64": "<q", "f16": "<e",
         "bf16": "<H"}
SCALARS = {"i32": "<i", "i64": "<q"}
MAP = {"argument", "element_bytes", "dims", "strides", "box", "swizzle"}
NEEDED = {"kernel": str, "arch": str, "code": str, "grid": int, "threads": int, "shared_bytes": int, "arguments": list,
          "outputs": list}


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def refuse(why):
    print(f"launch.json: {why}", file=sys.stderr)
    sys.exit(2)


def wrong(why):
    print(why)
    sys.exit(1)


class Launch:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        path = self.folder / "launch.json"
        if not path.is_file():
            refuse(f"{path} is not there")
        document = json.loads(path.read_text(encoding="utf-8"))
        for name, kind in NEEDED.items():
            if not isinstance(document.get(name), kind):
                refuse(f"'{name}' is missing or not of type {kind.__name__}")
        if set(document) - set(NEEDED):
            refuse(f"unknown: {', '.join(sorted(set(document) - set(NEEDED)))}")
        self.kernel, self.arch = document["kernel"], document["arch"]
        self.grid, self.threads, self.shared_bytes = document["grid"], document["threads"], document["shared_bytes"]
        if not (0 < self.grid < 2**31 and 0 < self.threads <= 1024 and 0 <= self.shared_bytes <= 2**18):
            refuse("grid, threads or shared_bytes is out of range")
        self.code = self.read(document["code"])
        self.arguments = [self.argument(a) for a in document["arguments"]]
        self.outputs = [self.output(o) for o in document["outputs"]]

    def read(self, name):
        path = self.folder / name
        if not path.is_file():
            refuse(f"{path} is not there")
        return path.read_bytes()

    def argument(self, given):
        """The first bytes of its memory, or a scalar's."""
        if len(given) != 1:
            refuse(f"an argument has one word: {given}")
        (kind, value), = given.items()
        if kind == "buffer":
            return ("memory", self.read(value))
        if kind == "bytes":
            return ("memory", bytes([FILL]) * value)
        if kind in SCALARS:
            return ("scalar", struct.pack(SCALARS[kind], value))
        if kind == "map":
            if not isinstance(value, dict) or set(value) != MAP:
                refuse(f"a map has {', '.join(sorted(MAP))}: {value}")
            return ("map", value)
        return refuse(f"unknown kind of argument: {kind}")

    def output(self, given):
        number = given.get("argument")
        if not isinstance(number, int) or not 0 <= number < len(self.arguments) or self.arguments[number][0] != "memory":
            refuse(f"an output names no argument with memory: {given}")
        if given.get("type") not in TYPES:
            refuse(f"an output's type is one of {', '.join(TYPES)}: {given}")
        expected = self.read(given["expected"])
        if len(expected) != len(self.arguments[number][1]):
            refuse(f"{given['expected']} has {len(expected)} bytes, its argument {len(self.arguments[number][1])}")
        return number, expected, given["type"]

    def packed(self, addresses):
        """Arguments as a kernel's parameter block: each aligned to its size. `addresses` has those of memory, by argument."""
        block = b""
        for number, (kind, value) in enumerate(self.arguments):
            if kind == "map":
                refuse("maps of tensors are NVIDIA's")
            item = struct.pack("<Q", addresses[number]) if kind == "memory" else value
            block += bytes(-len(block) % len(item)) + item
        return block

    def compare(self, contents):
        """`contents` has the bytes of memory, by argument. Ends the program."""
        for number, expected, kind in self.outputs:
            found, size = contents[number], struct.calcsize(TYPES[kind])
            at = [i for i in range(0, len(expected), size) if found[i:i + size] != expected[i:i + size]]
            if at:
                first = at[0]
                wrong(f"different: argument {number}, {len(at)} of {len(expected) // size} elements; the first is element "
                      f"{first // size}: {shown(found, first, kind)}, expected {shown(expected, first, kind)}")
        print(f"equal: {self.kernel}, {sum(len(expected) for _, expected, _ in self.outputs)} bytes")
        sys.exit(0)


def shown(data, at, kind):
    size = struct.calcsize(TYPES[kind])
    value, = struct.unpack_from(TYPES[kind], data, at)
    return f"{value!r} (0x{int.from_bytes(data[at:at + size], 'little'):0{2 * size}x})"


class Memory:
    """Bytes whose end is the end of what may be touched; a child sees and changes the same ones."""

    def __init__(self, content):
        whole = -(-max(len(content), 1) // PAGE) * PAGE
        self.mapping = mmap.mmap(-1, whole + 2 * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.mapping))
        # Elements stay aligned: what is left over before the end is less than 16 bytes.
        self.begin = PAGE + (whole - len(content)) // 16 * 16
        self.address, self.size = base + self.begin, len(content)
        self.mapping[self.begin:self.begin + self.size] = content
        libc = ctypes.CDLL(None, use_errno=True)
        for page in (base, base + PAGE + whole):
            if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")

    def content(self):
        return self.mapping[self.begin:self.begin + self.size]
