/* widen.c - arithmetic on narrow floats is f32 arithmetic between conversions, and arithmetic on i4
 * is that of i8; after this pass only f64, f32 and whole bytes compute.
 *
 * Element-wise: convert to f32, do the operation, convert back once. Reductions, running sums and
 * dots accumulate in f32 and round once. Data movement keeps its type, and so do select and
 * compare's bool. */
#include <string.h>

#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/reductions.h"

static bool is_narrow(const ir_builder *b, ir_value x) {
    dtype element = build_type(b, x)->element;
    return dtype_is_narrow(element) || element == DTYPE_I4;
}

static dtype wider(const ir_builder *b, ir_value x) {
    return build_type(b, x)->element == DTYPE_I4 ? DTYPE_I8 : DTYPE_F32;
}

/* The greatest and least i4 are themselves; i8 would give others for no elements at all. */
static bool is_extreme(const ir_builder *b, ir_op op) {
    return build_type(b, ir_op_get(b->m, op)->operands[0])->element == DTYPE_I4 &&
           !reduction_rounds(ir_op_string(b->m, op, "kind", ""));
}

/* Type of a dot's accumulator, before that is rounded to the type of its result. */
static dtype sum_of(const ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    dtype result = build_type(b, d->results[0])->element;
    if (!dtype_is_float(result))
        return result;
    bool wide = graph_accumulate_type(b->m, op) == DTYPE_F64 ||
                build_type(b, d->operands[0])->element == DTYPE_F64;
    return wide ? DTYPE_F64 : DTYPE_F32;
}

static bool needs_widening(const ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    graph_class class = graph_op_class(d->opcode);
    if (d->opcode == GRAPH_CONVERT || d->opcode == GRAPH_SELECT || d->opcode == GRAPH_BITCAST)
        return false;
    if (class == GRAPH_CLASS_DOT)
        return build_type(b, d->results[0])->element != sum_of(b, op);
    if (class == GRAPH_CLASS_REDUCE && is_extreme(b, op))
        return false;
    return (class == GRAPH_CLASS_ELEMENTWISE || class == GRAPH_CLASS_REDUCE ||
            class == GRAPH_CLASS_SCAN) &&
           is_narrow(b, d->operands[0]);
}

/* The type in which operand i is computed with. A dot reads narrow operands as they are: their
 * products are exact in f32. */
static dtype computed_as(const ir_builder *b, ir_op op, uint32_t i) {
    const ir_op_data *d = ir_op_get(b->m, op);
    dtype element = build_type(b, d->operands[i])->element, told = graph_accumulate_type(b->m, op);
    bool is_dot = d->opcode == GRAPH_DOT;
    if (is_dot && (i > 1 || told != DTYPE_F64))
        return element;
    if (told == DTYPE_F64 || (told != DTYPE_NONE && dtype_is_integer(told)))
        return told;
    return is_narrow(b, d->operands[i]) ? wider(b, d->operands[i]) : element;
}

/* The same operation on wider operands, accumulating as its type does. */
static ir_value widened(ir_builder *b, ir_op op) {
    ir_module *m = b->m;
    const ir_op_data *d = ir_op_get(m, op);
    ir_value operands[8];
    ir_named_attr attrs[16];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = build_convert(b, d->operands[i], computed_as(b, op, i));
    for (uint32_t i = 0; i < d->attr_count; i++)
        if (strcmp(d->attrs[i].name, "accumulate") != 0)
            attrs[n++] = d->attrs[i];
    return ir_op_result(m, graph_build(b, d->opcode, operands, d->operand_count, attrs, n), 0);
}

static void set_sum(ir_module *m, ir_op op, const ir_builder *b) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == GRAPH_DOT && dtype_is_float(build_type(b, d->results[0])->element))
        ir_op_set_attr(m, op, "out", ir_attr_type(m, ir_type_scalar(m, sum_of(b, op))));
}

static control_rewritten rewrite(ir_builder *b, ir_op op, ir_value *results, void *context) {
    (void)context;
    if (!needs_widening(b, op) && graph_accumulate_type(b->m, op) == DTYPE_NONE)
        return CONTROL_KEPT;
    dtype element = build_type(b, ir_op_result(b->m, op, 0))->element;
    set_sum(b->m, op, b);
    results[0] = build_convert(b, widened(b, op), element);
    return CONTROL_REPLACED;
}

bool graph_widen(ir_module *m, status *st) {
    (void)st;
    return control_rewrite(m, rewrite, NULL);
}
