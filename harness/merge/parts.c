/* parts.c - opens the files of a merge and lists their runs. */
#include "merge/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/file.h"
#include "case/shard.h"
#include "common/json_text.h"

const json_t *part_shard(const part *p) {
    const json_t *shard = json_object_get(p->head, "shard");
    return json_is_object(shard) ? shard : NULL;
}

void part_words(const merge *m, const part *p, text *out) {
    text_show(out, "run %s in %s", p->id, m->sources.items[p->source].path);
}

void part_build(const part *p, text *out) {
    const json_t *program = json_object_get(p->head, "tsr");
    const char *build = json_text_at(program, "build");
    text_printf(out, "%s %s, LLVM %s", json_text_at(program, "version"),
                *build ? build : json_text_at(program, "commit"), json_text_at(program, "llvm"));
}

/* ---- files ---- */

static bool check_new(const merge *m, const char *path, status *st) {
    if (file_is_same(path, m->request->database))
        return status_set(st, STATUS_INVALID,
                          "%s is the database itself: name another one with --db, which receives "
                          "what the files have",
                          path);
    for (size_t i = 1; i < m->sources.count; i++)
        if (file_is_same(path, m->sources.items[i].path))
            return status_set(st, STATUS_INVALID, "%s and %s are the same file", path,
                              m->sources.items[i].path);
    return true;
}

static bool open_file(merge *m, const char *path, status *st) {
    if (!check_new(m, path, st))
        return false;
    merge_source source = {path, store_open_existing(path, st)};
    if (source.store)
        vec_push(&m->sources, source);
    else if (st->code == STATUS_OK)
        status_set(st, STATUS_NOT_FOUND, "there is no database %s", path);
    return source.store != NULL;
}

/* ---- runs ---- */

typedef struct listing {
    merge *m;
    size_t source;
    status *st;
    bool ok;
} listing;

static bool is_counted(const json_t *shard) {
    json_int_t index = json_integer_value(json_object_get(shard, "index")),
               of = json_integer_value(json_object_get(shard, "of"));
    return index >= 1 && of >= index && of <= SHARDS_MAX &&
           strlen(json_text_at(shard, "digest")) == 64 &&
           json_is_array(json_object_get(shard, "cases"));
}

/* Names of runs go into documents, whose text is UTF-8. */
static bool is_text(const char *words) {
    return text_is_utf8(words, strlen(words));
}

static bool is_sound(const part *p) {
    const json_t *shards = json_object_get(p->head, "shards"), *shard = part_shard(p);
    return is_text(p->id) && is_text(p->started) && is_text(p->machine) &&
           json_is_object(p->head) && (!shards || json_is_array(shards)) &&
           (!json_object_get(p->head, "shard") || (shard && is_counted(shard)));
}

static bool list_run(void *context, const store_run *run) {
    listing *l = context;
    store *from = l->m->sources.items[l->source].store;
    part p = {.source = l->source,
              .number = run->number,
              .results = run->results,
              .id = base_strdup(run->id),
              .started = base_strdup(run->started),
              .machine = base_strdup(run->machine),
              .arguments = base_strdup(run->arguments),
              .head = json_loads(run->head, 0, NULL),
              .exit_code = run->exit_code,
              .executed = run->exit_code < 0 && store_is_executed(from, run->number),
              .fate = l->source == 0 ? PART_OWN : PART_COPIED};
    vec_push(&l->m->parts, p);
    l->ok = is_sound(&p) || status_set(l->st, STATUS_CORRUPT, "%s: the head of run %s is damaged",
                                       store_path(from), run->id);
    return l->ok;
}

static bool list_runs(merge *m, status *st) {
    for (size_t i = 0; i < m->sources.count; i++) {
        listing l = {m, i, st, true};
        store *from = m->sources.items[i].store;
        if (from && (!store_each_run(from, list_run, &l, st) || !l.ok))
            return false;
    }
    return true;
}

/* Those of the database first, then the oldest; of one run the copy that has most. */
static int by_time(const void *a, const void *b) {
    const part *x = a, *y = b;
    if ((x->source == 0) != (y->source == 0))
        return x->source == 0 ? -1 : 1;
    int order = strcmp(x->started, y->started);
    order = order ? order : strcmp(x->id, y->id);
    if (order == 0 && (x->exit_code < 0) != (y->exit_code < 0))
        return x->exit_code < 0 ? 1 : -1;
    if (order == 0 && x->results != y->results)
        return x->results < y->results ? 1 : -1;
    return order ? order : (x->source > y->source) - (x->source < y->source);
}

/* Shards of a run of the database are known by their own names, too. */
static void know(merge *m, size_t at) {
    const part *p = &m->parts.items[at];
    size_t i;
    const json_t *shard;
    map_put(&m->known, p->id, (intptr_t)at);
    json_array_foreach(json_object_get(p->head, "shards"), i, shard)
        map_put(&m->known, json_text_at(shard, "run"), (intptr_t)at);
}

static void know_parts(merge *m) {
    for (size_t i = 0; i < m->parts.count; i++) {
        part *p = &m->parts.items[i];
        intptr_t found;
        if (!map_get(&m->known, p->id, &found)) {
            know(m, i);
            continue;
        }
        part *there = &m->parts.items[found];
        bool more = there->fate == PART_OWN && there->exit_code < 0 &&
                    (p->exit_code >= 0 || p->results > there->results);
        if (more && p->fate != PART_OWN) {
            there->fate = PART_REPLACED;
            map_put(&m->known, p->id, (intptr_t)i);
        } else if (p->fate != PART_OWN) {
            p->fate = PART_KNOWN;
        }
    }
}

bool merge_open(merge *m, status *st) {
    const merge_request *q = m->request;
    merge_source own = {q->database, store_open_existing(q->database, st)};
    bool ok = own.store || st->code == STATUS_OK;
    map_init(&m->known);
    vec_push(&m->sources, own);
    for (size_t i = 0; i < q->count && ok; i++)
        ok = open_file(m, q->files[i], st);
    ok = ok && list_runs(m, st);
    if (ok && m->parts.count)
        qsort(m->parts.items, m->parts.count, sizeof *m->parts.items, by_time);
    if (ok)
        know_parts(m);
    return ok;
}

void merge_close(merge *m) {
    for (size_t i = 0; i < m->parts.count; i++) {
        part *p = &m->parts.items[i];
        free(p->id);
        free(p->started);
        free(p->machine);
        free(p->arguments);
        json_decref(p->head);
    }
    for (size_t i = 0; i < m->conflicts.count; i++)
        free(m->conflicts.items[i].key);
    for (size_t i = 0; i < m->sets.count; i++) {
        vec_release(&m->sets.items[i].members);
        json_decref(m->sets.items[i].head);
        free(m->sets.items[i].refusal);
    }
    for (size_t i = 0; i < m->sources.count; i++)
        store_close(m->sources.items[i].store);
    vec_release(&m->parts);
    vec_release(&m->conflicts);
    vec_release(&m->sets);
    vec_release(&m->sources);
    map_release(&m->known);
}
