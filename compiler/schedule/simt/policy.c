/* policy.c - the choices for targets with threads: by what a workgroup's threads hold, and by its
 * memory. */
#include "schedule/policy.h"
#include "parameters/thresholds.h"
#include "schedule/integers.h"
#include "schedule/simt/simt.h"
#include "schedule/size_search.h"

/* Elements of a thread: enough loads under way; one of a function, where more would leave units
 * without work. Of a square that is turned, too. */
enum { ELEMENTS = 4, TURNED_SIDE = 64, COMPUTED_SIDE = 32 };
/* Bytes of such a square's elements, as of f32, and how many of them a workgroup's memory holds at
 * least: otherwise few workgroups are there at once. */
enum { SQUARE_BYTES = TURNED_SIDE * TURNED_SIDE * 4, SQUARES = 8 };

/* Elements of a workgroup: some for each thread, in several turns. */
enum { NEST_ELEMENTS = 4096 };

/* Rows side by side: fewer than the least leave threads idle, since a row's lanes are exchanged
 * within a subgroup; of short rows as many as usual, of longer ones the least, where that leaves
 * enough workgroups. What they keep must leave room for other workgroups. */
enum { LEAST_BESIDE = 4, USUAL_BESIDE = 8, MOST_BESIDE = 16 };
enum { SHORT_ROW = 512, ROW_WORKGROUPS = 3, WORKGROUPS_OF_UNIT = 2 };
/* Elements of a thread where few rows are side by side: that many loads are under way. What more of
 * them hold has the layout of their lanes, so that no thread waits for another. */
enum { ROW_ELEMENTS = 16 };
/* Spare memory of rows: for what they leave, and the exchange of folds. */
enum { CHAIN_SPARE = 2048 };
/* Columns side by side: runs of memory without waste, and enough workgroups, few of which are on a
 * unit at once: so many times 64 rows are on their way to each. */
enum { COLUMNS_BESIDE = 16, COLUMN_TRIP = 4 };

static int64_t nest_vector(const scheduler *s, const nest_work *w) {
    int64_t lanes = s->target->vector_lanes;
    bool computes = w->draws || w->functions > 0;
    if (w->transposed)
        return computes || s->target->l1_bytes < SQUARES * SQUARE_BYTES ? COMPUTED_SIDE
                                                                        : TURNED_SIDE;
    return computes && w->elements < ELEMENTS * lanes * s->target->threads ? lanes
                                                                           : ELEMENTS * lanes;
}

static int64_t rows(const scheduler *s, const row_work *w) {
    bool is_long = w->columns > SHORT_ROW;
    int64_t beside = is_long ? LEAST_BESIDE : USUAL_BESIDE,
            enough = WORKGROUPS_OF_UNIT * (int64_t)s->target->threads;
    if (!s->target->exchanges || (is_long && w->rows < beside * enough))
        return 1;
    beside = size_that_fits(beside, 1, w->kept_bytes, s->target->l1_bytes / ROW_WORKGROUPS);
    return beside < LEAST_BESIDE || w->rows < LEAST_BESIDE ? 1 : beside;
}

/* As many as fit into the workgroup's memory, beside what else is there. */
static int64_t chain_rows(const scheduler *s, int64_t score_bytes, int64_t sum_bytes) {
    return clamp(policy_row_room(s) / (score_bytes + sum_bytes), 0, CHAIN_MOST_ROWS);
}

/* All of them: each is a thread's. */
static int64_t row_lanes(const scheduler *s) {
    (void)s;
    return ORDER_LANES64_LANES;
}

static int64_t row_vector(const scheduler *s, int64_t beside) {
    int64_t each = beside == LEAST_BESIDE ? ROW_ELEMENTS : ELEMENTS;
    int64_t vector = each * s->target->vector_lanes / beside;
    return vector < ORDER_LANES64_LANES ? ORDER_LANES64_LANES : vector;
}

/* Some threads for each column, of which neighbours hold neighbouring columns; where threads do not
 * exchange lanes, or the number of rows is a launch's, a thread for each, and its lanes in the
 * workgroup's memory. */
static column_plan column(const scheduler *s, const column_work *w) {
    if (s->target->exchanges && w->known)
        return (column_plan){.run = COLUMNS_BESIDE, .trip = COLUMN_TRIP, .registers = true};
    return (column_plan){.run = s->target->vector_lanes, .trip = 1};
}

const schedule_policy schedule_simt_policy = {
    .name = "simt",
    .threads = true,
    .nest_elements = NEST_ELEMENTS,
    .nest_vector = nest_vector,
    .rows = rows,
    .least_beside = LEAST_BESIDE,
    .most_beside = MOST_BESIDE,
    .spare_bytes = CHAIN_SPARE,
    .chain_rows = chain_rows,
    .chain_step = LEAST_BESIDE,
    .chain_clears = true,
    .turned_rows = 1,
    .turned_columns = 1,
    .turns_staged = true,
    .row_lanes = row_lanes,
    .row_vector = row_vector,
    .column = column,
    .stages_dot = simt_stages_dot,
    .dot_tiles = simt_dot_tiles,
    .cost = simt_cost,
};
