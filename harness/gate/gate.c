/* gate.c - the steps of a gate, in order. */
#include "gate/gate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/timer.h"

const gate_reason_info gate_reasons[REASON_COUNT] = {
#define REASON(id, name, code, allowable, meaning)                                                 \
    [REASON_##id] = {name, meaning, (exit_code)(code), allowable},
#include "gate/reasons.def"
#undef REASON
};

static const char *const verdict_names[GATE_VERDICT_COUNT] = {
    [GATE_INCONCLUSIVE] = "INCONCLUSIVE",
    [GATE_EQUIVALENT] = "EQUIVALENT",
    [GATE_IMPROVED] = "IMPROVED",
    [GATE_REGRESSED] = "REGRESSED",
    [GATE_FAILED] = "FAILED",
};

const char *gate_verdict_name(gate_verdict verdict) {
    return verdict_names[verdict];
}

bool gate_is_settled(const gate_row *row) {
    return row->reason != REASON_NONE || row->verdict != GATE_INCONCLUSIVE;
}

void gate_settle(gate_row *row, gate_verdict verdict, gate_reason reason, const char *format, ...) {
    char words[900];
    va_list args;
    if (gate_is_settled(row))
        return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    row->verdict = verdict;
    row->reason = reason;
    row->open = false;
    free(row->why);
    row->why = words[0] ? base_strdup(words) : NULL;
}

/* A renamed or missing case may be what was wanted; a slower or wrong one is never. */
exit_code gate_row_exit(const gate *g, const gate_row *row) {
    if (row->verdict == GATE_REGRESSED)
        return EXIT_CHECK;
    const gate_reason_info *reason = &gate_reasons[row->reason];
    if (reason->allowable && g->settings->allowed[row->reason])
        return EXIT_DONE;
    return reason->code;
}

/* Checks that there is a verdict of anything. */
static bool has_verdict(const gate *g) {
    for (size_t i = 0; i < g->rows.count; i++)
        if (g->rows.items[i].verdict != GATE_INCONCLUSIVE)
            return true;
    return false;
}

/* Reasons accepted beside verdicts do not make one where there is none. */
exit_code gate_exit(const gate *g) {
    exit_code code = g->interrupted   ? EXIT_INTERRUPTED
                     : has_verdict(g) ? EXIT_DONE
                                      : EXIT_NO_VERDICT;
    for (size_t i = 0; i < g->rows.count; i++)
        code = exit_code_worse(code, gate_row_exit(g, &g->rows.items[i]));
    /* Kernels that cannot be read are no rows. */
    const corpus *items = g->sides[1]->items;
    return items ? exit_code_worse(code, items->problem) : code;
}

/* Without a clock, and what --cross-host lets through though it is code for other levels. */
static void settle_untimed(gate *g) {
    for (size_t i = 0; i < g->rows.count; i++) {
        gate_row *row = &g->rows.items[i];
        if (!gate_is_settled(row) &&
            (g->settings->no_timing || strcmp(row->isa[0], row->isa[1]) != 0))
            gate_settle_untimed(g, row);
    }
}

static bool compare(gate *g, status *st) {
    if (gate_side_is_recorded(g->sides[0]))
        return gate_recorded(g, st);
    if (!gate_compile(g, st) || !gate_prepare(g, st))
        return false;
    if (g->interrupted)
        return true;
    if (g->settings->instructions && !gate_instructions(g, st))
        return false;
    settle_untimed(g);
    if (g->settings->no_timing || g->interrupted)
        return true;
    if (!gate_rounds(g, st))
        return false;
    gate_judge(g);
    return gate_roof(g, st) || g->interrupted;
}

bool gate_is_over_budget(const gate *g) {
    double limit = g->settings->budget_seconds;
    return limit > 0 && (double)(timer_now_ns() - g->start_ns) * 1e-9 > limit;
}

bool gate_run(gate *g, status *st) {
    g->start_ns = timer_now_ns();
    if (gate_side_is_recorded(g->sides[0]) != gate_side_is_recorded(g->sides[1])) {
        const gate_side *recorded = g->sides[gate_side_is_recorded(g->sides[0]) ? 0 : 1];
        return status_set(st, STATUS_INVALID,
                          "%s is a recorded result, and can only be compared with another: give "
                          "a run or a file to --%s, too",
                          recorded->name, recorded == g->sides[0] ? "against" : "baseline");
    }
    if (gate_side_is_foreign(g->sides[0]) != gate_side_is_foreign(g->sides[1])) {
        const gate_side *foreign = g->sides[gate_side_is_foreign(g->sides[0]) ? 0 : 1];
        return status_set(st, STATUS_INVALID,
                          "%s is code of others, which runs in a process of its own, and can only "
                          "be compared with such: --with OLD --against NEW (tsr bench --with shows "
                          "it beside ours)",
                          foreign->name);
    }
    if (!scratch_open(&g->data, st))
        return false;
    gate_match(g);
    bool ok = g->rows.count > 0 ||
              status_set(st, STATUS_INVALID, "neither side has a case that is meant");
    ok = ok && compare(g, st);
    g->seconds = (double)(timer_now_ns() - g->start_ns) * 1e-9;
    return ok;
}

void gate_release(gate *g) {
    for (size_t i = 0; i < g->rows.count; i++) {
        gate_row *row = &g->rows.items[i];
        free(row->why);
        json_decref(row->spec);
        vec_release(&row->ns[0]);
        vec_release(&row->ns[1]);
        vec_release(&row->clock_ns);
    }
    vec_release(&g->rows);
    scratch_close(&g->data);
}
