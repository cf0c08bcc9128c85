/* sets.c - which shards belong together, and whether all are there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "merge/parts.h"

static int64_t number_at(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

bool part_is_whole(const part *p) {
    return p->exit_code >= 0 && p->results >= number_at(part_shard(p), "jobs");
}

/* ---- groups ---- */

static merge_set *set_of(merge *m, const json_t *shard) {
    const char *name = json_text_at(shard, "set");
    uint32_t of = (uint32_t)number_at(shard, "of");
    for (size_t i = 0; i < m->sets.count; i++)
        if (m->sets.items[i].of == of && strcmp(m->sets.items[i].name, name) == 0)
            return &m->sets.items[i];
    merge_set fresh = {.of = of, .name = name};
    for (uint32_t i = 0; i < of; i++)
        vec_push(&fresh.members, SIZE_MAX);
    vec_push(&m->sets, fresh);
    return &m->sets.items[m->sets.count - 1];
}

/* The later one counts, unless it did not come to its end. */
static bool counts_before(const part *p, const part *other) {
    return part_is_whole(p) != part_is_whole(other) ? part_is_whole(p)
                                                    : strcmp(p->started, other->started) > 0;
}

static void take_member(merge *m, size_t at) {
    part *p = &m->parts.items[at];
    const json_t *shard = part_shard(p);
    merge_set *set = set_of(m, shard);
    size_t *member = &set->members.items[number_at(shard, "index") - 1];
    part *other = *member == SIZE_MAX ? NULL : &m->parts.items[*member];
    bool counts = !other || counts_before(p, other);
    set->is_asked |= p->source > 0;
    p->fate = counts ? PART_WAITING : PART_REPEATED;
    if (counts && other)
        other->fate = PART_REPEATED;
    *member = counts ? at : *member;
}

/* Those of the database itself count, too: the machine that merges may have run one. */
static bool is_candidate(const part *p) {
    return part_shard(p) && (p->fate == PART_COPIED || p->fate == PART_OWN);
}

/* ---- do they belong together? ---- */

/* Without the places of files, each machine's own, and the number of the shard. */
static json_t *asked_of(const part *p) {
    static const char *const own[] = {"paths", "shard", "inputs"};
    json_t *asked = json_loads(p->arguments, 0, NULL), *names = json_array(), *with;
    size_t i;
    json_array_foreach(json_object_get(asked, "with"), i, with)
        json_array_append(names, json_array_get(with, 1));
    if (json_is_object(asked))
        json_object_set(asked, "with", names);
    for (size_t k = 0; k < sizeof own / sizeof *own && asked; k++)
        json_object_del(asked, own[k]);
    json_decref(names);
    return asked;
}

/* Appends the first thing that was asked for differently. */
static void compare_asked(const part *a, const part *b, text *why) {
    json_t *x = asked_of(a), *y = asked_of(b), *value;
    const char *name;
    json_object_foreach(x, name, value) {
        const json_t *other = json_object_get(y, name);
        if (json_equal(value, other) || why->length)
            continue;
        char *one = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT),
             *two = other ? json_dumps(other, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        text_show(why, "were asked for with other options: %s is %s and %s", name, one,
                  two ? two : "not there");
        free(one);
        free(two);
    }
    if (!why->length && !json_equal(x, y))
        text_append(why, "were asked for with other options");
    json_decref(x);
    json_decref(y);
}

static void compare(const part *a, const part *b, text *why) {
    const json_t *x = part_shard(a), *y = part_shard(b);
    text builds[2];
    for (int i = 0; i < 2; i++) {
        text_init(&builds[i]);
        part_build(i ? b : a, &builds[i]);
    }
    if (strcmp(builds[0].data, builds[1].data) != 0)
        text_show(why, "were made by two builds of tsr: %s and %s", builds[0].data, builds[1].data);
    else if (number_at(x, "total") != number_at(y, "total"))
        text_printf(why, "are of two lists, of %" PRId64 " and %" PRId64 " cases",
                    number_at(x, "total"), number_at(y, "total"));
    else
        compare_asked(a, b, why);
    if (!why->length && strcmp(json_text_at(x, "digest"), json_text_at(y, "digest")) != 0)
        text_append(why, "are of two lists of cases: names, sizes or formulas differ");
    text_release(&builds[0]);
    text_release(&builds[1]);
}

/* The cases of all shards are those of the list, each once. */
static void count_cases(const merge *m, const merge_set *set, text *why) {
    map seen;
    int64_t total = 0;
    map_init(&seen);
    for (size_t i = 0; i < set->members.count && !why->length; i++) {
        const json_t *shard = part_shard(&m->parts.items[set->members.items[i]]), *one;
        size_t k;
        total = number_at(shard, "total");
        json_array_foreach(json_object_get(shard, "cases"), k, one) {
            const char *name = json_text_at(one, "case");
            if (map_get(&seen, name, NULL) && !why->length)
                text_show(why, "have %s in two shards", name);
            map_put(&seen, name, 1);
        }
    }
    if (!why->length && (int64_t)seen.count != total)
        text_printf(why, "have %zu of the %" PRId64 " cases of the list", seen.count, total);
    map_release(&seen);
}

/* Compares all that are there with the first of them. */
static void find_refusal(const merge *m, merge_set *set, bool complete) {
    const part *first = NULL;
    text why;
    text_init(&why);
    for (size_t i = 0; i < set->members.count && !why.length; i++) {
        size_t at = set->members.items[i];
        const part *p = at == SIZE_MAX ? NULL : &m->parts.items[at];
        text words;
        text_init(&words);
        if (first && p)
            compare(first, p, &words);
        if (words.length) {
            part_words(m, first, &why);
            text_append(&why, " and ");
            part_words(m, p, &why);
            text_printf(&why, " %s", words.data);
        }
        first = first ? first : p;
        text_release(&words);
    }
    if (!why.length && complete) {
        text words;
        text_init(&words);
        count_cases(m, set, &words);
        if (words.length)
            text_printf(&why, "the shards %s", words.data);
        text_release(&words);
    }
    set->refusal = why.length ? base_strdup(why.data) : NULL;
    text_release(&why);
}

bool merge_is_missing(const merge *m, const merge_set *set, size_t at) {
    const size_t member = set->members.items[at];
    return member == SIZE_MAX || !part_is_whole(&m->parts.items[member]);
}

static bool is_complete(const merge *m, const merge_set *set) {
    bool whole = true;
    for (size_t i = 0; i < set->members.count; i++)
        whole &= !merge_is_missing(m, set, i);
    return whole;
}

void merge_make_sets(merge *m) {
    for (size_t i = 0; i < m->parts.count; i++)
        if (is_candidate(&m->parts.items[i]))
            take_member(m, i);
    for (size_t i = 0; i < m->sets.count; i++) {
        merge_set *set = &m->sets.items[i];
        bool complete = is_complete(m, set);
        find_refusal(m, set, complete);
        if (!complete || set->refusal || !set->is_asked)
            continue;
        for (size_t k = 0; k < set->members.count; k++)
            m->parts.items[set->members.items[k]].fate = PART_JOINED;
        set->head = merge_joined_head(m, set);
    }
}
