/* program_room.c - checkpoints with a budget: the bytes that they keep are sought by planning the
 * program, as no sum of sizes tells what is alive at once. No code is made meanwhile. */
#include <stdio.h>

#include "graph/instance.h"
#include "ops/transforms.h"
#include "pipeline.h"
#include "program/commands.h"

typedef struct plan {
    ir_module *m; /* outlined; NULL with a status */
    int64_t kept, room;
} plan;

static plan plan_with(compiler_instance *instance, const compiler_options *options, int64_t kept,
                      status *st) {
    plan made = {.kept = kept};
    draft p;
    made.m = pipeline_dispatches(instance, options, &made.kept, st);
    if (!made.m)
        return made;
    if (draft_build(made.m, options->unoptimised, &p, st)) {
        draft_place(made.m, &p);
        made.room = p.arena_bytes;
    } else {
        ir_module_free(made.m);
        made.m = NULL;
    }
    draft_release(&p);
    return made;
}

static bool refuse(const compiler_instance *instance, ir_op checkpoint, int64_t least, status *st) {
    const source_text *source = instance->source;
    const ir_location at = ir_op_get(instance->graph, checkpoint)->location;
    char why[160];
    snprintf(why, sizeof why,
             "the values between inputs and results need %lld bytes at least, with nothing kept",
             (long long)least);
    if (!source)
        return status_set(st, STATUS_UNAVAILABLE, "%s", why);
    const uint32_t start = source_offset_of(source, at.line, at.column);
    return diagnose_status(st, STATUS_UNAVAILABLE, source, ERROR_CHECKPOINT_BUDGET,
                           (span){start, start + 1}, why,
                           "give it a larger budget, or make the function that is a checkpoint "
                           "smaller: what is in it is computed again together");
}

/* The one that keeps more takes the other's place where it is within the budget. */
static bool take_if_within(plan *best, plan *other, int64_t budget) {
    const bool within = other->m && other->room <= budget;
    plan *gone = within ? best : other;
    ir_module_free(gone->m);
    gone->m = NULL;
    if (within)
        *best = *other;
    return within;
}

/* Between a plan within the budget and one that is not, which keeps `over`. */
static bool halve(compiler_instance *instance, const compiler_options *options, plan *best,
                  int64_t over, int64_t budget, status *st) {
    enum { PARTS = 64 };
    const int64_t least = over / PARTS + 1;
    bool ok = true;
    while (ok && over - best->kept > least) {
        const int64_t middle = best->kept + (over - best->kept) / 2, before = best->kept;
        plan other = plan_with(instance, options, middle, st);
        ok = other.m != NULL;
        if (ok && (!take_if_within(best, &other, budget) || best->kept == before))
            over = middle;
    }
    return ok;
}

ir_module *program_dispatches(compiler_instance *instance, const compiler_options *options,
                              status *st) {
    ir_op checkpoint = 0;
    const int64_t budget = checkpoint_least_room(instance->graph, &checkpoint);
    plan best = plan_with(instance, options, 0, st);
    if (!best.m || budget < 0 || options->unoptimised)
        return best.m;
    plan all = plan_with(instance, options, INT64_MAX, st);
    const int64_t over = all.kept;
    bool ok = all.m != NULL;
    if (ok && !take_if_within(&best, &all, budget))
        ok = best.room <= budget ? halve(instance, options, &best, over, budget, st)
                                 : refuse(instance, checkpoint, best.room, st);
    if (ok)
        return best.m;
    ir_module_free(best.m);
    return NULL;
}
