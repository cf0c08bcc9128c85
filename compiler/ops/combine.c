/* combine.c - rules of combiners. */
#include "ops/combine.h"

#include <string.h>

#include "ops/control.h"

/* ---- passes of a sort ---- */

int sort_levels(int64_t length) {
    int levels = 0;
    while (INT64_C(1) << levels < length)
        levels++;
    return levels;
}

int64_t sort_passes(int64_t length) {
    int64_t levels = sort_levels(length);
    return levels * (levels + 1) / 2;
}

static int64_t greatest_bit(int64_t length) {
    int levels = sort_levels(length);
    return levels ? INT64_C(1) << (levels - 1) : 0;
}

sort_pass sort_pass_first(int64_t length) {
    return (sort_pass){.bits = greatest_bit(length), .distance = greatest_bit(length)};
}

/* Algorithm M has the distance q - p with q = 2^t / 2, 2^t / 4, ..., p; its first is p. */
sort_pass sort_pass_next(int64_t length, const sort_pass *pass) {
    int64_t bits = pass->bits, top = greatest_bit(length);
    int64_t reach = pass->value ? (pass->distance + bits) / 2 : top;
    if (reach > bits)
        return (sort_pass){bits, bits, reach - bits};
    return (sort_pass){bits / 2, 0, bits / 2};
}

/* Counts the places below `end` with (i & bits) == value, where value is 0 or bits. */
static int64_t places_below(int64_t end, const sort_pass *p) {
    int64_t period = 2 * p->bits, rest = end % period;
    int64_t low = rest < p->bits ? rest : p->bits;
    return end / period * p->bits + (p->value ? rest - low : low);
}

uint64_t sort_pairs(int64_t length) {
    int64_t passes = sort_passes(length);
    sort_pass p = sort_pass_first(length);
    uint64_t pairs = 0;
    for (int64_t i = 0; i < passes; i++, p = sort_pass_next(length, &p))
        if (length > p.distance)
            pairs += (uint64_t)places_below(length - p.distance, &p);
    return pairs;
}

/* ---- verifying ---- */

/* Number of tensors combined; 0: operands are missing. */
static uint32_t count_of(const ir_op_data *d) {
    return d->opcode == GRAPH_SORT          ? d->operand_count
           : d->opcode == GRAPH_REDUCE_WITH ? d->operand_count / 2 * (d->operand_count % 2 == 0)
                                            : (d->operand_count - 1) / 2 * (d->operand_count % 2);
}

combine_shape combine_shape_of(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = ir_type_of(m, d->operands[0]);
    combine_shape s = {
        .count = count_of(d), .axis = (int)ir_op_int(m, op, "axis", 0), .rank = x->rank};
    memcpy(s.dims, x->dims, sizeof s.dims);
    if (d->opcode == GRAPH_SCATTER)
        s.updates = ir_type_of(m, d->operands[s.count])->dims[0];
    return s;
}

/* Dimensions that are no numbers are below 0. */
bool combine_has_places(const ir_module *m, ir_op op, const combine_shape *s) {
    ir_dim updates = s->updates > 0 ? s->updates : 0;
    return ir_op_get(m, op)->opcode == GRAPH_REDUCE_WITH || s->dims[s->axis] < INT32_MAX - updates;
}

static bool has_shape(const ir_module *m, ir_value v, int rank, const ir_dim *dims) {
    const ir_type_data *t = ir_type_of(m, v);
    return t->kind == IR_TYPE_TENSOR && t->rank == rank &&
           memcmp(t->dims, dims, sizeof *dims * (size_t)rank) == 0;
}

static bool is_scalar_of(const ir_module *m, ir_value v, dtype element) {
    const ir_type_data *t = ir_type_of(m, v);
    return t->kind == IR_TYPE_TENSOR && t->rank == 0 && t->element == element;
}

static dtype element_of(const ir_module *m, ir_value v) {
    return ir_type_of(m, v)->element;
}

static bool check_tensors(const ir_module *m, const ir_op_data *d, const combine_shape *s,
                          status *st) {
    for (uint32_t i = 0; i < s->count; i++)
        if (!has_shape(m, d->operands[i], s->rank, s->dims))
            return ir_broken(st, "its tensors are of different shapes");
    return true;
}

/* The operands behind the tensors. */
static bool check_others(const ir_module *m, const ir_op_data *d, const combine_shape *s,
                         status *st) {
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, s->dims, sizeof dims);
    dims[s->axis] = s->updates;
    if (d->opcode == GRAPH_SCATTER && (element_of(m, d->operands[s->count]) != DTYPE_I32 ||
                                       !has_shape(m, d->operands[s->count], 1, &s->updates)))
        return ir_broken(st, "its indices are not a row of i32");
    for (uint32_t i = 0; i < s->count && d->opcode == GRAPH_REDUCE_WITH; i++)
        if (!has_shape(m, d->operands[s->count + i], 0, dims))
            return ir_broken(st, "does not begin with a scalar for each tensor");
    for (uint32_t i = 0; i < s->count && d->opcode == GRAPH_SCATTER; i++)
        if (!has_shape(m, d->operands[s->count + 1 + i], s->rank, dims))
            return ir_broken(st, "its updates do not fit its indices and tensors");
    return true;
}

/* Results are as the tensors are; those of a reduction lack the axis, and have the scalars' type.
 */
static bool check_results(const ir_module *m, const ir_op_data *d, const combine_shape *s,
                          status *st) {
    bool reduces = d->opcode == GRAPH_REDUCE_WITH, fits = d->result_count == s->count;
    ir_dim dims[IR_MAX_RANK];
    for (int i = 0, k = 0; i < s->rank; i++)
        if (!reduces || i != s->axis)
            dims[k++] = s->dims[i];
    for (uint32_t i = 0; i < s->count && fits; i++)
        fits =
            has_shape(m, d->results[i], s->rank - reduces, dims) &&
            element_of(m, d->results[i]) == element_of(m, d->operands[reduces ? s->count + i : i]);
    return fits || ir_broken(st, "its results are not of the types of what it combines");
}

/* The operand whose element the block takes as argument i. */
static ir_value combined(const ir_op_data *d, const combine_shape *s, uint32_t i) {
    bool second = i >= s->count;
    uint32_t k = second ? i - s->count : i;
    switch (d->opcode) {
    case GRAPH_REDUCE_WITH:
        return d->operands[second ? k : s->count + k];
    case GRAPH_SCATTER:
        return d->operands[second ? s->count + 1 + k : k];
    default:
        return d->operands[k];
    }
}

static bool check_arguments(const ir_module *m, ir_op op, const combine_shape *s, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    bool fits = b->argument_count == 2 * s->count;
    for (uint32_t i = 0; i < b->argument_count && fits; i++)
        fits = is_scalar_of(m, b->arguments[i], element_of(m, combined(d, s, i)));
    return fits || ir_broken(st, "its block does not take two scalars of each tensor's type");
}

static bool check_end(const ir_module *m, ir_op op, const combine_shape *s, status *st) {
    const ir_op_data *d = ir_op_get(m, op), *end = control_end(m, op, 0);
    if (d->opcode == GRAPH_SORT)
        return (end->operand_count == 1 && is_scalar_of(m, end->operands[0], DTYPE_BOOL)) ||
               ir_broken(st, "its block does not make a bool");
    bool fits = end->operand_count == s->count;
    for (uint32_t i = 0; i < s->count && fits; i++)
        fits = is_scalar_of(m, end->operands[i], element_of(m, d->results[i]));
    return fits || ir_broken(st, "its block does not make a scalar for each result");
}

bool combine_takes(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    bool fits = class == GRAPH_CLASS_ELEMENTWISE || class == GRAPH_CLASS_COMPOSITE ||
                d->opcode == GRAPH_CONSTANT || d->opcode == GRAPH_EXTENT;
    for (uint32_t i = 0; i < d->operand_count && fits; i++)
        fits = is_scalar_of(m, d->operands[i], element_of(m, d->operands[i]));
    for (uint32_t i = 0; i < d->result_count && fits; i++)
        fits = is_scalar_of(m, d->results[i], element_of(m, d->results[i]));
    return fits && d->region_count == 0;
}

static bool check_body(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    for (ir_op in = b->first; in != b->last; in = ir_op_get(m, in)->next)
        if (op_info_get(ir_op_get(m, in)->opcode)->level != IR_LEVEL_GRAPH || !combine_takes(m, in))
            return ir_broken(st, "its block is not element-wise on scalars");
    return true;
}

bool combine_verify(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    if (count_of(d) == 0)
        return ir_broken(st, d->opcode == GRAPH_SORT ? "takes one tensor or more"
                             : d->opcode == GRAPH_REDUCE_WITH
                                 ? "takes tensors, and a scalar for each to begin with"
                                 : "takes tensors, indices, and updates for each tensor");
    const ir_type_data *x = ir_type_of(m, d->operands[0]);
    int64_t axis = ir_op_int(m, op, "axis", 0);
    if (x->kind != IR_TYPE_TENSOR || axis < 0 || axis >= x->rank)
        return ir_broken(st, "its tensors do not have its axis");
    if (d->opcode == GRAPH_SCATTER && ir_type_of(m, d->operands[count_of(d)])->rank != 1)
        return ir_broken(st, "its indices are not a row of i32");
    combine_shape s = combine_shape_of(m, op);
    return check_tensors(m, d, &s, st) &&
           (combine_has_places(m, op, &s) || ir_broken(st, "has more positions than i32")) &&
           check_others(m, d, &s, st) && check_results(m, d, &s, st) &&
           check_arguments(m, op, &s, st) && check_end(m, op, &s, st) && check_body(m, op, st);
}
