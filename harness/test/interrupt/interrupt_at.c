/* interrupt_at.c - preloaded into tsr by interrupt.py: counts calls at which the program waits or
 * touches a file, and sends itself a signal just before the one with number INTERRUPT_AT. Without
 * a number the count is written to INTERRUPT_COUNT at the end. Workers and other programs are left
 * alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static long wanted;
static int signal_number;
static pid_t owner;
static const char *count_path;
static atomic_long calls;

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

__attribute__((destructor)) static void end(void) {
    if (owner != getpid() || !count_path)
        return;
    FILE *file = fopen(count_path, "w");
    if (file) {
        fprintf(file, "%ld\n", (long)calls);
        fclose(file);
    }
}

static void count(void) {
    if (owner && owner == getpid() && atomic_fetch_add(&calls, 1) + 1 == wanted)
        kill(owner, signal_number);
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
