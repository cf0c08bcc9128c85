/* search.c - a beam by the cost model, then measurements. */
#include "tune/search.h"

#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/timer.h"
#include "job/result.h"

enum { BEAM = 12, RANKED_MAX = 64, FIRST_MEASURED = 16, TRIED_MAX = 400, WEIGHED_MOST = 4 };
static const double taken_below = 0.99, weighed_below = 0.9;

typedef struct ranked {
    draft draft;
    double cycles;
} ranked;

typedef struct search {
    const search_request *request;
    search_result *out;
    uint64_t started_ns;
    ranked beam[RANKED_MAX * 2];
    uint32_t beam_count;
    ranked best; /* of those measured */
    bool has_best;
    bool other_bits; /* the tiles that are tried have other bits, whatever the schedule */
    double best_ratio;
    char *texts[TRIED_MAX]; /* of schedules tried */
    uint32_t tried;
} search;

static uint64_t spent_ns(const search *s) {
    return timer_now_ns() - s->started_ns;
}

/* True where less than this part of the budget is spent. */
static bool has_time(const search *s, double part) {
    return !interrupt_seen && !s->other_bits &&
           (double)spent_ns(s) < part * (double)s->request->budget_ns;
}

/* ---- the model ---- */

/* Cheaper first; of equals the one that says less. */
static bool comes_before(const ranked *a, const ranked *b) {
    return a->cycles != b->cycles ? a->cycles < b->cycles : a->draft.count < b->draft.count;
}

/* Schedules of equal cost are one to the model: the first stays. */
static void insert(ranked *list, uint32_t *count, uint32_t most, const ranked *item) {
    uint32_t at = *count;
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].cycles == item->cycles) {
            list[i] = comes_before(item, &list[i]) ? *item : list[i];
            return;
        }
    if (*count == most && !comes_before(item, &list[most - 1]))
        return;
    at = *count < most ? (*count)++ : most - 1;
    for (; at > 0 && comes_before(item, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = *item;
}

/* The schedule of a beam with its parameter number `index` left alone, and set to each candidate.
 * False when there is no such parameter. */
static bool extend(const search *s, const ranked *from, uint32_t index, ranked *next,
                   uint32_t *count, status *st) {
    compiler_space space;
    if (!draft_space(&from->draft, s->request->kernel, &space, st))
        return false;
    bool there = index < space.count;
    ranked same = {from->draft, space.cycles};
    insert(next, count, BEAM, &same);
    const compiler_parameter *p = there ? &space.items[index] : NULL;
    for (uint32_t i = 0; there && !p->written && i < p->candidate_count && has_time(s, 0.3); i++) {
        ranked item = {from->draft, 0};
        compiler_space under;
        status refused = STATUS_INIT;
        if (p->candidates[i] == p->value || !draft_set(&item.draft, p->name, p->candidates[i]) ||
            !draft_space(&item.draft, s->request->kernel, &under, &refused))
            continue;
        item.cycles = under.cycles;
        insert(next, count, BEAM, &item);
        compiler_space_release(&under);
    }
    compiler_space_release(&space);
    return there;
}

/* Every schedule that was ever in the beam is kept, the cheapest RANKED_MAX of them. A schedule
 * that has no space fails the search only when no other one is left. */
static bool rank(search *s, ranked *kept, uint32_t *kept_count, status *st) {
    s->beam[0] = (ranked){{.count = 0}, 0};
    s->beam_count = 1;
    for (uint32_t index = 0;; index++) {
        ranked next[BEAM];
        uint32_t count = 0;
        bool more = false;
        status failed = STATUS_INIT;
        for (uint32_t i = 0; i < s->beam_count; i++)
            more |= extend(s, &s->beam[i], index, next, &count, &failed);
        if (count == 0) {
            *st = failed;
            return false;
        }
        memcpy(s->beam, next, count * sizeof next[0]);
        s->beam_count = count;
        if (!more || !has_time(s, 0.3))
            break;
    }
    for (uint32_t i = 0; i < s->beam_count; i++)
        insert(kept, kept_count, RANKED_MAX, &s->beam[i]);
    return true;
}

/* ---- measuring ---- */

static bool is_tried(const search *s, const char *words) {
    for (uint32_t i = 0; i < s->tried; i++)
        if (strcmp(s->texts[i], words) == 0)
            return true;
    return s->tried == TRIED_MAX;
}

static void note(search *s, const char *words, double cycles, const json_t *pair,
                 const json_t *result) {
    s->texts[s->tried++] = base_strdup(words);
    json_array_append_new(
        s->out->tried,
        json_pack("{s:s, s:s*, s:I, s:O?, s:s?}", "schedule", words, "space",
                  s->request->job->tried, "cycles", (json_int_t)cycles, "ratio",
                  json_object_get(pair, "ratio"), "why",
                  pair ? NULL
                       : (*result_text(result, RESULT_WHY) ? result_text(result, RESULT_WHY)
                                                           : result_text(result, RESULT_STATUS))));
}

static void keep_first(search_result *out, const json_t *pair) {
    out->default_ns = out->tuned_ns = json_real_value(json_object_get(pair, "default_ns"));
    out->default_cycles = out->tuned_cycles =
        json_real_value(json_object_get(pair, "default_cycles"));
    const char *device = json_string_value(json_object_get(pair, "device"));
    if (device && !out->device.length)
        text_append(&out->device, device);
}

/* Runs a schedule against the kernel's own; the pair's numbers (owned), or NULL where it is of no
 * use. */
static json_t *measure(search *s, const draft *d, double cycles, bool quick) {
    text words;
    job j = *s->request->job;
    text_init(&words);
    draft_text(d, &words);
    j.schedule = words.data;
    j.quick = quick;
    json_t *pair = NULL, *result = worker_run(s->request->worker, &j);
    if (result && result_outcome(result) == OUTCOME_OK)
        pair = json_incref(internal_get(result_internal(result), INTERNAL_TUNE));
    if (result && s->tried < TRIED_MAX)
        note(s, words.data, cycles, pair, result);
    s->out->measured |= pair != NULL;
    s->other_bits |= j.tried && result && result_outcome(result) == OUTCOME_MISMATCH;
    if (pair)
        keep_first(s->out, pair);
    json_decref(result);
    text_release(&words);
    return pair;
}

/* Measures what was not yet; true where it is the best so far. */
static bool try_schedule(search *s, const ranked *item) {
    text words;
    text_init(&words);
    draft_text(&item->draft, &words);
    bool own = item->draft.count == 0 && !s->request->job->tried;
    bool known = own || is_tried(s, words.data);
    text_release(&words);
    json_t *pair = known ? NULL : measure(s, &item->draft, item->cycles, true);
    double ratio = pair ? json_real_value(json_object_get(pair, "ratio")) : 1;
    json_decref(pair);
    if (ratio >= s->best_ratio)
        return false;
    s->best = *item;
    s->has_best = true;
    s->best_ratio = ratio;
    return true;
}

/* One parameter of the best schedule to another value: a neighbour, or the default again. */
static bool turn(search *s, const compiler_parameter *p, int64_t value) {
    compiler_space under;
    ranked item = s->best;
    status refused = STATUS_INIT;
    if (value == p->value || !draft_set(&item.draft, p->name, value) ||
        !draft_space(&item.draft, s->request->kernel, &under, &refused))
        return false;
    item.cycles = under.cycles;
    compiler_space_release(&under);
    return try_schedule(s, &item);
}

/* Once around all parameters; true where something helped. */
static bool turn_all(search *s, status *st) {
    bool better = false;
    for (uint32_t index = 0; has_time(s, 0.85); index++) {
        compiler_space space;
        if (!draft_space(&s->best.draft, s->request->kernel, &space, st))
            return false;
        bool there = index < space.count;
        const compiler_parameter *p = there ? &space.items[index] : NULL;
        for (uint32_t i = 0; there && !p->written && i < p->candidate_count; i++)
            if (has_time(s, 0.85))
                better |= turn(s, p, p->candidates[i]);
        compiler_space_release(&space);
        if (!there)
            break;
    }
    return better;
}

/* The last word: longer, and with an interval. */
static void confirm(search *s) {
    json_t *pair = s->has_best ? measure(s, &s->best.draft, s->best.cycles, false) : NULL;
    double high = pair ? json_real_value(json_object_get(pair, "high")) : 1;
    if (high < (s->request->weighed ? weighed_below : taken_below)) {
        s->out->ratio = json_real_value(json_object_get(pair, "ratio"));
        s->out->tuned_ns = json_real_value(json_object_get(pair, "tuned_ns"));
        s->out->tuned_cycles = json_real_value(json_object_get(pair, "tuned_cycles"));
        s->out->default_ns = json_real_value(json_object_get(pair, "default_ns"));
        draft_text(&s->best.draft, &s->out->schedule);
        s->out->faster = true;
    }
    json_decref(pair);
}

/* The cheapest that runs and has the bits. */
static bool weigh(search *s, const ranked *kept, uint32_t count, status *st) {
    compiler_space own;
    if (!draft_space(&(draft){.count = 0}, s->request->kernel, &own, st))
        return false;
    s->out->default_cycles = s->out->tuned_cycles = own.cycles;
    s->out->measured = true;
    for (uint32_t i = 0; i < count && i < WEIGHED_MOST && !s->out->faster && has_time(s, 1); i++) {
        s->best = kept[i];
        s->has_best = kept[i].cycles < weighed_below * own.cycles;
        confirm(s);
    }
    compiler_space_release(&own);
    return true;
}

static bool search_all(search *s, status *st) {
    ranked *kept = base_calloc(RANKED_MAX, sizeof *kept);
    uint32_t count = 0;
    if (s->request->job->tried)
        try_schedule(s, &(ranked){.cycles = 0});
    bool ok = s->other_bits || rank(s, kept, &count, st);
    bool weighed = s->request->weighed;
    if (ok && weighed)
        ok = weigh(s, kept, count, st);
    for (uint32_t i = 0; ok && !weighed && i < count && i < FIRST_MEASURED && has_time(s, 0.6); i++)
        try_schedule(s, &kept[i]);
    free(kept);
    while (ok && !weighed && has_time(s, 0.85) && turn_all(s, st))
        continue;
    if (ok && !weighed && !interrupt_seen)
        confirm(s);
    return ok && !interrupt_seen;
}

bool search_run(const search_request *request, search_result *out, status *st) {
    search *s = base_calloc(1, sizeof *s);
    *s = (search){.request = request, .out = out, .best_ratio = 1, .started_ns = timer_now_ns()};
    *out = (search_result){.ratio = 1, .tried = json_array()};
    text_init(&out->schedule);
    text_init(&out->device);
    bool ok = search_all(s, st);
    for (uint32_t i = 0; i < s->tried; i++)
        free(s->texts[i]);
    free(s);
    return ok;
}

void search_release(search_result *r) {
    json_decref(r->tried);
    text_release(&r->schedule);
    text_release(&r->device);
}
