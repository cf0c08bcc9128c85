/* document.c - tsr.gate/1. */
#include "gate/document.h"

#include <math.h>

#include "common/json_text.h"
#include "measure/host_facts.h"

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_or_null(int64_t value) {
    return value >= 0 ? json_integer(value) : json_null();
}

static json_t *counts(int64_t a, int64_t b) {
    return json_pack("[o, o]", count_or_null(a), count_or_null(b));
}

static json_t *facts_json(const gate_row *row) {
    const gate_facts *a = &row->facts[0], *b = &row->facts[1];
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "flops", counts(a->flops, b->flops), "bytes",
                     counts(a->bytes, b->bytes), "code_bytes", counts(a->code_bytes, b->code_bytes),
                     "spills", counts(a->spills, b->spills), "instructions",
                     counts(a->instructions, b->instructions));
}

static json_t *change_json(const gate_row *row) {
    /* JSON has no infinity, which times of 1e300 and 1e-300 ns make. */
    if (!row->change.known || !isfinite(row->change.estimate) || !isfinite(row->change.low) ||
        !isfinite(row->change.high))
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f}", "estimate", row->change.estimate, "low",
                     row->change.low, "high", row->change.high, "confidence",
                     row->change.confidence);
}

static json_t *hash_or_null(const gate_side_unit *unit) {
    return unit && unit->hash[0] ? json_string(unit->hash) : json_null();
}

static json_t *samples_json(const plan_series *s) {
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(list, json_real(s->values[i]));
    return list;
}

static json_t *row_json(const gate *g, const gate_row *row) {
    const gate_side_unit *unit = row->units[1] ? row->units[1] : row->units[0];
    const char *reason = gate_reasons[row->reason].name;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:[o, "
        "o], s:o, s:o, s:i}",
        "kernel", unit->kernel, "case", unit->case_name, "backend", unit->backend, "profile",
        unit->profile, "threads", (json_int_t)unit->threads, "verdict",
        gate_verdict_name(row->verdict), "reason", *reason ? json_string(reason) : json_null(),
        "why", json_text(row->why), "tier", row->change.known ? "timing" : "deterministic",
        "change", change_json(row), "p_regressed",
        row->timed ? json_real(row->series.slower) : json_null(), "p_improved",
        row->timed ? json_real(row->series.faster) : json_null(), "mde",
        row->timed ? number_or_null(row->detectable) : json_null(), "pairs",
        (json_int_t)row->replicas, "baseline_ns",
        row->change.known ? number_or_null(row->change.median_ns[0]) : json_null(), "against_ns",
        row->change.known ? number_or_null(row->change.median_ns[1]) : json_null(), "modules",
        hash_or_null(row->units[0]), hash_or_null(row->units[1]), "static", facts_json(row),
        "log_ratios", samples_json(&row->series), "exit", (int)gate_row_exit(g, row));
    if (unit->item)
        json_object_set_new(object, "source",
                            json_pack("{s:o, s:I}", "path", json_text(unit->item->path), "line",
                                      (json_int_t)unit->item->c->line));
    json_object_set_new(object, "p_adjusted",
                        row->timed ? json_real(row->adjusted_p) : json_null());
    return object;
}

static json_t *gate_side_json(const gate_side *a) {
    return json_pack("{s:o, s:s, s:o}", "name", json_text(a->name), "kind",
                     gate_side_kind_name(a->kind), "detail", json_text(a->detail));
}

static json_t *settings_json(const gate *g) {
    const gate_settings *s = g->settings;
    json_t *looks = json_array();
    for (size_t i = 0; i < g->plan.look_count; i++)
        json_array_append_new(looks, json_integer((json_int_t)g->plan.looks[i].pairs));
    return json_pack("{s:f, s:f, s:f, s:f, s:I, s:o, s:I, s:I, s:I, s:b}", "margin", s->margin,
                     "mde", s->bound, "alpha", s->alpha, "power", s->power, "family",
                     (json_int_t)g->plan.request.family, "looks", looks, "rounds",
                     (json_int_t)s->rounds, "sets", (json_int_t)s->sets, "seed",
                     (json_int_t)s->seed, "cross_host", s->cross_host);
}

json_t *gate_document(const gate *g, const char *id, const char *started) {
    json_t *results = json_array();
    size_t counted[GATE_VERDICT_COUNT] = {0};
    double worst = 0;
    for (size_t i = 0; i < g->rows.count; i++) {
        const gate_row *row = &g->rows.items[i];
        counted[row->verdict]++;
        worst = row->timed ? fmax(worst, row->detectable) : worst;
        json_array_append_new(results, row_json(g, row));
    }
    json_t *summary = json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", "regressed", (json_int_t)counted[GATE_REGRESSED], "improved",
        (json_int_t)counted[GATE_IMPROVED], "equivalent", (json_int_t)counted[GATE_EQUIVALENT],
        "inconclusive", (json_int_t)counted[GATE_INCONCLUSIVE], "failed",
        (json_int_t)counted[GATE_FAILED]);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:i}",
                     "schema", "tsr.gate/1", "gate", id, "started", started, "tsr", program_facts(),
                     "host", host_facts(), "baseline", gate_side_json(g->sides[0]), "against",
                     gate_side_json(g->sides[1]), "settings", settings_json(g), "results", results,
                     "summary", summary, "mde",
                     g->plan.request.family ? number_or_null(worst) : json_null(), "processes",
                     (json_int_t)g->processes, "seconds", g->seconds, "exit", (int)gate_exit(g));
}
