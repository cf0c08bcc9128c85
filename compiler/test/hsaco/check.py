"""check.py TSR_HSACO_LINK - what hsaco_link makes of LLVM's objects, and what it refuses.

llc-19 compiles kernels.ll for each architecture; the result is read here, by llvm-readelf-19 and llvm-objdump-19, and compared with
what ld.lld-19 makes of the same object. Skipped (77) without llc-19; without lld that comparison alone.
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx1100": 0x41}  # EF_AMDGPU_MACH
KERNELS = ("squares", "neighbours")
EM_AMDGPU, ET_DYN, PT_LOAD, PT_NOTE, SHT_NOTE, SHT_DYNSYM, DESCRIPTOR_ENTRY = 224, 3, 1, 4, 7, 11, 16
VERSION = '!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'
KERNEL = "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n%s\n  ret void\n}\n"

# Each a word of the reason and IR that must not be linked.
REFUSED = {
    "R_AMDGPU_GOTPCREL32_LO": "define void @f() noinline {\n  ret void\n}\n" + KERNEL.replace("%s", "  call void @f()"),
    "undefined symbol 'outside'": "declare void @outside()\n" + KERNEL.replace("%s", "  call void @outside()"),
    "writable": "@state = addrspace(1) global i32 7\n"
                + KERNEL.replace("%s", "  store i32 8, ptr addrspace(1) @state"),
}

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


class Elf:
    """The parts of a shared object that a loader reads."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        (self.identity, self.type, self.machine, _, self.entry, phoff, shoff, self.flags, _, phentsize, phnum, shentsize, shnum,
         _) = struct.unpack_from("<16sHHIQQQIHHHHHH", self.bytes)
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, phoff + i * phentsize) for i in range(phnum)]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, shoff + i * shentsize) for i in range(shnum)]
        self.symbols = {}
        for section in self.sections:
            if section[1] == SHT_DYNSYM:
                self.read_symbols(section)

    def read_symbols(self, table):
        names = self.sections[table[6]][4]
        for at in range(table[4] + 24, table[4] + table[5], 24):
            name, info, other, _, value, size = struct.unpack_from("<IBBHQQ", self.bytes, at)
            text = self.bytes[names + name:self.bytes.index(b"\0", names + name)].decode()
            self.symbols[text] = (info, other, value, size)

    def loaded(self, address, size):
        """Bytes at an address, as a loader would have put them there."""
        for kind, _, offset, begin, _, in_file, _, _ in self.segments:
            if kind == PT_LOAD and begin <= address and address + size <= begin + in_file:
                return self.bytes[offset + address - begin:offset + address - begin + size]
        raise ValueError(f"no segment has the {size} bytes at {address:#x}")

    def symbol(self, name):
        _, _, value, size = self.symbols[name]
        return self.loaded(value, size)

    def notes(self):
        return [self.bytes[s[2]:s[2] + s[5]] for s in self.segments if s[0] == PT_NOTE]

    def entry_of(self, kernel):
        descriptor = self.symbols[f"{kernel}.kd"][2]
        return descriptor + struct.unpack("<q", self.loaded(descriptor + DESCRIPTOR_ENTRY, 8))[0]


def relative_addresses(elf, relocations, code, function):
    """The address that each pair of 32-bit relocations of the object's code points to, as the linked image has it."""
    found = []
    for (low_at, low_addend), (_, _) in zip(relocations[0::2], relocations[1::2]):
        place = elf.symbols[function][2] + low_at - code
        low, = struct.unpack("<I", elf.loaded(place, 4))
        high, = struct.unpack("<i", elf.loaded(place + 8, 4))
        found.append(place + (high << 32) + low - low_addend)
    return found


def table_relocations(object_path):
    """(offset, what is added beyond the table's start) of the relocations in .text, from llvm-readelf."""
    symbols = run("llvm-readelf-19", "-sW", object_path).stdout
    table = next(int(line.split()[1], 16) for line in symbols.splitlines() if line.endswith(" table"))
    start = next(int(line.split()[1], 16) for line in symbols.splitlines() if line.endswith(" squares"))
    rows = []
    for line in run("llvm-readelf-19", "-rW", object_path).stdout.splitlines():
        words = line.split()
        if len(words) >= 7 and words[2].startswith("R_AMDGPU_REL32_"):
            rows.append((int(words[0], 16), int(words[-1], 16) - table))
    return rows, start


def check_image(architecture, object_path, image):
    elf = Elf(image)
    check((elf.type, elf.machine, elf.flags & 0xFF) == (ET_DYN, EM_AMDGPU, ARCHITECTURES[architecture]), f"{architecture}: header")
    check(sorted(elf.symbols) == sorted([*KERNELS, *(f"{k}.kd" for k in KERNELS)]), f"{architecture}: {sorted(elf.symbols)}")
    for kernel in KERNELS:
        check(elf.entry_of(kernel) == elf.symbols[kernel][2], f"{architecture}: {kernel}'s descriptor does not find its code")
        check(elf.symbols[kernel][2] % 256 == 0, f"{architecture}: {kernel} starts at {elf.symbols[kernel][2]:#x}")
    relocations, code = table_relocations(object_path)
    squares = struct.pack("<64i", *(i * i for i in range(64)))
    tables = relative_addresses(elf, relocations, code, "squares")
    check(len(tables) == 1 and elf.loaded(tables[0], 256) == squares, f"{architecture}: the code does not find its table")
    for kind, flags, offset, address, _, in_file, in_memory, alignment in elf.segments:
        if kind == PT_LOAD:
            check(in_file == in_memory and offset % alignment == address % alignment and flags & 3 != 3,
                  f"{architecture}: a segment that no page has")
    return elf


def check_tools(architecture, image):
    """LLVM's own readers take it, and find the kernels' metadata and code."""
    notes = run("llvm-readelf-19", "--notes", "--sections", "--segments", "--dyn-syms", "--dynamic", "--hash-table", image)
    check(notes.returncode == 0 and not notes.stderr, f"{architecture}: llvm-readelf: {notes.stderr}")
    for kernel in KERNELS:
        check(f".symbol:         {kernel}.kd" in notes.stdout, f"{architecture}: no metadata of {kernel}")
    code = run("llvm-objdump-19", "-d", image)
    check(code.returncode == 0 and not code.stderr, f"{architecture}: llvm-objdump: {code.stderr}")
    for word in ("<squares>:", "<neighbours>:", "s_barrier", "s_endpgm"):
        check(word in code.stdout, f"{architecture}: no {word} in the disassembly")


def check_against_lld(architecture, ours, theirs):
    check(ours.symbols.keys() == theirs.symbols.keys(), f"{architecture}: lld exports {sorted(theirs.symbols)}")
    check(ours.identity == theirs.identity and ours.flags == theirs.flags, f"{architecture}: identity and flags")
    check(ours.notes() == theirs.notes(), f"{architecture}: metadata")
    for name, symbol in theirs.symbols.items():
        check(ours.symbols[name][:2] == symbol[:2] and ours.symbols[name][3] == symbol[3], f"{architecture}: kind of {name}")
        if name.endswith(".kd"):
            mine, other = ours.symbol(name), theirs.symbol(name)
            check(mine[:DESCRIPTOR_ENTRY] + mine[DESCRIPTOR_ENTRY + 8:] == other[:DESCRIPTOR_ENTRY] + other[DESCRIPTOR_ENTRY + 8:],
                  f"{architecture}: descriptor {name}")
    check(ours.symbol("neighbours") == theirs.symbol("neighbours"), f"{architecture}: code of neighbours")


def check_refused(link, folder):
    for reason, body in REFUSED.items():
        source, made = folder / "refused.ll", folder / "refused.o"
        source.write_text('target triple = "amdgcn-amd-amdhsa"\n' + body + VERSION, encoding="utf-8")
        compiled = run("llc-19", "-O1", "-mcpu=gfx942", "-filetype=obj", source, "-o", made)
        check(compiled.returncode == 0, f"llc-19: {compiled.stderr}")
        done = run(link, made, folder / "refused.hsaco")
        check(done.returncode == 3 and done.stderr.startswith("corrupt") and reason in done.stderr, f"{reason}: {done.stderr}")
        check(not (folder / "refused.hsaco").exists(), f"{reason}: an image was written")
    source = folder / "host.ll"
    source.write_text("define void @f() {\n  ret void\n}\n", encoding="utf-8")
    run("llc-19", "-mtriple=x86_64-linux-gnu", "-filetype=obj", source, "-o", folder / "host.o")
    done = run(link, folder / "host.o", folder / "host.hsaco")
    check(done.returncode == 3 and done.stderr.startswith("unavailable"), f"an object of a CPU: {done.stderr}")


def main():
    link = sys.argv[1]
    for tool in ("llc-19", "llvm-readelf-19", "llvm-objdump-19"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed (Debian: llvm-19)")
            return 77
    lld = shutil.which("ld.lld-19")
    if not lld:
        print("skipped: the comparison with lld: ld.lld-19 is not installed (Debian: lld-19)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for architecture in ARCHITECTURES:
            made, image = folder / f"{architecture}.o", folder / f"{architecture}.hsaco"
            done = run("llc-19", "-O1", f"-mcpu={architecture}", "-filetype=obj", HERE / "kernels.ll", "-o", made)
            check(done.returncode == 0, f"llc-19 for {architecture}: {done.stderr}")
            done = run(link, made, image)
            if done.returncode != 0:
                check(False, f"{architecture}: {done.stderr}")
                continue
            elf = check_image(architecture, made, image)
            check_tools(architecture, image)
            if lld:
                run(lld, "-shared", made, "-o", folder / "lld.hsaco")
                check_against_lld(architecture, elf, Elf(folder / "lld.hsaco"))
        check_refused(link, folder)
        done = run(link, "--damage", folder / "gfx942.o")
        check(done.returncode == 0, f"a damaged object: {done.returncode} {done.stderr}")
        print(f"damage: {done.stdout.strip()}")
    print(f"{failures} failures" if failures else "all architectures linked, all that must be refused is")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
