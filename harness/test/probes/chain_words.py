"""The code of the driver's probe of matrix units (runtime/device/cuda/probes/chain.tsr) is what the compiler makes of it.

chain_words.py TSR ROOT compares runtime/device/cuda/cuda_chain_words.h with it, and writes it with TSR_BLESS=1. Exit code 77: this
compiler has another LLVM than the one that made the header, whose code may be other words."""
import json
import os
import re
import subprocess
import sys
import tempfile

tsr, root = sys.argv[1:3]
folder = os.path.join(root, "runtime", "device", "cuda")
source, header = os.path.join(folder, "probes", "chain.tsr"), os.path.join(folder, "cuda_chain_words.h")
CHIPS = ["gfx90a", "gfx942"]


def run(*words):
    return subprocess.run([tsr, *words], check=True, capture_output=True, text=True).stdout


def words_of(code):
    """Initialisers of the words that are not 0."""
    words = [int.from_bytes(code[i:i + 8].ljust(8, b"\0"), "little") for i in range(0, len(code), 8)]
    lines, at = [], -2
    for index, word in enumerate(words):
        if word:
            lines.append(("" if at == index - 1 else f"[{index}] = ") + f"{word:#x},")
            at = index
    return len(words), lines


def folded(items, indent="    ", width=100):
    line, out = indent, []
    for item in items:
        if len(line) + len(item) + 1 > width:
            out.append(line.rstrip())
            line = indent
        line += item + " "
    return "\n".join(out + [line.rstrip()])


def made(version):
    out = [f"""/* cuda_chain_words.h - the HSACO of probes/chain.tsr for each chip, in words of 64 bits of which
 * those that are 0 are left out. TSR_BLESS=1 and the test cli_chain_probe write this, here with
 * {version}. */
#ifndef TESSERA_RUNTIME_CUDA_CHAIN_WORDS_H
#define TESSERA_RUNTIME_CUDA_CHAIN_WORDS_H

#include <stdint.h>

/* clang-format off */"""]
    grids, shape = {}, None
    for chip in CHIPS:
        told = json.loads(run("compile", source, "--kernel", f"chain_{chip}", "--isa", chip, "--emit", "metadata"))
        grids[chip] = [phase["grid"] for phase in told["phases"]]
        (m, k), (_, n) = told["inputs"][0]["shape"], told["inputs"][1]["shape"]
        shape = (m, n, k, told["launch"]["block"][0])
        with tempfile.TemporaryDirectory() as room:
            path = os.path.join(room, "code")
            run("compile", source, "--kernel", f"chain_{chip}", "--isa", chip, "--emit", "hsaco", "-o", path)
            with open(path, "rb") as file:
                count, lines = words_of(file.read())
        out.append(f"static const uint64_t chain_{chip}[{count}] = {{\n{folded(lines)}\n}};")
    out.append("/* x[M, K] by y[K, N]; threads of a workgroup; workgroups of both phases. */")
    out.append("enum { CHAIN_M = %d, CHAIN_N = %d, CHAIN_K = %d, CHAIN_THREADS = %d };" % shape)
    out.append("#define CHAIN_CHIPS " + " ".join(f"CHIP({c}, {g[0]}, {g[1]})" for c, g in grids.items()))
    return "\n".join(out) + "\n/* clang-format on */\n\n#endif\n"


version = re.search(r"LLVM [0-9.]+", run("--version")).group()
wanted = made(version)
if os.environ.get("TSR_BLESS"):
    with open(header, "w") as file:
        file.write(wanted)
with open(header) as file:
    found = file.read()
if version not in found:
    print(f"skipped: the header was made with another LLVM than {version}")
    sys.exit(77)
sys.exit(found != wanted and f"{header} is not what the compiler makes of {source}: TSR_BLESS=1 writes it")
