/* library_parts_kernel.c - the kernel of tiles around them: its arguments, instances and results.
 */
#include <stdlib.h>

#include "ir/copy.h"
#include "library_parts.h"
#include "ops/graph.h"

ir_builder parts_open_kernel(parts_kernel *kernel, ir_module *m, const ir_module *g) {
    const ir_op_data *was = ir_op_get(g, ir_module_kernel(g));
    const ir_block_data *body = ir_kernel_body(g);
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    ir_op made = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_KERNEL, .region_count = 1});
    for (uint32_t i = 0; i < was->attr_count; i++)
        ir_op_set_attr(m, made, was->attrs[i].name, ir_copy_attr(m, g, was->attrs[i].value));
    b.block = ir_op_block(m, made, 0);
    kernel->arguments = base_calloc((size_t)body->argument_count + 1, sizeof *kernel->arguments);
    kernel->typed = base_calloc((size_t)body->argument_count + 1, sizeof *kernel->typed);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const ir_type_data *d = ir_type_of(g, body->arguments[i]);
        ir_type type = ir_type_tensor(m, d->element, d->rank, d->dims);
        kernel->arguments[i] = ir_block_add_argument(m, b.block, type, NULL);
    }
    return b;
}

void parts_release_kernel(parts_kernel *kernel) {
    free(kernel->arguments);
    free(kernel->typed);
}

static const ir_op_data *end_of(const parts *e) {
    return ir_op_get(e->g, ir_kernel_body(e->g)->last);
}

ir_op parts_open_tiles(parts *e, ir_builder *b, const ir_named_attr attrs[3]) {
    const ir_op_data *end = end_of(e);
    ir_type types[LIMIT_OPERANDS];
    for (uint32_t i = 0; i < end->operand_count; i++)
        types[i] =
            parts_tensor(e, b->m, ir_type_of(e->g, end->operands[i])->element, &e->outputs[i]);
    ir_op tiles = ir_build(b, &(ir_op_spec){.opcode = GRAPH_TILES,
                                            .results = types,
                                            .result_count = end->operand_count,
                                            .attrs = attrs,
                                            .attr_count = 3,
                                            .region_count = 1});
    e->b = (ir_builder){.m = b->m, .block = ir_op_block(b->m, tiles, 0)};
    return tiles;
}

bool parts_end_kernel(parts *e, ir_builder *b, ir_op tiles) {
    const ir_op_data *end = end_of(e);
    ir_module *m = b->m;
    ir_attr start[LIMIT_OPERANDS], kept[LIMIT_OPERANDS];
    ir_value given[LIMIT_OPERANDS];
    bool ok = parts_make(e);
    for (uint32_t i = 0; ok && i < end->operand_count; i++) {
        given[i] = parts_tile(e, end->operands[i], &e->outputs[i]);
        start[i] = parts_start(e, &e->outputs[i]);
        kept[i] = parts_kept(e, &e->outputs[i]);
        ok = given[i] != 0;
    }
    if (!ok)
        return false;
    ir_named_attr attrs[] = {{"start", ir_attr_array(m, start, end->operand_count)},
                             {"kept", ir_attr_array(m, kept, end->operand_count)}};
    ir_build(&e->b, &(ir_op_spec){.opcode = GRAPH_GIVE,
                                  .operands = given,
                                  .operand_count = end->operand_count,
                                  .attrs = attrs,
                                  .attr_count = 2});
    ir_build(b, &(ir_op_spec){.opcode = GRAPH_RETURN,
                              .operands = ir_op_get(m, tiles)->results,
                              .operand_count = ir_op_get(m, tiles)->result_count});
    return !ir_failure(m);
}
