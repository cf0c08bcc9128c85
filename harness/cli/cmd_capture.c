/* cmd_capture.c - tsr capture: a program with the recording library in front of its BLAS. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "capture/stream.h"
#include "cli/command.h"
#include "common/say.h"

extern char **environ;

enum { FOLDERS_MAX = 100000, SIGNAL_CODES = 128 };
#define VARIABLE "TESSERA_CAPTURE"

/* ---- where ---- */

static bool is_empty(const char *folder) {
    struct dirent **names = NULL;
    int count = scandir(folder, &names, NULL, NULL);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return count == 2;
}

/* An absolute name: the program may go elsewhere. */
static bool make_folder(const options *o, text *folder, status *st) {
    const char *named = options_text(o, OPTION_CAPTURE_OUT, NULL);
    char whole[PATH_MAX];
    for (int i = 1; !named && i < FOLDERS_MAX; i++) {
        text_clear(folder);
        text_printf(folder, "capture-%d", i);
        if (!file_exists(folder->data))
            break;
    }
    if (named)
        text_append(folder, named);
    if (named && file_exists(named) && !is_empty(named))
        return status_set(st, STATUS_INVALID, "%s is there already, and is no empty folder", named);
    if (!file_make_dirs(folder->data, st))
        return false;
    if (!realpath(folder->data, whole))
        return status_set_errno(st, errno, "cannot make %s", folder->data);
    text_clear(folder);
    text_append(folder, whole);
    return true;
}

/* Beside the program, or where an installation has it. */
static bool find_library(char out[PATH_MAX], status *st) {
    static const char *const places[] = {"libtessera-capture.so",
                                         "../lib/tessera/libtessera-capture.so"};
    char own[PATH_MAX];
    file_own_program(own, sizeof own);
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; slash && i < 2; i++)
        if (snprintf(out, PATH_MAX, "%s/%s", own, places[i]) < PATH_MAX && access(out, R_OK) == 0)
            return true;
    return status_set(st, STATUS_UNAVAILABLE,
                      "libtessera-capture.so, which records, is neither beside this program nor in "
                      "../lib/tessera");
}

/* ---- a name for the loader ---- */

static bool loader_reads(const char *path) {
    return !strpbrk(path, " :;\t\n");
}

/* LD_PRELOAD parts names at blanks and colons: a path that has one gets a link in a folder of its
 * own, while the program runs. */
typedef struct preload {
    char path[PATH_MAX], folder[PATH_MAX]; /* folder: "" where there is no link */
} preload;

static bool open_preload(const char *library, preload *out, status *st) {
    const char *rooms[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/var/tmp"};
    *out = (preload){.folder = ""};
    if (loader_reads(library)) {
        snprintf(out->path, sizeof out->path, "%s", library);
        return true;
    }
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        if (!rooms[i] || !loader_reads(rooms[i]) ||
            snprintf(out->folder, sizeof out->folder, "%s/tsr-XXXXXX", rooms[i]) >= PATH_MAX ||
            !mkdtemp(out->folder))
            continue;
        if (snprintf(out->path, sizeof out->path, "%s/libtessera-capture.so", out->folder) <
                PATH_MAX &&
            symlink(library, out->path) == 0)
            return true;
        rmdir(out->folder);
    }
    out->folder[0] = '\0';
    return status_set(st, STATUS_UNAVAILABLE,
                      "%s has a blank or a colon in its path, which the loader cannot read, and no "
                      "temporary folder takes a link to it; TMPDIR names one",
                      library);
}

static void close_preload(const preload *p) {
    if (!*p->folder)
        return;
    unlink(p->path);
    rmdir(p->folder);
}

/* ---- running ---- */

static char **make_environment(arena *memory, const char *folder, const char *library,
                               const char *which) {
    static const char *const ours[] = {"LD_PRELOAD=", VARIABLE "=", VARIABLE "_TENSORS="};
    const char *users = getenv("LD_PRELOAD");
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **words = ARENA_NEW(memory, char *, count + 4);
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (int k = 0; k < 3; k++)
            replaced |= strncmp(environ[i], ours[k], strlen(ours[k])) == 0;
        if (!replaced)
            words[kept++] = environ[i];
    }
    words[kept++] = users && *users ? arena_printf(memory, "%s%s:%s", ours[0], library, users)
                                    : arena_printf(memory, "%s%s", ours[0], library);
    words[kept++] = arena_printf(memory, "%s%s", ours[1], folder);
    words[kept++] = arena_printf(memory, "%s%s", ours[2], which);
    return words;
}

/* Ctrl-C is the program's, as it is in front of the terminal with us; so is the exit code. */
static bool run_program(char **arguments, char **environment, int *code, status *st) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before_int, before_quit;
    sigset_t usual;
    posix_spawnattr_t attributes;
    pid_t pid;
    int ended;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    sigaction(SIGINT, &ignore, &before_int);
    sigaction(SIGQUIT, &ignore, &before_quit);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int why = posix_spawnp(&pid, arguments[0], NULL, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    while (!why && waitpid(pid, &ended, 0) < 0)
        why = errno == EINTR ? 0 : errno;
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGQUIT, &before_quit, NULL);
    if (why)
        return status_set(st, STATUS_UNAVAILABLE, "cannot run %s: %s", arguments[0], strerror(why));
    *code = WIFSIGNALED(ended) ? SIGNAL_CODES + WTERMSIG(ended) : WEXITSTATUS(ended);
    return true;
}

/* Reports what is in the folder now; the program itself says nothing of it. */
static void say_what_came(const char *folder) {
    capture_stream s = {0};
    status st = STATUS_INIT;
    if (!capture_is_stream(folder)) {
        rmdir(folder);
        say(stderr,
            "tsr: no call was recorded: the program called no BLAS through a shared library\n");
    } else if (!capture_stream_open(&s, folder, &st)) {
        say_failure(stderr, st.message);
    } else {
        say(stderr, "tsr: %zu call%s of %zu process%s in %s\n", s.calls.count,
            text_s(s.calls.count), s.processes.count, s.processes.count == 1 ? "" : "es", folder);
    }
    capture_stream_close(&s);
}

static bool capture(const options *o, int *code, status *st) {
    char library[PATH_MAX];
    arena memory;
    text folder;
    arena_init(&memory);
    text_init(&folder);
    preload link = {.folder = ""};
    bool ok = find_library(library, st) && make_folder(o, &folder, st) &&
              open_preload(library, &link, st);
    if (ok) {
        char **arguments = ARENA_NEW(&memory, char *, o->arguments.count + 1);
        for (size_t i = 0; i < o->arguments.count; i++)
            arguments[i] = arena_strdup(&memory, o->arguments.items[i]);
        char **environment = make_environment(&memory, folder.data, link.path,
                                              options_text(o, OPTION_CAPTURE_TENSORS, "none"));
        ok = run_program(arguments, environment, code, st);
        if (ok)
            say_what_came(folder.data);
        else
            rmdir(folder.data);
    }
    close_preload(&link);
    text_release(&folder);
    arena_release(&memory);
    return ok;
}

int command_capture(const options *o) {
    status st = STATUS_INIT;
    int code = EXIT_DONE;
    if (o->arguments.count == 0)
        return command_usage(o->command, "capture takes a command, behind -- where that has "
                                         "options of its own");
    return capture(o, &code, &st) ? code : command_fail(&st);
}
