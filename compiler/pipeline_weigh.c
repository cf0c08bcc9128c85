/* pipeline_weigh.c - what the model says of a compilation: the space of schedules, and whether a
 * kernel of the library takes the place of one. */
#include <stdlib.h>

#include "graph/instance.h"
#include "library.h"
#include "pipeline.h"
#include "pipeline_passes.h"

/* ---- tiles ---- */

static double cost_of_tiles(const ir_module *m, const target_info *target,
                            const compiler_options *options) {
    schedule_unit units[PIPELINE_UNITS];
    schedule_target chip = schedule_target_of(target, options, units);
    return simt_tiles_cost(m, &chip);
}

bool pipeline_weigh_tiles(const ir_module *lowered, const compiler_options *options,
                          const target_info *target, double *cycles, int64_t *registers) {
    status ignored = STATUS_INIT;
    pipeline p = {.options = options,
                  .target = target,
                  .m = ir_module_clone(lowered),
                  .direct = true,
                  .st = &ignored};
    text_init(&p.schedule);
    bool ok = pipeline_run_tiles(&p);
    if (ok) {
        *cycles = cost_of_tiles(p.m, target, options);
        *registers = simt_most_registers(p.m);
    }
    pipeline_close(&p);
    status_clear(&ignored);
    return ok;
}

/* ---- the library ---- */

/* Cycles of the same kernel by a schedule. False: it has none. */
static bool cost_of_schedule(const pipeline *p, double *cycles) {
    status ignored = STATUS_INIT;
    compiler_space space = {0};
    pipeline q;
    bool ok = pipeline_open(&q, p->instance, p->options, &ignored);
    q.space = &space;
    q.dims = p->dims;
    ok = ok && pipeline_run(&q, "schedule");
    *cycles = space.cycles;
    pipeline_close(&q);
    compiler_space_release(&space);
    status_clear(&ignored);
    return ok;
}

bool pipeline_take_library(pipeline *p) {
    library_kernel k = {.cycles = 0};
    double scheduled;
    const settings *s = p->instance->settings;
    if (p->is_program || p->space || !library_may(p->m, s, p->options, p->target) ||
        !library_lower(p->m, s, p->options, p->target, &k))
        return false;
    p->direct = !cost_of_schedule(p, &scheduled) || library_costs_less(k.cycles, scheduled);
    if (p->direct) {
        p->library = k.name;
        ir_print(k.graph, &p->schedule);
        pipeline_replace(p, k.tile);
    } else {
        ir_module_free(k.tile);
    }
    ir_module_free(k.graph);
    return p->direct;
}

/* ---- the space of schedules ---- */

/* A kernel of tiles that is lowered as it stands has no schedule: its Tile IR is weighed; so is
 * that of a kernel of the library, which stands in the place of a schedule. */
static bool weigh_direct(pipeline *p, compiler_space *out) {
    if (!pipeline_run(p, NULL))
        return false;
    if (p->direct) {
        out->cycles = cost_of_tiles(p->m, p->target, p->options);
        out->library = p->library;
    }
    return true;
}

bool compiler_space_of(compiler_instance *instance, const compiler_options *options,
                       compiler_space *out, status *st) {
    pipeline p;
    *out = (compiler_space){0};
    bool ok = pipeline_open(&p, instance, options, st);
    p.space = out;
    ok = ok && pipeline_run(&p, "schedule");
    out->program = pipeline_is_too_much(&p, ok) || (!ok && compiler_instance_is_program(instance));
    p.space = NULL;
    bool library =
        ok && !p.direct &&
        library_may(compiler_instance_graph(instance), instance->settings, options, p.target);
    if (library) { /* which passes with a space to fill do not take */
        pipeline_close(&p);
        ok = pipeline_open(&p, instance, options, st);
    }
    if (ok && (library || p.direct))
        ok = weigh_direct(&p, out);
    pipeline_close(&p);
    return ok;
}

void compiler_space_release(compiler_space *space) {
    free(space->items);
    *space = (compiler_space){0};
}
