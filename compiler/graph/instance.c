/* instance.c - a graph with its dimensions, and what is computed of it when first asked for. */
#include "graph/instance.h"

#include <stdlib.h>
#include <string.h>

#include "base/effect.h"
#include "check/source.h"
#include "graph/passes.h"
#include "ops/tiles.h"
#include "ops/transforms.h"
#include "transforms/passes.h"

ir_bindings instance_copy_dims(ir_module *m, ir_bindings dims) {
    arena *memory = ir_module_arena(m);
    ir_binding *items = ARENA_NEW(memory, ir_binding, dims.count);
    for (uint32_t i = 0; i < dims.count; i++)
        items[i] = (ir_binding){arena_strdup(memory, dims.items[i].name), dims.items[i].value};
    return (ir_bindings){items, dims.count};
}

compiler_instance *compiler_instance_new(ir_module *graph, ir_bindings dims) {
    compiler_instance *instance = base_calloc(1, sizeof *instance);
    instance->graph = graph;
    instance->dims = instance_copy_dims(graph, dims);
    text_init(&instance->text);
    return instance;
}

/* An instance outlives its source. */
static const source_text *copy_of(arena *memory, const source_text *s) {
    source_text *copy = ARENA_NEW(memory, source_text, 1);
    char *data = ARENA_NEW(memory, char, s->size + 1);
    memcpy(data, s->data, s->size);
    source_text_init(copy, memory, arena_strdup(memory, s->name), data, s->size);
    source_file *files = ARENA_NEW(memory, source_file, s->imported_count + 1);
    for (uint32_t i = 0; i < s->imported_count; i++) {
        files[i] = s->imported[i];
        files[i].name = arena_strdup(memory, files[i].name);
    }
    copy->imported = files;
    copy->imported_count = s->imported_count;
    return copy;
}

static bool has_settings(const ir_module *m) {
    bool found = false;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); !found && ir_walk_next(&w);)
        found = ir_op_get(m, w.op)->location.setting != 0;
    return found;
}

static const settings *copy_settings(arena *memory, const compiler_source *s,
                                     const source_text *source) {
    const size_t count = s->settings.count;
    settings *copy = ARENA_NEW(memory, settings, 1);
    setting *items = arena_copy(memory, s->settings.items, count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        if (items[i].word)
            items[i].word = arena_strdup(memory, items[i].word);
        if (items[i].count)
            items[i].entries =
                arena_copy(memory, items[i].entries, items[i].count * sizeof *items[i].entries);
    }
    *copy = (settings){items, (uint32_t)count, source, ARENA_NEW(memory, bool, count),
                       ARENA_NEW(memory, uint32_t, count)};
    return copy;
}

compiler_instance *compiler_instance_open(compiler_source *source, const compiler_kernel *kernel,
                                          const compiler_case *c, text *said) {
    ir_module *graph = compiler_graph(source, kernel, c, said);
    ir_bindings dims = {c ? c->dims : NULL, c ? c->dim_count : 0};
    if (!graph)
        return NULL;
    compiler_instance *instance = compiler_instance_new(graph, dims);
    const bool set = has_settings(graph);
    ir_op checkpoint;
    arena *memory = ir_module_arena(graph);
    if (tiles_of(graph) || set || checkpoint_least_room(graph, &checkpoint) >= 0)
        instance->source = copy_of(memory, &source->text);
    if (tiles_of(graph))
        instance->stages =
            tile_knob_place(&source->interfaces[kernel - source->kernels], c, TILE_KNOB_STAGES);
    if (set)
        instance->settings = copy_settings(memory, source, instance->source);
    return instance;
}

void compiler_instance_free(compiler_instance *instance) {
    if (!instance)
        return;
    for (graph_prepared *g = instance->prepared, *next; g; g = next) {
        next = g->next;
        ir_module_free(g->m);
        free(g);
    }
    ir_module_free(instance->primitives);
    ir_module_free(instance->specialized);
    ir_module_free(instance->graph);
    text_release(&instance->text);
    free(instance);
}

const ir_module *compiler_instance_graph(const compiler_instance *instance) {
    return instance->graph;
}

ir_bindings compiler_instance_dims(const compiler_instance *instance) {
    return instance->dims;
}

const text *compiler_instance_text(compiler_instance *instance) {
    if (instance->text.length == 0)
        ir_print(instance->graph, &instance->text);
    return &instance->text;
}

/* "check:12:words" without its line. */
static ir_attr without_line(ir_module *m, ir_attr one) {
    effect e;
    return effect_read(ir_attr_get(m, one)->string, &e)
               ? ir_attr_string(m, arena_printf(ir_module_arena(m), "%s:%s",
                                                effect_kind_name(e.kind), e.words))
               : one;
}

void compiler_instance_formula(compiler_instance *instance, text *out) {
    const ir_op kernel = ir_module_kernel(instance->graph);
    ir_attr effects = kernel ? ir_op_attr(instance->graph, kernel, "effects") : 0;
    if (!effects) {
        const text *whole = compiler_instance_text(instance);
        text_append_bytes(out, whole->data, whole->length);
        return;
    }
    ir_module *m = ir_module_clone(instance->graph);
    const ir_attr_data list = *ir_attr_get(m, effects);
    ir_attr *items = base_calloc((size_t)list.count + 1, sizeof *items);
    for (uint32_t i = 0; i < list.count; i++)
        items[i] = without_line(m, list.items[i]);
    ir_op_set_attr(m, kernel, "effects", ir_attr_array(m, items, list.count));
    ir_print(m, out);
    free(items);
    ir_module_free(m);
}

void compiler_instance_settings(const compiler_instance *instance, text *out) {
    if (instance->settings)
        settings_describe(instance->settings, instance->graph, out);
}

const sha256 *compiler_instance_hash(compiler_instance *instance) {
    const text *words = compiler_instance_text(instance);
    if (!instance->has_hash)
        instance->hash = sha256_of(words->data, words->length);
    instance->has_hash = true;
    return &instance->hash;
}

/* ---- the levels of the graph ---- */

/* The module, or NULL where the pass that changed it failed. */
static ir_module *kept(ir_module *m, bool ok) {
    if (ok)
        return m;
    ir_module_free(m);
    return NULL;
}

ir_module *instance_placed(const compiler_instance *instance, status *st) {
    ir_module *m = ir_module_clone(instance->graph);
    return kept(m, graph_inline(m, st) && graph_specialize(m, instance->dims, st) &&
                       graph_called_tiles(m, st) && graph_vmap(m, st) && graph_jvp(m, st) &&
                       graph_vjp(m, st) && graph_shard(m, NULL, st) && graph_checkpoint(m, st));
}

const ir_module *instance_specialized(compiler_instance *instance, status *st) {
    if (!instance->specialized) {
        instance->specialized = instance_placed(instance, st);
        if (instance->specialized)
            graph_drop_placed(instance->specialized);
    }
    return instance->specialized;
}

const ir_module *compiler_primitives(compiler_instance *instance, status *st) {
    if (!instance->primitives && instance_specialized(instance, st)) {
        ir_module *m = ir_module_clone(instance->specialized);
        instance->primitives = kept(m, graph_expand_tiles(m, st) && graph_decompose_all(m, st));
    }
    return instance->primitives;
}

/* As they stand, where what simplifies them breaks them: their compilation will say so. */
static ir_module *simplified_primitives(const compiler_instance *instance, status *st) {
    status broken = STATUS_INIT;
    ir_module *m = ir_module_clone(instance->primitives);
    if (!graph_widen(m, st) || !graph_simplify(m, st))
        return kept(m, false);
    if (ir_verify(m, &broken))
        return m;
    ir_module_free(m);
    m = ir_module_clone(instance->primitives);
    return kept(m, graph_widen(m, st));
}

bool compiler_cost(compiler_instance *instance, uint64_t *flops, uint64_t *bytes, status *st) {
    if (!instance->has_cost && compiler_primitives(instance, st)) {
        ir_module *m = simplified_primitives(instance, st);
        instance->has_cost = m != NULL;
        if (m)
            instance->cost = graph_primitives_cost(m);
        ir_module_free(m);
    }
    if (instance->has_cost) {
        *flops = instance->cost.flops;
        *bytes = instance->cost.bytes;
    }
    return instance->has_cost;
}
