/* foreign_spawn.c - starting the process of a guest. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "device/foreign.h"

extern char **environ;

static const char python_kind[] = "foreign/python";

/* ---- the program ---- */

static bool beside(const char *relative, int rights, char out[PATH_MAX]) {
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return false;
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    return snprintf(out, PATH_MAX, "%s/%s", own, relative) < PATH_MAX && access(out, rights) == 0;
}

static bool find_guest(char out[PATH_MAX], status *st) {
    const char *named = getenv("TESSERA_GUEST");
    if (named && *named && snprintf(out, PATH_MAX, "%s", named) < PATH_MAX)
        return true;
    return beside("tessera-guest", X_OK, out) ||
           beside("../libexec/tessera/tessera-guest", X_OK, out) ||
           status_set(st, STATUS_UNAVAILABLE,
                      "the program tessera-guest, in which implementations run, is neither beside "
                      "this program nor in ../libexec/tessera; TESSERA_GUEST=FILE names it");
}

/* The environment with the number of threads, as the libraries that are in use read it, and with
 * the package of Python in front of the user's own. */
typedef struct environment {
    arena memory;
    char **words;
} environment;

static bool find_package(char out[PATH_MAX]) {
    static const char inside[] = "/tessera/guest.py";
    bool found = beside("python/tessera/guest.py", R_OK, out) ||
                 beside("../lib/tessera/python/tessera/guest.py", R_OK, out);
    if (found)
        out[strlen(out) - strlen(inside)] = '\0';
    return found;
}

static void put(environment *e, size_t *count, const char *name, const char *value) {
    size_t length = strlen(name), kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (strncmp(e->words[i], name, length) != 0 || e->words[i][length] != '=')
            e->words[kept++] = e->words[i];
    e->words[kept++] = arena_printf(&e->memory, "%s=%s", name, value);
    *count = kept;
}

static void make_environment(environment *e, uint32_t threads, bool is_python) {
    static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
    enum { NAMES = sizeof names / sizeof *names };
    char number[16], package[PATH_MAX];
    const char *users = getenv("PYTHONPATH");
    size_t count = 0;
    while (environ[count])
        count++;
    arena_init(&e->memory);
    e->words = ARENA_NEW(&e->memory, char *, count + NAMES + 2);
    memcpy(e->words, environ, count * sizeof *e->words);
    snprintf(number, sizeof number, "%u", threads);
    for (int k = 0; k < NAMES; k++)
        put(e, &count, names[k], number);
    if (is_python && find_package(package))
        put(e, &count, "PYTHONPATH",
            users && *users ? arena_printf(&e->memory, "%s:%s", package, users) : package);
    e->words[count] = NULL;
}

bool foreign_spawn(foreign_image *image, const char *target, int socket, status *st) {
    char program[PATH_MAX];
    const char *python = getenv("TESSERA_PYTHON");
    image->is_python = strcmp(target, python_kind) == 0;
    if (image->is_python)
        snprintf(program, sizeof program, "%s", python && *python ? python : "python3");
    else if (!find_guest(program, st))
        return false;
    /* -P: a tessera.py in the folder where the user stands is not ours. */
    char own_path[] = "-P", flag[] = "-m", module[] = "tessera.guest";
    char *const words[] = {program, image->is_python ? own_path : NULL, flag, module, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    environment e;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, image->output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, image->output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, socket, GUEST_SOCKET);
    posix_spawnattr_setsigmask(&attributes, &none);
    /* A group of its own: what it starts can be stopped and ended with it, and the system ends one
     * that was stopped when this process dies. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    make_environment(&e, image->device->base.info.compute_units, image->is_python);
    int error = posix_spawnp(&image->pid, program, &files, &attributes, words, e.words);
    arena_release(&e.memory);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error) {
        image->pid = 0;
        return status_set(st, STATUS_UNAVAILABLE, "cannot start %s: %s%s", program, strerror(error),
                          image->is_python ? "; TESSERA_PYTHON=FILE names the Python to use" : "");
    }
    return true;
}
