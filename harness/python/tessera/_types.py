"""Element types, and how the arrays of frameworks name them."""

from __future__ import annotations


class ElementType:
    """An element type of kernels: `Tensor["M", "N", f32]`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __matmul__(self, policy: object) -> ElementType:
        """f32 @ accum(f64): what a kernel's annotation says of it is read from its text."""
        return self

    def __repr__(self) -> str:
        return self.name


# Types that an array may have for each type of a kernel; the first is its own.
ARRAYS = {
    "f64": ("float64",),
    "f32": ("float32",),
    "tf32": ("float32",),
    "f16": ("float16",),
    "bf16": ("bfloat16", "uint16"),
    "f8e4m3fn": ("float8_e4m3fn", "uint8"),
    "f8e5m2": ("float8_e5m2", "uint8"),
    "i64": ("int64",),
    "i32": ("int32",),
    "i16": ("int16",),
    "i8": ("int8",),
    "i4": ("int8",),
    "u64": ("uint64",),
    "u32": ("uint32",),
    "u16": ("uint16",),
    "u8": ("uint8",),
    "bool": ("bool",),
}


def kernel_type(array_type: str) -> str | None:
    """The type whose own arrays have this type, which a type variable gets; None: there is none.

    >>> kernel_type("float32"), kernel_type("uint16"), kernel_type("bfloat16"), kernel_type("int8")
    ('f32', 'u16', 'bf16', 'i8')
    """
    return next((name for name, arrays in ARRAYS.items() if array_type == arrays[0] and name not in ("tf32", "i4")), None)


f64, f32, tf32, f16, bf16, f8e4m3fn, f8e5m2, i64, i32, i16, i8, i4, u64, u32, u16, u8 = map(ElementType, list(ARRAYS)[:-1])
