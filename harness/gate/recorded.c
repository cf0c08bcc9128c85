/* recorded.c - verdicts of results that were measured before: each run is one process, so it takes
 * several on each side to tell a change from chance.
 *
 * Rank sums take the place of signed ranks: the runs are in no pairs. There is one look. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate.h"
#include "job/job.h"
#include "job/result.h"
#include "measure/roofline.h"
#include "statistics/rank.h"
#include "statistics/statistics.h"

typedef struct medians {
    double logs[2][GATE_SIDE_RECORDS_MAX];
    size_t counts[2];
} medians;

/* ---- machines ---- */

static bool same_fact(const json_t *a, const json_t *b, const char *name) {
    return json_equal(json_object_get(json_object_get(a, "host"), name),
                      json_object_get(json_object_get(b, "host"), name));
}

/* The first document whose machine is not that of the first of all; REASON_NONE: there is none. */
static gate_reason other_machine(const gate *g) {
    const json_t *first = json_array_get(g->sides[0]->heads, 0), *head;
    for (int i = 0; i < 2; i++) {
        size_t k;
        json_array_foreach(g->sides[i]->heads, k, head) {
            if (!same_fact(first, head, "cpu") || !same_fact(first, head, "cores"))
                return REASON_OTHER_CPU;
            const json_t *a = json_object_get(first, "arguments");
            const json_t *b = json_object_get(head, "arguments");
            if (!same_fact(first, head, "isa") ||
                !json_equal(json_object_get(a, "isa"), json_object_get(b, "isa")))
                return REASON_OTHER_ISA;
        }
    }
    return REASON_NONE;
}

static void refuse_all(gate *g, gate_reason reason) {
    for (size_t i = 0; i < g->rows.count; i++)
        if (!gate_is_settled(&g->rows.items[i]))
            gate_settle(&g->rows.items[i], GATE_INCONCLUSIVE, reason,
                        "%s: times say nothing then; --cross-host compares what is exact",
                        gate_reasons[reason].meaning);
}

/* ---- a row without time ---- */

static const json_t *first_failure(const gate_side_unit *unit) {
    for (size_t i = 0; i < unit->records.count; i++)
        if (outcome_is_failure(result_outcome(unit->records.items[i])))
            return unit->records.items[i];
    return NULL;
}

static bool is_unjudged(const gate_side_unit *unit) {
    bool any = false;
    for (size_t i = 0; i < unit->records.count; i++)
        any |= result_outcome(unit->records.items[i]) == OUTCOME_UNJUDGED;
    return any;
}

static int64_t count_of(const gate_side_unit *unit, const char *name) {
    const json_t *value = json_object_get(unit->records.items[0], name);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void settle_exact(const gate *g, gate_row *row) {
    const json_t *a = first_failure(row->units[0]), *b = first_failure(row->units[1]);
    for (int i = 0; i < 2; i++) {
        row->facts[i].flops = count_of(row->units[i], "flops");
        row->facts[i].bytes = count_of(row->units[i], "bytes");
    }
    if (a)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BASELINE_FAILS,
                    "the baseline's result is %s: %s", result_text(a, RESULT_STATUS),
                    result_text(a, RESULT_WHY));
    else if (b && result_outcome(b) == OUTCOME_MISMATCH)
        gate_settle(row, GATE_FAILED, REASON_MISMATCH, "%s", result_text(b, RESULT_WHY));
    else if (b)
        gate_settle(row, GATE_FAILED, REASON_NEWLY_FAILING, "%s: %s", result_text(b, RESULT_STATUS),
                    result_text(b, RESULT_WHY));
    else if (is_unjudged(row->units[0]) || is_unjudged(row->units[1]))
        gate_settle(row, GATE_INCONCLUSIVE, REASON_NOT_JUDGED, "%s: %s",
                    is_unjudged(row->units[0]) ? "the baseline" : "the other side",
                    gate_reasons[REASON_NOT_JUDGED].meaning);
    else if (row->units[0]->fraction > ROOFLINE_LIMIT)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BASELINE_FAILS,
                    "the baseline's result is %.3g of its roof: its time or its work is wrong",
                    row->units[0]->fraction);
    else if (row->units[1]->fraction > ROOFLINE_LIMIT)
        /* Bench makes such a result an error; a file that says ok was not written by it. */
        gate_settle(row, GATE_FAILED, REASON_ABOVE_ROOF, "it is %.3g of its roof",
                    row->units[1]->fraction);
    else if (strcmp(row->units[0]->work, row->units[1]->work) != 0)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_OTHER_WORK,
                    "graph, sizes or inputs are not those of the baseline");
    else if (row->units[0]->hash[0] && strcmp(row->units[0]->hash, row->units[1]->hash) == 0 &&
             !g->settings->always_time)
        gate_settle(row, GATE_EQUIVALENT, REASON_SAME_MODULE, "%s", "");
    else if (g->settings->cross_host || g->settings->no_timing)
        gate_settle_untimed(g, row);
}

/* ---- time ---- */

static bool take_medians(const gate_row *row, medians *m) {
    *m = (medians){0};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < row->units[i]->records.count && k < GATE_SIDE_RECORDS_MAX; k++) {
            double ns = result_number(row->units[i]->records.items[k], RESULT_MEDIAN);
            if (ns > 0)
                m->logs[i][m->counts[i]++] = log(ns);
        }
    return m->counts[0] && m->counts[1];
}

static double level_of(const gate *g) {
    return g->settings->alpha / 2 / (double)g->plan.request.family;
}

/* As plan_detectable, for two samples. */
static double detectable(const gate *g, const rank_samples *s, const rank_interval *i) {
    if (rank_sum_least_p(s->a_count, s->b_count) > level_of(g))
        return INFINITY;
    double error = (i->high - i->low) / (2 * plan_normal_quantile(0.5 + i->confidence / 2));
    return expm1(
        g->plan.log_margin +
        (plan_normal_quantile(1 - level_of(g)) + plan_normal_quantile(g->settings->power)) * error);
}

static void test_row(gate *g, gate_row *row, medians *m) {
    rank_samples s = {m->logs[0], m->logs[1], m->counts[0], m->counts[1]};
    rank_interval i = rank_shift_interval(&s, 0.95);
    double level = (1 - g->settings->power) / 2;
    row->change.known = true;
    row->change.estimate = expm1(rank_shift(&s));
    row->change.low = expm1(i.low);
    row->change.high = expm1(i.high);
    row->change.confidence = i.confidence;
    row->detectable = detectable(g, &s, &i);
    row->series.slower = rank_sum_above(&s, g->plan.log_margin);
    row->series.faster = rank_sum_below(&s, -g->plan.log_margin);
    row->series.equal = rank_sum_below(&s, g->plan.log_bound) <= level &&
                        rank_sum_above(&s, -g->plan.log_bound) <= level;
    row->replicas = m->counts[0] < m->counts[1] ? m->counts[0] : m->counts[1];
    for (int k = 0; k < 2; k++)
        row->change.median_ns[k] = exp(statistics_of(m->logs[k], m->counts[k]).median);
}

static void settle_row(const gate *g, gate_row *row, plan_change change) {
    if (change != PLAN_NONE)
        gate_settle(row, change == PLAN_SLOWER ? GATE_REGRESSED : GATE_IMPROVED, REASON_NONE, "%s",
                    "");
    else if (!isfinite(row->detectable))
        gate_settle(row, GATE_INCONCLUSIVE, REASON_UNREPLICATED,
                    "%zu and %zu runs: among %zu cases even the clearest change could be chance; "
                    "give more runs on each side (A,B,C), or gate the builds",
                    row->units[0]->records.count, row->units[1]->records.count,
                    g->plan.request.family);
    else if (row->series.equal && row->detectable <= g->settings->bound)
        gate_settle(row, GATE_EQUIVALENT, REASON_NONE, "%s", "");
    else
        gate_settle_unsure(g, row);
}

static void judge(gate *g) {
    gate_row **rows;
    plan_change *changes;
    size_t count = gate_decide(g, &rows, &changes);
    for (size_t i = 0; i < count; i++)
        settle_row(g, rows[i], changes[i]);
    free(rows);
    free(changes);
}

static void time_rows(gate *g) {
    medians m;
    for (size_t i = 0; i < g->rows.count; i++) {
        gate_row *row = &g->rows.items[i];
        if (gate_is_settled(row))
            continue;
        row->timed = take_medians(row, &m);
        if (!row->timed)
            gate_settle(row, GATE_INCONCLUSIVE, REASON_UNTIMED, "a side has no time");
        g->plan.request.family += row->timed;
    }
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].timed && take_medians(&g->rows.items[i], &m))
            test_row(g, &g->rows.items[i], &m);
    judge(g);
}

bool gate_recorded(gate *g, status *st) {
    const gate_settings *s = g->settings;
    (void)st;
    g->plan = (plan){.request = {s->margin, s->bound, s->alpha, s->power, 0, 0},
                     .log_margin = log1p(s->margin),
                     .log_bound = log1p(s->bound)};
    gate_reason other = other_machine(g);
    if (other != REASON_NONE && !s->cross_host)
        refuse_all(g, other);
    for (size_t i = 0; i < g->rows.count; i++)
        if (!gate_is_settled(&g->rows.items[i]))
            settle_exact(g, &g->rows.items[i]);
    time_rows(g);
    return true;
}
