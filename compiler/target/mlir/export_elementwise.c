/* export_elementwise.c - one element of an element-wise operation. */
#include "target/mlir/export.h"

#include <string.h>

#include "ops/predicates.h"

/* ---- integers ---- */

/* x / 0 is 0, and the least one divided by -1 is itself. */
static const char *divided(exporter *e, dtype type, const char *x, const char *y) {
    const char *t = export_element(e, type), *zero = export_bits(e, type, 0);
    const char *one = export_bits(e, type, 1), *minus = export_bits(e, type, UINT64_MAX);
    const char *by_zero = export_op(e, "arith.cmpi eq, %s, %s : %s", y, zero, t);
    if (dtype_is_unsigned(type)) {
        const char *by = export_op(e, "arith.select %s, %s, %s : %s", by_zero, one, y, t);
        return export_op(e, "arith.select %s, %s, %s : %s", by_zero, zero,
                         export_op(e, "arith.divui %s, %s : %s", x, by, t), t);
    }
    const char *by_minus = export_op(e, "arith.cmpi eq, %s, %s : %s", y, minus, t);
    const char *special = export_op(e, "arith.ori %s, %s : i1", by_zero, by_minus);
    const char *safe = export_op(e, "arith.select %s, %s, %s : %s", special, one, y, t);
    const char *q = export_op(e, "arith.divsi %s, %s : %s", x, safe, t);
    const char *negative = export_op(e, "arith.subi %s, %s : %s", zero, x, t);
    q = export_op(e, "arith.select %s, %s, %s : %s", by_minus, negative, q, t);
    return export_op(e, "arith.select %s, %s, %s : %s", by_zero, zero, q, t);
}

/* Counts of the width or more, as unsigned numbers, move all bits out. */
static const char *shifted(exporter *e, int opcode, dtype type, const char *x, const char *y) {
    const char *t = export_element(e, type);
    uint64_t bits = type == DTYPE_I4 ? 4 : 8 * dtype_size(type);
    const char *most = export_bits(e, type, bits - 1);
    const char *count = export_op(e, "arith.minui %s, %s : %s", y, most, t);
    if (opcode == GRAPH_RIGHT_SHIFT && !dtype_is_unsigned(type))
        return export_op(e, "arith.shrsi %s, %s : %s", x, count, t);
    const char *moved = export_op(e, "arith.%s %s, %s : %s",
                                  opcode == GRAPH_RIGHT_SHIFT ? "shrui" : "shli", x, count, t);
    const char *within = export_op(e, "arith.cmpi ule, %s, %s : %s", y, most, t);
    return export_op(e, "arith.select %s, %s, %s : %s", within, moved, export_bits(e, type, 0), t);
}

static const char *integer(exporter *e, int opcode, dtype type, const char *x, const char *y) {
    const char *t = export_element(e, type);
    const char *zero = export_bits(e, type, 0);
    switch (opcode) {
    case GRAPH_NEG:
        return export_op(e, "arith.subi %s, %s : %s", zero, x, t);
    case GRAPH_ABS: {
        if (dtype_is_unsigned(type))
            return x;
        const char *less = export_op(e, "arith.cmpi slt, %s, %s : %s", x, zero, t);
        const char *minus = export_op(e, "arith.subi %s, %s : %s", zero, x, t);
        return export_op(e, "arith.select %s, %s, %s : %s", less, minus, x, t);
    }
    case GRAPH_NOT:
        return export_op(e, "arith.xori %s, %s : %s", x,
                         export_bits(e, type, type == DTYPE_BOOL ? 1 : UINT64_MAX), t);
    case GRAPH_DIV:
        return divided(e, type, x, y);
    case GRAPH_LEFT_SHIFT:
    case GRAPH_RIGHT_SHIFT:
        return shifted(e, opcode, type, x, y);
    default:
        break;
    }
    static const struct {
        int opcode;
        const char *name;
    } rows[] = {{GRAPH_ADD, "addi"}, {GRAPH_SUB, "subi"}, {GRAPH_MUL, "muli"},
                {GRAPH_AND, "andi"}, {GRAPH_OR, "ori"},   {GRAPH_XOR, "xori"}};
    if (opcode == GRAPH_MAXIMUM || opcode == GRAPH_MINIMUM)
        return export_op(e, "%s %s, %s : %s", export_extreme(type, opcode == GRAPH_MAXIMUM), x, y,
                         t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].opcode == opcode)
            return export_op(e, "arith.%s %s, %s : %s", rows[i].name, x, y, t);
    export_refuse(e, "%s on integers", op_info_get(opcode)->name);
    return x;
}

/* ---- floats ---- */

static const char *real(exporter *e, int opcode, dtype type, const char *const *x) {
    const char *t = export_element(e, type);
    static const struct {
        int opcode, operands;
        const char *name;
    } rows[] = {{GRAPH_NEG, 1, "arith.negf"},         {GRAPH_ABS, 1, "math.absf"},
                {GRAPH_SQRT, 1, "math.sqrt"},         {GRAPH_FLOOR, 1, "math.floor"},
                {GRAPH_CEIL, 1, "math.ceil"},         {GRAPH_ROUND, 1, "math.roundeven"},
                {GRAPH_TRUNC, 1, "math.trunc"},       {GRAPH_ADD, 2, "arith.addf"},
                {GRAPH_SUB, 2, "arith.subf"},         {GRAPH_MUL, 2, "arith.mulf"},
                {GRAPH_DIV, 2, "arith.divf"},         {GRAPH_MAXIMUM, 2, "arith.maximumf"},
                {GRAPH_MINIMUM, 2, "arith.minimumf"}, {GRAPH_FMA, 3, "math.fma"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].opcode != opcode)
            continue;
        if (rows[i].operands == 1)
            return export_op(e, "%s %s : %s", rows[i].name, x[0], t);
        if (rows[i].operands == 2)
            return export_op(e, "%s %s, %s : %s", rows[i].name, x[0], x[1], t);
        return export_op(e, "%s %s, %s, %s : %s", rows[i].name, x[0], x[1], x[2], t);
    }
    if (graph_op_is_specified(opcode))
        return export_function(e, opcode, type, x);
    export_refuse(e, "%s on floats", op_info_get(opcode)->name);
    return x[0];
}

static const char *compared(exporter *e, ir_op op, dtype type, const char *x, const char *y) {
    static const struct {
        const char *floats, *integers, *naturals;
    } names[] = {
#define PREDICATE(ENUM, name, sign, floats, integers, naturals) {floats, integers, naturals},
#include "ops/predicates.def"
    };
    predicate p = predicate_of(ir_op_string(e->m, op, "predicate", "eq"));
    if (dtype_is_float(type))
        return export_op(e, "arith.cmpf %s, %s, %s : %s", names[p].floats, x, y,
                         export_element(e, type));
    return export_op(e, "arith.cmpi %s, %s, %s : %s",
                     dtype_is_unsigned(type) ? names[p].naturals : names[p].integers, x, y,
                     export_element(e, type));
}

/* The policy `saturate`: nothing beyond the greatest number of the result's type; a NaN stays. */
static const char *clamped(exporter *e, dtype from, dtype to, const char *x) {
    static const struct {
        dtype type;
        uint32_t greatest;
    } rows[] = {{DTYPE_F16, 0x477fe000},
                {DTYPE_BF16, 0x7f7f0000},
                {DTYPE_F8E4M3FN, 0x43e00000},
                {DTYPE_F8E5M2, 0x47600000}};
    const char *t = export_element(e, from);
    if (!dtype_is_float(from) && !dtype_is_float(to)) {
        const int64_t most = dtype_highest(to), least = dtype_lowest(to);
        if ((uint64_t)dtype_highest(from) > (uint64_t)most)
            x = export_op(e, "%s %s, %s : %s", export_extreme(from, false), x,
                          export_bits(e, from, (uint64_t)most), t);
        return dtype_lowest(from) >= least ? x
                                           : export_op(e, "arith.maxsi %s, %s : %s", x,
                                                       export_bits(e, from, (uint64_t)least), t);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == to && from == DTYPE_F32) {
            const char *most = export_bits(e, from, rows[i].greatest);
            const char *least = export_bits(e, from, rows[i].greatest | 0x80000000u);
            x = export_op(e, "arith.minimumf %s, %s : %s", x, most, t);
            return export_op(e, "arith.maximumf %s, %s : %s", x, least, t);
        }
    export_refuse(e, "saturation from %s to %s", dtype_name(from), dtype_name(to));
    return x;
}

/* `wide` is x in the type that it computes in. */
static const char *bits_of(exporter *e, dtype from, dtype to, const char *x, const char *wide) {
    const char *f = export_element(e, from), *t = export_element(e, to);
    const char *bits = strcmp(f, t) == 0 ? x : export_op(e, "arith.bitcast %s : %s to %s", x, f, t);
    if (!dtype_is_float(from))
        return bits;
    const char *nan = export_op(e, "arith.cmpf uno, %s, %s : %s", wide, wide,
                                export_element(e, export_compute_type(from)));
    return export_op(e, "arith.select %s, %s, %s : %s", nan,
                     export_bits(e, to, dtype_format_of(from)->nan), bits, t);
}

const char *export_elementwise(exporter *e, ir_op op, const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, op);
    dtype result = export_type(e, d->results[0])->element;
    dtype from = export_type(e, d->operands[0])->element, wide = export_compute_type(from);
    const char *x[3] = {NULL, NULL, NULL};
    if (d->opcode == GRAPH_SELECT)
        return export_op(e, "arith.select %s, %s, %s : %s", export_load(e, d->operands[0], index),
                         export_load(e, d->operands[1], index),
                         export_load(e, d->operands[2], index), export_element(e, result));
    if (d->opcode == GRAPH_STOCHASTIC_ROUND || d->opcode == GRAPH_RANDOM_BITS) {
        export_refuse(e, d->opcode == GRAPH_RANDOM_BITS ? "random bits" : "stochastic rounding");
        return "%none";
    }
    for (uint32_t i = 0; i < d->operand_count && i < 3; i++)
        x[i] = export_load_wide(e, d->operands[i], index);
    if (d->opcode == GRAPH_CONVERT && ir_op_attr(e->m, op, "saturate"))
        x[0] = clamped(e, wide, result, x[0]);
    if (d->opcode == GRAPH_BITCAST)
        return bits_of(e, from, result, export_load(e, d->operands[0], index), x[0]);
    if (d->opcode == GRAPH_CONVERT)
        return export_convert(e, wide, result, x[0]);
    if (d->opcode == GRAPH_COMPARE)
        return compared(e, op, wide, x[0], x[1]);
    const char *value = dtype_is_float(wide)
                            ? real(e, d->opcode, wide, x)
                            : export_wrap(e, wide, integer(e, d->opcode, wide, x[0], x[1]));
    return export_convert(e, wide, result, value);
}
