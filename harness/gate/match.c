/* match.c - the rows of a gate: what both sides have, and what one of them lacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/golden.h"
#include "gate/gate.h"

static void add_row(gate *g, gate_side_unit *a, gate_side_unit *b) {
    gate_row row = {.key = b ? b->key : a->key, .units = {a, b}, .adjusted_p = 1};
    for (int i = 0; i < 2; i++)
        row.facts[i] = (gate_facts){-1, -1, -1, -1, -1};
    plan_series_init(&row.series);
    vec_push(&g->rows, row);
}

/* Hash of a unit's work: graph, dimensions, types and inputs; not its kernel's name. Empty where no
 * source is at hand. */
static void work_of(const gate_side_unit *unit, char hex[65]) {
    hex[0] = '\0';
    compiler_instance *instance = unit->item ? corpus_case_instance(unit->item, NULL) : NULL;
    if (instance) {
        const text *graph = compiler_instance_text(instance);
        text words;
        char name[256];
        text_init(&words);
        text_append_bytes(&words, graph->data, graph->length);
        snprintf(name, sizeof name, "name = \"%s\"", unit->kernel);
        char *at = strstr(words.data, name);
        if (at) {
            size_t rest = strlen(at + strlen(name));
            memmove(at, at + strlen(name), rest + 1);
            words.length -= strlen(name);
        }
        for (uint32_t i = 0; i < unit->item->c->dim_count; i++)
            text_printf(&words, "%s %lld\n", unit->item->c->dims[i].name,
                        (long long)unit->item->c->dims[i].value);
        sha256 digest = sha256_of(words.data, words.length);
        sha256_hex(&digest, hex);
        text_release(&words);
        compiler_instance_free(instance);
    }
}

static bool same_configuration(const gate_side_unit *a, const gate_side_unit *b) {
    return strcmp(a->profile, b->profile) == 0 && a->threads == b->threads;
}

/* Among the new units one that does what a missing one did. */
static gate_side_unit *renamed_to(const gate_side_unit *missing, const gate_side_unit *const *fresh,
                                  size_t count, bool *taken) {
    char was[65], is[65];
    work_of(missing, was);
    for (size_t i = 0; i < count && was[0]; i++) {
        if (taken[i] || !same_configuration(missing, fresh[i]))
            continue;
        work_of(fresh[i], is);
        if (strcmp(was, is) == 0) {
            taken[i] = true;
            return (gate_side_unit *)(uintptr_t)fresh[i];
        }
    }
    return NULL;
}

static void settle_missing(gate *g, gate_side_unit *unit, gate_side_unit *now) {
    add_row(g, unit, now);
    gate_row *row = &g->rows.items[g->rows.count - 1];
    if (now && !g->settings->allowed[REASON_RENAMED])
        gate_settle(row, GATE_INCONCLUSIVE, REASON_RENAMED, "%s/%s is called %s/%s now",
                    unit->kernel, unit->case_name, now->kernel, now->case_name);
    else if (!now)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_MISSING, "only %s has it", g->sides[0]->name);
}

void gate_match(gate *g) {
    VEC(const gate_side_unit *) fresh = {0};
    gate_side *a = g->sides[0], *b = g->sides[1];
    for (size_t i = 0; i < b->units.count; i++)
        if (!b->units.items[i].left_out && !gate_side_find(a, b->units.items[i].key))
            vec_push(&fresh, &b->units.items[i]);
    bool *taken = base_calloc(fresh.count + 1, sizeof *taken);
    for (size_t i = 0; i < a->units.count; i++) {
        gate_side_unit *unit = &a->units.items[i], *other = gate_side_find(b, unit->key);
        if (unit->left_out || (other && other->left_out))
            continue;
        if (other)
            add_row(g, unit, other);
        else
            settle_missing(g, unit, renamed_to(unit, fresh.items, fresh.count, taken));
    }
    for (size_t i = 0; i < fresh.count; i++)
        if (!taken[i]) {
            add_row(g, NULL, (gate_side_unit *)(uintptr_t)fresh.items[i]);
            gate_settle(&g->rows.items[g->rows.count - 1], GATE_INCONCLUSIVE, REASON_NEW,
                        "only %s has it", b->name);
        }
    free(taken);
    vec_release(&fresh);
}
