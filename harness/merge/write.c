/* write.c - puts into the database what the parts and the sets say. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/json_text.h"
#include "job/result.h"
#include "merge/parts.h"

typedef struct ceiling_row {
    char *resource, *profile; /* owned; profile NULL: none */
    double value;
    char unit[16];
} ceiling_row;

typedef VEC(ceiling_row) ceiling_rows;

/* A result on its way, with all that belongs to it. */
typedef struct row {
    char *key, *status, *record; /* owned */
    double median_ns;
    double *samples; /* owned */
    size_t sample_count;
    int64_t position; /* of its case in the whole list */
    size_t order;     /* as it was stored */
} row;

typedef VEC(row) rows;

typedef struct reading {
    rows *out;
    map at; /* key -> index into `out`, of the run in hand */
    map positions;
    int64_t shard; /* 0: the run is none */
    ceiling_rows *ceilings;
} reading;

/* ---- reading ---- */

static int64_t position_of(const reading *r, const json_t *record) {
    text name;
    intptr_t position = 0;
    text_init(&name);
    text_printf(&name, "%s/%s", result_text(record, RESULT_KERNEL),
                result_text(record, RESULT_CASE));
    if (!map_get(&r->positions, name.data, &position))
        position = INTPTR_MAX;
    text_release(&name);
    return position;
}

static bool take_result(void *context, const store_result *result) {
    reading *r = context;
    row one = {.key = base_strdup(result->key),
               .status = base_strdup(result->status),
               .median_ns = result->median_ns,
               .order = r->out->count};
    json_t *record = r->shard ? json_loads(result->record, 0, NULL) : NULL;
    if (record) {
        result_put_SHARD(record, r->shard);
        one.record = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(17));
        one.position = position_of(r, record);
    } else {
        one.record = base_strdup(result->record);
    }
    json_decref(record);
    map_put(&r->at, result->key, (intptr_t)r->out->count);
    vec_push(r->out, one);
    return true;
}

static bool take_samples(void *context, const char *key, const double *ns, size_t count) {
    reading *r = context;
    intptr_t at;
    if (!map_get(&r->at, key, &at))
        return true;
    row *one = &r->out->items[at];
    one->samples = base_calloc(count + 1, sizeof *one->samples);
    memcpy(one->samples, ns, count * sizeof *ns);
    one->sample_count = count;
    return true;
}

/* Keeps the greatest of several shards: no result of any is above it. */
static bool take_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    reading *r = context;
    for (size_t i = 0; i < r->ceilings->count; i++) {
        ceiling_row *there = &r->ceilings->items[i];
        if (strcmp(there->resource, resource) == 0) {
            there->value = value > there->value ? value : there->value;
            return true;
        }
    }
    ceiling_row one = {.resource = base_strdup(resource),
                       .profile = profile ? base_strdup(profile) : NULL,
                       .value = value};
    snprintf(one.unit, sizeof one.unit, "%s", unit);
    vec_push(r->ceilings, one);
    return true;
}

static void read_positions(const part *p, map *out) {
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(part_shard(p), "cases"), i, one)
        map_put(out, json_text_at(one, "case"),
                (intptr_t)json_integer_value(json_object_get(one, "position")));
}

static bool read_part(const merge *m, const part *p, bool as_shard, rows *out,
                      ceiling_rows *ceilings, status *st) {
    store *from = m->sources.items[p->source].store;
    reading r = {.out = out, .ceilings = ceilings};
    if (as_shard)
        r.shard = json_integer_value(json_object_get(part_shard(p), "index"));
    map_init(&r.at);
    map_init(&r.positions);
    read_positions(p, &r.positions);
    bool ok = store_each_result(from, p->number, take_result, &r, st) &&
              store_each_samples(from, p->number, take_samples, &r, st) &&
              store_each_ceiling(from, p->number, take_ceiling, &r, st);
    map_release(&r.at);
    map_release(&r.positions);
    return ok;
}

static void release(rows *all, ceiling_rows *ceilings) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].key);
        free(all->items[i].status);
        free(all->items[i].record);
        free(all->items[i].samples);
    }
    for (size_t i = 0; i < ceilings->count; i++) {
        free(ceilings->items[i].resource);
        free(ceilings->items[i].profile);
    }
    vec_release(all);
    vec_release(ceilings);
}

/* ---- writing ---- */

static bool write_run(store *to, const store_run *run, const rows *all,
                      const ceiling_rows *ceilings, status *st) {
    int64_t number;
    bool ok = store_copy_run(to, run, &number, st);
    for (size_t i = 0; i < all->count && ok; i++) {
        const row *one = &all->items[i];
        store_result result = {one->key,    one->status,  one->median_ns,
                               one->record, one->samples, one->sample_count};
        ok = store_insert_result(to, number, &result, st);
    }
    for (size_t i = 0; i < ceilings->count && ok; i++) {
        const ceiling_row *c = &ceilings->items[i];
        ok = store_put_ceiling(to, number,
                               &(store_ceiling){c->resource, c->profile, c->value, c->unit}, st);
    }
    return ok;
}

/* A run that was merged before keeps the place that it came from first. */
static bool copy_part(merge *m, store *to, const part *p, status *st) {
    rows all = {0};
    ceiling_rows ceilings = {0};
    if (!json_object_get(p->head, "merged"))
        json_object_set_new(
            p->head, "merged",
            json_pack("{s:o}", "file", json_text(m->sources.items[p->source].path)));
    char *head = json_dumps(p->head, JSON_COMPACT);
    store_run run = {.id = p->id,
                     .started = p->started,
                     .arguments = p->arguments,
                     .machine = p->machine,
                     .head = head,
                     .exit_code = p->exit_code};
    bool ok =
        read_part(m, p, false, &all, &ceilings, st) && write_run(to, &run, &all, &ceilings, st);
    release(&all, &ceilings);
    free(head);
    return ok;
}

static int by_position(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Arguments as the head has them: none of a shard, so that --resume does not take it for one. */
static bool write_set(merge *m, store *to, const merge_set *set, status *st) {
    rows all = {0};
    ceiling_rows ceilings = {0};
    text machine;
    exit_code code = EXIT_DONE;
    bool ok = true;
    text_init(&machine);
    merge_joined_machine(m, set, &machine);
    for (size_t i = 0; i < set->members.count && ok; i++) {
        const part *p = &m->parts.items[set->members.items[i]];
        code = exit_code_worse(code, (exit_code)p->exit_code);
        ok = read_part(m, p, true, &all, &ceilings, st);
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, by_position);
    char *head = json_dumps(set->head, JSON_COMPACT),
         *arguments =
             json_dumps(json_object_get(set->head, "arguments"), JSON_COMPACT | JSON_SORT_KEYS);
    store_run run = {.id = json_text_at(set->head, "run"),
                     .started = json_text_at(set->head, "started"),
                     .arguments = arguments ? arguments : "",
                     .machine = machine.data,
                     .head = head,
                     .exit_code = (int)code};
    ok = ok && write_run(to, &run, &all, &ceilings, st);
    release(&all, &ceilings);
    text_release(&machine);
    free(head);
    free(arguments);
    return ok;
}

/* ---- all ---- */

static int by_start(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* A set, or a run, to be written. */
typedef struct item {
    const char *started; /* first: by_start */
    const part *part;
    const merge_set *set;
} item;

static bool write_items(merge *m, store *to, status *st) {
    VEC(item) items = {0};
    bool ok = true;
    for (size_t i = 0; i < m->parts.count; i++)
        if (m->parts.items[i].fate == PART_COPIED)
            vec_push(&items, ((item){m->parts.items[i].started, &m->parts.items[i], NULL}));
    for (size_t i = 0; i < m->sets.count; i++)
        if (m->sets.items[i].head)
            vec_push(&items, ((item){json_text_at(m->sets.items[i].head, "started"), NULL,
                                     &m->sets.items[i]}));
    if (items.count)
        qsort(items.items, items.count, sizeof *items.items, by_start);
    for (size_t i = 0; i < items.count && ok; i++)
        ok = items.items[i].set ? write_set(m, to, items.items[i].set, st)
                                : copy_part(m, to, items.items[i].part, st);
    vec_release(&items);
    return ok;
}

/* Runs of the database that are in others now. */
static bool forget(const merge *m, part_fate fate, store *to, status *st) {
    bool ok = true;
    for (size_t i = 0; i < m->parts.count && ok; i++)
        if (m->parts.items[i].source == 0 && m->parts.items[i].fate == fate)
            ok = store_forget_run(to, m->parts.items[i].number, st);
    return ok;
}

bool merge_write(merge *m, status *st) {
    store *own = m->sources.items[0].store, *to = own ? own : store_open(m->request->database, st);
    if (!to)
        return false;
    m->sources.items[0].store = to;
    if (!store_begin_merge(to, st))
        return false;
    bool ok = forget(m, PART_REPLACED, to, st) && write_items(m, to, st) &&
              forget(m, PART_JOINED, to, st);
    for (size_t i = 1; i < m->sources.count && ok; i++)
        ok = store_copy_gates(to, m->sources.items[i].store, &m->gates, st);
    return store_end_merge(to, ok, st);
}
