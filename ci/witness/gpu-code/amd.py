"""HSACO on tinygrad's emulator of RDNA and CDNA, whose instructions are made of AMD's own pseudocode: see run-amd.

Where it is known not to be a GPU (sources of 2026-08-22):
- v_div_scale and v_div_fmas: a quotient is right when it and both operands are well inside of the range of normal numbers, and can be 0
  where they are not.
- v_max and v_min of CDNA: of -0 and +0 the first operand, where the pseudocode means +0 and -0.
- v_rndne gives +0 for what rounds to zero from below, as the pseudocode says, and hardware -0. Narrow floats show it (a corpus
  kernel's round of f8e4m3fn); where a multiply or a conversion follows, it may be hidden.
- v_exp, v_log, v_sin, v_rcp, v_rsq, v_sqrt are exact functions, rounded; a GPU's may be off by an ulp.
- v_mfma and v_wmma add in an order of their own, so their bits mean nothing.
- Threads that are switched off read from a workgroup's memory, too, and store there what they read, at whatever address is in their
  registers. So it lies in a room of all addresses that there are (Room), and what is outside of its own bytes is not found.
Skipped, as it does not know them: s_getpc (tables of constants, calls), scratch memory of gfx90a, wavefronts of 64 threads on RDNA, and
more than a million instructions of a wavefront between two barriers.
"""
import ctypes
import dataclasses
import mmap
import os
import pathlib
import shutil
import struct
import sys

import launch

PT_LOAD, PF_X, SHT_DYNSYM, EM_AMDGPU = 1, 1, 11, 224
# Emulated instruction sets, by the beginning of an architecture's name.
FAMILIES = (("gfx11", "rdna3"), ("gfx12", "rdna4"), ("gfx90a", "cdna"), ("gfx94", "cdna"), ("gfx950", "cdna"))
# User registers in their order: kernel_code_properties bit, how many there are ("User Guide for AMDGPU Backend", Kernel Descriptor).
PRIVATE_BUFFER, DISPATCH, QUEUE, ARGUMENTS, DISPATCH_ID, SCRATCH, PRIVATE_SIZE = range(7)
USER_REGISTERS = ((PRIVATE_BUFFER, 4), (DISPATCH, 2), (QUEUE, 2), (ARGUMENTS, 2), (DISPATCH_ID, 2), (SCRATCH, 2), (PRIVATE_SIZE, 1))
WAVE32, LDS_SHIFT, LDS_UNIT = 1 << 10, 15, 512
KEEP, FLUSH = 3, 0
# Instructions on caches, of which the emulator has none: buffer_gl0_inv and buffer_gl1_inv of RDNA; and two of s_nop in their place.
INVALIDATIONS = (bytes.fromhex("0000ace000000000"), bytes.fromhex("0000b0e000000000"))
NOTHING = bytes.fromhex("000080bf") * 2

# The result that one fused operation must give: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, and 0 where the product is rounded.
FUSED = 0x33800000
# gfx1100:  s_load_b64 s[2:3], s[0:1], 0x0;  v_mov_b32 v1, 0x3f800800;  v_mov_b32 v2, 0xbf801000;  v_fma_f32 v1, v1, v1, v2;
#           v_mov_b32 v0, 0;  s_waitcnt lgkmcnt(0);  global_store_b32 v0, v1, s[2:3];  s_endpgm
PROBE = bytes.fromhex("800004f4000000f8ff02027e0008803fff02047e001080bf010013d601030a048002007e07fc89bf00006adc000102000000b0bf") + bytes(64)


@dataclasses.dataclass
class Descriptor:
    group_bytes: int
    private_bytes: int
    argument_bytes: int
    entry: int  # address
    rsrc1: int
    rsrc2: int
    properties: int

    def mode(self, shift):
        return self.rsrc1 >> shift & 3


def without_invalidations(code):
    for pattern in INVALIDATIONS:
        at = code.find(pattern)
        while at >= 0:
            if at % 4 == 0:
                code = code[:at] + NOTHING + code[at + len(pattern):]
            at = code.find(pattern, at + 1)
    return code


class Image:
    """A HSACO in memory, as a loader puts it there."""

    def __init__(self, data):
        if data[:4] != b"\x7fELF" or struct.unpack_from("<H", data, 18)[0] != EM_AMDGPU:
            launch.refuse("the code is no object for AMD GPUs")
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phnum, _, shnum = struct.unpack_from("<HHH", data, 56)
        segments = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(phnum)]
        loaded = [s for s in segments if s[0] == PT_LOAD]
        if not loaded:
            launch.refuse("the code has not been linked")
        content = bytearray(max(s[3] + s[6] for s in loaded) + 256)
        for _, flags, offset, address, _, size, _, _ in loaded:
            part = data[offset:offset + size]
            content[address:address + size] = without_invalidations(part) if flags & PF_X else part
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
        self.data, self.memory = data, launch.Memory(bytes(content))

    def symbol(self, wanted):
        for table in (s for s in self.sections if s[1] == SHT_DYNSYM):
            names = self.sections[table[6]][4]
            for at in range(table[4], table[4] + table[5], 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                if self.data[names + name:self.data.index(b"\0", names + name)].decode() == wanted:
                    return value
        return launch.refuse(f"the code has no symbol {wanted}")

    def descriptor(self, kernel):
        at = self.symbol(f"{kernel}.kd")
        content = self.memory.content()
        group, private, arguments, _, entry = struct.unpack_from("<IIIIq", content, at)
        _, rsrc1, rsrc2, properties = struct.unpack_from("<IIIH", content, at + 44)
        return Descriptor(group, private, arguments, self.memory.address + at + entry, rsrc1, rsrc2, properties)


def family_of(arch):
    family = next((name for begin, name in FAMILIES if arch.startswith(begin)), None)
    return family or launch.skip(f"the emulator has no {arch}")


def load_emulator():
    source = os.environ.get("TINYGRAD_SOURCE")
    if not source:
        launch.skip("TINYGRAD_SOURCE names no folder with tinygrad's sources: its emulator is part of the tests, which no package has")
    if not (pathlib.Path(source) / "test/mockgpu/amd/emu.py").is_file():
        launch.skip(f"{source} has no test/mockgpu/amd/emu.py: another version of tinygrad")
    if not shutil.which("clang"):
        launch.skip("the emulator compiles instructions with clang, which is not installed")
    os.environ.update({"DEV": "CPU", "PROFILE": "0"})
    os.environ.setdefault("CACHELEVEL", "0")  # writes nothing into a home
    sys.path.insert(0, source)
    try:
        from test.mockgpu.amd import emu  # pylint: disable=import-outside-toplevel,import-error
    except ImportError as error:
        launch.skip(f"the emulator in {source} cannot be loaded: {error}")
    if not all(hasattr(emu, name) for name in ("run_asm", "_get_ftz_lib", "Buffer", "BufferSpec")):
        launch.skip(f"the emulator in {source} is of another version: no run_asm, _get_ftz_lib or Buffer")
    return emu


class Room:
    """2^32 bytes and a page, of which only those that are touched take memory: what run_asm gets for a workgroup's memory, the first
    buffer that it asks for without saying where it lies."""

    def __init__(self, emu):
        self.emu, self.buffer = emu, emu.Buffer
        self.mapping = mmap.mmap(-1, (1 << 32) + mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def __call__(self, device, size, dtype, **options):
        if options:
            return self.buffer(device, size, dtype, **options)
        self.emu.Buffer, self.emu.room = self.buffer, self  # which lives as long
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.mapping))
        return self.buffer(device, size, dtype, options=self.emu.BufferSpec(external_ptr=address))


def execute(emu, flush, *arguments):
    """The emulator flushes subnormals whatever a kernel asks for; here the kernel's mode decides."""
    its_own = emu._get_ftz_lib  # pylint: disable=protected-access
    emu.Buffer = Room(emu)
    if not flush:
        emu._get_ftz_lib = lambda: (None, 0)  # pylint: disable=protected-access
    try:
        emu.run_asm(*arguments)
        emu._get_ftz_lib = its_own  # pylint: disable=protected-access
    except (RuntimeError, NotImplementedError, KeyError, ValueError, AssertionError) as error:
        launch.skip(f"the emulator does not know this code: {str(error).splitlines()[0] if str(error) else repr(error)}")


def check_fused(emu):
    code, out = launch.Memory(PROBE), launch.Memory(bytes(4))
    block = launch.Memory(struct.pack("<Q", out.address))
    execute(emu, False, code.address, code.size, 1, 1, 1, 1, 1, 1, block.address, 0x4, 0, "rdna3",
            [block.address & 0xFFFFFFFF, block.address >> 32])
    found, = struct.unpack("<I", out.content())
    if found != FUSED:
        launch.skip(f"the emulator's fma rounds twice on this machine: {found:#x} instead of {FUSED:#x}")


def user_registers(descriptor, arguments, packet):
    words = []
    values = {ARGUMENTS: arguments, DISPATCH: packet, PRIVATE_SIZE: descriptor.private_bytes}
    for bit, count in USER_REGISTERS:
        if descriptor.properties >> bit & 1:
            value = values.get(bit, 0)
            words += [value & 0xFFFFFFFF, value >> 32, 0, 0][:count]
    return words


def packet_of(asked, descriptor, kernel_object, arguments):
    """The dispatch packet, for code that reads its sizes there (HSA Runtime Programmer's Reference Manual, AQL)."""
    return struct.pack("<HHHHHHIIIIIQQQQ", 2, 1, asked.threads, 1, 1, 0, asked.grid * asked.threads, 1, 1, descriptor.private_bytes,
                       descriptor.group_bytes + asked.shared_bytes, kernel_object, arguments, 0, 0)


def refuse_unknown(descriptor, family):
    if descriptor.mode(12) or descriptor.mode(14):
        launch.skip("the code asks for another rounding than to nearest even, which the emulator does not know")
    if descriptor.mode(16) not in (KEEP, FLUSH) or descriptor.mode(18) != KEEP:
        launch.skip("the code asks for subnormals in a way that the emulator does not know")
    if descriptor.private_bytes and descriptor.properties >> PRIVATE_BUFFER & 1:
        launch.skip("the code has scratch memory behind a descriptor in registers (gfx90a), which is not emulated")
    if family.startswith("rdna") and not descriptor.properties & WAVE32:
        launch.skip("wavefronts of 64 threads are not emulated for RDNA")


def run(asked, memory):
    """In a process of its own: what goes outside of the memory ends it."""
    family = family_of(asked.arch)
    image = Image(asked.code)
    descriptor = image.descriptor(asked.kernel)
    refuse_unknown(descriptor, family)
    emu = load_emulator()
    check_fused(emu)
    block = asked.packed({number: m.address for number, m in memory.items()})
    arguments = launch.Memory(block + bytes(max(descriptor.argument_bytes - len(block), 0)))
    packet = launch.Memory(packet_of(asked, descriptor, image.memory.address, arguments.address))
    units = -(-(descriptor.group_bytes + asked.shared_bytes) // LDS_UNIT)
    execute(emu, descriptor.mode(16) == FLUSH, descriptor.entry, image.memory.size, asked.grid, 1, 1, asked.threads, 1, 1,
            arguments.address, descriptor.rsrc2 | units << LDS_SHIFT, descriptor.private_bytes, family,
            user_registers(descriptor, arguments.address, packet.address))
