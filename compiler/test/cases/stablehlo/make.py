"""make.py - makes the .mlirbc files: by jaxlib 0.10.2 from the .mlir files beside it, as portable artifacts of StableHLO 1.13.0, and
quantized.mlirbc by itself, byte for byte, because the dialect of quantised types is not in jaxlib. Needs jax.
"""
import struct
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

HERE = Path(__file__).parent
BUILTIN, VHLO = 0, 1


def varint(value):
    size = next(n for n in range(1, 9) if value < 1 << 7 * n or n == 8)
    return bytes([0]) + struct.pack("<Q", value) if value >= 1 << 56 else ((value << 1 | 1) << size - 1).to_bytes(size, "little")


def numbers(*values):
    return b"".join(map(varint, values))


def signed(value):
    return varint((value << 1) ^ (value >> 63))


def double(value):
    return signed(struct.unpack("<q", struct.pack("<d", value))[0])


def section(identity, data):
    return bytes([identity]) + varint(len(data)) + data


def quantized():
    """A declared function that takes tensor<4x!quant.uniform<i8:f32, 0.5:-3>> and, by axis 1, tensor<2x2x!quant.uniform<u8:f32:1, ...>>."""
    strings = [b"builtin", b"vhlo", b"module", b"func_v1", b"main", b"private"]
    attributes = [numbers(1, 0), numbers(17, 6), numbers(14, 4), numbers(14, 5)], [numbers(15)]
    types = [
        numbers(11), numbers(4), numbers(24, 1, 0, 1) + double(0.5) + signed(-3) + signed(-128) + signed(127),
        numbers(20, 1) + signed(4) + varint(2),
        numbers(30, 0, 0, 1, 1) + signed(0) + signed(255) + varint(2) + double(0.1) + double(0.2) + varint(2) + signed(0) + signed(7),
        numbers(20, 2) + signed(2) + signed(2) + varint(4), numbers(8, 2, 3, 5, 0),
    ]
    entries = [*attributes[0], *attributes[1], *types]
    sizes = numbers(5, 7)
    for dialect, group in ((VHLO, attributes[0]), (BUILTIN, attributes[1]), (VHLO, types)):
        sizes += numbers(dialect, len(group), *(len(entry) << 1 | 1 for entry in group))
    properties = [numbers(0, 1, 0, 2, 3), numbers(0, 0)]
    has_regions_and_properties = bytes([16 | 64])
    function = varint(1) + has_regions_and_properties + numbers(4, 0, 1 << 1 | 1) + section(4, numbers(0))
    module = varint(0) + has_regions_and_properties + numbers(4, 1, 1 << 1 | 1) + section(4, numbers(1, 0, 1 << 1) + function)
    return (b"ML\xefR" + varint(6) + b"by hand\0"
            + section(1, numbers(2, 0 << 1, 1 << 1, 2, BUILTIN, 1, 2 << 1 | 1, VHLO, 1, 3 << 1 | 1))
            + section(3, sizes) + section(2, b"".join(entries)) + section(4, numbers(1 << 1) + module)
            + section(0, numbers(len(strings), *(len(s) + 1 for s in reversed(strings))) + b"".join(s + b"\0" for s in strings))
            + section(8, varint(len(properties)) + b"".join(varint(len(p)) + p for p in properties)))


for source in sorted(HERE.glob("*.mlir")):
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(source.read_text())
        source.with_suffix(".mlirbc").write_bytes(stablehlo.serialize_portable_artifact(module, "1.13.0", True))
(HERE / "quantized.mlirbc").write_bytes(quantized())
