/* policy.c - the choices for targets with threads: by what a workgroup's threads hold, and by its
 * memory. */
#include "schedule/policy.h"
#include "schedule/simt/simt.h"

/* Elements of a thread: enough loads under way, and few registers for those of a function. */
enum { ELEMENTS = 4, TURNED_SIDE = 32 };

static int64_t nest_vector(const scheduler *s, const nest_work *w) {
    int64_t lanes = s->target->vector_lanes;
    if (w->transposed)
        return TURNED_SIDE;
    return w->draws || w->functions > 0 ? lanes : ELEMENTS * lanes;
}

/* All of them: each is a thread's. */
static int64_t row_lanes(const scheduler *s) {
    (void)s;
    return ORDER_LANES64_LANES;
}

static int64_t row_vector(const scheduler *s) {
    return ELEMENTS * s->target->vector_lanes;
}

/* A thread for each column; the lanes of their sums are in the workgroup's memory. */
static column_plan column(const scheduler *s, const column_work *w) {
    (void)w;
    return (column_plan){s->target->vector_lanes, 1};
}

/* Chips are measured, where there is one; no model of them is. */
static double cost(const ir_module *schedule, const schedule_target *target) {
    (void)schedule;
    (void)target;
    return 0;
}

const schedule_policy schedule_simt_policy = {
    .name = "simt",
    .nest_vector = nest_vector,
    .row_lanes = row_lanes,
    .row_vector = row_vector,
    .column = column,
    .stages_dot = simt_stages_dot,
    .dot_operands = simt_dot_operands,
    .dot_tiles = simt_dot_tiles,
    .cost = cost,
};
