/* show.c - what a merge did, and what it could not do. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "common/exit_code.h"
#include "common/json_text.h"
#include "common/say.h"
#include "merge/parts.h"

enum { SHOWN = 20 };

static const char *const fates[] = {
    [PART_OWN] = "own",           [PART_COPIED] = "copied", [PART_KNOWN] = "known",
    [PART_REPLACED] = "replaced", [PART_JOINED] = "joined", [PART_REPEATED] = "repeated",
    [PART_WAITING] = "waiting"};

/* "shards nightly", "shards" */
static void set_words(const merge_set *set, text *out) {
    text_show(out, "set %s of %" PRIu32 " shards", *set->name ? set->name : "without a name",
              set->of);
}

/* ---- lines ---- */

/* Why a shard's run does not count. */
static void missing_words(const merge *m, const merge_set *set, size_t at, text *out) {
    size_t member = set->members.items[at];
    text_printf(out, "shard %zu of %" PRIu32, at + 1, set->of);
    if (member == SIZE_MAX) {
        text_append(out, " is in none of the files");
        return;
    }
    const part *p = &m->parts.items[member];
    int64_t jobs = json_integer_value(json_object_get(part_shard(p), "jobs"));
    text_append(out, ": ");
    part_words(m, p, out);
    text_printf(out, " has %" PRId64 " of %" PRId64 " results", p->results, jobs);
    text_append(out, p->executed        ? ", and is being executed"
                     : p->exit_code < 0 ? ": go on with it there (the same command and --resume), "
                                          "or run it anew"
                                        : ": it was ended early; run it anew");
}

/* The run that such shards made before; NULL: none. */
static const char *merged_before(const merge *m, const merge_set *set) {
    const char *digest = "";
    for (size_t i = 0; i < set->members.count && !*digest; i++)
        if (set->members.items[i] != SIZE_MAX)
            digest = json_text_at(part_shard(&m->parts.items[set->members.items[i]]), "digest");
    for (size_t i = 0; i < m->parts.count; i++) {
        const part *p = &m->parts.items[i];
        const json_t *made = json_object_get(p->head, "set");
        if (p->source == 0 && made && strcmp(json_text_at(made, "digest"), digest) == 0 &&
            strcmp(json_text_at(made, "name"), set->name) == 0 &&
            json_array_size(json_object_get(p->head, "shards")) == set->of)
            return p->id;
    }
    return NULL;
}

static void say_missing(const merge *m, const merge_set *set) {
    text words;
    size_t shown = 0, missing = 0;
    const char *before = merged_before(m, set);
    text_init(&words);
    set_words(set, &words);
    text_append(&words, " is not complete, and nothing of it was taken over:\n");
    for (size_t i = 0; i < set->members.count; i++) {
        if (!merge_is_missing(m, set, i))
            continue;
        missing++;
        if (++shown > SHOWN)
            continue;
        text_append(&words, "    ");
        missing_words(m, set, i, &words);
        text_append(&words, "\n");
    }
    if (missing > SHOWN)
        text_printf(&words, "    and %zu more\n", missing - SHOWN);
    if (before)
        text_show(&words,
                  "    (shards of this list and name are the run %s of the database; give sets a "
                  "name of their own, --shard I/N:SET)\n",
                  before);
    say(stderr, "tsr: ");
    say_text(stderr, words.data);
    text_release(&words);
}

static void say_joined(const merge *m, const merge_set *set, const char *words) {
    const json_t *made = json_object_get(set->head, "set");
    int64_t results = 0;
    for (size_t i = 0; i < set->members.count; i++)
        results += m->parts.items[set->members.items[i]].results;
    if (m->request->json)
        return;
    say_text(stdout, words);
    say(stdout, ": run %s, %" PRId64 " cases, %" PRId64 " results\n",
        json_text_at(set->head, "run"), (int64_t)json_integer_value(json_object_get(made, "cases")),
        results);
}

static void say_set(const merge *m, const merge_set *set) {
    text words;
    text_init(&words);
    set_words(set, &words);
    if (set->refusal) {
        say(stderr, "tsr: ");
        say_text(stderr, words.data);
        say(stderr, ": ");
        say_text(stderr, set->refusal);
        say(stderr, "; nothing of it was taken over\n");
    } else if (set->head) {
        say_joined(m, set, words.data);
    } else {
        say_missing(m, set);
    }
    text_release(&words);
}

static void say_part(const merge *m, const part *p) {
    text words;
    text_init(&words);
    part_words(m, p, &words);
    if (p->fate == PART_COPIED && !m->request->json)
        say(stdout, "%s: %" PRId64 " results, %s\n", words.data, p->results,
            p->exit_code < 0 ? "unfinished" : "taken over");
    else if (p->fate == PART_REPEATED)
        say(stderr, "tsr: %s: its shard was run again, and this one does not count\n", words.data);
    text_release(&words);
}

static void say_conflict(const merge *m, const merge_conflict *c) {
    text words[2];
    for (int i = 0; i < 2; i++) {
        text_init(&words[i]);
        part_words(m, &m->parts.items[c->parts[i]], &words[i]);
    }
    say(stderr, "tsr: %s: %s and %s %s\n", c->key, words[0].data, words[1].data,
        c->one_run ? "are one run, and have other results: one of the files was changed"
                   : "have other bits, of one build on one machine");
    text_release(&words[0]);
    text_release(&words[1]);
}

static void say_all(const merge *m) {
    size_t known = 0, copied = 0, joined = 0;
    for (size_t i = 0; i < m->parts.count; i++) {
        known += m->parts.items[i].fate == PART_KNOWN;
        copied += m->parts.items[i].fate == PART_COPIED;
        if (m->written)
            say_part(m, &m->parts.items[i]);
    }
    for (size_t i = 0; i < m->sets.count; i++) {
        joined += m->sets.items[i].head != NULL;
        if (m->written && m->sets.items[i].is_asked)
            say_set(m, &m->sets.items[i]);
    }
    for (size_t i = 0; i < m->conflicts.count && i < SHOWN; i++)
        say_conflict(m, &m->conflicts.items[i]);
    if (m->conflicts.count > SHOWN)
        say(stderr, "tsr: and %zu more\n", m->conflicts.count - SHOWN);
    if (m->written)
        say(stderr,
            "%zu run%s taken over, %zu made of shards, %" PRIu64 " gate%s; %zu were there; %s\n",
            copied, text_s(copied), joined, m->gates, text_s(m->gates), known,
            m->request->database);
    else
        say(stderr, "tsr: nothing was written\n");
}

/* ---- the document ---- */

static json_t *json_of_parts(const merge *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->parts.count; i++) {
        const part *p = &m->parts.items[i];
        if (p->source > 0)
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:s, s:I}", "run", p->id, "file",
                                            json_text(m->sources.items[p->source].path), "fate",
                                            fates[p->fate], "results", (json_int_t)p->results));
    }
    return list;
}

static json_t *json_of_sets(const merge *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->sets.count; i++) {
        const merge_set *set = &m->sets.items[i];
        json_t *missing = json_array();
        for (size_t k = 0; k < set->members.count; k++)
            if (merge_is_missing(m, set, k))
                json_array_append_new(missing, json_integer((json_int_t)k + 1));
        if (set->is_asked)
            json_array_append_new(
                list, json_pack("{s:s, s:I, s:o, s:o, s:o}", "name", set->name, "of",
                                (json_int_t)set->of, "run",
                                set->head ? json_text(json_text_at(set->head, "run")) : json_null(),
                                "missing", missing, "refused", json_text(set->refusal)));
        else
            json_decref(missing);
    }
    return list;
}

static json_t *json_of_conflicts(const merge *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->conflicts.count; i++) {
        const merge_conflict *c = &m->conflicts.items[i];
        const part *a = &m->parts.items[c->parts[0]], *b = &m->parts.items[c->parts[1]];
        json_array_append_new(list, json_pack("{s:s, s:b, s:[s, s], s:[o, o]}", "key", c->key,
                                              "one_run", c->one_run, "runs", a->id, b->id, "files",
                                              json_text(m->sources.items[a->source].path),
                                              json_text(m->sources.items[b->source].path)));
    }
    return list;
}

static void print_document(const merge *m) {
    json_t *document = json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:I}", "schema", "tsr.merge/1",
                                 "database", json_text(m->request->database), "written", m->written,
                                 "runs", json_of_parts(m), "sets", json_of_sets(m), "conflicts",
                                 json_of_conflicts(m), "gates", (json_int_t)m->gates);
    say_json(stdout, document, 0);
    json_decref(document);
}

int merge_show(const merge *m) {
    exit_code code = m->conflicts.count ? EXIT_CHECK : EXIT_DONE;
    for (size_t i = 0; i < m->sets.count; i++) {
        const merge_set *set = &m->sets.items[i];
        if (set->is_asked && set->refusal)
            code = exit_code_worse(code, EXIT_INPUT);
        else if (set->is_asked && !set->head)
            code = exit_code_worse(code, EXIT_NO_VERDICT);
    }
    say_all(m);
    if (m->request->json)
        print_document(m);
    return (int)code;
}
