/* deterministic.c - what needs no clock: modules, their hashes, and counts that are exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate.h"
#include "module.h"

/* ---- what a module says of itself ---- */

static json_t *metadata_of(const gate_side_unit *unit) {
    module_part part;
    status ignored = STATUS_INIT;
    if (!module_check(unit->image, unit->image_bytes, &ignored) ||
        !module_find(unit->image, unit->image_bytes, "metadata", &part))
        return NULL;
    return json_loadb(part.data, part.size_bytes, 0, NULL);
}

static void take_level(const json_t *metadata, char isa[32]) {
    const char *name = json_string_value(json_object_get(metadata, "isa"));
    const json_t *image = json_array_get(json_object_get(metadata, "images"), 0);
    if (!name)
        name = json_string_value(json_object_get(image, "isa"));
    snprintf(isa, 32, "%s", name ? name : "");
}

/* Buffers of two modules that can be given the same arrays. */
static bool same_buffers(const json_t *a, const json_t *b, const char *which) {
    const json_t *x = json_object_get(a, which), *y = json_object_get(b, which);
    if (json_array_size(x) != json_array_size(y))
        return false;
    for (size_t i = 0; i < json_array_size(x); i++) {
        const json_t *p = json_array_get(x, i), *q = json_array_get(y, i);
        if (!json_equal(json_object_get(p, "dtype"), json_object_get(q, "dtype")) ||
            !json_equal(json_object_get(p, "shape"), json_object_get(q, "shape")))
            return false;
    }
    return true;
}

static void count_code(const gate_side_unit *unit, gate_facts *facts) {
    compiler_code_facts code;
    status ignored = STATUS_INIT;
    if (!compiler_code_facts_of(unit->image, unit->image_bytes, &code, &ignored))
        return;
    facts->code_bytes = (int64_t)code.code_bytes;
    facts->spills = (int64_t)code.stack_accesses;
}

static void count_work(const gate_side_unit *unit, gate_facts *facts) {
    status ignored = STATUS_INIT;
    uint64_t flops, bytes;
    if (!unit->item)
        return;
    compiler_instance *instance = corpus_case_instance(unit->item, &ignored);
    if (instance && compiler_cost(instance, &flops, &bytes, &ignored)) {
        facts->flops = (int64_t)flops;
        facts->bytes = (int64_t)bytes;
    }
    compiler_instance_free(instance);
}

/* ---- a row ---- */

static void settle_uncompiled(gate_row *row) {
    const char *a = row->units[0]->problem, *b = row->units[1]->problem;
    if (a && b)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BOTH_FAIL, "neither side compiles: %s", b);
    else if (b)
        gate_settle(row, GATE_FAILED, REASON_NEWLY_FAILING, "it does not compile any more: %s", b);
    else
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BASELINE_FAILS,
                    "the baseline does not compile: %s", a ? a : "?");
}

static void compare_modules(const gate *g, gate_row *row) {
    json_t *documents[2];
    for (int i = 0; i < 2; i++) {
        documents[i] = metadata_of(row->units[i]);
        if (!gate_side_is_foreign(g->sides[i])) /* which has kinds instead */
            take_level(documents[i], row->isa[i]);
        const char *graph = json_string_value(json_object_get(documents[i], "graph_sha256"));
        snprintf(row->units[i]->work, sizeof row->units[i]->work, "%s", graph ? graph : "");
        count_code(row->units[i], &row->facts[i]);
        count_work(row->units[i], &row->facts[i]);
    }
    if (!g->settings->always_time && strcmp(row->units[0]->hash, row->units[1]->hash) == 0)
        gate_settle(row, GATE_EQUIVALENT, REASON_SAME_MODULE, "%s", "");
    else if (!same_buffers(documents[0], documents[1], "inputs") ||
             !same_buffers(documents[0], documents[1], "outputs"))
        gate_settle(row, GATE_INCONCLUSIVE, REASON_OTHER_WORK,
                    "its buffers are not those of the baseline");
    else if (strcmp(row->isa[0], row->isa[1]) != 0 && !g->settings->cross_host)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_OTHER_ISA,
                    "the baseline is code for %s, the other side for %s", row->isa[0], row->isa[1]);
    json_decref(documents[0]);
    json_decref(documents[1]);
}

/* Executed instructions are the nearest to time that can be counted. */
static void settle_by_instructions(const gate *g, gate_row *row) {
    int64_t was = row->facts[0].instructions, is = row->facts[1].instructions;
    double change = was > 0 ? (double)is / (double)was - 1 : 0;
    gate_verdict verdict = change > g->settings->margin    ? GATE_REGRESSED
                           : change < -g->settings->margin ? GATE_IMPROVED
                                                           : GATE_EQUIVALENT;
    gate_settle(row, verdict, REASON_INSTRUCTIONS,
                "a launch executes %lld instructions, the baseline's %lld (%+.2f %%)",
                (long long)is, (long long)was, change * 100);
}

/* Without a clock: work that grew is slower, equal modules are equal, and the rest is not known. */
void gate_settle_untimed(const gate *g, gate_row *row) {
    const gate_facts *a = &row->facts[0], *b = &row->facts[1];
    bool more = (a->flops >= 0 && b->flops > a->flops) || (a->bytes >= 0 && b->bytes > a->bytes) ||
                (a->spills >= 0 && b->spills > a->spills);
    if (a->instructions >= 0 && b->instructions >= 0)
        settle_by_instructions(g, row);
    else if (more)
        gate_settle(row, GATE_REGRESSED, REASON_STATIC,
                    "more work than the baseline's, or more spills");
    else if (g->settings->instructions)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_UNTIMED,
                    "the modules differ, and no count says which is faster; instructions are "
                    "counted where both sides have sources that compile for x86-64-v3");
    else
        gate_settle(row, GATE_INCONCLUSIVE, REASON_UNTIMED,
                    "the modules differ, and no count says which is faster: count instructions "
                    "(--counters instructions), or time them");
}

bool gate_compile(gate *g, status *st) {
    (void)st;
    for (size_t i = 0; i < g->rows.count; i++) {
        gate_row *row = &g->rows.items[i];
        if (gate_is_settled(row))
            continue;
        if (*g->stop) {
            g->interrupted = true;
            return true;
        }
        if (g->progress)
            g->progress(g->progress_context, row->key, (double)i / (double)g->rows.count);
        bool a = gate_side_compile(g->sides[0], row->units[0], g->choice);
        bool b = gate_side_compile(g->sides[1], row->units[1], g->choice);
        if (a && b)
            compare_modules(g, row);
        else
            settle_uncompiled(row);
    }
    return true;
}
