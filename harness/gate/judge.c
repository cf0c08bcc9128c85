/* judge.c - the verdicts of what was timed. */
#include <math.h>
#include <stdlib.h>

#include "gate/gate.h"
#include "statistics/rank.h"
#include "statistics/statistics.h"

/* A clock that is slower by more than this than at its best was held back. */
#define THROTTLED 1.2

static bool was_throttled(const gate *g, const gate_row *row) {
    size_t slow = 0;
    for (size_t i = 0; i < row->clock_ns.count; i++)
        slow += row->clock_ns.items[i] > THROTTLED * g->best_clock_ns;
    return slow * 4 > row->clock_ns.count;
}

static double median_of(double *values, size_t count) {
    return count ? statistics_of(values, count).median : 0;
}

/* For people and reports: estimate and exact interval of 95 %, not corrected for the number of
 * cases. */
static void estimate(gate_row *row) {
    const plan_series *s = &row->series;
    if (s->count == 0)
        return;
    rank_interval interval = rank_centre_interval(s->values, s->count, 0.95);
    row->change.known = true;
    row->replicas = s->count;
    row->change.estimate = expm1(rank_centre(s->values, s->count));
    row->change.low = expm1(interval.low);
    row->change.high = expm1(interval.high);
    row->change.confidence = interval.confidence;
    for (int i = 0; i < 2; i++)
        row->change.median_ns[i] = median_of(row->ns[i].items, row->ns[i].count);
}

void gate_settle_unsure(const gate *g, gate_row *row) {
    if (was_throttled(g, row))
        gate_settle(row, GATE_INCONCLUSIVE, REASON_THROTTLED,
                    "the CPU's clock was slower than at its best by more than %.0f %% in over a "
                    "quarter of the processes: fix the frequency, or cool the machine",
                    (THROTTLED - 1) * 100);
    else if (row->detectable > g->settings->bound)
        gate_settle(
            row, GATE_INCONCLUSIVE, REASON_NOISY,
            "after %zu pairs of processes (or runs) the smallest change that would be found is "
            "%.1f %%, more than the %.1f %% of --mde: quiet the machine (tsr doctor), or "
            "allow more",
            row->replicas, row->detectable * 100, g->settings->bound * 100);
    else
        gate_settle(row, GATE_INCONCLUSIVE, REASON_UNDECIDED,
                    "neither a change beyond %.1f %% nor one below %.1f %% is proved after %zu "
                    "pairs of processes (or runs)",
                    g->settings->margin * 100, g->settings->bound * 100, row->replicas);
}

static void settle_timed(const gate *g, gate_row *row, plan_change change) {
    if (change == PLAN_SLOWER)
        gate_settle(row, GATE_REGRESSED, REASON_NONE, "%s", "");
    else if (change == PLAN_FASTER)
        gate_settle(row, GATE_IMPROVED, REASON_NONE, "%s", "");
    else if (row->series.equal && row->detectable <= g->settings->bound)
        gate_settle(row, GATE_EQUIVALENT, REASON_NONE, "%s", "");
    else
        gate_settle_unsure(g, row);
}

size_t gate_decide(gate *g, gate_row ***rows, plan_change **changes) {
    size_t count = 0;
    const plan_series **all = base_calloc(g->rows.count + 1, sizeof *all);
    double *adjusted = base_calloc(g->rows.count + 1, sizeof *adjusted);
    *rows = base_calloc(g->rows.count + 1, sizeof **rows);
    *changes = base_calloc(g->rows.count + 1, sizeof **changes);
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].timed) {
            (*rows)[count] = &g->rows.items[i];
            all[count++] = &g->rows.items[i].series;
        }
    plan_decide(&g->plan, all, count, *changes, adjusted);
    for (size_t i = 0; i < count; i++)
        (*rows)[i]->adjusted_p = adjusted[i];
    free(all);
    free(adjusted);
    return count;
}

void gate_judge(gate *g) {
    gate_row **rows;
    plan_change *changes;
    size_t count = gate_decide(g, &rows, &changes);
    for (size_t i = 0; i < count; i++) {
        estimate(rows[i]);
        settle_timed(g, rows[i], changes[i]);
    }
    free(rows);
    free(changes);
}
