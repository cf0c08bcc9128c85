/* program_module.c - the module of a program: outlined, each of its kernels compiled once. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact.h"
#include "graph/instance.h"
#include "module.h"
#include "ops/control.h"
#include "pipeline.h"
#include "program/build.h"

static void note_control(ir_module *m, ir_op op, void *context) {
    *(bool *)context |= graph_is_control(ir_op_get(m, op)->opcode);
}

bool program_is_needed(const compiler_instance *instance) {
    bool found = false;
    for (ir_op f = ir_module_kernel(instance->graph); f && !found;
         f = ir_op_get(instance->graph, f)->next)
        ir_walk(instance->graph, f, note_control, &found);
    return found;
}

/* Names of sections and the images behind them. */
typedef struct kernels {
    uint32_t count;
    compiler_artifact *made;
    char (*names)[32];
} kernels;

/* A kernel of the program has the options of all of it, but for those that name parts of it. */
static bool build_kernels(const ir_module *m, const draft *p, const compiler_options *options,
                          kernels *k, status *st) {
    compiler_options each = *options;
    each.schedule = each.constants = NULL;
    each.source_schedule = NULL;
    each.provenance = NULL;
    each.emit = NULL;
    bool ok = true;
    k->made = base_calloc(p->kernels.count + 1, sizeof *k->made);
    k->names = base_calloc(p->kernels.count + 1, sizeof *k->names);
    for (; k->count < p->kernels.count && ok; k->count += ok) {
        ir_module *graph = program_kernel(m, p->kernels.items[k->count]);
        compiler_instance *one = compiler_instance_new(graph, (ir_bindings){0});
        snprintf(k->names[k->count], sizeof *k->names, "kernel:%u", k->count);
        ok = compiler_build(one, &each, &k->made[k->count], st);
        if (!ok)
            status_context(st, "kernel %u of the program", k->count);
        compiler_instance_free(one);
    }
    return ok;
}

static void release_kernels(kernels *k) {
    for (uint32_t i = 0; i < k->count; i++)
        compiler_artifact_release(&k->made[i]);
    free(k->made);
    free(k->names);
}

static char *metadata_json(compiler_instance *instance, const compiler_options *options,
                           const compiler_signature *s, const draft *p) {
    const ir_module *m = instance->graph;
    char hex[65];
    sha256_hex(compiler_instance_hash(instance), hex);
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:o}", "schema", "tsr.module/2", "name",
        ir_op_string(m, ir_module_kernel(m), "name", "kernel"), "profile",
        compiler_profile_name(options->profile), "numerics_version", TSR_NUMERICS_VERSION,
        "graph_sha256", hex, "inputs", artifact_buffers_json(s->inputs, s->input_count), "outputs",
        artifact_buffers_json(s->outputs, s->output_count), "program", program_json(p));
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    return dumped;
}

static bool write_module(compiler_instance *instance, const char *json, const kernels *k,
                         compiler_artifact *out, status *st) {
    const text *graph = compiler_instance_text(instance);
    module_part *parts = base_calloc(k->count + 2, sizeof *parts);
    sha256_stream *schedules = sha256_stream_new();
    parts[0] = (module_part){"metadata", json, strlen(json)};
    parts[1] = (module_part){"graph", graph->data, graph->length};
    for (uint32_t i = 0; i < k->count; i++) {
        parts[2 + i] = (module_part){k->names[i], k->made[i].image, k->made[i].image_size};
        sha256_stream_update(schedules, &k->made[i].schedule_hash, sizeof(sha256));
    }
    bool ok = module_write(parts, k->count + 2, &out->image, &out->image_size, st);
    out->graph_hash = *compiler_instance_hash(instance);
    out->schedule_hash = sha256_stream_finish(schedules);
    if (ok)
        out->module_hash = sha256_of(out->image, out->image_size);
    free(parts);
    return ok;
}

/* The commands first: they are what can be refused without having compiled anything. */
static bool build(compiler_instance *instance, const compiler_options *options, ir_module *m,
                  compiler_artifact *out, status *st) {
    compiler_signature signature;
    draft p = {.arena_bytes = 0};
    kernels k = {.count = 0};
    bool ok = compiler_signature_of(instance, &signature, st) && draft_build(m, &p, st) &&
              build_kernels(m, &p, options, &k, st);
    if (ok) {
        char *json = metadata_json(instance, options, &signature, &p);
        ok = write_module(instance, json, &k, out, st);
        free(json);
    }
    release_kernels(&k);
    draft_release(&p);
    return ok;
}

bool program_module(compiler_instance *instance, const compiler_options *options,
                    compiler_artifact *out, status *st) {
    if (options->generic)
        return status_set(st, STATUS_UNAVAILABLE,
                          "a program of several kernels is compiled for the dimensions of a case: "
                          "leave out --generic");
    ir_module *m = pipeline_dispatches(instance, options, st);
    bool ok = m && build(instance, options, m, out, st);
    ir_module_free(m);
    return ok;
}
