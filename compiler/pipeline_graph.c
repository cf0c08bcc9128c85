/* pipeline_graph.c - the passes of Graph IR that know no target, and what they made, kept. */
#include <string.h>

#include "graph/passes.h"
#include "library.h"
#include "ops/build.h"
#include "ops/tiles.h"
#include "pipeline.h"
#include "pipeline_passes.h"
#include "transforms/passes.h"

bool run_specialize(pipeline *p) {
    return p->options->generic || graph_specialize(p->m, p->dims, p->st);
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static simt_room room_of(const target_info *t) {
    const chip_unit *unit = target_unit_of(t);
    const int64_t thread = t->thread_registers;
    return (simt_room){t->shared_bytes, thread, unit ? unit->registers : thread * SIMT_THREADS};
}

static simt_room most_room(void) {
    const target_info *list;
    uint32_t levels, chips;
    target_list(&list, &levels, &chips);
    simt_room most = {0};
    for (uint32_t i = levels; i < chips; i++) {
        const simt_room one = room_of(&list[i]);
        most.shared_bytes = greater(most.shared_bytes, one.shared_bytes);
        most.thread_registers = greater(most.thread_registers, one.thread_registers);
        most.registers = greater(most.registers, one.registers);
    }
    return most;
}

bool run_shard(pipeline *p) {
    const bool ok = graph_shard(p->m, p->options->ranks, p->st);
    graph_drop_placed(p->m);
    return ok;
}

bool run_checkpoint(pipeline *p) {
    p->kept = graph_keep_planned(p->m, p->kept);
    return graph_checkpoint(p->m, p->st);
}

bool run_stream_rows(pipeline *p) {
    return !p->is_program || !pipeline_needs(p, OPTIMISED) || graph_stream_rows(p->m, p->st);
}

bool pipeline_lower_tiles(const ir_module *specialized, const compiler_options *options,
                          const target_info *target, simt_tiles_notes *notes, ir_module **out) {
    *out = NULL;
    if (target->class != TARGET_SIMT || options->generic || options->unoptimised ||
        target->subgroup < SIMT_FOLD_THREADS || !tiles_of(specialized))
        return false;
    const simt_tiles_request request = {.profile = compiler_profile_name(options->profile),
                                        .chip = target->cpu,
                                        .probed = target->probed,
                                        .threads = SIMT_THREADS,
                                        .most_threads = SIMT_MOST_THREADS,
                                        .room = room_of(target),
                                        .most = most_room(),
                                        .copies = target->copies};
    ir_module *graph = ir_module_clone(specialized);
    graph_decompose_within(graph, tiles_of(graph), GRAPH_MATMUL);
    if (options->profile != PROFILE_STRICT)
        graph_contract_tiles(graph, tiles_of(graph));
    *out = simt_from_tiles(graph, &request, notes);
    ir_module_free(graph);
    return *out != NULL;
}

bool run_join_tiles(pipeline *p) {
    p->tiles = tiles_of(p->m) != 0;
    if (p->target->class == TARGET_SIMT && !chip_has_room(p->m, p->target, p->instance, p->st))
        return false;
    if (!p->options->generic)
        graph_join_tiles(p->m);
    return true;
}

/* A kernel that is written out is compiled like any other graph; there must not be too much of it.
 */
bool run_expand_tiles(pipeline *p) {
    enum { OPERATIONS_MAX = 20000 };
    if (!tiles_of(p->m))
        return true;
    if (p->options->generic)
        return status_set(p->st, STATUS_UNAVAILABLE,
                          "a kernel of tiles is compiled for the dimensions of a case: leave out "
                          "--generic and make "
                          "a module for each, or write the kernel on whole tensors");
    p->expanded = true;
    if (!graph_expand_tiles(p->m, p->st))
        return false;
    return ir_op_count(p->m) <= OPERATIONS_MAX ||
           status_set(p->st, STATUS_UNAVAILABLE,
                      "its program instances are %u operations; at most %d can be compiled",
                      ir_op_count(p->m), OPERATIONS_MAX);
}

/* The library's composites in a program are dispatches of their own, whose decomposition is left to
 * them. */
static bool keeps(const ir_module *m, ir_op op, const void *p) {
    const pipeline *q = p;
    return library_keeps(m, op, q->options, q->target);
}

bool run_decompose(pipeline *p) {
    const graph_kept kept = {keeps, p};
    return graph_decompose_but(p->m, p->is_program ? &kept : NULL, p->st);
}

bool pipeline_needs(const pipeline *p, unsigned when) {
    return (!(when & OPTIMISED) || !p->options->unoptimised) &&
           (!(when & RELAXED) || p->options->profile != PROFILE_STRICT) &&
           (!(when & THREADS) || p->target->class == TARGET_SIMT) &&
           (!(when & CORES) || p->target->class != TARGET_SIMT);
}

static bool contracts(const pipeline *p) {
    return pipeline_needs(p, OPTIMISED | RELAXED);
}

/* ---- kept from image to image ---- */

static bool same_dims(ir_bindings a, ir_bindings b) {
    bool same = a.count == b.count;
    for (uint32_t i = 0; i < a.count && same; i++)
        same =
            strcmp(a.items[i].name, b.items[i].name) == 0 && a.items[i].value == b.items[i].value;
    return same;
}

static const graph_prepared *kept_for(const pipeline *p) {
    const graph_prepared *g = p->instance->prepared;
    while (g && !(g->generic == p->options->generic && g->unoptimised == p->options->unoptimised &&
                  g->contracted == contracts(p) && same_dims(g->dims, p->dims)))
        g = g->next;
    return g;
}

/* Somebody looks at a pass, or breaks one, or the graph is one rank's: they all run. */
static bool looks_at_passes(const pipeline *p) {
    return p->options->emit_after || p->options->fault || p->options->ranks;
}

/* Tiles of chips, the library's with them, may be lowered before they are joined. */
static bool may_stand(const pipeline *p) {
    const ir_module *graph = compiler_instance_graph(p->instance);
    return p->target->class == TARGET_SIMT &&
           (tiles_of(graph) || library_may(graph, p->instance->settings, p->options, p->target));
}

static bool has_room(const pipeline *p) {
    const ir_module *tiles = instance_specialized(p->instance, p->st);
    return tiles && chip_has_room(tiles, p->target, p->instance, p->st);
}

bool pipeline_take_graph(pipeline *p, bool *taken) {
    const graph_prepared *g = looks_at_passes(p) || may_stand(p) ? NULL : kept_for(p);
    *taken = g != NULL;
    if (!g)
        return true;
    if (g->tiles && p->target->class == TARGET_SIMT && !has_room(p))
        return false;
    p->m = ir_module_clone(g->m);
    p->tiles = g->tiles;
    p->expanded = g->expanded;
    return true;
}

/* More will be asked of the instance: other images, or drafts of the tuner. */
static bool is_one_of_several(const pipeline *p) {
    return p->space || p->options->also_count || p->options->variant_count;
}

void pipeline_keep_graph(const pipeline *p) {
    if (looks_at_passes(p) || may_stand(p) || !is_one_of_several(p) || kept_for(p))
        return;
    graph_prepared *g = base_calloc(1, sizeof *g);
    ir_module *m = ir_module_clone(p->m);
    *g = (graph_prepared){.next = p->instance->prepared,
                          .m = m,
                          .dims = instance_copy_dims(m, p->dims),
                          .generic = p->options->generic,
                          .unoptimised = p->options->unoptimised,
                          .contracted = contracts(p),
                          .tiles = p->tiles,
                          .expanded = p->expanded};
    p->instance->prepared = g;
}
