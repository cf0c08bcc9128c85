"""test.py launch STUB | amd TSR_HSACO_LINK - launches whose results are known.

`launch`: run-ptx with a driver that is none (stub.c), and launches that make no sense. `amd`: kernels.ll, compiled by llc-19 for each
architecture, by run-amd; skipped (77) with its reason where there is no emulator.
"""
import copy
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import exact

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ("gfx1100", "gfx942", "gfx90a")
BARRIER = '  fence syncscope("workgroup") release\n  call void @llvm.amdgcn.s.barrier()\n  fence syncscope("workgroup") acquire'
AMD = {
    "KERNEL": "amdgpu_kernel",
    "THREAD": "call i32 @llvm.amdgcn.workitem.id.x()",
    "GROUP": "call i32 @llvm.amdgcn.workgroup.id.x()",
    "ATTRIBUTES": '"amdgpu-flat-work-group-size"="1,256"',
}
AMD_TAIL = """
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
"""

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}")


def run(*command, **environment):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env={**os.environ, **environment})


def write(folder, launch, files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "launch.json").write_text(json.dumps(launch), encoding="utf-8")
    return folder


# ---- launches, with a driver that is none ----
PTX = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(\n.visible .entry lost(\n.visible .entry mapped(\n"
COUNT = 128
PLAIN = {
    "kernel": "k", "arch": "sm_80", "code": "k.ptx", "grid": 2, "threads": 64, "shared_bytes": 0,
    "arguments": [{"buffer": "x.bin"}, {"i64": 5}, {"bytes": 4 * COUNT}],
    "outputs": [{"argument": 2, "expected": "out.bin", "type": "f32"}],
}
MAP = {"argument": 3, "element_bytes": 4, "dims": [32, 4], "strides": [4, 128], "box": [32, 1], "swizzle": 128}
MAPPED = [{"bytes": 4 * COUNT}, {"i64": 5}, {"bytes": 4 * COUNT}, {"buffer": "x.bin"}]
# A change of the plain launch, the exit code, and a word of what is said.
CHANGES = (
    ({}, 0, "equal"),
    ({"shared_bytes": 65536}, 0, "equal"),
    ({"arguments": [{"buffer": "x.bin"}, {"i64": 6}, {"bytes": 4 * COUNT}]}, 1, "element 0: 5.0 (0x40a00000), expected 4.0"),
    ({"grid": 1}, 1, "64 of 128 elements; the first is element 64"),
    ({"kernel": "mapped", "arguments": MAPPED + [{"map": MAP}]}, 0, "equal"),
    ({"kernel": "mapped", "arguments": MAPPED + [{"map": {**MAP, "swizzle": 64}}]}, 77, "INVALID_VALUE"),
    ({"kernel": "mapped", "arguments": MAPPED + [{"map": {"argument": 3}}]}, 2, "a map has"),
    ({"kernel": "lost"}, 1, "CUDA_ERROR_LAUNCH_FAILED"),
    ({"kernel": "other"}, 1, "CUDA_ERROR_NOT_FOUND"),
    ({"code": "x.bin"}, 1, "CUDA_ERROR_INVALID_PTX"),
    ({"arch": "sm_90"}, 77, "the GPU is sm_86"),
    ({"arch": "sm_80a"}, 77, "the GPU is sm_86"),
    ({"arch": "gfx1100"}, 2, "gfx1100"),
    ({"grid": 0}, 2, "out of range"),
    ({"threads": 1025}, 2, "out of range"),
    ({"code": "none.ptx"}, 2, "none.ptx"),
    ({"arguments": [{"word": 5}]}, 2, "word"),
    ({"outputs": [{"argument": 1, "expected": "out.bin", "type": "f32"}]}, 2, "names no argument"),
    ({"outputs": [{"argument": 2, "expected": "short.bin", "type": "f32"}]}, 2, "short.bin has 4 bytes"),
    ({"outputs": [{"argument": 2, "expected": "out.bin", "type": "f128"}]}, 2, "f128"),
    ({"extra": 1}, 2, "extra"),
    ({"kernel": None}, 2, "kernel"),
)


def test_launch(folder, stub):
    values = [float(i - 1) for i in range(COUNT)]
    files = {"k.ptx": PTX, "x.bin": exact.packed(values), "out.bin": exact.packed([v + 5 for v in values]), "short.bin": bytes(4)}
    for change, code, word in CHANGES:
        launch = {**copy.deepcopy(PLAIN), **change}
        done = run(HERE / "run-ptx", write(folder / "launch", launch, files), TESSERA_CUDA_LIBRARY=stub)
        check(done.returncode == code and word in done.stdout + done.stderr, f"{change}: {done.returncode} {done.stdout}{done.stderr}")
    done = run(HERE / "run-ptx", folder / "launch", TESSERA_CUDA_LIBRARY="no-such-library.so")
    check(done.returncode == 2, "a launch without its kernel's name is refused before a driver is looked for")
    write(folder / "launch", PLAIN, files)
    done = run(HERE / "run-ptx", folder / "launch", TESSERA_CUDA_LIBRARY="no-such-library.so")
    check(done.returncode == 77 and "libcuda" in done.stderr, f"no driver: {done.returncode} {done.stderr}")
    check(run(HERE / "run-amd", folder / "launch").returncode == 77, "an NVIDIA launch is none of an emulator for AMD")
    check(run(HERE / "run-amd", folder / "none").returncode == 2, "a folder that is not there")


# ---- kernels on the emulator ----
def launch_of(kernel, threads, grid, arguments, outputs, shared_bytes=0):
    """`arguments`: bytes of a buffer, ("bytes", size) or a scalar; `outputs`: by argument, its type and bytes."""
    document = {"kernel": kernel, "code": "code.hsaco", "grid": grid, "threads": threads, "shared_bytes": shared_bytes,
                "arguments": [], "outputs": []}
    files = {}
    for number, argument in enumerate(arguments):
        if isinstance(argument, bytes):
            files[f"in{number}.bin"] = argument
            document["arguments"].append({"buffer": f"in{number}.bin"})
        else:
            document["arguments"].append(dict([argument]))
    for number, (kind, content) in outputs.items():
        files[f"out{number}.bin"] = content
        document["outputs"].append({"argument": number, "expected": f"out{number}.bin", "type": kind})
    return document, files


def add():
    x, y = exact.numbers(192, 1), exact.numbers(192, 2)
    x[:3], y[:3] = [exact.single(1e-40), 3e38, -0.0], [exact.single(2e-40), -3e38, -0.0]
    sums = exact.packed([exact.single(a + b) for a, b in zip(x, y)])
    return launch_of("add", 64, 3, [exact.packed(x), exact.packed(y), ("i32", 64), ("bytes", len(sums))], {3: ("f32", sums)})


def reverse(threads):
    x = exact.numbers(2 * threads, 3)
    turned = exact.packed(x[:threads][::-1] + x[threads:][::-1])
    return launch_of("reverse", threads, 2, [exact.packed(x), ("i32", threads), ("bytes", len(turned))], {2: ("f32", turned)},
                     4 * threads)


def chain():
    x, y = exact.numbers(64, 4), exact.numbers(64, 5)
    results = exact.packed([exact.chain(a, b, 33) for a, b in zip(x, y)])
    return launch_of("chain", 64, 1, [exact.packed(x), exact.packed(y), ("i64", 33), ("bytes", len(results))], {3: ("f32", results)})


def divide():
    """Quotients where the emulator is right."""
    x, y = ([2.0 ** (i % 41 - 20) * v for i, v in enumerate(exact.numbers(256, seed, 1.0, 2.0))] for seed in (6, 7))
    quotients = exact.packed([exact.divided(a, b) for a, b in zip(x, y)])
    return launch_of("divide", 256, 1, [exact.packed(x), exact.packed(y), ("bytes", len(quotients)), ("bytes", len(quotients))],
                     {2: ("f32", quotients)})


def root():
    x, y = exact.spread(256, 8), exact.packed([1.0] * 256)
    x[0], x[1] = exact.single(1e-45), exact.single(1.1e-38)
    roots = exact.packed([exact.single(math.sqrt(a)) for a in x])
    return launch_of("divide", 256, 1, [exact.packed(x), y, ("bytes", len(roots)), ("bytes", len(roots))], {3: ("f32", roots)})


def convert():
    halves = [(i * 997) % 0x7C00 for i in range(128)]  # finite ones, a quarter of them subnormal
    values = [struct.unpack("<e", struct.pack("<H", h))[0] for h in halves]
    results = exact.packed([exact.bf16(exact.single(v * 1.25)) for v in values], "H")
    return launch_of("convert", 128, 1, [exact.packed(halves, "H"), ("bytes", len(results))], {1: ("bf16", results)})


def pick():
    x, y = exact.numbers(64, 8), exact.numbers(64, 9)
    x[0], y[0] = 0.0, -0.0
    greater = exact.packed([max(a, b) for a, b in zip(x, y)])
    dividend = 123456789012345678
    quotients = exact.packed([dividend // (i + 1) for i in range(64)], "q")
    return launch_of("pick", 64, 1, [exact.packed(x), exact.packed(y), ("bytes", len(greater)), ("i64", dividend),
                                     ("bytes", len(quotients))], {2: ("f32", greater), 4: ("i64", quotients)})


# 32 threads are half a wavefront or one, 64 one or two, 256 several.
LAUNCHES = (add, lambda: reverse(32), lambda: reverse(64), lambda: reverse(256), chain, divide, root, convert, pick)


def compile_for(folder, arch, link, name, replaced):
    text = re.sub(r";.*", "", (HERE / "cases/kernels.ll").read_text(encoding="utf-8"))
    for word, meaning in {**AMD, **replaced}.items():
        text = text.replace(word, meaning)
    (folder / f"{name}.ll").write_text('target triple = "amdgcn-amd-amdhsa"\n' + text + AMD_TAIL, encoding="utf-8")
    for command in (["llc-19", "-O1", f"-mcpu={arch}", "-filetype=obj", folder / f"{name}.ll", "-o", folder / f"{name}.o"],
                    [link, folder / f"{name}.o", folder / f"{name}.hsaco"]):
        done = run(*command)
        check(done.returncode == 0, f"{command[0]} for {arch}: {done.stderr}")
    return (folder / f"{name}.hsaco").read_bytes()


def launch_amd(folder, arch, launch, code):
    document, files = launch
    return run(HERE / "run-amd", write(folder / "launch", {**document, "arch": arch}, {**files, "code.hsaco": code}),
               CACHELEVEL="1", CACHEDB=str(folder / "cache.db"))


def test_wrong(folder, arch, right, link):
    """Checks that what is wrong is found."""
    document, files = reverse(256)
    missing = compile_for(folder, arch, link, "missing", {"BARRIER": ""})
    done = launch_amd(folder, arch, (document, files), missing)
    check(done.returncode == 1 and done.stdout.startswith("different: argument 2"), f"{arch}, no barrier: {done.stdout}{done.stderr}")
    document, files = add()
    expected = bytearray(files["out3.bin"])
    expected[4 * 77] ^= 1
    done = launch_amd(folder, arch, (document, {**files, "out3.bin": bytes(expected)}), right)
    check(done.returncode == 1 and "1 of 192 elements; the first is element 77" in done.stdout, f"{arch}, one bit: {done.stdout}")
    done = launch_amd(folder, arch, ({**document, "grid": 64}, files), right)
    check(done.returncode == 1 and "none of its arguments" in done.stdout, f"{arch}, outside: {done.returncode} {done.stdout}")


def test_amd(folder, link):
    if not shutil.which("llc-19"):
        return "skipped: llc-19 is not installed (Debian: llvm-19)"
    if not os.environ.get("TINYGRAD_SOURCE"):
        return "skipped: TINYGRAD_SOURCE names no folder with tinygrad's sources, whose emulator this needs"
    for arch in ARCHITECTURES:
        code = compile_for(folder, arch, link, "right", {"BARRIER": BARRIER})
        for make in LAUNCHES:
            launch = make()
            done = launch_amd(folder, arch, launch, code)
            if done.returncode == 77:
                return f"skipped: {arch}, {launch[0]['kernel']}: {done.stderr.strip().removeprefix('skipped: ')}"
            check(done.returncode == 0, f"{arch}, {launch[0]['kernel']}: {done.returncode} {done.stdout}{done.stderr}")
        test_wrong(folder, arch, code, link)
    return None


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if sys.argv[1] == "launch":
            skipped = test_launch(folder, sys.argv[2])
        else:
            skipped = test_amd(folder, sys.argv[2])
    if skipped:
        print(skipped)
        return 1 if failures else 77
    print(f"{failures} failures" if failures else "every launch gave what it must")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
