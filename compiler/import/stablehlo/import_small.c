/* import_small.c - integers of two bits, and of four without a sign: each is the number that it is
 * in an i8 or a u8 of Graph IR, so comparisons, quotients and choices are those of bytes; what may
 * be beyond the type wraps, as StableHLO's arithmetic modulo 2^bits has it. */
#include "import/stablehlo/import.h"

dtype import_small_as(shlo_element e) {
    return e == SHLO_I2 ? DTYPE_I8 : e == SHLO_U2 || e == SHLO_U4 ? DTYPE_U8 : DTYPE_NONE;
}

static bool is_small(const shlo_value *v) {
    return v->type->kind == SHLO_TYPE_TENSOR && !v->type->quantized &&
           import_small_as(v->type->element) != DTYPE_NONE;
}

/* Bits that a byte has and the type has not. */
static int unused_bits(shlo_element e) {
    enum { BYTE = 8 };
    return BYTE - shlo_element_get(e)->bits;
}

ir_value import_small_wrapped(importer *im, ir_value x, shlo_element e) {
    if (import_small_as(e) == DTYPE_NONE)
        return x;
    x = import_shifted(im, GRAPH_LEFT_SHIFT, x, unused_bits(e));
    return import_shifted(im, GRAPH_RIGHT_SHIFT, x, unused_bits(e));
}

/* A float beyond the type becomes its nearest number, as that of every other type does. */
static ir_value clamped(importer *im, ir_value x, shlo_element e) {
    const dtype t = import_small_as(e);
    const int unused = unused_bits(e);
    const int64_t lowest = dtype_lowest(t) >> unused, highest = dtype_highest(t) >> unused;
    x = import_binary(im, GRAPH_MAXIMUM, x, import_like(im, x, (double)lowest));
    return import_binary(im, GRAPH_MINIMUM, x, import_like(im, x, (double)highest));
}

/* Operations whose results are operands' numbers, or follow from what a body or a function gave. */
static bool keeps(shlo_opcode opcode) {
    static const shlo_opcode list[] = {
        SHLO_OP_AND,   SHLO_OP_OR,    SHLO_OP_XOR,      SHLO_OP_MINIMUM, SHLO_OP_MAXIMUM,
        SHLO_OP_CLAMP, SHLO_OP_SORT,  SHLO_OP_CALL,     SHLO_OP_CASE,    SHLO_OP_IF,
        SHLO_OP_WHILE, SHLO_OP_TUPLE, SHLO_OP_COMPOSITE};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == opcode)
            return true;
    return opcode != SHLO_OP_CONSTANT && import_moves(opcode);
}

/* Operations that look at the bits of a number: those above are copies of the sign, or zeros. */
static bool fits_byte(importer *im, const shlo_op *op, shlo_element e) {
    const bool has_sign = !dtype_is_unsigned(import_small_as(e));
    const shlo_opcode o = op->info->opcode;
    if (o == SHLO_OP_COUNT_LEADING_ZEROS || (has_sign && o == SHLO_OP_POPCNT) ||
        (has_sign && o == SHLO_OP_SHIFT_RIGHT_LOGICAL) ||
        (!has_sign && o == SHLO_OP_SHIFT_RIGHT_ARITHMETIC))
        return import_refuse(im, op, "of %s is not supported: convert it to a type of 8 bits",
                             shlo_element_get(e)->name);
    return true;
}

bool import_small_results(importer *im, const shlo_op *op, ir_value *results) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (is_small(op->operands[i]) && !fits_byte(im, op, op->operands[i]->type->element))
            return false;
    const bool from_float = op->info->opcode == SHLO_OP_CONVERT &&
                            shlo_element_is_float(op->operands[0]->type->element);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const shlo_value *v = &op->results[i];
        if (!results[i] || !is_small(v) || keeps(op->info->opcode))
            continue;
        results[i] =
            (from_float ? clamped : import_small_wrapped)(im, results[i], v->type->element);
    }
    return true;
}
