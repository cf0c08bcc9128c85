/* pipeline.c - the whole way down, from checked Graph IR to a module image, from top to bottom. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "base/clock.h"
#include "describe.h"
#include "device/host/host.h"
#include "graph/instance.h"
#include "graph/passes.h"
#include "library.h"
#include "ops/controls.h"
#include "ops/reductions.h"
#include "ops/transforms.h"
#include "pipeline.h"
#include "pipeline_passes.h"
#include "program/outline.h"
#include "schedule/schedule.h"
#include "special.h"
#include "target/interp/fold_constants.h"
#include "target/target.h"
#include "tessera/compiler.h"
#include "tessera/descent.h"
#include "tile/mma.h"
#include "tile/simt/simt.h"
#include "tile/tile.h"
#include "transforms/passes.h"

/* Each dispatch is compiled, and its sums verified, by itself. */
static bool run_outline(pipeline *p) {
    schedule_unit units[PIPELINE_UNITS];
    const schedule_target target = schedule_target_of(p->target, p->options, units);
    ir_op checkpoint;
    const outline_request request = {
        .unfused = p->options->unoptimised,
        .apart = checkpoint_least_room(p->instance->graph, &checkpoint) >= 0,
        .concurrent = !p->options->unoptimised && schedule_runs_at_once(&target),
        .nests_together = !p->options->unoptimised,
        .buffers = pipeline_buffers(p->target, p->options),
        .rows_apart = library_asked(p->options, p->target),
        .takes_in = library_takes_in};
    return !p->is_program || program_outline(p->m, &request, p->st);
}

bool pipeline_replace(pipeline *p, ir_module *lower) {
    if (!lower)
        return false;
    ir_module_free(p->m);
    p->m = lower;
    return true;
}

/* Its tiles are its schedule. What has no such lowering stays as it is. */
static bool run_lower_tiles(pipeline *p) {
    ir_module *lowered;
    if (pipeline_take_library(p))
        return true;
    if (!pipeline_lower_tiles(p->m, p->options, p->target, &p->notes, &lowered))
        return chip_follows_hints(&p->notes, p->target, p->instance, p->st);
    if (!chip_has_room(p->m, p->target, p->instance, p->st)) {
        ir_module_free(lowered);
        return false;
    }
    ir_print(p->m, &p->schedule);
    p->tiles = p->direct = true;
    return pipeline_replace(p, lowered);
}

static bool too_many_instances(status *st) {
    status why = *st;
    status_clear(st);
    return status_set(st, STATUS_UNAVAILABLE, "its program instances are too many: %s",
                      why.message);
}

static bool too_many_phases(status *st) {
    status_clear(st);
    return status_set(st, STATUS_UNAVAILABLE,
                      "its loops over blocks are more phases than the %d there are: fewer, larger "
                      "blocks need fewer; so does a loop whose blocks are computed by themselves "
                      "and then rescaled, as with tile.softmax_online",
                      LIMIT_PHASES);
}

static bool run_schedule(pipeline *p) {
    bool is_chip = p->target->class == TARGET_SIMT;
    special_room room = {.entries = {NULL}};
    schedule_unit units[PIPELINE_UNITS];
    schedule_target target = schedule_target_of(p->target, p->options, units);
    schedule_request request = {
        .target = &target,
        .profile = compiler_profile_name(p->options->profile),
        .symbolic = p->options->generic,
        .overrides = p->options->schedule,
        .written = special_join(p->options->source_schedule, p->target->name, is_chip, &room),
        .settings = p->instance->settings,
        .is_part = p->instance->is_part,
        .fits = p->instance->fits,
        .constants = p->options->constants,
        .loose = p->options->schedule_loose,
        .space = p->space,
        .crowded = &p->crowded};
    bool ok = graph_require_kernel(p->m, p->st) &&
              pipeline_replace(p, schedule_from_graph(p->m, &request, p->st));
    special_room_release(&room);
    if (!ok)
        return p->expanded              ? too_many_instances(p->st)
               : p->tiles && p->crowded ? too_many_phases(p->st)
                                        : false;
    ir_print(p->m, &p->schedule);
    p->epilogues = describe_epilogues(p->m);
    return true;
}

static bool run_tile(pipeline *p) {
    return pipeline_replace(p, tile_from_schedule(p->m, p->st));
}

/* Splits no program: each of its dispatches is split when it is compiled as a kernel. */
static bool run_split_chunks(pipeline *p) {
    const bool chip = p->target->class == TARGET_SIMT;
    const chunk_split split = {chip ? p->target->compute_units
                                    : (int64_t)(p->options->threads ? p->options->threads : 1),
                               chip ? SIMT_THREADS : 0};
    return p->options->unoptimised || p->options->generic || p->is_program ||
           graph_split_chunks(p->m, &split, p->st);
}

static bool run_share_functions(pipeline *p) {
    return p->options->unoptimised || p->target->class == TARGET_SIMT ||
           tile_share_functions(p->m, p->target->lanes, p->st);
}

static bool run_expand_math(pipeline *p) {
    bool hardware = pipeline_needs(p, OPTIMISED | RELAXED) && chip_exp2_of(p->target->cpu);
    return tile_expand_math(p->m, hardware, p->st);
}

/* An access that is checked names its own memory and line. */
static bool run_share_phases(pipeline *p) {
    return !pipeline_needs(p, OPTIMISED | CORES) || p->options->check_bounds ||
           tile_share_phases(p->m, p->st);
}

static bool run_place_memory(pipeline *p) {
    return p->target->class == TARGET_CPU ||
           simt_place_memory(p->m, p->target->shared_bytes, p->st);
}

static bool run_assign_layout(pipeline *p) {
    int threads = (int)ir_op_int(p->m, ir_module_kernel(p->m), "threads", SIMT_THREADS);
    return p->target->class == TARGET_CPU
               ? tile_assign_layout(p->m, p->target->lanes, p->st)
               : simt_assign_layout(p->m, threads, p->target->subgroup, p->st);
}

enum {
#define P(function, name, LEVEL, arguments, summary) PASS_##function,
#include "passes.def"
    PASS_COUNT,
    PASS_BELOW_GRAPH = PASS_contract + 1 /* the first that pipeline_take_graph leaves to do */
};

static const struct pass {
    const char *name;
    ir_level level; /* of the module that it takes */
    bool (*run)(pipeline *p);
    bool (*apply)(ir_module *m, status *st); /* where it takes the module alone */
    unsigned when;
} passes[] = {
#define P(function, name, LEVEL, arguments, summary)                                               \
    {name, IR_LEVEL_##LEVEL, run_##function, NULL, ALWAYS},
#define M(function, name, LEVEL, apply, when, summary) {name, IR_LEVEL_##LEVEL, NULL, apply, when},
#include "passes.def"
};

static void register_tables(void) {
    opset_register(graph_op_table());
    opset_register(schedule_op_table());
    opset_register(tile_op_table());
}

void compiler_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_tables);
}

/* ---- faults on purpose ---- */

bool compiler_fault_applies(compiler_instance *instance, const char *fault, bool *applies,
                            text *why, status *st) {
    graph_control control = graph_control_of(fault);
    *applies = true;
    if (control == CONTROL_COUNT)
        return true;
    const ir_module *m = compiler_primitives(instance, st);
    if (m)
        *applies = graph_control_applies(m, control, why);
    return m != NULL;
}

/* ---- running passes ---- */

static bool has_fault(const pipeline *p, const char *fault) {
    return p->options->fault && strcmp(p->options->fault, fault) == 0;
}

static bool should_verify(const pipeline *p) {
#ifdef NDEBUG
    return p->options->verify || has_fault(p, "broken-ir");
#else
    (void)p;
    return true;
#endif
}

/* The module is well formed, and each order of accumulation in it is one that was there `before`.
 */
static bool verify_pass(pipeline *p, const struct pass *pass, const reduction_list *before) {
    reduction_list after;
    status broken = STATUS_INIT;
    reductions_of(p->m, &after);

    bool ok = ir_verify(p->m, &broken) && reductions_kept(before, &after, &broken);
    reductions_release(&after);
    return ok ||
           status_set(p->st, STATUS_INTERNAL, "after pass %s: %s", pass->name, broken.message);
}

/* Faults on purpose: the compiler dies in a pass, or a pass makes wrong IR. */
static bool inject_into_pass(pipeline *p, const struct pass *pass, bool done) {
    if (!done && has_fault(p, "compiler-crash") && strcmp(pass->name, "tile") == 0)
        abort();
    while (!done && has_fault(p, "compiler-hang") && strcmp(pass->name, "tile") == 0)
        pause();
    if (done && has_fault(p, "broken-ir") && strcmp(pass->name, "schedule") == 0)
        ir_op_set_attr(p->m, ir_module_kernel(p->m), "outputs", ir_attr_int(p->m, 0));
    if (done && has_fault(p, "more-barriers") && strcmp(pass->name, "insert-barriers") == 0 &&
        p->target->class == TARGET_SIMT)
        simt_more_barriers(p->m);
    if (done && has_fault(p, "swap-operands") && strcmp(pass->name, "decompose") == 0)
        return graph_swap_operands(p->m, p->st);
    return true;
}

static bool do_pass(pipeline *p, const struct pass *pass) {
    if (p->direct && pass->level != IR_LEVEL_TILE)
        return true;
    return pass->run ? pass->run(p) : !pipeline_needs(p, pass->when) || pass->apply(p->m, p->st);
}

static bool run_pass(pipeline *p, const struct pass *pass) {
    const bool verify = should_verify(p), direct = p->direct;
    reduction_list before = {.open = false};
    if (verify)
        reductions_of(p->m, &before);
    bool ok =
        inject_into_pass(p, pass, false) && do_pass(p, pass) && inject_into_pass(p, pass, true);
    if (ok && ir_failure(p->m))
        ok = status_set(p->st, STATUS_INVALID, "%s: %s", pass->name, ir_failure(p->m));
    if (p->direct && !direct) { /* the sums of an instance are not those of the whole */
        reductions_release(&before);
        before.open = true;
    }
    if (ok)
        reductions_number(p->m); /* sums that the pass made of composites or of tiles */
    ok = ok && (!verify || verify_pass(p, pass, &before));
    reductions_release(&before);
    if (!ok)
        return false;
    if (p->options->emit && p->options->emit_after &&
        strcmp(p->options->emit_after, pass->name) == 0)
        ir_print(p->m, p->options->emit);
    return true;
}

/* Checks that code can be made whose sums are those of a matrix unit. */
static bool has_unit(const void *target, const char *name) {
    const target_info *t = target;
    return t->class == TARGET_SIMT && mma_sums_as(name, t->cpu);
}

bool compiler_target_adds_as(const char *target, const char *order) {
    const target_info *t = target_find(target);
    return t && has_unit(t, order);
}

/* PASS_COUNT: there is none of that name. */
static int pass_of(const char *name) {
    int i = 0;
    while (i < PASS_COUNT && strcmp(name, passes[i].name) != 0)
        i++;
    return i;
}

/* The module that is stored, in the place of what the passes up to it would make. */
static bool begin_stored(pipeline *p) {
    const char *from = p->options->stored->pass;
    const int made = *from ? pass_of(from) : -1;
    status why = STATUS_INIT;
    if (made == PASS_COUNT)
        return status_set(p->st, STATUS_INVALID, "no pass is called '%s'", from);
    p->m = ir_parse(p->options->stored->ir, &why);
    if (!p->m || !ir_verify(p->m, &why))
        return status_set(p->st, STATUS_INVALID, "the module behind %s: %s",
                          *from ? from : "no pass", why.message);
    const ir_op kernel = ir_module_kernel(p->m);
    const ir_level level = kernel ? op_info_get(ir_op_get(p->m, kernel)->opcode)->level : 0;
    p->direct = p->tiles = level == IR_LEVEL_TILE && made >= PASS_lower_tiles && made < PASS_tile;
    if (!kernel ||
        (!p->direct && level != (made + 1 < PASS_COUNT ? passes[made + 1].level : IR_LEVEL_TILE)))
        return status_set(p->st, STATUS_INVALID,
                          "the module behind %s is of another level than that pass leaves",
                          *from ? from : "no pass");
    reductions_number(p->m);
    if (level == IR_LEVEL_SCHEDULE)
        ir_print(p->m, &p->schedule);
    p->next = made + 1;
    return true;
}

/* The graph that the first of the passes up to `end` takes. */
static bool begin_passes(pipeline *p, int end) {
    const ir_module *graph = compiler_instance_graph(p->instance);
    bool taken = false;
    if (!graph_require_code(graph, has_unit, p->target, p->st) ||
        !pipeline_device_fits(graph, p->instance->settings, p->target->name, p->st) ||
        (end >= PASS_BELOW_GRAPH && !pipeline_take_graph(p, &taken)))
        return false;
    if (!taken) {
        p->m = ir_module_clone(graph);
        reductions_number(p->m);
    }
    p->next = taken ? PASS_BELOW_GRAPH : 0;
    return true;
}

bool pipeline_run(pipeline *p, const char *last) {
    int end = last ? pass_of(last) : PASS_COUNT - 1;
    if (end == PASS_COUNT)
        return status_set(p->st, STATUS_INVALID, "no pass is called '%s'", last);
    if (!p->m && !(p->options->stored ? begin_stored(p) : begin_passes(p, end)))
        return false;
    while (p->next <= end) {
        if (!run_pass(p, &passes[p->next++]))
            return false;
        if (p->next == PASS_BELOW_GRAPH)
            pipeline_keep_graph(p);
    }
    if (last || !p->options->fault || !tile_knows_fault(p->options->fault))
        return true;
    return tile_inject_fault(p->m, p->options->fault, p->st) && run_assign_layout(p) &&
           run_share_phases(p) &&
           (p->target->class == TARGET_CPU || simt_insert_barriers(p->m, p->st));
}

bool pipeline_run_tiles(pipeline *p) {
    bool ok = true;
    for (int i = PASS_lower_tiles + 1; i < PASS_COUNT && ok; i++)
        ok = run_pass(p, &passes[i]);
    return ok;
}

bool pipeline_open(pipeline *p, compiler_instance *instance, const compiler_options *options,
                   status *st) {
    compiler_init();
    const char *isa = options->isa ? options->isa : host_isa();
    *p = (pipeline){.instance = instance,
                    .options = options,
                    .dims = compiler_instance_dims(instance),
                    .st = st};
    text_init(&p->schedule);
    if (!isa)
        return status_set(st, STATUS_UNAVAILABLE, "no code can be made for this CPU: %s",
                          host_unavailable());
    p->target = target_find(isa);
    if (!p->target)
        return status_set(st, STATUS_INVALID, "unknown ISA level '%s'", isa);
    if (options->check_bounds && p->target->class != TARGET_CPU && !p->target->emulated)
        return status_set(st, STATUS_INVALID,
                          "accesses are checked in code for CPUs and on emulated chips; %s is "
                          "neither",
                          isa);
    if (has_fault(p, "wrong-index") && !options->check_bounds)
        return status_set(st, STATUS_INVALID,
                          "fault wrong-index writes outside of memory: add --check-bounds");
    return true;
}

void pipeline_close(pipeline *p) {
    ir_module_free(p->m);
    text_release(&p->schedule);
    json_decref(p->epilogues);
}

ir_module *pipeline_dispatches(compiler_instance *instance, const compiler_options *options,
                               int64_t *kept, status *st) {
    pipeline p;
    ir_module *made = NULL;
    bool ok = pipeline_open(&p, instance, options, st);
    p.is_program = true;
    p.kept = *kept;
    if (ok && pipeline_run(&p, "outline")) {
        made = p.m;
        p.m = NULL;
        *kept = p.kept;
    }
    pipeline_close(&p);
    return made;
}

ir_module *pipeline_tile(compiler_instance *instance, const compiler_options *options,
                         const target_info **target, status *st) {
    pipeline p;
    ir_module *made = NULL;
    if (pipeline_open(&p, instance, options, st) && pipeline_run(&p, NULL)) {
        made = p.m;
        *target = p.target;
        p.m = NULL;
    }
    pipeline_close(&p);
    return made;
}

bool pipeline_emit_code(const pipeline *p, emit_output output, text *out) {
    uint32_t *barriers = &p->instance->barriers[1];
    const emit_request request = {.target = p->target,
                                  .unoptimised = p->options->unoptimised,
                                  .check_bounds = p->options->check_bounds,
                                  .output = output,
                                  .drop_barrier = p->options->drop_barrier,
                                  .barriers = barriers};
    *barriers = p->instance->barriers[0];
    bool ok = target_emit(p->m, &request, out, p->st);
    if (p->options->barriers)
        *p->options->barriers = *barriers;
    return ok;
}

/* ---- the module ---- */

/* The @specialize of this image. Tiles are chosen before there is a graph. */
static const compiler_special *special_in_force(const pipeline *p) {
    const compiler_special *special =
        compiler_special_of(p->options->source_schedule, p->target->name);
    bool tiles = p->options->provenance && p->options->provenance->specialized;
    return special && (special->count || (special->choice && tiles)) ? special : NULL;
}

static bool add_image(pipeline *p, const text *object, const ir_bindings *variant,
                      artifact_builder *b) {
    json_t *fragments = describe_fragments(p->m, p->epilogues), *units = describe_units(p->m),
           *resources = describe_resources(p->m, p->target, object, p->options->assembler, p->st);
    artifact_levels levels = {.tile = p->m,
                              .isa = p->target->name,
                              .schedule = &p->schedule,
                              .object = object,
                              .fragments = fragments,
                              .epilogues = p->epilogues,
                              .resources = resources,
                              .units = units,
                              .library = p->library,
                              .why_joined = p->notes.why[0] && !p->direct ? p->notes.why : NULL,
                              .special = special_in_force(p)};
    bool ok = p->st->code == STATUS_OK;
    if (ok)
        artifact_add(b, &levels, variant);
    json_decref(fragments);
    json_decref(units);
    json_decref(resources);
    return ok;
}

bool pipeline_is_too_much(const pipeline *p, bool ok) {
    return !ok && p->crowded && !p->tiles && !p->options->generic;
}

/* The whole way down for one image: for the dimensions of `variant`, or (NULL) the instance's own.
 */
static bool build_image(compiler_instance *instance, const ir_bindings *variant,
                        const compiler_options *options, artifact_builder *b, bool *crowded,
                        status *st) {
    pipeline p;
    text object;
    text_init(&object);
    bool ok = pipeline_open(&p, instance, options, st);
    if (variant)
        p.dims = *variant;
    ok = ok && pipeline_run(&p, NULL) && pipeline_emit_code(&p, EMIT_OBJECT, &object) &&
         add_image(&p, &object, variant, b);
    *crowded = pipeline_is_too_much(&p, ok);
    text_release(&object);
    pipeline_close(&p);
    return ok;
}

/* One level: the image for any dimensions first, where there is one. */
static bool build_level(compiler_instance *instance, const compiler_options *options,
                        artifact_builder *b, bool *crowded, status *st) {
    compiler_options one = *options;
    bool ok = build_image(instance, NULL, &one, b, crowded, st);
    for (uint32_t i = 0; options->generic && i < options->variant_count && ok; i++)
        ok = artifact_check_variant(b, options->variants, i, st);
    one.generic = false;
    for (uint32_t i = 0; options->generic && i < options->variant_count && ok; i++)
        ok = build_image(instance, &options->variants[i], &one, b, crowded, st);
    return ok;
}

/* A device of emulated threads knows its images by the CPU that they run on. */
static bool check_emulated(const compiler_options *options, status *st) {
    for (uint32_t i = 0; options->also_count && i <= options->also_count; i++) {
        const char *name = i ? options->also[i - 1] : options->isa;
        const target_info *t = target_find(name);
        if (t && t->emulated)
            return status_set(
                st, STATUS_INVALID,
                "code for '%s' is for trials on this machine, and has a module of its "
                "own: name it alone",
                name);
    }
    return true;
}

static bool check_levels(const compiler_options *options, status *st) {
    uint32_t variants = 1 + (options->generic ? options->variant_count : 0);
    if ((options->also_count + 1) * variants > ARTIFACT_IMAGES_MAX)
        return status_set(st, STATUS_INVALID, "a module has at most %d images",
                          ARTIFACT_IMAGES_MAX);
    for (uint32_t i = 0; i < options->also_count; i++) {
        bool twice = strcmp(options->also[i], options->isa) == 0;
        for (uint32_t k = 0; k < i; k++)
            twice |= strcmp(options->also[i], options->also[k]) == 0;
        if (twice)
            return status_set(st, STATUS_INVALID, "the level '%s' is given twice",
                              options->also[i]);
    }
    return check_emulated(options, st);
}

bool pipeline_build_kernel(compiler_instance *instance, const compiler_options *options,
                           compiler_artifact *out, bool *crowded, status *st) {
    artifact_builder b;
    compiler_options one = *options;
    *crowded = false;
    artifact_init(&b, instance, options);
    bool ok = build_level(instance, &one, &b, crowded, st);
    for (uint32_t i = 0; i < options->also_count && ok; i++) {
        one.isa = options->also[i];
        ok = build_level(instance, &one, &b, crowded, st);
    }
    ok = ok && artifact_write(&b, out, st);
    artifact_release(&b);
    return ok;
}

bool compiler_build(compiler_instance *instance, const compiler_options *options,
                    compiler_artifact *out, status *st) {
    uint64_t start = clock_now_ns();
    bool is_program =
        (options->ranks && options->ranks->count > 1) || compiler_instance_is_program(instance);
    memset(out, 0, sizeof *out);
    if (!check_levels(options, st))
        return false;
    bool ok = !is_program && pipeline_build_kernel(instance, options, out, &is_program, st);
    if (is_program) {
        status_clear(st);
        ok = program_module(instance, options, out, st);
    }
    out->compile_ns = clock_now_ns() - start;
    return ok;
}
