/* checkout.c - the tree of a commit in a folder of its own, and a build in it.
 *
 * A clone that shares the objects: the user's work tree, index and list of worktrees stay as they
 * are. It is kept, so that the next gate against the commit need not build again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "common/say.h"
#include "process/checkout.h"
#include "process/git.h"
#include "process/program.h"

#define CHECKOUTS ".tsr/checkouts"

bool checkout_is_commit(const char *name) {
    text commit;
    status ignored = STATUS_INIT;
    text_init(&commit);
    bool found = git_resolve(name, &commit, &ignored);
    text_release(&commit);
    return found;
}

static bool run_git(const char *const *arguments, status *st) {
    text nothing;
    text_init(&nothing);
    bool ok = git_ask(arguments, &nothing, st);
    text_release(&nothing);
    return ok;
}

static bool top_level(text *out, status *st) {
    static const char *const arguments[] = {"git", "rev-parse", "--show-toplevel", NULL};
    return git_ask(arguments, out, st);
}

/* Drops what was not finished, or what another gate was faster with. */
static void drop(const char *folder) {
    const char *const arguments[] = {"rm", "-rf", "--", folder, NULL};
    program p = {.arguments = arguments};
    status ignored = STATUS_INIT;
    int code = 0;
    program_run(&p, &code, &ignored);
}

/* Cloned beside its place and renamed, so that a clone that was cut short is never taken for one.
 */
static bool clone(const char *commit, const char *folder, status *st) {
    text top, fresh;
    text_init(&top);
    text_init(&fresh);
    text_printf(&fresh, "%s.%ld", folder, (long)getpid());
    bool ok = top_level(&top, st) && file_make_dirs(CHECKOUTS, st);
    const char *const cloning[] = {"git",           "clone",  "--quiet",  "--shared",
                                   "--no-checkout", top.data, fresh.data, NULL};
    const char *const checking[] = {"git",     "-C",       fresh.data, "checkout",
                                    "--quiet", "--detach", commit,     NULL};
    ok = ok && run_git(cloning, st) && run_git(checking, st);
    bool moved = ok && rename(fresh.data, folder) == 0;
    if (ok && !moved && !file_is_dir(folder))
        ok = status_set(st, STATUS_IO, "cannot move %s to %s", fresh.data, folder);
    if (!moved)
        drop(fresh.data);
    text_release(&top);
    text_release(&fresh);
    return ok;
}

/* Checks that the last build there was by this very command. */
static bool is_built(const char *noted, const char *command) {
    char *words;
    size_t size;
    status ignored = STATUS_INIT;
    if (!file_read(noted, 1 << 20, &words, &size, &ignored))
        return false;
    bool same = size == strlen(command) && memcmp(words, command, size) == 0;
    free(words);
    return same;
}

/* The command that was run in full last is noted: it is not run again. */
static bool build_in(const char *folder, const char *command, status *st) {
    text noted, tool;
    text_init(&noted);
    text_init(&tool);
    text_printf(&noted, "%s/.git/tsr-built", folder);
    text_printf(&tool, "%s/build/tsr", folder);
    bool ok = true;
    if (!is_built(noted.data, command) || access(tool.data, X_OK) != 0) {
        unlink(noted.data); /* what is there is another's from now on */
        const char *const arguments[] = {"sh", "-c", command, NULL};
        program p = {.arguments = arguments, .folder = folder};
        int code = 0;
        say(stderr, "tsr: building %s: %s\n", folder, command);
        ok = program_run(&p, &code, st);
        if (ok && code != 0)
            ok = status_set(st, STATUS_INVALID, "the build in %s ended with code %d%s: %s", folder,
                            code, code == 127 ? " (there is no such command)" : "", command);
        if (ok && access(tool.data, X_OK) != 0)
            ok = status_set(st, STATUS_INVALID, "the build left no program %s: %s", tool.data,
                            command);
        ok = ok && file_write_atomic(noted.data, command, strlen(command), st);
    }
    text_release(&noted);
    text_release(&tool);
    return ok;
}

char *checkout_make(const char *name, const char *build, char commit[65], status *st) {
    text full, folder;
    text_init(&full);
    text_init(&folder);
    bool ok = git_resolve(name, &full, st);
    if (!ok && st->code != STATUS_UNAVAILABLE) {
        *st = (status)STATUS_INIT;
        status_set(st, STATUS_NOT_FOUND, "there is no commit '%s' in the repository here", name);
    }
    if (ok) {
        snprintf(commit, 65, "%s", full.data);
        text_printf(&folder, CHECKOUTS "/%s", full.data);
        ok = (file_is_dir(folder.data) || clone(full.data, folder.data, st)) &&
             (!build || build_in(folder.data, build, st));
    }
    text_release(&full);
    char *made = ok ? text_take(&folder) : NULL;
    text_release(&folder);
    return made;
}

char *checkout_path(const char *folder, const char *path, status *st) {
    text top, there;
    char *resolved = realpath(path, NULL);
    text_init(&top);
    text_init(&there);
    bool ok = top_level(&top, st);
    if (ok && resolved && strncmp(resolved, top.data, top.length) == 0 &&
        (resolved[top.length] == '/' || resolved[top.length] == '\0'))
        text_printf(&there, "%s%s", folder, resolved + top.length);
    else if (ok && path[0] != '/')
        text_printf(&there, "%s/%s", folder, path);
    else if (ok)
        ok = status_set(st, STATUS_INVALID, "%s is not in the repository here", path);
    free(resolved);
    text_release(&top);
    char *found = ok ? text_take(&there) : NULL;
    text_release(&there);
    return found;
}
