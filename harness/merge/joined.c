/* joined.c - the head of the run that shards make. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "base/text.h"
#include "common/json_text.h"
#include "merge/parts.h"

static const part *member(const merge *m, const merge_set *set, size_t at) {
    return &m->parts.items[set->members.items[at]];
}

/* The same shards make the same name. It begins with the time of the first that ran. */
static void name_run(const merge *m, const merge_set *set, text *id, const char **started) {
    text ids;
    char hex[65];
    const part *first = member(m, set, 0);
    text_init(&ids);
    for (size_t i = 0; i < set->members.count; i++) {
        const part *p = member(m, set, i);
        text_printf(&ids, "%s\n", p->id);
        first = strcmp(p->started, first->started) < 0 ? p : first;
    }
    sha256 digest = sha256_of(ids.data, ids.length);
    sha256_hex(&digest, hex);
    const char *dash = strrchr(first->id, '-');
    text_printf(id, "%.*s-%.8s", dash ? (int)(dash - first->id) : 0, first->id, hex);
    *started = first->started;
    text_release(&ids);
}

static json_t *describe(const merge *m, const part *p) {
    const json_t *shard = part_shard(p);
    return json_pack("{s:O, s:s, s:s, s:i, s:I, s:O?, s:o, s:o, s:O?}", "shard",
                     json_object_get(shard, "index"), "run", p->id, "started", p->started, "exit",
                     p->exit_code, "results", (json_int_t)p->results, "node",
                     json_object_get(shard, "node"), "file",
                     json_text(m->sources.items[p->source].path), "machine", json_text(p->machine),
                     "host", json_object_get(p->head, "host"));
}

/* Does each shard have the same there? */
static bool is_shared(const merge *m, const merge_set *set, const char *name) {
    const json_t *first = json_object_get(json_object_get(member(m, set, 0)->head, "host"), name);
    bool same = true;
    for (size_t i = 1; i < set->members.count; i++)
        same &= json_equal(first,
                           json_object_get(json_object_get(member(m, set, i)->head, "host"), name));
    return same;
}

/* "1: A; 2: B; ...; list DIGEST": two runs with equal words had each case on the same machine. */
static void list_words(const merge *m, const merge_set *set, const char *name, text *out) {
    for (size_t i = 0; i < set->members.count; i++) {
        const part *p = member(m, set, i);
        const char *words =
            name ? json_text_at(json_object_get(p->head, "host"), name) : p->machine;
        text_printf(out, "%s%zu: %s", i ? "; " : "", i + 1, words);
    }
    text_printf(out, "; list %.12s", json_text_at(part_shard(member(m, set, 0)), "digest"));
}

void merge_joined_machine(const merge *m, const merge_set *set, text *out) {
    const part *first = member(m, set, 0);
    bool same = true;
    for (size_t i = 1; i < set->members.count; i++)
        same &= strcmp(member(m, set, i)->machine, first->machine) == 0;
    if (same)
        text_append(out, first->machine);
    else
        list_words(m, set, NULL, out);
}

/* Facts that all machines share; of texts in which they differ all, of others the first's. */
static json_t *join_hosts(const merge *m, const merge_set *set) {
    json_t *host = json_deep_copy(json_object_get(member(m, set, 0)->head, "host")), *value;
    void *next;
    const char *name;
    json_object_foreach_safe(host, next, name, value) {
        if (!json_is_string(value) || is_shared(m, set, name))
            continue;
        text words;
        text_init(&words);
        list_words(m, set, name, &words);
        if (strcmp(name, "counters") != 0)
            json_object_set_new(host, name, json_text(words.data));
        text_release(&words);
    }
    return host;
}

json_t *merge_joined_head(const merge *m, const merge_set *set) {
    json_t *head = json_deep_copy(member(m, set, 0)->head), *shards = json_array();
    const json_t *shard = part_shard(member(m, set, 0));
    const char *started;
    text id;
    text_init(&id);
    name_run(m, set, &id, &started);
    for (size_t i = 0; i < set->members.count; i++)
        json_array_append_new(shards, describe(m, member(m, set, i)));
    json_object_set_new(head, "run", json_string(id.data));
    json_object_set_new(head, "started", json_string(started));
    json_object_set_new(head, "host", join_hosts(m, set));
    json_object_set_new(head, "shards", shards);
    json_object_set_new(head, "set",
                        json_pack("{s:O, s:O, s:O}", "name", json_object_get(shard, "set"),
                                  "digest", json_object_get(shard, "digest"), "cases",
                                  json_object_get(shard, "total")));
    json_object_del(head, "shard");
    json_object_del(json_object_get(head, "arguments"), "shard");
    text_release(&id);
    return head;
}
