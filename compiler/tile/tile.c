/* tile.c - Tile IR's table and builders. */
#include "tile/tile.h"

#include <assert.h>
#include <string.h>

#include "ops/graph.h"

static const op_info tile_ops[] = {
#define T(ENUM, name, operands, attrs, results, regions, summary)                                  \
    {"tile." #name, IR_LEVEL_TILE, operands, attrs, results, regions, summary, false},
#include "tile/tile.def"
};

static_assert(TILE_FMA - TILE_NEG == GRAPH_FMA - GRAPH_NEG,
              "tile.def repeats graph.def's element-wise operations");

bool tile_is_strict(const ir_module *m) {
    return strcmp(ir_op_string(m, ir_module_kernel(m), "profile", "strict"), "strict") == 0;
}

bool tile_is_elementwise(int opcode) {
    return opcode >= TILE_NEG && opcode <= TILE_HARDWARE_EXP2;
}

const op_table *tile_op_table(void) {
    static const op_table table = {IR_LEVEL_TILE, tile_ops, sizeof tile_ops / sizeof *tile_ops,
                                   tile_verify, tile_verify_orders};
    return &table;
}

/* ---- builders ---- */

const ir_type_data *tile_type(const ir_builder *b, ir_value x) {
    return ir_type_of(b->m, x);
}

ir_value tile_index(ir_builder *b, int64_t value) {
    ir_named_attr attr = {"value", ir_attr_int(b->m, value)};
    return ir_build1(b, TILE_INDEX, NULL, 0, ir_type_index(b->m), &attr, 1);
}

bool tile_constant_index(const ir_builder *b, ir_value x, int64_t *value) {
    ir_op op = ir_value_get(b->m, x)->op;
    if (!op || ir_op_get(b->m, op)->opcode != TILE_INDEX)
        return false;
    *value = ir_op_int(b->m, op, "value", 0);
    return true;
}

int64_t tile_index_shift(const ir_builder *b, ir_value *index) {
    int64_t factor = 0;
    ir_op op = ir_value_get(b->m, *index)->op;
    if (!op || ir_op_get(b->m, op)->opcode != TILE_AFFINE ||
        ir_op_get(b->m, op)->operand_count != 1)
        return 0;
    ir_op_ints(b->m, op, "coefficients", &factor, 1);
    if (factor != 1)
        return 0;
    *index = ir_op_get(b->m, op)->operands[0];
    return ir_op_int(b->m, op, "constant", 0);
}

ir_value tile_affine(ir_builder *b, int64_t constant, const ir_value *indices,
                     const int64_t *coefficients, int n) {
    ir_value used[32];
    int64_t factors[32], value;
    uint32_t count = 0;
    for (int i = 0; i < n; i++) {
        if (coefficients[i] == 0)
            continue;
        if (tile_constant_index(b, indices[i], &value)) {
            constant += value * coefficients[i];
            continue;
        }
        used[count] = indices[i];
        factors[count++] = coefficients[i];
    }
    if (count == 0)
        return tile_index(b, constant);
    if (count == 1 && factors[0] == 1 && constant == 0)
        return used[0];
    ir_named_attr attrs[] = {{"coefficients", ir_attr_int_array(b->m, factors, count)},
                             {"constant", ir_attr_int(b->m, constant)}};
    return ir_build1(b, TILE_AFFINE, used, count, ir_type_index(b->m), attrs, 2);
}

ir_value tile_index_op(ir_builder *b, int opcode, ir_value x, ir_value y) {
    int64_t p, q;
    if (tile_constant_index(b, x, &p) && tile_constant_index(b, y, &q))
        return (opcode == TILE_INDEX_MIN) == (p < q) ? x : y;
    return ir_build1(b, opcode, (ir_value[]){x, y}, 2, ir_type_index(b->m), NULL, 0);
}

ir_value tile_index_by(ir_builder *b, int opcode, ir_value x, int64_t by) {
    ir_named_attr attr = {"by", ir_attr_int(b->m, by)};
    return ir_build1(b, opcode, &x, 1, ir_type_index(b->m), &attr, 1);
}

ir_value tile_constant(ir_builder *b, dtype element, uint64_t bits) {
    ir_named_attr attr = {"value", ir_attr_bits(b->m, element, bits)};
    return ir_build1(b, TILE_CONSTANT, NULL, 0, ir_type_tile(b->m, element, 1, 1), &attr, 1);
}

static ir_type result_type(ir_builder *b, const ir_value *operands, uint32_t n, dtype element) {
    int64_t rows = 1, columns = 1;
    for (uint32_t i = 0; i < n; i++) {
        const ir_type_data *t = tile_type(b, operands[i]);
        rows = t->dims[0] != 1 ? t->dims[0] : rows;
        columns = t->dims[1] != 1 ? t->dims[1] : columns;
    }
    return ir_type_tile(b->m, element, rows, columns);
}

ir_value tile_op(ir_builder *b, int opcode, const ir_value *operands, uint32_t n, dtype to) {
    dtype element = tile_type(b, operands[n - 1])->element;
    bool changes = opcode == TILE_CONVERT || opcode == TILE_BITCAST || opcode == TILE_CUT ||
                   opcode == TILE_STOCHASTIC_ROUND;
    ir_named_attr attr = {"to", 0};
    if (changes) {
        element = to;
        attr.value = ir_attr_type(b->m, ir_type_scalar(b->m, to));
    }
    return ir_build1(b, opcode, operands, n, result_type(b, operands, n, element), &attr, changes);
}

ir_value tile_binary(ir_builder *b, int opcode, ir_value x, ir_value y) {
    return tile_op(b, opcode, (ir_value[]){x, y}, 2, DTYPE_NONE);
}

ir_value tile_select(ir_builder *b, ir_value condition, ir_value x, ir_value y) {
    return tile_op(b, TILE_SELECT, (ir_value[]){condition, x, y}, 3, DTYPE_NONE);
}

ir_value tile_of_graph(ir_builder *b, int opcode, const ir_value *operands, uint32_t n, dtype to) {
    ir_value y = tile_op(b, TILE_NEG + opcode - GRAPH_NEG, operands, n, to);
    dtype from = tile_type(b, operands[0])->element;
    if (opcode != GRAPH_BITCAST || !dtype_is_float(from))
        return y;
    ir_value x = dtype_is_narrow(from) ? tile_op(b, TILE_CONVERT, operands, 1, DTYPE_F32)
                                       : operands[0],
             canonical = tile_constant(b, to, dtype_format_of(from)->nan),
             nan = tile_compare(b, "uno", x, x);
    return tile_select(b, nan, canonical, y);
}

ir_value tile_compare(ir_builder *b, const char *predicate, ir_value x, ir_value y) {
    ir_value operands[] = {x, y};
    ir_named_attr attr = {"predicate", ir_attr_string(b->m, predicate)};
    return ir_build1(b, TILE_COMPARE, operands, 2, result_type(b, operands, 2, DTYPE_BOOL), &attr,
                     1);
}

ir_value tile_iota(ir_builder *b, ir_value base, bool down, int64_t count) {
    ir_named_attr steps[] = {{"row_step", ir_attr_int(b->m, down)},
                             {"column_step", ir_attr_int(b->m, !down)}};
    ir_type type = ir_type_tile(b->m, DTYPE_I32, down ? count : 1, down ? 1 : count);
    return ir_build1(b, TILE_IOTA, &base, 1, type, steps, 2);
}

ir_value tile_group(ir_builder *b, ir_value x) {
    return ir_build1(b, TILE_GROUP, &x, 1,
                     ir_type_tile(b->m, DTYPE_I32, 1, tile_type(b, x)->dims[1]), NULL, 0);
}

ir_value tile_group_dot(ir_builder *b, ir_value x, ir_value y, ir_value sum, dtype of,
                        bool is_unsigned) {
    ir_named_attr attrs[] = {{"of", ir_attr_type(b->m, ir_type_scalar(b->m, of))},
                             {"unsigned", ir_attr_bool(b->m, true)}};
    return ir_build1(b, TILE_GROUP_DOT, (ir_value[]){x, y, sum}, 3, ir_value_get(b->m, sum)->type,
                     attrs, is_unsigned ? 2 : 1);
}

ir_op tile_prefetch(ir_builder *b, ir_value memory, ir_value offset, int64_t columns) {
    ir_named_attr attr = {"columns", ir_attr_int(b->m, columns)};
    ir_op_spec spec = {.opcode = TILE_PREFETCH,
                       .operands = (ir_value[]){memory, offset},
                       .operand_count = 2,
                       .attrs = &attr,
                       .attr_count = 1};
    return ir_build(b, &spec);
}

ir_value tile_broadcast(ir_builder *b, ir_value x, int64_t rows, int64_t columns) {
    const ir_type_data *t = tile_type(b, x);
    if (t->dims[0] == rows && t->dims[1] == columns)
        return x;
    return ir_build1(b, TILE_BROADCAST, &x, 1, ir_type_tile(b->m, t->element, rows, columns), NULL,
                     0);
}

ir_value tile_row(ir_builder *b, ir_value x, int64_t number) {
    const ir_type_data *t = tile_type(b, x);
    ir_named_attr attr = {"number", ir_attr_int(b->m, number)};
    return ir_build1(b, TILE_ROW, &x, 1, ir_type_tile(b->m, t->element, 1, t->dims[1]), &attr, 1);
}

ir_value tile_columns(ir_builder *b, ir_value x, int64_t first, int64_t columns) {
    const ir_type_data *t = tile_type(b, x);
    ir_named_attr attr = {"first", ir_attr_int(b->m, first)};
    if (t->dims[1] == columns)
        return x;
    return ir_build1(b, TILE_COLUMNS, &x, 1, ir_type_tile(b->m, t->element, t->dims[0], columns),
                     &attr, 1);
}

ir_value tile_index_plus(ir_builder *b, ir_value x, int64_t by) {
    int64_t one = 1;
    return tile_affine(b, by, &x, &one, 1);
}

ir_value tile_from_index(ir_builder *b, ir_value index) {
    return ir_build1(b, TILE_FROM_INDEX, &index, 1, ir_type_tile(b->m, DTYPE_I32, 1, 1), NULL, 0);
}

/* Parameters: the operands, the attribute and the results of the loop that it builds. */
ir_builder tile_for(ir_builder *b, ir_value low, ir_value high, int64_t step,
                    const ir_value *carried, uint32_t n, ir_op *loop, ir_value *index) {
    ir_value operands[66] = {low, high};
    ir_type types[64];
    assert(n <= 64);
    for (uint32_t i = 0; i < n; i++) {
        operands[2 + i] = carried[i];
        types[i] = ir_value_get(b->m, carried[i])->type;
    }
    ir_named_attr attr = {"step", ir_attr_int(b->m, step)};
    ir_op_spec spec = {.opcode = TILE_FOR,
                       .operands = operands,
                       .operand_count = n + 2,
                       .results = types,
                       .result_count = n,
                       .attrs = &attr,
                       .attr_count = 1,
                       .region_count = 1};
    ir_op op = ir_build(b, &spec);
    ir_builder in = {b->m, ir_op_block(b->m, op, 0), 0, b->location};
    *index = ir_block_add_argument(b->m, in.block, ir_type_index(b->m), NULL);
    for (uint32_t i = 0; i < n; i++)
        ir_block_add_argument(b->m, in.block, types[i], NULL);
    if (loop)
        *loop = op;
    return in;
}

void tile_yield(ir_builder *inside, const ir_value *values, uint32_t n) {
    ir_op_spec spec = {.opcode = TILE_YIELD, .operands = values, .operand_count = n};
    ir_build(inside, &spec);
}
