/* program_module.c - the module of a program: outlined, each of its kernels compiled once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact.h"
#include "device/host/host.h"
#include "graph/instance.h"
#include "graph/passes.h"
#include "ir/blob.h"
#include "module.h"
#include "ops/control.h"
#include "ops/donated.h"
#include "ops/transforms.h"
#include "parameters/parameters.h"
#include "parts.h"
#include "pipeline.h"
#include "program/build.h"
#include "special.h"
#include "tessera/chip.h"

static bool holds(const ir_module *m, bool (*is_one)(int opcode)) {
    bool found = false;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); !found && ir_walk_next(&w);)
        found = is_one(ir_op_get(m, w.op)->opcode);
    return found;
}

/* Transforms of functions are expanded: their operations may be loops, as none of the graph is. */
bool compiler_instance_is_program(const compiler_instance *instance) {
    status ignored = STATUS_INIT;
    const ir_module *m = instance->graph,
                    *expanded = holds(m, transform_is_one)
                                    ? instance_specialized((compiler_instance *)instance, &ignored)
                                    : NULL;
    ir_op checkpoint;
    return donated_any(m, ir_module_kernel(m)) || checkpoint_least_room(m, &checkpoint) >= 0 ||
           (expanded && graph_has_streams(expanded)) ||
           holds(expanded ? expanded : m, control_makes_program);
}

/* Names of sections and the images behind them. */
typedef struct kernels {
    uint32_t count;
    compiler_artifact *made;
    char (*names)[PROGRAM_SECTION_BYTES];
    schedule_fits fits;
} kernels;

/* A kernel of the program has the options of all of it, but for those that name parts of it. */
static compiler_options options_of_kernel(const compiler_options *options) {
    compiler_options each = *options;
    each.constants = NULL;
    each.ranks = NULL;
    each.provenance = NULL;
    each.emit = NULL;
    each.stored = NULL;
    return each;
}

static compiler_instance *instance_of(const ir_module *m, const draft_kernel *kernel,
                                      const settings *s, schedule_fits *fits) {
    compiler_instance *one = compiler_instance_new(program_kernel(m, kernel), (ir_bindings){0});
    one->settings = s;
    one->is_part = true;
    one->fits = fits;
    return one;
}

static bool build_kernels(const ir_module *m, draft *p, const compiler_options *options,
                          const settings *s, kernels *k, status *st) {
    const compiler_options each = options_of_kernel(options);
    uint32_t barriers = 0;
    bool ok = true, crowded;
    k->made = base_calloc(p->kernels.count + 1, sizeof *k->made);
    k->names = base_calloc(p->kernels.count + 1, sizeof *k->names);
    for (; k->count < p->kernels.count && ok; k->count += ok) {
        draft_kernel *kernel = &p->kernels.items[k->count];
        compiler_instance *one = instance_of(m, kernel, s, &k->fits);
        one->barriers[0] = barriers;
        program_section("kernel", k->count, k->names[k->count]);
        ok = pipeline_build_kernel(one, &each, &k->made[k->count], &crowded, st);
        if (ok && kernel->donated)
            artifact_donated(&k->made[k->count], kernel->donated);
        if (!ok)
            status_context(st, "kernel %u of the program", k->count);
        barriers = one->barriers[1];
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

/* The rank, and a digest of what all ranks have in common: graph, dimensions, ranks. */
static void add_ranks(compiler_instance *instance, const shard_ranks *ranks, json_t *out) {
    const text *graph = compiler_instance_text(instance);
    const ir_bindings dims = compiler_instance_dims(instance);
    char hex[65];
    text words;
    text_init(&words);
    text_printf(&words, "ranks %u\nlayout %s\n", ranks->count, ranks->layout ? ranks->layout : "");
    for (uint32_t i = 2; ranks->whole && i <= ranks->count; i++)
        text_printf(&words, "whole %lld\n", (long long)ranks->whole[i]);
    if (ranks->bucket_bytes)
        text_printf(&words, "bucket %lld\n", (long long)ranks->bucket_bytes);
    for (uint32_t i = 0; i < dims.count; i++)
        text_printf(&words, "%s %lld\n", dims.items[i].name, (long long)dims.items[i].value);
    text_append_bytes(&words, graph->data, graph->length);
    const sha256 digest = sha256_of(words.data, words.length);
    text_release(&words);
    sha256_hex(&digest, hex);
    json_object_set_new(out, "rank", json_pack("[i, i]", (int)ranks->rank, (int)ranks->count));
    json_object_set_new(out, "meeting", json_string(hex));
}

/* Parameters: a program and where it comes from; `m` has its functions. */
static bool write_module(compiler_instance *instance, const compiler_options *options,
                         const ir_module *m, const draft *p, const kernels *k,
                         compiler_artifact *out, status *st) {
    compiler_signature signature;
    artifact_builder b;
    if (!compiler_signature_of(instance, &signature, st))
        return false;
    artifact_init(&b, instance, options);
    uint32_t constants = (uint32_t)p->constants.count;
    module_part *parts = base_calloc((size_t)k->count + constants + 1, sizeof *parts);
    char(*names)[PROGRAM_SECTION_BYTES] = base_calloc((size_t)constants + 1, sizeof *names);
    for (uint32_t i = 0; i < k->count; i++)
        parts[i] = (module_part){k->names[i], k->made[i].image, k->made[i].image_size};
    for (uint32_t i = 0; i < constants; i++) {
        const ir_blob *blob = p->constants.items[i];
        program_section("constant", i, names[i]);
        parts[k->count + i] = (module_part){names[i], blob->bytes, blob->size_bytes};
    }
    b.signature = artifact_signature_json(instance, &signature);
    parts_write(m, b.signature);
    b.program = program_json(m, p);
    if (options->ranks && options->ranks->count > 1)
        add_ranks(instance, options->ranks, b.program);
    b.fills = p->fills;
    b.in_place = p->in_place;
    if (p->donations.count)
        json_object_set_new(b.signature, "donated", program_donations_json(p));
    b.sections = parts;
    b.section_count = k->count + constants;
    bool ok = artifact_write(&b, out, st);
    artifact_release(&b);
    free(parts);
    free(names);
    return ok;
}

static bool misfit(const source_text *source, const compiler_schedule_entry *at, const char *what,
                   status *st) {
    char why[120];
    snprintf(why, sizeof why, "'%s' is of %s, and this %s has none", at->word,
             parameter_groups_text(at->all_groups), what);
    return diagnose_status(st, STATUS_INVALID, source, ERROR_SCHEDULE_MISFIT,
                           (span){at->start, at->end}, why, NULL);
}

/* Schedules of calls, which CPUs have, and that of the whole fit work of some kernel. */
static bool schedules_fit(const compiler_instance *instance, const compiler_options *options,
                          const schedule_fits *fits, status *st) {
    const char *isa = options->isa ? options->isa : host_isa();
    const bool is_chip = compiler_chip_family(isa) != NULL;
    special_room room = {.entries = {NULL}};
    const compiler_schedule *written = special_join(options->source_schedule, isa, is_chip, &room);
    const settings *s = instance->settings;
    const compiler_schedule_entry *at;
    bool ok = is_chip || settings_fit(s, instance->graph, &at) || misfit(s->source, at, "call", st);
    for (uint32_t i = 0; written && i < written->count && ok; i++)
        ok = fits->written >> i & 1 || misfit(written->source, &written->entries[i], "kernel", st);
    special_room_release(&room);
    const char *given = options->schedule;
    for (uint32_t i = 0; given && *given && ok; i++) {
        ok = (i < 64 && fits->given >> i & 1) ||
             status_set(st, STATUS_INVALID,
                        "no kernel of the program has the schedule parameter '%.*s'",
                        (int)strcspn(given, "="), given);
        given += strcspn(given, ",");
        given += *given == ',';
    }
    return ok;
}

/* Each kernel's wishes for donated memory were taken for granted while room was sought. */
static bool is_within(const compiler_instance *instance, const compiler_options *options,
                      const draft *p, status *st) {
    ir_op checkpoint;
    const int64_t budget = checkpoint_least_room(instance->graph, &checkpoint);
    return budget < 0 || options->unoptimised || p->arena_bytes <= budget ||
           status_set(st, STATUS_UNAVAILABLE,
                      "the code needs %lld bytes between its inputs and results, and the budget of "
                      "a checkpoint is %lld: give it a smaller one",
                      (long long)p->arena_bytes, (long long)budget);
}

/* The commands first: they are what can be refused without having compiled anything. */
static bool build(compiler_instance *instance, const compiler_options *options, ir_module *m,
                  compiler_artifact *out, status *st) {
    draft p;
    kernels k = {.count = 0};
    bool ok = draft_build(m, options->unoptimised, &p, st) &&
              build_kernels(m, &p, options, instance->settings, &k, st) &&
              schedules_fit(instance, options, &k.fits, st);
    if (ok)
        draft_place(m, &p);
    ok = ok && is_within(instance, options, &p, st) &&
         write_module(instance, options, m, &p, &k, out, st);
    release_kernels(&k);
    draft_release(&p);
    return ok;
}

bool program_each(compiler_instance *instance, const compiler_options *options,
                  bool (*visit)(compiler_instance *kernel, const compiler_options *options),
                  status *st) {
    const compiler_options each = options_of_kernel(options);
    ir_module *m = program_dispatches(instance, options, st);
    draft p;
    bool ok = m && draft_build(m, options->unoptimised, &p, st);
    const size_t count = ok ? p.kernels.count : 0;
    schedule_fits fits = {0};
    for (size_t i = 0; i < count && ok; i++) {
        compiler_instance *one = instance_of(m, &p.kernels.items[i], instance->settings, &fits);
        ok = visit(one, &each);
        compiler_instance_free(one);
    }
    if (m)
        draft_release(&p);
    ir_module_free(m);
    return ok;
}

bool program_module(compiler_instance *instance, const compiler_options *options,
                    compiler_artifact *out, status *st) {
    if (options->generic)
        return status_set(st, STATUS_UNAVAILABLE,
                          "a program of several kernels is compiled for the dimensions of a case: "
                          "leave out --generic");
    if (options->constants)
        return status_set(st, STATUS_UNAVAILABLE,
                          "nothing is prepared for the kernels of a program: leave out --constant");
    ir_module *m = program_dispatches(instance, options, st);
    bool ok = m && build(instance, options, m, out, st);
    ir_module_free(m);
    return ok;
}
