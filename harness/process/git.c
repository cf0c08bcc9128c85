/* git.c - runs git and reads what it prints. */
#include "process/git.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "process/program.h"

static void trim(text *t) {
    while (t->length && (t->data[t->length - 1] == '\n' || t->data[t->length - 1] == ' '))
        t->data[--t->length] = '\0';
}

bool git_ask(const char *const *arguments, text *out, status *st) {
    text errors;
    int code = 0;
    text_init(&errors);
    program p = {.arguments = arguments, .output = out, .errors = &errors};
    bool ok = program_run(&p, &code, st);
    trim(out);
    if (ok && code != 0)
        ok = status_set(st, STATUS_NOT_FOUND, "git %s: %.*s", arguments[1],
                        (int)strcspn(errors.data, "\n"), errors.data);
    text_release(&errors);
    return ok;
}

bool git_resolve(const char *name, text *commit, status *st) {
    text wanted;
    text_init(&wanted);
    text_printf(&wanted, "%s^{commit}", name);
    const char *const arguments[] = {"git",       "rev-parse", "--verify", "--end-of-options",
                                     wanted.data, NULL};
    bool ok = git_ask(arguments, commit, st);
    text_release(&wanted);
    return ok;
}

/* Monitors that a repository names are programs of its own, and are not run. */
static bool ask_in(const char *folder, const char *const *words, text *out) {
    const char *arguments[12] = {"git", "-C", folder, "-c", "core.fsmonitor=false"};
    size_t count = 5;
    status ignored = STATUS_INIT;
    for (; *words; words++)
        arguments[count++] = *words;
    return git_ask(arguments, out, &ignored);
}

static bool is_changed(const char *folder, const char *path) {
    const char *const tracked[] = {"status", "--porcelain", "--untracked-files=no", NULL};
    const char *const here[] = {"status", "--porcelain", "--", path, NULL};
    text lines;
    text_init(&lines);
    bool changed = !ask_in(folder, tracked, &lines) || lines.length ||
                   !ask_in(folder, here, &lines) || lines.length;
    text_release(&lines);
    return changed;
}

bool git_state_of(const char *path, git_state *out) {
    static const char *const top[] = {"rev-parse", "--show-toplevel", NULL}, *const head[] = {
                                                                                 "rev-parse",
                                                                                 "--verify", "HEAD",
                                                                                 NULL};
    char *whole = realpath(path, NULL), *folder = base_strdup(whole ? whole : ".");
    text_init(&out->root);
    text_init(&out->commit);
    char *slash = file_is_dir(folder) ? NULL : strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    bool known = whole && ask_in(folder, top, &out->root) && ask_in(folder, head, &out->commit);
    out->changed = known && is_changed(folder, whole);
    free(folder);
    free(whole);
    return known;
}

void git_state_release(git_state *s) {
    text_release(&s->root);
    text_release(&s->commit);
}
