/* goldens.c - chooses for each case among the goldens that there are. */
#include "merge/goldens.h"

#include <stdlib.h>

#include "case/golden.h"
#include "common/json_text.h"
#include "common/say.h"

typedef enum fate { COPIED, KNOWN, MISSING, CONFLICT, DAMAGED, FATES } fate;
static const char *const fates[] = {"copied", "known", "missing", "conflict", "damaged"};

typedef struct merging {
    const goldens_request *request;
    size_t counts[FATES];
    json_t *rows;
} merging;

/* A case while its goldens are looked at. */
typedef struct item {
    const corpus_case *into;
    const char *path; /* of the first that counts; NULL: none yet */
    golden golden;    /* ... that one */
    char key[65];
} item;

static void tell(merging *m, const item *i, fate f, const char *why) {
    m->counts[f]++;
    if (!m->request->json && f != KNOWN)
        say(stdout, "%-8s %s%s%s\n", fates[f], i->into->name, *why ? ": " : "", why);
    json_array_append_new(m->rows, json_pack("{s:s, s:s, s:o, s:s}", "case", i->into->name, "fate",
                                             fates[f], "from", json_text(i->path), "why", why));
}

/* Takes the golden at a path into account. False with what is wrong. */
static bool consider(item *i, const char *path, status *st) {
    golden found;
    golden_state state;
    if (!golden_read(path, i->key, &found, &state, st))
        return false;
    bool ok = true;
    if (state != GOLDEN_PRESENT) {
        golden_release(&found);
    } else if (!i->path) {
        i->path = path;
        i->golden = found;
    } else {
        json_t *here = golden_digests(&i->golden), *there = golden_digests(&found);
        ok = json_equal(here, there) ||
             status_set(st, STATUS_MISMATCH,
                        "%s and %s have one key and other bits: one of them is wrong; delete it, "
                        "and record it anew",
                        i->path, path);
        json_decref(here);
        json_decref(there);
        golden_release(&found);
    }
    return ok;
}

static bool copy(const item *i, compiler_instance *instance, status *st) {
    compiler_signature signature;
    return compiler_signature_of(instance, &signature, st) &&
           golden_copy(&i->golden, &signature, i->into->golden_path, st);
}

static void merge_case(merging *m, size_t at) {
    const goldens_request *q = m->request;
    const corpus_case *c = &q->into->cases.items[at];
    item i = {.into = c};
    status st = STATUS_INIT;
    compiler_instance *instance = corpus_case_instance(c, &st);
    if (instance)
        golden_key(instance, c->c, c->kernel->parameter_count, q->seed, i.key);
    bool ok = instance && consider(&i, c->golden_path, &st);
    bool known = i.path != NULL;
    for (size_t k = 0; k < q->from_count && ok; k++)
        ok = consider(&i, q->from[k]->cases.items[at].golden_path, &st);
    if (ok && i.path && !known)
        ok = copy(&i, instance, &st);
    if (!ok)
        tell(m, &i, st.code == STATUS_MISMATCH ? CONFLICT : DAMAGED, st.message);
    else if (!i.path)
        tell(m, &i, MISSING, "");
    else
        tell(m, &i, known ? KNOWN : COPIED, "");
    golden_release(&i.golden);
    compiler_instance_free(instance);
}

int goldens_merge(const goldens_request *request) {
    merging m = {.request = request, .rows = json_array()};
    for (size_t i = 0; i < request->into->cases.count; i++)
        merge_case(&m, i);
    if (request->json) {
        json_t *document =
            json_pack("{s:s, s:O}", "schema", "tsr.golden-merge/1", "goldens", m.rows);
        say_json(stdout, document, 0);
        json_decref(document);
    }
    say(stderr, "%zu copied, %zu known, %zu missing, %zu in conflict, %zu damaged\n",
        m.counts[COPIED], m.counts[KNOWN], m.counts[MISSING], m.counts[CONFLICT],
        m.counts[DAMAGED]);
    json_decref(m.rows);
    exit_code code = request->into->problem;
    code = exit_code_worse(code, m.counts[MISSING] ? EXIT_NO_VERDICT : EXIT_DONE);
    code = exit_code_worse(code, m.counts[CONFLICT] ? EXIT_CHECK : EXIT_DONE);
    return (int)exit_code_worse(code, m.counts[DAMAGED] ? EXIT_INPUT : EXIT_DONE);
}
