/* pipeline_export.c - a kernel's graph in the dialects of others: none of our passes below takes
 * part. */
#include "graph/instance.h"
#include "graph/passes.h"
#include "pipeline.h"
#include "target/mlir/export.h"
#include "target/stablehlo/export.h"

/* The primitives in the dialects of stock MLIR: none of our passes below takes part. */
bool pipeline_emit_mlir(compiler_instance *instance, text *out, status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    return m && graph_require_code(m, NULL, NULL, st) && graph_require_kernel(m, st) &&
           mlir_export(m, out, st);
}

/* A kernel in which nothing is to be written out first keeps its functions. */
static bool stands(const ir_module *m) {
    bool good = true;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); good && ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        const graph_class class = graph_op_class(d->opcode);
        good = class != GRAPH_CLASS_TRANSFORM && class != GRAPH_CLASS_RULED &&
               class != GRAPH_CLASS_TILES && class != GRAPH_CLASS_TILE;
        good |= d->opcode == GRAPH_NEXT;
        for (uint32_t i = 0; i < d->result_count && good; i++)
            good = ir_type_is_static(m, ir_value_get(m, d->results[i])->type);
    }
    const ir_block_data *body = ir_kernel_body(m);
    for (uint32_t i = 0; i < body->argument_count && good; i++)
        good = ir_type_is_static(m, ir_value_get(m, body->arguments[i])->type);
    return good;
}

/* Composites stay; of tiles there is what they compute on whole tensors. */
bool pipeline_emit_stablehlo(compiler_instance *instance, text *out, status *st) {
    const ir_module *graph = compiler_instance_graph(instance);
    const ir_module *m = stands(graph) ? graph : instance_specialized(instance, st);
    if (!m || !graph_require_formula(m, st))
        return false;
    ir_module *own = ir_module_clone(m);
    const bool good = graph_expand_tiles(own, st) && shlo_export(own, out, st);
    ir_module_free(own);
    return good;
}
