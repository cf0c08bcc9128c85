/* conflicts.c - results that cannot both be right.
 *
 * Each result of each run is seen once. It may not differ from that of the same run in another
 * file, nor, where its profile promises equal bits, have other bits than the same case had of the
 * same build on the same machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "common/json_text.h"
#include "job/result.h"
#include "job/result_check.h"
#include "merge/parts.h"

enum { CONFLICTS_MAX = 100 };

/* The first that was seen under a name, and in which run. */
typedef struct seen {
    uint8_t digest[16];
    size_t part;
} seen;

typedef struct search {
    merge *m;
    map index; /* digest of a name, in hex -> index into `all` */
    VEC(seen) all;
    size_t part;
    text words, build; /* of that part */
    status *st;
    bool ok;
} search;

static void note(search *s, const char *key, size_t other, bool one_run) {
    if (s->m->conflicts.count == CONFLICTS_MAX)
        return;
    vec_push(
        &s->m->conflicts,
        ((merge_conflict){.key = base_strdup(key), .parts = {other, s->part}, .one_run = one_run}));
}

/* Remembers words under a name; where others are there already, in which part they were. */
static bool differs(search *s, const text *name, const char *words, size_t *other) {
    char hex[65];
    sha256 of_name = sha256_of(name->data, name->length),
           of_words = sha256_of(words, strlen(words));
    intptr_t at;
    sha256_hex(&of_name, hex);
    hex[32] = '\0';
    if (!map_get(&s->index, hex, &at)) {
        seen one = {.part = s->part};
        memcpy(one.digest, of_words.bytes, sizeof one.digest);
        map_put(&s->index, hex, (intptr_t)s->all.count);
        vec_push(&s->all, one);
        return false;
    }
    *other = s->all.items[at].part;
    return memcmp(s->all.items[at].digest, of_words.bytes, sizeof s->all.items[at].digest) != 0;
}

/* The run or machine where a result was first: its shard's own, where several were joined, else the
 * whole's. */
static const char *first_of(const part *p, const json_t *record, const char *name,
                            const char *whole) {
    json_int_t shard = result_whole(record, RESULT_SHARD);
    const json_t *shards = json_object_get(p->head, "shards");
    const char *own =
        shard > 0 ? json_text_at(json_array_get(shards, (size_t)shard - 1), name) : "";
    return *own ? own : whole;
}

static void check_run(search *s, const part *p, const char *key, json_t *record) {
    text name;
    size_t other;
    text_init(&name);
    text_printf(&name, "run %s %s", first_of(p, record, "run", p->id), key);
    json_t *plain = json_copy(record);
    json_object_del(plain, result_fields[RESULT_SHARD].outer);
    char *words = json_dumps(plain, JSON_COMPACT | JSON_SORT_KEYS);
    if (differs(s, &name, words, &other))
        note(s, key, other, true);
    free(words);
    json_decref(plain);
    text_release(&name);
}

/* Faults that were made on purpose promise nothing. */
static bool promises_bits(const json_t *record) {
    const char *profile = result_text(record, RESULT_PROFILE);
    job_outcome outcome = result_outcome(record);
    return strcmp(profile, "fast") != 0 && !*result_text(record, RESULT_FAULT) &&
           (outcome == OUTCOME_OK || outcome == OUTCOME_MISMATCH) &&
           json_array_size(result_digests(record)) > 0;
}

static void check_bits(search *s, const part *p, const char *key, const json_t *record) {
    text name;
    size_t other;
    input_set set = {0};
    if (!promises_bits(record))
        return;
    text_init(&name);
    bool on_set = result_failed_on(record, &set);
    text_printf(&name, "bits %s|%s|%s|%s|%s|%d %" PRIu32 " %d", s->build.data,
                first_of(p, record, "machine", p->machine), key,
                result_text(record, RESULT_CASE_KEY), result_text(record, RESULT_MODULE_HASH),
                on_set, set.number, set.perturbed);
    char *digests = json_dumps(result_digests(record), JSON_COMPACT);
    if (differs(s, &name, digests, &other) && strcmp(s->m->parts.items[other].id, p->id) != 0)
        note(s, key, other, false);
    free(digests);
    text_release(&name);
}

static bool check_key(const json_t *record, const store_result *row) {
    text key;
    text_init(&key);
    result_key(record, &key);
    bool same = strcmp(key.data, row->key) == 0;
    text_release(&key);
    return same;
}

static bool visit(void *context, const store_result *row) {
    search *s = context;
    const part *p = &s->m->parts.items[s->part];
    json_t *record = json_loads(row->record, 0, NULL);
    s->ok = result_check(record, s->words.data, s->st);
    if (s->ok && !check_key(record, row))
        s->ok = status_set(s->st, STATUS_CORRUPT, "%s: the result %s is stored under another name",
                           s->words.data, row->key);
    if (s->ok) {
        check_run(s, p, row->key, record);
        check_bits(s, p, row->key, record);
    }
    json_decref(record);
    return s->ok;
}

bool merge_find_conflicts(merge *m, status *st) {
    search s = {.m = m, .st = st, .ok = true};
    map_init(&s.index);
    text_init(&s.words);
    text_init(&s.build);
    for (size_t i = 0; i < m->parts.count && s.ok; i++) {
        const part *p = &m->parts.items[i];
        s.part = i;
        text_clear(&s.words);
        text_clear(&s.build);
        part_words(m, p, &s.words);
        part_build(p, &s.build);
        s.ok =
            store_each_result(m->sources.items[p->source].store, p->number, visit, &s, st) && s.ok;
    }
    text_release(&s.words);
    text_release(&s.build);
    map_release(&s.index);
    vec_release(&s.all);
    return s.ok;
}
