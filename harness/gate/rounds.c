/* rounds.c - pairs of processes, one swapped, until the plan has nothing more to ask. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate.h"
#include "gate/timing.h"

typedef struct half { /* what one process of a pair said of a row */
    bool there;
    double log_ratio;
} half;

typedef struct batch {
    gate *gate;
    uint32_t threads;
    gate_row **rows; /* those of this batch */
    json_t **specs;
    half *halves[2];
    size_t count;
    int which; /* half in hand */
} batch;

static void settle_failure(gate_row *row, const timing_outcome *o) {
    bool mismatch = strcmp(o->kind, "mismatch") == 0;
    if (strcmp(o->kind, "not-judged") == 0)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_NOT_JUDGED, "%s: %s",
                    o->side == 0 ? "the baseline" : "the other side", o->why);
    else if (strcmp(o->kind, "unchecked") == 0)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_UNCHECKED, "%s", o->why);
    else if (o->side == 0)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BASELINE_FAILS, "the baseline: %s", o->why);
    else
        gate_settle(row, GATE_FAILED, mismatch ? REASON_MISMATCH : REASON_NEWLY_FAILING, "%s: %s",
                    o->kind, o->why ? o->why : "?");
}

static void take_outcome(void *context, const timing_outcome *o) {
    batch *b = context;
    gate_row *row = b->rows[o->index];
    if (!o->ok) {
        settle_failure(row, o);
        return;
    }
    b->halves[b->which][o->index] = (half){true, o->log_ratio};
    vec_push(&row->ns[0], o->ns[0]);
    vec_push(&row->ns[1], o->ns[1]);
    vec_push(&row->clock_ns, o->clock_ns);
    if (b->gate->best_clock_ns == 0 || o->clock_ns < b->gate->best_clock_ns)
        b->gate->best_clock_ns = o->clock_ns;
}

/* The open rows of this number of threads. */
static void gather(batch *b) {
    gate *g = b->gate;
    b->count = 0;
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].open && g->rows.items[i].units[1]->threads == b->threads) {
            b->rows[b->count] = &g->rows.items[i];
            b->specs[b->count++] = g->rows.items[i].spec;
        }
}

static timing_request request_of(gate *g, json_t **specs, size_t count, uint32_t threads) {
    g->processes++;
    return (timing_request){.data = &g->data,
                            .specs = specs,
                            .count = count,
                            .device = g->settings->device,
                            .threads = threads,
                            .rounds = g->settings->rounds,
                            .seed = g->settings->seed * 1000003 + (g->processes - 1) * 7919 + 1,
                            .timeout_seconds = g->settings->timeout_seconds,
                            .interrupted = g->stop};
}

static bool run_half(batch *b, int which, size_t pair, status *st) {
    timing_request request = request_of(b->gate, b->specs, b->count, b->threads);
    /* The order within a pair alternates, too. */
    request.swapped = ((size_t)which + pair) % 2 == 1;
    b->which = which;
    memset(b->halves[which], 0, b->count * sizeof **b->halves);
    return timing_run(&request, take_outcome, b, st);
}

static void take_time(void *context, const timing_outcome *o) {
    double *ns = context;
    *ns = o->ok ? o->ns[1] : 0;
}

bool gate_time_again(gate *g, gate_row *row, double *ns, status *st) {
    timing_request request = request_of(g, &row->spec, 1, row->units[1]->threads);
    *ns = 0;
    if (timing_run(&request, take_time, ns, st))
        return *ns > 0 || status_set(st, STATUS_UNAVAILABLE, "%s cannot be timed again", row->key);
    g->interrupted |= *g->stop != 0;
    return false;
}

static bool run_pair(batch *b, size_t pair, status *st) {
    gather(b);
    if (b->count == 0)
        return true;
    if (!run_half(b, 0, pair, st) || !run_half(b, 1, pair, st))
        return false;
    for (size_t i = 0; i < b->count; i++) {
        plan_series *s = &b->rows[i]->series;
        if (b->halves[0][i].there && b->halves[1][i].there && s->count < PLAN_PAIRS_MAX)
            s->values[s->count++] = (b->halves[0][i].log_ratio + b->halves[1][i].log_ratio) / 2;
    }
    return true;
}

/* ---- looks ---- */

/* Looks at each row; those of which enough is known need no more time. */
static void look(gate *g) {
    gate_row **rows;
    plan_change *changes;
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].timed) {
            plan_look_at(&g->plan, &g->rows.items[i].series);
            g->rows.items[i].detectable = plan_detectable(&g->plan, &g->rows.items[i].series);
        }
    size_t count = gate_decide(g, &rows, &changes);
    for (size_t i = 0; i < count; i++) {
        bool sure = rows[i]->series.equal && rows[i]->detectable <= g->settings->bound;
        if (changes[i] != PLAN_NONE || sure)
            rows[i]->open = false;
    }
    free(rows);
    free(changes);
}

static size_t open_rows(const gate *g) {
    size_t open = 0;
    for (size_t i = 0; i < g->rows.count; i++)
        open += g->rows.items[i].open;
    return open;
}

static void give_up(gate *g) {
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].open)
            gate_settle(&g->rows.items[i], GATE_INCONCLUSIVE, REASON_BUDGET,
                        "after %zu pairs of processes the %.0f s of --budget were over",
                        g->rows.items[i].series.count, g->settings->budget_seconds);
}

static void tell(const gate *g, size_t pair) {
    size_t last = g->plan.looks[g->plan.look_count - 1].pairs;
    char words[96];
    snprintf(words, sizeof words, "pair %zu of at most %zu, %zu cases open", pair + 1, last,
             open_rows(g));
    if (g->progress)
        g->progress(g->progress_context, words, (double)pair / (double)last);
}

static bool rounds(gate *g, batch *b, const bool *threads, status *st) {
    size_t pair = 0, next;
    while ((next = plan_next(&g->plan, pair)) != 0 && open_rows(g) > 0) {
        for (; pair < next; pair++) {
            if (gate_is_over_budget(g)) {
                give_up(g);
                return true;
            }
            tell(g, pair);
            for (b->threads = 1; b->threads <= 256; b->threads++)
                if (threads[b->threads] && !run_pair(b, pair, st)) {
                    g->interrupted |= *g->stop != 0;
                    return g->interrupted;
                }
        }
        look(g);
    }
    return true;
}

bool gate_rounds(gate *g, status *st) {
    bool threads[257] = {false};
    plan_request request = {
        g->settings->margin, g->settings->bound, g->settings->alpha, g->settings->power, 0,
        g->settings->pairs};
    for (size_t i = 0; i < g->rows.count; i++) {
        gate_row *row = &g->rows.items[i];
        row->timed = row->open = row->spec && !gate_is_settled(row);
        if (row->timed) {
            request.family++;
            threads[row->units[1]->threads] = true;
        }
    }
    plan_make(&g->plan, &request);
    if (request.family == 0)
        return true;
    batch b = {.gate = g,
               .rows = base_calloc(g->rows.count, sizeof *b.rows),
               .specs = base_calloc(g->rows.count, sizeof *b.specs)};
    for (int i = 0; i < 2; i++)
        b.halves[i] = base_calloc(g->rows.count, sizeof **b.halves);
    bool ok = rounds(g, &b, threads, st);
    for (int i = 0; i < 2; i++)
        free(b.halves[i]);
    free(b.rows);
    free(b.specs);
    return ok;
}
