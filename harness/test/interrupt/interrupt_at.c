/* interrupt_at.c - preloaded into tsr by interrupt.py: counts the calls of the main thread at which
 * it waits or touches a file, and sends the process a signal just before the one with number
 * INTERRUPT_AT. Counting stops where the command settles what it will say (interrupt_settle is the
 * only caller of sigprocmask that blocks): later signals change nothing. The file INTERRUPT_COUNT
 * says what happened: the count, written at the end, or "sent". Workers and other programs are
 * left alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static long wanted;
static int signal_number;
static pid_t owner;
static const char *count_path;
static long calls;
static int settled;

__attribute__((constructor)) static void begin(int argc, char **argv) {
    const char *at = getenv("INTERRUPT_AT"), *with = getenv("INTERRUPT_SIGNAL");
    if (argc < 2 || strncmp(argv[1], "--", 2) == 0 ||
        strcmp(program_invocation_short_name, "tsr") != 0)
        return;
    owner = getpid();
    wanted = at ? atol(at) : 0;
    signal_number = with ? atoi(with) : SIGINT;
    count_path = getenv("INTERRUPT_COUNT");
}

static void say(const char *what) {
    FILE *file = fopen(count_path, "w");
    if (file) {
        fprintf(file, "%s\n", what);
        fclose(file);
    }
}

__attribute__((destructor)) static void end(void) {
    char number[24];
    if (owner != getpid() || !count_path || (wanted && calls >= wanted))
        return;
    snprintf(number, sizeof number, "%ld", calls);
    say(number);
}

static void count(void) {
    /* The main thread alone: a signal to the process from another one may arrive later. */
    if (!owner || owner != (pid_t)syscall(SYS_gettid) || settled)
        return;
    if (++calls == wanted) {
        say("sent");
        kill(owner, signal_number);
    }
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

EXPORTED int poll(struct pollfd *fds, nfds_t n, int timeout) {
    count();
    return NEXT(poll)(fds, n, timeout);
}

EXPORTED int rename(const char *from, const char *to) {
    count();
    return NEXT(rename)(from, to);
}

EXPORTED int unlink(const char *path) {
    count();
    return NEXT(unlink)(path);
}

EXPORTED char *mkdtemp(char *name) {
    count();
    return NEXT(mkdtemp)(name);
}

EXPORTED int fsync(int fd) {
    count();
    return NEXT(fsync)(fd);
}

EXPORTED pid_t waitpid(pid_t pid, int *status, int flags) {
    count();
    return NEXT(waitpid)(pid, status, flags);
}

EXPORTED int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    count();
    return NEXT(open)(path, flags, mode);
}

EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
    if (owner && owner == (pid_t)syscall(SYS_gettid) && how == SIG_BLOCK)
        settled = 1;
    return NEXT(sigprocmask)(how, set, before);
}
