/* replay_folder.c - threads that each take the next pack of a folder, and what they found. */
#include "run/replay_folder.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "process/program.h"
#include "repro/verdict.h"
#include "run/failures.h"

typedef struct folder_run {
    const replay_folder_request *request;
    char **paths;       /* owned */
    json_t **entries;   /* of the document, by path; owned */
    size_t count, next; /* under the lock */
    pthread_mutex_t lock;
} folder_run;

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_pack(const struct dirent *entry) {
    return failures_is_pack(entry->d_name);
}

static bool list_packs(folder_run *r, status *st) {
    const char *folder = r->request->folder;
    struct dirent **found = NULL;
    const int count = scandir(folder, &found, is_pack, by_name);
    if (count < 0)
        return status_set(st, STATUS_NOT_FOUND, "cannot read the folder %s", folder);
    r->paths = base_calloc((size_t)count + 1, sizeof *r->paths);
    r->entries = base_calloc((size_t)count + 1, sizeof *r->entries);
    for (int i = 0; i < count; i++) {
        text path;
        text_init(&path);
        text_printf(&path, "%s/%s", folder, found[i]->d_name);
        r->paths[r->count++] = base_strdup(path.data);
        text_release(&path);
        free(found[i]);
    }
    free(found);
    return count > 0 ||
           status_set(st, STATUS_NOT_FOUND,
                      "no pack (KERNEL-CASE-HASH.repro.tar.lz4) is in the folder %s", folder);
}

/* ---- one pack ---- */

/* Names the fault: the pass and the operation where they are known, else how the pack says it
 * ended. */
static json_t *fault_of(const json_t *replayed) {
    const json_t *bisect = json_object_get(replayed, "bisect"),
                 *recorded = json_object_get(replayed, "recorded");
    const char *pass = json_text_at(bisect, "pass"),
               *operation = json_text_at(json_object_get(bisect, "operation"), "name");
    if (*pass || *operation)
        return json_pack("{s:s, s:s}", "pass", pass, "operation", operation);
    return json_pack("{s:s, s:s}", "status", json_text_at(recorded, "status"), "stage",
                     json_text_at(recorded, "stage"));
}

/* In a folder that must not fail again. A pack that cannot run here tells nothing. */
static exit_code regress_exit(const json_t *replayed, int code) {
    const bool passed =
        strcmp(json_text_at(json_object_get(replayed, "recorded"), "status"), "ok") == 0;
    const char *verdict = json_text_at(replayed, "verdict"),
               *wanted = repro_verdict_name(passed ? REPRODUCED_EXACT : NOT_REPRODUCED);
    if (strcmp(verdict, wanted) == 0 || code == EXIT_ABSENT)
        return EXIT_DONE;
    return code ? (exit_code)code : EXIT_CHECK;
}

static json_t *entry_of(const folder_run *r, const char *path, json_t *replayed, int code,
                        const char *said) {
    static const char *const kept[] = {"verdict",  "qualifiers", "missing", "case",
                                       "recorded", "why",        "bisect"};
    json_t *entry = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(replayed, kept[i]))
            json_object_set(entry, kept[i], json_object_get(replayed, kept[i]));
    json_object_set_new(entry, "pack", json_text(path));
    json_object_set_new(
        entry, "now",
        json_text(replayed ? json_text_at(json_object_get(replayed, "replayed"), "status") : NULL));
    json_object_set_new(entry, "fault", replayed ? fault_of(replayed) : json_object());
    if (!replayed)
        json_object_set_new(entry, "why", json_text(said));
    if (r->request->regress && replayed)
        code = (int)regress_exit(replayed, code);
    json_object_set_new(entry, "exit", json_integer(code));
    return entry;
}

/* NULL: it was not finished. */
static json_t *replay_one(const folder_run *r, const char *path) {
    VEC(const char *) words = {0};
    text out, said;
    status st = STATUS_INIT;
    int code = EXIT_BUG;
    text_init(&out);
    text_init(&said);
    vec_push(&words, "/proc/self/exe");
    vec_push(&words, "replay");
    vec_push(&words, "--json");
    for (const char *const *option = r->request->options; *option; option++)
        vec_push(&words, *option);
    vec_push(&words, "--");
    vec_push(&words, path);
    vec_push(&words, NULL);
    const program p = {.arguments = words.items, .output = &out, .errors = &said};
    const bool ran = program_run(&p, &code, &st);
    json_t *replayed = ran && out.length ? json_loads(out.data, 0, NULL) : NULL;
    json_t *entry = NULL;
    if (code != EXIT_INTERRUPTED && !json_is_true(json_object_get(replayed, "interrupted")))
        entry = entry_of(r, path, replayed, code, ran ? said.data : st.message);
    json_decref(replayed);
    vec_release(&words);
    text_release(&said);
    text_release(&out);
    return entry;
}

/* ---- all of them ---- */

static void *replay_some(void *argument) {
    folder_run *r = argument;
    const replay_folder_request *request = r->request;
    pthread_mutex_lock(&r->lock);
    while (r->next < r->count && !interrupt_seen) {
        const size_t i = r->next++;
        if (request->tell)
            request->tell(request->context, r->paths[i], i, r->count);
        pthread_mutex_unlock(&r->lock);
        json_t *entry = replay_one(r, r->paths[i]);
        pthread_mutex_lock(&r->lock);
        r->entries[i] = entry;
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void replay_all(folder_run *r) {
    const size_t most = r->request->jobs < r->count ? r->request->jobs : r->count;
    pthread_t *threads = base_calloc(most + 1, sizeof *threads);
    size_t started = 0;
    while (started + 1 < most && pthread_create(&threads[started], NULL, replay_some, r) == 0)
        started++;
    replay_some(r);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (r->request->tell)
        r->request->tell(r->request->context, NULL, r->count, r->count);
}

/* Groups in the order of their first packs. */
static json_t *groups_of(const json_t *packs) {
    json_t *groups = json_array(), *entry, *group;
    size_t i, k;
    json_array_foreach(packs, i, entry) {
        const json_t *fault = json_object_get(entry, "fault");
        json_t *found = NULL;
        json_array_foreach(groups, k, group) if (json_equal(json_object_get(group, "fault"), fault))
            found = group;
        if (!found) {
            found = json_pack("{s:O, s:[]}", "fault", fault, "packs");
            json_array_append_new(groups, found);
        }
        json_array_append(json_object_get(found, "packs"), json_object_get(entry, "pack"));
    }
    return groups;
}

json_t *replay_folder_run(const replay_folder_request *request, status *st) {
    folder_run r = {.request = request, .lock = PTHREAD_MUTEX_INITIALIZER};
    json_t *document = NULL;
    bool ok = list_packs(&r, st);
    if (ok)
        replay_all(&r);
    if (ok && interrupt_seen)
        ok = status_set(st, STATUS_INTERRUPTED, "interrupted");
    if (ok) {
        json_t *packs = json_array();
        for (size_t i = 0; i < r.count; i++)
            json_array_append(packs, r.entries[i]);
        document =
            json_pack("{s:s, s:o, s:o, s:o}", "schema", "tsr.replays/1", "folder",
                      json_text(request->folder), "packs", packs, "groups", groups_of(packs));
    }
    for (size_t i = 0; i < r.count; i++) {
        free(r.paths[i]);
        json_decref(r.entries[i]);
    }
    free(r.paths);
    free(r.entries);
    return document;
}

exit_code replay_folder_exit(const json_t *document) {
    exit_code code = EXIT_DONE;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(document, "packs"), i, entry) code =
        exit_code_worse(code, (exit_code)json_integer_value(json_object_get(entry, "exit")));
    return code;
}
