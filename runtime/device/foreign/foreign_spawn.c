/* foreign_spawn.c - starting the process of a guest. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "device/foreign/foreign.h"

extern char **environ;

enum { GUEST_ARGUMENTS_MAX = 4, BIRTH_MS_MAX = 10000, KEEPER_MS_MAX = 1000 };
static const char python_kind[] = "foreign/python", plugin_kind[] = "foreign/pjrt";

/* ---- the program ---- */

static bool beside(const char *relative, int rights, char out[PATH_MAX]) {
    char own[PATH_MAX];
    file_own_program(own, sizeof own);
    if (!own[0])
        return false;
    *strrchr(own, '/') = '\0';
    return snprintf(out, PATH_MAX, "%s/%s", own, relative) < PATH_MAX && access(out, rights) == 0;
}

bool foreign_guest_program(char out[PATH_MAX], status *st) {
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

/* ---- the process ---- */

/* Files and environment of a start. */
typedef struct start {
    int socket, output;
    char *const *environment;
} start;

static int spawn(const start *s, char *const *words, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, s->output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, s->output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, s->socket, GUEST_SOCKET);
    posix_spawnattr_setsigmask(&attributes, &none);
    /* A group of its own: what it starts can be stopped and ended with it, and the system ends one
     * that was stopped when this process dies. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int error = posix_spawnp(pid, words[0], &files, &attributes, words, s->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* ---- namespaces of its own ---- */

/* The errno with which the system refused them; they are not asked for again. */
static atomic_int refusal;

static bool are_together(void) {
    const char *said = getenv("TESSERA_GUESTS");
    return said && strcmp(said, "together") == 0;
}

static bool receive_birth(int socket, pid_t helper, guest_birth *birth) {
    uint64_t until = clock_now_ns() + (uint64_t)BIRTH_MS_MAX * 1000000u;
    struct pollfd one = {socket, POLLIN, 0};
    bool ended = false, here = false;
    while (!here && !ended && clock_now_ns() < until) {
        ended = waitpid(helper, NULL, WNOHANG) != 0;
        here = poll(&one, 1, ended ? 0 : 20) > 0;
    }
    here = here && recv(socket, birth, sizeof *birth, 0) == (ssize_t)sizeof *birth;
    if (!ended && !here)
        kill(helper, SIGKILL);
    while (!ended && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        ;
    return here;
}

/* Says in `birth` how it went; without any words but the first two, whether it would go. */
static bool spawn_apart(const start *s, int socket, char *const *words, guest_birth *birth) {
    pid_t helper;
    *birth = (guest_birth){.refusal = ENOENT};
    if (spawn(s, words, &helper) == 0 && !receive_birth(socket, helper, birth))
        *birth = (guest_birth){.refusal = ENOSYS};
    if (birth->refusal && birth->keeper)
        (void)waitpid(birth->keeper, NULL, 0);
    return !birth->refusal;
}

bool foreign_is_apart(status *why) {
    char program[PATH_MAX], option[] = GUEST_APART;
    char *const words[] = {program, option, NULL};
    guest_birth birth = {0};
    int ends[2];
    if (are_together())
        return status_set(why, STATUS_UNAVAILABLE, "TESSERA_GUESTS=together is set");
    if (!foreign_guest_program(program, why))
        return false;
    int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool ok = output >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    if (ok) {
        const start s = {ends[1], output, environ};
        ok = spawn_apart(&s, ends[0], words, &birth);
        close(ends[0]);
        close(ends[1]);
    }
    if (output >= 0)
        close(output);
    return ok || status_set_errno(why, birth.refusal ? birth.refusal : errno,
                                  "the system gives a guest no namespaces of its own");
}

/* Returns errno. */
static int start_image(foreign_image *image, const start *s, char *const *words) {
    char helper[PATH_MAX], option[] = GUEST_APART;
    char *all[GUEST_ARGUMENTS_MAX + 3] = {helper, option};
    status ignored = STATUS_INIT;
    guest_birth birth;
    for (size_t i = 0; i < GUEST_ARGUMENTS_MAX && words[i]; i++)
        all[i + 2] = words[i];
    if (are_together() || atomic_load(&refusal) || !foreign_guest_program(helper, &ignored))
        return spawn(s, words, &image->pid);
    if (!spawn_apart(s, image->socket, all, &birth)) {
        atomic_store(&refusal, birth.refusal);
        return spawn(s, words, &image->pid);
    }
    image->pid = birth.guest;
    image->keeper = birth.keeper;
    if (birth.error) {
        (void)waitpid(image->pid, NULL, 0);
        foreign_end_keeper(image);
    }
    return birth.error;
}

bool foreign_spawn(foreign_image *image, const char *target, int socket, status *st) {
    char program[PATH_MAX];
    const char *python = getenv("TESSERA_PYTHON");
    image->is_python = strcmp(target, python_kind) == 0;
    image->is_bound = strcmp(target, plugin_kind) == 0;
    if (image->is_python)
        snprintf(program, sizeof program, "%s", python && *python ? python : "python3");
    else if (!foreign_guest_program(program, st))
        return false;
    /* -P: a tessera.py in the folder where the user stands is not ours. */
    char own_path[] = "-P", flag[] = "-m", module[] = "tessera.guest";
    char *const words[] = {program, image->is_python ? own_path : NULL, flag, module, NULL};
    environment e;
    make_environment(&e, image->device->base.info.compute_units, image->is_python);
    const start s = {socket, image->output, e.words};
    int error = start_image(image, &s, words);
    arena_release(&e.memory);
    if (error) {
        image->pid = 0;
        return status_set(st, STATUS_UNAVAILABLE, "cannot start %s: %s%s", program, strerror(error),
                          image->is_python ? "; TESSERA_PYTHON=FILE names the Python to use" : "");
    }
    return true;
}

/* Its number is free when all processes of its namespace are gone, and a function could have made
 * one of them a child of this process: so this does not wait for ever. */
void foreign_end_keeper(foreign_image *image) {
    uint64_t until = clock_now_ns() + (uint64_t)KEEPER_MS_MAX * 1000000u;
    if (image->keeper)
        kill(image->keeper, SIGKILL);
    while (image->keeper && waitpid(image->keeper, NULL, WNOHANG) == 0 && clock_now_ns() < until)
        usleep(100);
    image->keeper = 0;
}
