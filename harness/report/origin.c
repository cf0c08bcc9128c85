/* origin.c - see origin.h. */
#include "report/origin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "process/git.h"

enum { COMMIT_SHOWN = 12 };

json_t *origin_new(const char *command, const char *path) {
    char *folder = getcwd(NULL, 0), *corpus = realpath(path, NULL);
    git_state state;
    bool known = git_state_of(path, &state);
    json_t *origin =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "command", json_text(command), "folder",
                  json_text(folder), "corpus", json_text(corpus ? corpus : path), "repository",
                  known ? json_text(state.root.data) : json_null(), "commit",
                  known ? json_text(state.commit.data) : json_null(), "changed",
                  known ? json_boolean(state.changed) : json_null());
    git_state_release(&state);
    free(folder);
    free(corpus);
    return origin;
}

const char *origin_commit(const json_t *document) {
    const char *own = json_text_at(json_object_get(document, "origin"), "commit");
    return *own ? own : json_text_at(json_object_get(document, "tsr"), "commit");
}

void origin_words(const json_t *document, text *out) {
    const json_t *origin = json_object_get(document, "origin");
    const char *commit = json_text_at(origin, "commit");
    if (!origin)
        return;
    text_show(out, "%s; of %s", json_text_at(origin, "command"), json_text_at(origin, "corpus"));
    if (*commit)
        text_show(out, " at %.*s%s", COMMIT_SHOWN, commit,
                  json_is_true(json_object_get(origin, "changed")) ? ", changed" : "");
}
