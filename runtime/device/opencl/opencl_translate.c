/* opencl_translate.c - SPIR-V to LLVM's bitcode by Khronos' translator: a process of its own, and
 * files in a folder that nobody else reads and that is gone afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "device/opencl/opencl_parts.h"

enum { PATH_BYTES = 4096 };
static const size_t bitcode_most = (size_t)1 << 28;

extern char **environ;

/* ---- the program ---- */

static bool in_folders(const char *folders, const char *name, char *path_out, size_t room) {
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        snprintf(path_out, room, "%.*s/%s", (int)length, folders, name);
        if (length && access(path_out, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

bool opencl_translator_find(const char *usual_name, char *path_out, size_t room, status *st) {
    const char *own = getenv(OPENCL_TRANSLATOR); // NOLINT(concurrency-mt-unsafe)
    if (own && *own) {
        snprintf(path_out, room, "%s", own);
        return access(own, X_OK) == 0 ||
               status_set(st, STATUS_UNAVAILABLE, "%s names '%s', which is no program",
                          OPENCL_TRANSLATOR, own);
    }
    return in_folders(getenv("PATH"), usual_name, path_out,
                      room) || // NOLINT(concurrency-mt-unsafe)
           status_set(st, STATUS_UNAVAILABLE,
                      "it takes no SPIR-V, and there is no '%s' to make bitcode of it (Debian: the "
                      "package of that name; %s names another)",
                      usual_name, OPENCL_TRANSLATOR);
}

/* ---- the folder ---- */

typedef struct folder {
    char path[PATH_BYTES], code[PATH_BYTES + 16], bitcode[PATH_BYTES + 16], said[PATH_BYTES + 16];
} folder;

static bool make_folder(folder *f, status *st) {
    const char *place = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe)
    snprintf(f->path, sizeof f->path, "%s/tessera-opencl-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(f->path))
        return status_set_errno(st, errno, "no folder for the translator: %s", f->path);
    snprintf(f->code, sizeof f->code, "%s/code.spv", f->path);
    snprintf(f->bitcode, sizeof f->bitcode, "%s/code.bc", f->path);
    snprintf(f->said, sizeof f->said, "%s/said", f->path);
    return true;
}

static void remove_folder(const folder *f) {
    (void)unlink(f->code);
    (void)unlink(f->bitcode);
    (void)unlink(f->said);
    (void)rmdir(f->path);
}

/* ---- the process ---- */

static bool start(const char *program, folder *f, pid_t *child, status *st) {
    char name[] = "llvm-spirv", reverse[] = "-r", version[] = "--spirv-target-env=CL1.2",
         out[] = "-o";
    char *const words[] = {name, reverse, version, f->code, out, f->bitcode, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, f->said, O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(child, program, &files, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return !error || status_set(st, STATUS_UNAVAILABLE, "cannot start %s: %s", program,
                                strerror(error)); // NOLINT(concurrency-mt-unsafe)
}

/* Its exit code; -1 where it was ended. */
static int end_of(pid_t child) {
    int state = 0;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static bool refused(const char *program, const folder *f, int code, status *st) {
    char *said = NULL;
    size_t size = 0;
    (void)file_read(f->said, bitcode_most, &said, &size, NULL);
    const char *first = said ? said + strspn(said, " \t\r\n") : "";
    status_set(st, STATUS_UNAVAILABLE, "%s ended with %d and said '%.*s'", program, code,
               (int)strcspn(first, "\r\n"), first);
    free(said);
    return false;
}

static bool run(const char *program, folder *f, status *st) {
    pid_t child;
    if (!start(program, f, &child, st))
        return false;
    int code = end_of(child);
    return code == 0 || refused(program, f, code, st);
}

bool opencl_translate(const char *usual_name, const void *code, size_t size_bytes,
                      text *bitcode_out, status *st) {
    folder f;
    char program[PATH_BYTES], *made = NULL;
    size_t size = 0;
    const file_part part = {code, size_bytes};
    if (!opencl_translator_find(usual_name, program, sizeof program, st) || !make_folder(&f, st))
        return false;
    bool ok = file_write_scratch(f.code, &part, 1, st) && run(program, &f, st) &&
              file_read(f.bitcode, bitcode_most, &made, &size, st);
    remove_folder(&f);
    if (ok)
        text_append_bytes(bitcode_out, made, size);
    free(made);
    return ok;
}
