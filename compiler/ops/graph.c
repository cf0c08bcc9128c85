/* graph.c - Graph IR's table, its verifier and its builder, all from graph.def and the shape rules.
 */
#include "ops/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS_KERNEL 1
#define REGIONS_RETURN 0
#define REGIONS_GENERATOR 0
#define REGIONS_ELEMENTWISE 0
#define REGIONS_MOVE 0
#define REGIONS_REDUCE 0
#define REGIONS_DOT 0
#define REGIONS_COMPOSITE 0

static const op_info graph_ops[] = {
#define G(ENUM, name, operands, attrs, results, class, shape, decompose, flops, summary)           \
    {"tessera." #name, IR_LEVEL_GRAPH, operands, attrs, results, REGIONS_##class, summary},
#include "ops/graph.def"
};

static const graph_class graph_classes[] = {
#define G(ENUM, name, operands, attrs, results, class, shape, decompose, flops, summary)           \
    GRAPH_CLASS_##class,
#include "ops/graph.def"
};

static const int graph_flops[] = {
#define G(ENUM, name, operands, attrs, results, class, shape, decompose, flops, summary) flops,
#include "ops/graph.def"
};

graph_class graph_op_class(int opcode) {
    assert(opcode >= 0 && opcode < GRAPH_OP_COUNT);
    return graph_classes[opcode];
}

int graph_op_flops(int opcode) {
    return graph_flops[opcode];
}

/* Inferring again must give the types that the operation has. Composite and primitive operations
 * alike. */
static bool verify_inferred(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_type types[64];
    if (d->operand_count > 64)
        return status_set(st, STATUS_INTERNAL, "more than 64 operands");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        types[i] = ir_value_get(m, d->operands[i])->type;
        ir_type_kind kind = ir_type_get(m, types[i])->kind;
        if (kind != IR_TYPE_TENSOR)
            return status_set(st, STATUS_INTERNAL, "an operand is not a tensor");
    }
    graph_infer_query q = {.m = (ir_module *)m,
                           .opcode = d->opcode,
                           .operands = types,
                           .operand_count = d->operand_count,
                           .attrs = d->attrs,
                           .attr_count = d->attr_count};
    if (!graph_infer(&q))
        return status_set(st, STATUS_INTERNAL, "%s", q.error);
    for (uint32_t i = 0; i < d->result_count; i++)
        if (ir_value_get(m, d->results[i])->type != q.results[i])
            return status_set(st, STATUS_INTERNAL, "result %u is not of the inferred type", i);
    return true;
}

static bool verify_graph(const ir_module *m, ir_op op, status *st) {
    graph_class class = graph_op_class(ir_op_get(m, op)->opcode);
    if (class == GRAPH_CLASS_KERNEL || class == GRAPH_CLASS_RETURN)
        return true;
    ir_op parent = ir_region_get(m, ir_block_get(m, ir_op_get(m, op)->block)->region)->parent;
    if (ir_op_get(m, parent)->opcode != GRAPH_KERNEL)
        return true; /* an element operation in the body of a sched.compute: its types are scalars
                      */
    return verify_inferred(m, op, st);
}

const op_table *graph_op_table(void) {
    static const op_table table = {IR_LEVEL_GRAPH, graph_ops, GRAPH_OP_COUNT, verify_graph, NULL};
    return &table;
}

ir_op graph_build(ir_builder *b, int opcode, const ir_value *operands, uint32_t operand_count,
                  const ir_named_attr *attrs, uint32_t attr_count) {
    ir_type types[64];
    assert(operand_count <= 64);
    for (uint32_t i = 0; i < operand_count; i++)
        types[i] = ir_value_get(b->m, operands[i])->type;
    graph_infer_query q = {.m = b->m,
                           .opcode = opcode,
                           .operands = types,
                           .operand_count = operand_count,
                           .attrs = attrs,
                           .attr_count = attr_count};
    if (!graph_infer(&q)) {
        fprintf(stderr, "tessera: internal: %s: %s\n", op_info_get(opcode)->name, q.error);
        abort();
    }
    ir_op_spec spec = {.opcode = opcode,
                       .operands = operands,
                       .operand_count = operand_count,
                       .results = q.results,
                       .result_count = q.result_count,
                       .attrs = attrs,
                       .attr_count = attr_count};
    return ir_build(b, &spec);
}
