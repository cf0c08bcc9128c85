/* command.c - a program of its own for each call: PROGRAM KERNEL INPUTS OUTPUTS. INPUTS is a folder
 * with NAME.npy for each input; it writes NAME.npy for each output into the folder OUTPUTS. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "guest/guest.h"

extern char **environ;

static tensor view(const guest_function *s, uint32_t i) {
    tensor t = {.type = s->types[i], .rank = s->tensors[i].ndim, .data = s->tensors[i].data};
    memcpy(t.dims, s->shapes[i], sizeof t.dims);
    return t;
}

static void path_of(const guest_function *s, const char *folder, uint32_t i, text *out) {
    text_clear(out);
    text_printf(out, "%s/%s/%s.npy", (const char *)s->own, folder, s->names[i]);
}

static bool run(const guest_function *s, status *st) {
    text in, out;
    pid_t pid;
    int ended = 0;
    text_init(&in);
    text_init(&out);
    text_printf(&in, "%s/in", (const char *)s->own);
    text_printf(&out, "%s/out", (const char *)s->own);
    char *const words[] = {(char *)s->path, (char *)s->kernel, in.data, out.data, NULL};
    int error = posix_spawn(&pid, s->path, NULL, NULL, words, environ);
    while (!error && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    text_release(&in);
    text_release(&out);
    if (error)
        return status_set_errno(st, error, "cannot start %s", s->path);
    if (WIFSIGNALED(ended))
        return status_set(st, STATUS_INVALID, "%s was killed by signal %d", s->path,
                          WTERMSIG(ended));
    return WEXITSTATUS(ended) == 0 ||
           status_set(st, STATUS_INVALID, "%s ended with code %d", s->path, WEXITSTATUS(ended));
}

static bool take(const guest_function *s, uint32_t i, const char *path, status *st) {
    tensor found, wanted = view(s, i);
    if (!tensor_read_npy(&found, path, wanted.type, st))
        return false;
    bool same = found.rank == wanted.rank;
    for (int axis = 0; axis < wanted.rank && same; axis++)
        same = found.dims[axis] == wanted.dims[axis];
    if (same)
        memcpy(wanted.data, found.data, tensor_bytes(&wanted));
    else
        status_set(st, STATUS_INVALID, "%s has another shape than the kernel's output '%s'", path,
                   s->names[i]);
    tensor_release(&found);
    return same;
}

/* The description has a folder of this guest's own, which its maker removes. */
bool command_open(guest_function *s, status *st) {
    s->own = (void *)json_string_value(json_object_get(s->description, "folder"));
    if (!s->own)
        return status_set(st, STATUS_CORRUPT, "the description of a command has no folder");
    if (access(s->path, X_OK) != 0)
        return status_set_errno(st, errno, "cannot run %s", s->path);
    text inside;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        text_init(&inside);
        text_printf(&inside, "%s/%s", (const char *)s->own, i ? "out" : "in");
        ok = file_make_dirs(inside.data, st);
        text_release(&inside);
    }
    return ok;
}

/* Removes the files of the call before, so that a program that writes none is seen. */
bool command_call(guest_function *s, status *st) {
    text path;
    bool ok = true;
    text_init(&path);
    for (uint32_t i = 0; i < s->count && ok; i++) {
        path_of(s, i < s->inputs ? "in" : "out", i, &path);
        tensor t = view(s, i);
        if (i < s->inputs)
            ok = tensor_write_npy(&t, path.data, st);
        else
            unlink(path.data);
    }
    ok = ok && run(s, st);
    for (uint32_t i = s->inputs; i < s->count && ok; i++) {
        path_of(s, "out", i, &path);
        ok = take(s, i, path.data, st);
    }
    text_release(&path);
    return ok;
}
