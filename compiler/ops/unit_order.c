/* unit_order.c - element types as the formats of matrix units. */
#include "ops/unit_order.h"

#include <stddef.h>

static const struct {
    dtype type;
    const binary_format *format;
} formats[] = {
    {DTYPE_F64, &binary_f64},     {DTYPE_F32, &binary_f32},   {DTYPE_TF32, &binary_tf32},
    {DTYPE_F16, &binary_f16},     {DTYPE_BF16, &binary_bf16}, {DTYPE_F8E4M3FN, &binary_e4m3},
    {DTYPE_F8E5M2, &binary_e5m2},
};

const binary_format *unit_order_format(dtype type) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].type == type)
            return formats[i].format;
    return NULL;
}

bool unit_order_takes(const matrix_unit *unit, dtype type) {
    return matrix_unit_takes(unit, unit_order_format(type));
}

dtype unit_order_accumulator(const matrix_unit *unit) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == unit->accumulator)
            return formats[i].type;
    return DTYPE_NONE;
}

/* ---- the table ---- */

static const char *const rule_names[] = {
    [MATRIX_UNIT_ALIGNED] = "aligned",
    [MATRIX_UNIT_ALIGNED_AS_F16] = "aligned, as f16",
    [MATRIX_UNIT_FMA] = "fma",
    [MATRIX_UNIT_FMA_THEN_C] = "fma, then c",
    [MATRIX_UNIT_FMA_PAIRS] = "fma in pairs",
    [MATRIX_UNIT_TREE] = "tree",
    [MATRIX_UNIT_TREE_FLUSHED] = "tree, flushed",
    [MATRIX_UNIT_DOWN] = "down",
    [MATRIX_UNIT_DOWN_HALVES] = "down, halves",
    [MATRIX_UNIT_ODD_FIRST] = "odd first",
    [MATRIX_UNIT_LANES] = "lanes",
    [MATRIX_UNIT_ROUND_TO_ODD] = "to odd",
    [MATRIX_UNIT_FUSED_PAIR] = "pair",
    [MATRIX_UNIT_EXACT] = "exact",
};

static bool is_order(const matrix_unit *unit) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (matrix_unit_takes(unit, formats[i].format))
            return true;
    return false;
}

static void print_widths(const matrix_unit *u, text *out) {
    if (u->rule != MATRIX_UNIT_ALIGNED && u->rule != MATRIX_UNIT_ALIGNED_AS_F16)
        text_append(out, "| | | ");
    else
        text_printf(out, "| %d | %d | %d, %s ", u->fraction_bits, u->least_exponent,
                    u->result_fraction_bits, u->round == BINARY_CUT ? "cut" : "nearest");
}

void unit_order_print(text *out) {
    text_append(out, "| unit | rule | factors | accumulator | k | step | F | least E | result | "
                     "order | hardware gave it | source |\n"
                     "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < matrix_unit_count; i++) {
        const matrix_unit *u = &matrix_units[i];
        text_printf(out, "| `%s` | %s | %s%s%s | %s | %d | %d ", u->name, rule_names[u->rule],
                    u->factors[0]->name, u->factors[1] ? ", " : "",
                    u->factors[1] ? u->factors[1]->name : "", u->accumulator->name, u->k, u->step);
        print_widths(u, out);
        text_printf(out, "| %s | %s | %s |\n", is_order(u) ? "yes" : "no",
                    u->matched ? u->matched : "a model", u->source);
    }
}
