/* points.c - combinations of sizes, and which of them are left out. */
#include "tune/points.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/timer.h"

void points_note(json_t *tried, const char *space, const char *why) {
    json_array_append_new(tried,
                          json_pack("{s:s, s:s, s:s}", "space", space, "schedule", "", "why", why));
}

/* Why a choice is not measured; NULL: it is. */
static const char *why_not(const points_request *r, const space_points *p,
                           const compiler_code *code) {
    for (uint32_t i = 0; i < p->count; i++) {
        compiler_relation relation = compiler_relate(&p->items[i].code, code);
        if (relation == COMPILER_SAME_CODE && !r->chip)
            return i ? "the same code as other tiles that are tried"
                     : "the same code as the kernel's own tiles";
        if (relation == COMPILER_ANOTHER_ORDER)
            return "another order";
    }
    if (!r->strict)
        return "not known to be the same order, and bits are held under strict alone";
    return p->count == POINTS_MAX ? "there are too many other choices" : NULL;
}

static void look_at(const points_request *r, const char *space, space_points *out, json_t *tried) {
    const corpus_case *item = r->item;
    status st = STATUS_INIT;
    space_point point = {0};
    const compiler_case *c = compiler_case_choose(item->source, item->kernel, item->c, space, &st);
    point.instance = c ? case_instance(item->source, item->kernel, c, &st) : NULL;
    bool sound = point.instance && compiler_code_of(point.instance, &point.code, &st);
    const char *why = sound ? why_not(r, out, &point.code) : "no code can be made of it";
    if (!why) {
        point.space = base_strdup(space);
        out->items[out->count++] = point;
        return;
    }
    points_note(tried, space, why);
    compiler_instance_free(point.instance);
}

static bool is_turned(const points_request *r, const compiler_knob *knob) {
    return knob->count > 0 && (r->chip || !knob->hint);
}

/* The number of a combination as one value of each size, the last turning fastest. */
static void describe(const points_request *r, uint64_t number, text *out) {
    const compiler_knobs *knobs = r->item->kernel->knobs;
    uint64_t of_each[COMPILER_KNOBS_MAX] = {0};
    for (uint32_t i = knobs->count; i > 0; i--) {
        const compiler_knob *knob = &knobs->items[i - 1];
        if (!is_turned(r, knob))
            continue;
        of_each[i - 1] = number % knob->count;
        number /= knob->count;
    }
    text_clear(out);
    for (uint32_t i = 0; i < knobs->count; i++) {
        const compiler_knob *knob = &knobs->items[i];
        if (is_turned(r, knob))
            text_printf(out, "%s%s=%" PRId64, out->length ? "," : "", knob->name,
                        knob->values[of_each[i]]);
    }
}

/* Hints are for chips: whatever they are, a CPU's code is the same. */
static uint64_t count_combinations(const points_request *r, json_t *tried) {
    const compiler_knobs *knobs = r->item->kernel->knobs;
    uint64_t all = 1;
    for (uint32_t i = 0; i < knobs->count; i++) {
        const compiler_knob *knob = &knobs->items[i];
        for (uint32_t v = 1; knob->hint && !r->chip && v < knob->count; v++) {
            text space;
            text_init(&space);
            text_printf(&space, "%s=%" PRId64, knob->name, knob->values[v]);
            points_note(tried, space.data, "a hint without use here");
            text_release(&space);
        }
        all *= is_turned(r, knob) ? knob->count : 1;
        all = all > COMBINATIONS_MAX ? COMBINATIONS_MAX + 1 : all;
    }
    return all;
}

void points_find(const points_request *r, space_points *out, json_t *tried) {
    const compiler_knobs *knobs = r->item->kernel->knobs;
    text space;
    status st = STATUS_INIT;
    *out = (space_points){.items = {{.instance = r->own}}, .count = 1};
    if (r->item->c->space || knobs->count == 0 ||
        !compiler_code_of(r->own, &out->items[0].code, &st))
        return;
    text_init(&space);
    uint64_t combinations = count_combinations(r, tried);
    for (uint64_t i = 1; i < combinations; i++) {
        describe(r, i, &space);
        if (timer_now_ns() >= r->end_ns || i == COMBINATIONS_MAX) {
            points_note(tried, space.data,
                        "this choice and those after it: no time to look at them");
            break;
        }
        look_at(r, space.data, out, tried);
    }
    text_release(&space);
}

void points_release(space_points *p) {
    for (uint32_t i = 1; i < p->count; i++) {
        compiler_instance_free(p->items[i].instance);
        free(p->items[i].space);
    }
    p->count = 0;
}
