"""compare.py TILES COUNT [UNIT...] - units of chip/matrix_units.def beside MMA-Sim, element by element.

TILES is the program of tiles.c; COUNT tiles of 64 elements are compared for each unit and pair of factors. MMA-Sim is imported
from PYTHONPATH. Its instructions are run as they are, with 8 rows and 8 columns. Where ours differs, it must be by what hardware
showed: zeros, and the lower bound of the greatest exponent (docs/matrix-units.md). Any NaN is as good as another.
Exit code 1: a difference that is not explained so.
"""
import subprocess
import sys

import torch
from mmasim.simulator import amd, arithmetic, nv_ptx

SIDE = 8
# In a format's bits: what holds them, the type that they are seen as.
TYPES = {
    "f64": (torch.int64, torch.float64), "f32": (torch.int32, torch.float32), "tf32": (torch.int32, torch.float32),
    "f16": (torch.int16, torch.float16), "bf16": (torch.int16, torch.bfloat16),
    "e4m3": (torch.int8, torch.float8_e4m3fn), "e5m2": (torch.int8, torch.float8_e5m2),
    "e4m3fnuz": (torch.int8, torch.float8_e4m3fnuz), "e5m2fnuz": (torch.int8, torch.float8_e5m2fnuz),
}
BITS = {torch.int64: 64, torch.int32: 32, torch.int16: 16, torch.int8: 8}
PAIRS = [(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
AMD_NAMES = {"e4m3": "fp8", "e5m2": "bf8"}


def nvidia(arch, shape, element, accumulator, kind=nv_ptx.mma):
    other = "" if kind is not nv_ptx.mma else f".{accumulator}"
    return lambda a=element, b=element: kind(arch, f"{shape}.{accumulator}.{a}.{b}{other}")


def mfma(arch, name):
    return lambda a=None, b=None: amd.mfma(arch, name)


def units():
    """(unit, format of its accumulator, formats of its factors, MMA-Sim's instruction)."""
    for sm, arch, shape in (("70", "Volta", "m8n8k4"), ("75", "Turing", "m16n8k8"), ("80", "Ampere", "m16n8k16"),
                            ("89", "Ada Lovelace", "m16n8k16"), ("90", "Hopper", "m16n8k16")):
        for accumulator, suffix in (("f32", ""), ("f16", ".f16")):
            yield f"mma.sm{sm}.f16{suffix}", accumulator, [("f16", "f16")], nvidia(arch, shape, "f16", accumulator)
    for sm, arch in (("80", "Ampere"), ("89", "Ada Lovelace"), ("90", "Hopper")):
        yield f"mma.sm{sm}.bf16", "f32", [("bf16", "bf16")], nvidia(arch, "m16n8k16", "bf16", "f32")
        yield f"mma.sm{sm}.tf32", "f32", [("tf32", "tf32")], nvidia(arch, "m16n8k8", "tf32", "f32")
    for accumulator, suffix in (("f32", ""), ("f16", ".f16")):
        yield f"mma.sm89.fp8{suffix}", accumulator, PAIRS, nvidia("Ada Lovelace", "m16n8k32", None, accumulator)
        yield f"mma.sm90.fp8{suffix}", accumulator, PAIRS, nvidia("Hopper", "m64n8k32", None, accumulator, nv_ptx.wgmma)
        yield f"mma.sm100.fp8{suffix}", accumulator, PAIRS, nvidia("Blackwell", "m64n8k32", None, accumulator, nv_ptx.tcgen05mma)
        yield (f"mma.sm100.f16{suffix}", accumulator, [("f16", "f16")],
               nvidia("Blackwell", "m64n8k16", "f16", accumulator, nv_ptx.tcgen05mma))
    yield "mma.sm100.bf16", "f32", [("bf16", "bf16")], nvidia("Blackwell", "m64n8k16", "bf16", "f32", nv_ptx.tcgen05mma)
    yield "mma.sm100.tf32", "f32", [("tf32", "tf32")], nvidia("Blackwell", "m64n8k8", "tf32", "f32", nv_ptx.tcgen05mma)
    yield "fma.f64", "f64", [("f64", "f64")], nvidia("Ampere", "m8n8k4", "f64", "f64")
    for gfx, arch in (("gfx908", "CDNA1"), ("gfx90a", "CDNA2")):
        yield f"mfma.{gfx}.f32", "f32", [("f32", "f32")], mfma(arch, "f32_16x16x4f32")
        yield f"mfma.{gfx}.f16", "f32", [("f16", "f16")], mfma(arch, "f32_16x16x16f16")
        yield f"mfma.{gfx}.bf16", "f32", [("bf16", "bf16")], mfma(arch, "f32_16x16x8bf16")
    yield "mfma.gfx90a.bf16_1k", "f32", [("bf16", "bf16")], mfma("CDNA2", "f32_16x16x16bf16_1k")
    yield "mfma.gfx90a.f64", "f64", [("f64", "f64")], mfma("CDNA2", "f64_16x16x4f64")
    yield "mfma.gfx942.f64", "f64", [("f64", "f64")], mfma("CDNA3", "f64_16x16x4_f64")
    yield "mfma.gfx942.f32", "f32", [("f32", "f32")], mfma("CDNA3", "f32_16x16x4_f32")
    yield "mfma.gfx942.xf32", "f32", [("tf32", "tf32")], mfma("CDNA3", "f32_16x16x8_xf32")
    yield "mfma.gfx942.f16", "f32", [("f16", "f16")], mfma("CDNA3", "f32_16x16x16_f16")
    yield "mfma.gfx942.bf16", "f32", [("bf16", "bf16")], mfma("CDNA3", "f32_16x16x16_bf16")
    yield ("mfma.gfx942.fp8", "f32", [(f"{a}fnuz", f"{b}fnuz") for a, b in PAIRS],
           lambda a, b: amd.mfma("CDNA3", f"f32_16x16x32_{AMD_NAMES[a[:4]]}_{AMD_NAMES[b[:4]]}"))


def tensor(codes, name, shape):
    holder, seen = TYPES[name]
    half = 1 << (BITS[holder] - 1)
    return torch.tensor([(int(c, 16) ^ half) - half for c in codes], dtype=holder).view(seen).reshape(shape)


def widened_products(a, b, flush=False):
    """MMA-Sim stops at an assertion here where factors are f16 or bf16: it expects them as f32, which holds them."""
    return arithmetic.pairwise_dot(a.float(), b.float(), flush)


def same(x, y):
    return (x == y) & (torch.signbit(x) == torch.signbit(y)) | (x.isnan() & y.isnan())


def compare(tiles, unit, accumulator, formats, instruction, count):
    """(elements, those that are not MMA-Sim's, of them those that are not explained)."""
    simulated = instruction(*formats)
    simulated.m = simulated.n = SIDE
    k, elements, differing, unexplained = simulated.k, 0, 0, 0
    lines = subprocess.run([tiles, unit, *formats, str(count)], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        recipe, *codes = line.split()
        if len(codes) != 2 * SIDE * k + 3 * SIDE * SIDE:
            sys.exit(f"{unit}: an instruction of MMA-Sim's has another k")
        a, b, rest = codes[:SIDE * k], codes[SIDE * k:2 * SIDE * k], codes[2 * SIDE * k:]
        a, b = tensor(a, formats[0], (SIDE, k)), tensor(b, formats[1], (SIDE, k)).T
        c, ours, published = (tensor(rest[i * 64:i * 64 + 64], accumulator, (SIDE, SIDE)) for i in range(3))
        theirs = simulated(a.clone(), b.clone(), c.clone())
        other = ~same(ours, theirs)
        elements += SIDE * SIDE
        differing += int(other.sum())
        wrong = other & ~same(published, theirs)
        if wrong.any() and not unexplained:
            at = tuple(wrong.nonzero()[0].tolist())
            print(f"    {recipe}, element {at}: ours {ours[at].item()!r}, MMA-Sim's {theirs[at].item()!r}")
        unexplained += int(wrong.sum())
    return elements, differing, unexplained


def main():
    tiles, count, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    amd.pairwise_dot = widened_products
    failed, compared = False, 0
    for unit, accumulator, pairs, instruction in units():
        if wanted and unit not in wanted:
            continue
        found = [compare(tiles, unit, accumulator, formats, instruction, count) for formats in pairs]
        elements, differing, unexplained = (sum(column) for column in zip(*found))
        compared += 1
        failed |= unexplained > 0
        print(f"{unit:24} {elements:9} elements {elements - differing:9} equal {differing - unexplained:7} as hardware showed "
              f"{unexplained:5} unexplained", flush=True)
    print(f"{compared} units")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
