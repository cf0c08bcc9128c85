/* pipeline_export.c - a kernel in the dialects and languages of others. */
#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "pipeline.h"
#include "pipeline_passes.h"
#include "target/mlir/export.h"
#include "target/plain/plain.h"
#include "target/stablehlo/export.h"

/* The primitives in the dialects of stock MLIR: none of our passes below takes part. */
static bool emit_mlir(compiler_instance *instance, text *out, status *st) {
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
static bool emit_stablehlo(compiler_instance *instance, text *out, status *st) {
    const ir_module *graph = compiler_instance_graph(instance);
    ir_module *own = stands(graph) ? ir_module_clone(graph) : instance_placed(instance, st);
    const bool good = own && graph_require_formula(own, st) && graph_expand_tiles(own, st) &&
                      shlo_export(own, out, st);
    ir_module_free(own);
    return good;
}

static bool write_plain(compiler_instance *instance, const compiler_options *options,
                        const char *language, bool *crowded, text *out, status *st) {
    pipeline p;
    bool ok = pipeline_open(&p, instance, options, st) && pipeline_run(&p, "expand-math") &&
              plain_export(p.m, plain_language_from_name(language), out, st);
    *crowded = pipeline_is_too_much(&p, ok);
    pipeline_close(&p);
    return ok;
}

/* The plainest Tile IR there is: of a level with fma and without units for products, where all is
 * done that operations say, and nothing else. A kernel that is too many phases then is fused. */
static bool emit_plain(compiler_instance *instance, const char *language, text *out, status *st) {
    compiler_options options = {
        .profile = PROFILE_STRICT, .isa = "x86-64-v2+fma", .unoptimised = true, .threads = 1};
    status why = STATUS_INIT;
    bool crowded;
    if (compiler_instance_is_program(instance))
        return status_set(st, STATUS_UNAVAILABLE,
                          "a program with branches or loops has no form in %s: it is several "
                          "kernels",
                          language);
    if (write_plain(instance, &options, language, &crowded, out, &why))
        return true;
    if (!crowded)
        return status_set(st, why.code, "%s", why.message);
    options.unoptimised = false;
    text_clear(out);
    return write_plain(instance, &options, language, &crowded, out, st);
}

bool pipeline_is_for_others(const char *level) {
    return strcmp(level, "mlir") == 0 || strcmp(level, "stablehlo") == 0 ||
           plain_language_from_name(level) != PLAIN_LANGUAGES;
}

bool pipeline_emit_for_others(compiler_instance *instance, const char *level, text *out,
                              status *st) {
    if (strcmp(level, "mlir") == 0)
        return emit_mlir(instance, out, st);
    return strcmp(level, "stablehlo") == 0 ? emit_stablehlo(instance, out, st)
                                           : emit_plain(instance, level, out, st);
}
