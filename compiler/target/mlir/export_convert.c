/* export_convert.c - conversions between element types, once more from docs/numerics.md. */
#include <inttypes.h>

#include "target/mlir/export.h"

static const char *i32(exporter *e, int64_t value) {
    return export_op(e, "arith.constant %" PRId64 " : i32", value);
}

/* ---- 8-bit floats ---- */

/* OCP's formats: fields, what a number beyond the greatest becomes, the NaN. */
typedef struct small_float {
    int mantissa_bits, bias;
    int beyond, nan, first_special;
} small_float;

static small_float small_format(dtype type) {
    return type == DTYPE_F8E4M3FN ? (small_float){3, 7, 0x7e, 0x7f, 0x7f}
                                  : (small_float){2, 15, 0x7c, 0x7e, 0x7c};
}

static const char *power_of_two(exporter *e, int exponent) {
    return export_bits(e, DTYPE_F32, (uint64_t)(127 + exponent) << 23);
}

/* The fields in the place of f32's are the number times a power of two: exact, also of subnormals.
 */
static const char *from_small(exporter *e, dtype type, const char *x) {
    small_float f = small_format(type);
    const char *wide = export_op(e, "arith.extui %s : i8 to i32", x);
    const char *size = export_op(e, "arith.andi %s, %s : i32", wide, i32(e, 0x7f));
    const char *sign = export_op(e, "arith.andi %s, %s : i32", wide, i32(e, 0x80));
    sign = export_op(e, "arith.shli %s, %s : i32", sign, i32(e, 24));
    const char *moved = export_op(e, "arith.shli %s, %s : i32", size, i32(e, 23 - f.mantissa_bits));
    const char *value = export_op(e, "arith.bitcast %s : i32 to f32", moved);
    value = export_op(e, "arith.mulf %s, %s : f32", value, power_of_two(e, 127 - f.bias));
    const char *bits = export_op(e, "arith.bitcast %s : f32 to i32", value);
    const char *special = export_op(e, "arith.ori %s, %s : i32", moved, i32(e, 0x7f800000));
    if (type == DTYPE_F8E4M3FN)
        special = i32(e, 0x7fc00000);
    const char *is_special =
        export_op(e, "arith.cmpi uge, %s, %s : i32", size, i32(e, f.first_special));
    bits = export_op(e, "arith.select %s, %s, %s : i32", is_special, special, bits);
    bits = export_op(e, "arith.ori %s, %s : i32", bits, sign);
    return export_op(e, "arith.bitcast %s : i32 to f32", bits);
}

/* Normal results round as integers and are rebiased; for subnormal ones a power of two is added
 * whose last place is theirs, so that the addition rounds. */
static const char *to_small(exporter *e, dtype type, const char *x) {
    small_float f = small_format(type);
    int shift = 23 - f.mantissa_bits, magic = 1 - f.bias - f.mantissa_bits + 23;
    const char *bits = export_op(e, "arith.bitcast %s : f32 to i32", x);
    const char *size = export_op(e, "arith.andi %s, %s : i32", bits, i32(e, 0x7fffffff));
    const char *sign = export_op(e, "arith.shrui %s, %s : i32", bits, i32(e, 24));
    sign = export_op(e, "arith.andi %s, %s : i32", sign, i32(e, 0x80));
    const char *last = export_op(e, "arith.shrui %s, %s : i32", size, i32(e, shift));
    last = export_op(e, "arith.andi %s, %s : i32", last, i32(e, 1));
    const char *half =
        export_op(e, "arith.addi %s, %s : i32", last, i32(e, (1 << (shift - 1)) - 1));
    const char *normal = export_op(e, "arith.addi %s, %s : i32", size, half);
    normal = export_op(e, "arith.shrui %s, %s : i32", normal, i32(e, shift));
    normal = export_op(e, "arith.subi %s, %s : i32", normal,
                       i32(e, (int64_t)(127 - f.bias) << f.mantissa_bits));
    const char *tiny = export_op(e, "arith.bitcast %s : i32 to f32", size);
    tiny = export_op(e, "arith.addf %s, %s : f32", tiny, power_of_two(e, magic));
    tiny = export_op(e, "arith.bitcast %s : f32 to i32", tiny);
    tiny = export_op(e, "arith.subi %s, %s : i32", tiny, i32(e, (int64_t)(127 + magic) << 23));
    const char *is_tiny = export_op(e, "arith.cmpi ult, %s, %s : i32", size,
                                    i32(e, (int64_t)(127 + 1 - f.bias) << 23));
    const char *code = export_op(e, "arith.select %s, %s, %s : i32", is_tiny, tiny, normal);
    code = export_op(e, "arith.minsi %s, %s : i32", code, i32(e, f.beyond));
    const char *nan = export_op(e, "arith.cmpf uno, %s, %s : f32", x, x);
    code = export_op(e, "arith.ori %s, %s : i32", code, sign);
    code = export_op(e, "arith.select %s, %s, %s : i32", nan, i32(e, f.nan), code);
    return export_op(e, "arith.trunci %s : i32 to i8", code);
}

const char *export_widen(exporter *e, dtype type, const char *x) {
    if (type == DTYPE_F16)
        return export_op(e, "arith.extf %s : f16 to f32", x);
    if (type == DTYPE_F8E4M3FN || type == DTYPE_F8E5M2)
        return from_small(e, type, x);
    if (type != DTYPE_BF16)
        return x;
    const char *wide = export_op(e, "arith.extui %s : i16 to i32", x);
    const char *bits = export_op(e, "arith.shli %s, %s : i32", wide, i32(e, 16));
    return export_op(e, "arith.bitcast %s : i32 to f32", bits);
}

/* ---- bf16, f64, integers ---- */

/* Nearest, ties to even: half a unit less one is added, and the last bit that stays. */
static const char *to_bf16(exporter *e, const char *x) {
    const char *bits = export_op(e, "arith.bitcast %s : f32 to i32", x);
    const char *last = export_op(e, "arith.shrui %s, %s : i32", bits, i32(e, 16));
    last = export_op(e, "arith.andi %s, %s : i32", last, i32(e, 1));
    const char *half = export_op(e, "arith.addi %s, %s : i32", last, i32(e, 0x7fff));
    const char *sum = export_op(e, "arith.addi %s, %s : i32", bits, half);
    const char *kept = export_op(e, "arith.shrui %s, %s : i32", sum, i32(e, 16));
    const char *nan = export_op(e, "arith.cmpf uno, %s, %s : f32", x, x);
    kept = export_op(e, "arith.select %s, %s, %s : i32", nan, i32(e, 0x7fc0), kept);
    return export_op(e, "arith.trunci %s : i32 to i16", kept);
}

const char *export_wrap(exporter *e, dtype type, const char *x) {
    if (type != DTYPE_I4)
        return x;
    const char *four = export_op(e, "arith.constant 4 : i8");
    return export_op(e, "arith.shrsi %s, %s : i8", export_op(e, "arith.shli %s, %s : i8", x, four),
                     four);
}

/* The f32 that rounds to a narrow float as x itself would: where x lies between two of them, the
 * one with an odd last bit. */
static const char *to_odd(exporter *e, const char *x) {
    const char *near = export_op(e, "arith.truncf %s : f64 to f32", x);
    const char *back = export_op(e, "arith.extf %s : f32 to f64", near);
    const char *size = export_op(e, "math.absf %s : f64", x);
    const char *back_size = export_op(e, "math.absf %s : f64", back);
    const char *beyond = export_op(e, "arith.cmpf ogt, %s, %s : f64", back_size, size);
    const char *inexact = export_op(e, "arith.cmpf one, %s, %s : f64", back_size, size);
    const char *bits = export_op(e, "arith.bitcast %s : f32 to i32", near), *one = i32(e, 1);
    const char *before = export_op(e, "arith.subi %s, %s : i32", bits, one);
    bits = export_op(e, "arith.select %s, %s, %s : i32", beyond, before, bits);
    const char *odd = export_op(e, "arith.ori %s, %s : i32", bits, one);
    bits = export_op(e, "arith.select %s, %s, %s : i32", inexact, odd, bits);
    return export_op(e, "arith.bitcast %s : i32 to f32", bits);
}

/* Toward zero; what is beyond goes to the nearest integer, a NaN to 0. */
static const char *float_to_int(exporter *e, dtype from, dtype to, const char *x) {
    const char *real = export_element(e, from), *whole = export_element(e, to);
    const bool has_sign = !dtype_is_unsigned(to);
    const uint64_t exponent = (uint64_t)(dtype_integer_bits(to) - has_sign);
    uint64_t top = from == DTYPE_F64 ? (1023 + exponent) << 52 : (127 + exponent) << 23;
    uint64_t sign = from == DTYPE_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    const char *limit = export_bits(e, from, top),
               *low = export_bits(e, from, has_sign ? top | sign : 0);
    const char *zero = export_bits(e, from, 0);
    const char *above = export_op(e, "arith.cmpf oge, %s, %s : %s", x, limit, real);
    const char *below = export_op(e, "arith.cmpf olt, %s, %s : %s", x, low, real);
    const char *nan = export_op(e, "arith.cmpf uno, %s, %s : %s", x, x, real);
    const char *out = export_op(e, "arith.ori %s, %s : i1", above, below);
    out = export_op(e, "arith.ori %s, %s : i1", out, nan);
    const char *safe = export_op(e, "arith.select %s, %s, %s : %s", out, zero, x, real);
    const char *value =
        export_op(e, "arith.%s %s : %s to %s", has_sign ? "fptosi" : "fptoui", safe, real, whole);
    const char *most = export_bits(e, to, (uint64_t)dtype_highest(to));
    const char *least = export_bits(e, to, (uint64_t)dtype_lowest(to));
    value = export_op(e, "arith.select %s, %s, %s : %s", above, most, value, whole);
    return export_op(e, "arith.select %s, %s, %s : %s", below, least, value, whole);
}

static const char *from_float(exporter *e, dtype from, dtype to, const char *x) {
    if (to == DTYPE_TF32)
        to = DTYPE_F32;
    if (from == to)
        return x;
    if (from == DTYPE_F32 && to == DTYPE_F64)
        return export_op(e, "arith.extf %s : f32 to f64", x);
    if (from == DTYPE_F64 && to == DTYPE_F32)
        return export_op(e, "arith.truncf %s : f64 to f32", x);
    if (from == DTYPE_F64 && dtype_is_narrow(to))
        return from_float(e, DTYPE_F32, to, to_odd(e, x));
    if (from == DTYPE_F32 && (to == DTYPE_F8E4M3FN || to == DTYPE_F8E5M2))
        return to_small(e, to, x);
    if (from == DTYPE_F32 && to == DTYPE_F16)
        return export_op(e, "arith.truncf %s : f32 to f16", x);
    if (from == DTYPE_F32 && to == DTYPE_BF16)
        return to_bf16(e, x);
    if (to == DTYPE_BOOL)
        return export_op(e, "arith.cmpf une, %s, %s : %s", x, export_bits(e, from, 0),
                         export_element(e, from));
    if (!dtype_is_float(to))
        return float_to_int(e, from, to, x);
    export_refuse(e, "one rounding from %s to %s", dtype_name(from), dtype_name(to));
    return x;
}

/* Through a wider float there is one rounding only where that holds every value. */
static dtype holder_of(dtype from) {
    if (dtype_size(from) == 8)
        return DTYPE_NONE;
    return dtype_size(from) == 4 ? DTYPE_F64 : DTYPE_F32;
}

static const char *from_int(exporter *e, dtype from, dtype to, const char *x) {
    const char *whole = export_element(e, from);
    if (dtype_is_narrow(to)) {
        dtype holder = holder_of(from);
        if (!holder) {
            export_refuse(e, "one rounding from %s to %s", dtype_name(from), dtype_name(to));
            return x;
        }
        return from_float(e, holder, to, from_int(e, from, holder, x));
    }
    if (dtype_is_float(to))
        return export_op(e, "arith.%s %s : %s to %s", dtype_is_unsigned(from) ? "uitofp" : "sitofp",
                         x, whole, export_element(e, to));
    if (to == DTYPE_BOOL)
        return export_op(e, "arith.cmpi ne, %s, %s : %s", x, export_bits(e, from, 0), whole);
    const char *target = export_element(e, to);
    if (from == DTYPE_BOOL)
        return export_wrap(e, to, export_op(e, "arith.extui %s : i1 to %s", x, target));
    if (dtype_size(to) == dtype_size(from))
        return export_wrap(e, to, x);
    return export_wrap(e, to,
                       export_op(e, "arith.%s %s : %s to %s",
                                 dtype_size(to) < dtype_size(from) ? "trunci"
                                 : dtype_is_unsigned(from)         ? "extui"
                                                                   : "extsi",
                                 x, whole, target));
}

const char *export_convert(exporter *e, dtype from, dtype to, const char *x) {
    if (from == to)
        return x;
    return dtype_is_float(from) ? from_float(e, from, to, x) : from_int(e, from, to, x);
}
