/* policy.c - a CPU's choices: by its vectors, its registers and its caches. */
#include "schedule/policy.h"
#include "parameters/thresholds.h"
#include "schedule/cpu/cpu.h"
#include "schedule/integers.h"

/* Instructions of specified functions: up to where more vectors are computed at once, and from
 * where on fewer. */
enum { SHORT_SEQUENCE = 48, LONG_SEQUENCE = 64 };
/* Elements of a nest up to which the time to compile its functions counts for more than theirs. */
enum { FEW_ELEMENTS = 16384 };
/* ... and to which squares of half a vector are turned, a third of the code. */
enum { FEW_TURNED = 65536 };
/* So many rows share a load and a store of a lane. */
enum { ROWS_OF_LANE = 4 };

/* Four registers of independent elements keep loads and stores of short chains busy. A specified
 * function is a chain of some 25 operations: with 32 registers eight are worth what they spill; a
 * correctly rounded one has twice as many registers already, as it computes in f64. Where functions
 * are long, two take up to 15 % longer (sines) and compile in a fraction of the time; random
 * bits are hundreds of operations, independent enough by themselves. Of few elements a vector at a
 * time compiles soonest. */
static int64_t nest_vector(const scheduler *s, const nest_work *w) {
    int64_t lanes = s->target->vector_lanes;
    if (w->transposed)
        return w->draws                                   ? (lanes >= 4 ? lanes / 4 : 1)
               : lanes >= 16 && w->elements <= FEW_TURNED ? lanes / 2
                                                          : lanes;
    if (w->draws || (w->functions > 0 && w->elements <= FEW_ELEMENTS))
        return lanes;
    if (w->functions > LONG_SEQUENCE)
        return 2 * lanes;
    bool waits = w->functions > 0 && w->functions <= SHORT_SEQUENCE && !w->correct;
    return waits && s->target->vector_registers >= 32 ? 8 * lanes : 4 * lanes;
}

static int64_t rows(const scheduler *s, const row_work *w) {
    return scheduler_rows(s, w->rows, w->columns);
}

/* As many as the cache holds, but enough to use each key more than a few times. */
static int64_t chain_rows(const scheduler *s, int64_t score_bytes, int64_t sum_bytes) {
    (void)sum_bytes;
    return clamp(s->target->l2_bytes / score_bytes, CHAIN_ROWS, CHAIN_MOST_ROWS);
}

static int64_t row_lanes(const scheduler *s) {
    return s->target->vector_registers >= 32 ? 4 * s->target->vector_lanes
                                             : s->target->vector_lanes;
}

static int64_t row_vector(const scheduler *s, int64_t beside) {
    (void)beside;
    return 4 * s->target->vector_lanes;
}

/* Long runs of every row where that leaves enough workgroups. The lanes of a sum are in memory,
 * where they fill a first cache; several rows of a lane at a time, and enough of them, make up for
 * lanes in the second. */
static column_plan column(const scheduler *s, const column_work *w) {
    int64_t lanes = s->target->vector_lanes, each = lanes * s->target->threads;
    bool several = w->sums && s->target->vector_registers >= LONG_COLUMN_RUN &&
                   w->rows >= ROWS_OF_LANE * ORDER_LANES64_LANES && w->far;
    bool longer = several && w->rows >= LONG_COLUMN_ROWS && w->columns >= LONG_COLUMNS * each;
    int64_t run = longer                              ? LONG_COLUMN_RUN
                  : w->columns >= WIDE_COLUMNS * each ? COLUMN_RUN
                                                      : COLUMN_RUN / 2;
    return (column_plan){.run = run * lanes, .trip = several ? ROWS_OF_LANE : 1};
}

const schedule_policy schedule_cpu_policy = {
    .name = "cpu",
    .streams = true,
    .nest_elements = WORKGROUP_ELEMENTS,
    .nest_vector = nest_vector,
    .rows = rows,
    .most_beside = 1, /* a core has its vectors along a row */
    .chain_rows = chain_rows,
    .chain_step = 1,
    .chain_packs = true,
    .turned_rows = TRANSPOSE_ROWS,
    .turned_columns = TRANSPOSE_COLUMNS,
    .row_lanes = row_lanes,
    .row_vector = row_vector,
    .column = column,
    .dot_operands = cpu_dot_operands,
    .dot_tiles = cpu_dot_tiles,
    .turned_tile = cpu_turned_tile,
    .cost = cpu_cost,
};
