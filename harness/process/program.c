/* program.c - fork, exec, read both pipes, wait. */
#include "process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "process/child.h"

enum { POLL_MS = 200 };

typedef struct channel {
    int fds[2]; /* read end, write end; -1: none */
    text *into;
} channel;

static bool open_channel(channel *c, text *into) {
    *c = (channel){{-1, -1}, into};
    return !into || pipe2(c->fds, O_CLOEXEC) == 0;
}

static void close_end(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Between fork and exec: only calls that are safe there. Why there was no exec goes to `report`,
 * which an exec closes: a program's own code 127 says another thing. */
static _Noreturn void become(const program *p, const channel *out, const channel *err, int report) {
    int null_fd = open("/dev/null", O_RDONLY);
    dup2(null_fd, STDIN_FILENO);
    dup2(out->into ? out->fds[1] : STDERR_FILENO, STDOUT_FILENO);
    if (err->into)
        dup2(err->fds[1], STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (!p->folder || chdir(p->folder) == 0)
        execvp(p->arguments[0], (char *const *)p->arguments);
    int cause = errno;
    _exit(write(report, &cause, sizeof cause) == (ssize_t)sizeof cause ? 127 : 126);
}

static void drain(channel *c, short events) {
    char bytes[16384];
    if (!events)
        return;
    ssize_t n = read(c->fds[0], bytes, sizeof bytes);
    if (n > 0)
        text_append_bytes(c->into, bytes, (size_t)n);
    else if (n == 0 || errno != EINTR)
        close_end(&c->fds[0]);
}

/* A signal that only this process got is handed on once. */
static void read_all(channel *out, channel *err, pid_t pid) {
    bool told = false;
    while (out->fds[0] >= 0 || err->fds[0] >= 0) {
        struct pollfd fds[] = {{out->fds[0], POLLIN, 0}, {err->fds[0], POLLIN, 0}};
        if (poll(fds, 2, POLL_MS) < 0 && errno != EINTR)
            return;
        if (interrupt_seen && !told) {
            told = true;
            kill(pid, SIGINT);
        }
        drain(out, fds[0].revents);
        drain(err, fds[1].revents);
    }
}

static bool not_run(const program *p, int cause, status *st) {
    if (cause == ENOENT && !p->folder)
        return status_set(st, STATUS_UNAVAILABLE, "%s cannot be run: is it installed?",
                          p->arguments[0]);
    return status_set(st, STATUS_UNAVAILABLE, "%s cannot be run%s%s: %s", p->arguments[0],
                      p->folder ? " in " : "", p->folder ? p->folder : "", strerror(cause));
}

static bool end_of(const program *p, pid_t pid, int report, int *code, status *st) {
    child_end end;
    int cause = 0;
    if (!child_wait(pid, &end))
        return status_set_errno(st, errno, "waiting for %s", p->arguments[0]);
    if (end.how == CHILD_KILLED) {
        text how;
        text_init(&how);
        child_end_text(&end, &how);
        status_set(st, STATUS_IO, "%s was %s", p->arguments[0], how.data);
        text_release(&how);
        return false;
    }
    *code = end.code;
    return read(report, &cause, sizeof cause) != (ssize_t)sizeof cause || not_run(p, cause, st);
}

bool program_run(const program *p, int *code, status *st) {
    channel out, err = {{-1, -1}, NULL};
    int report[2] = {-1, -1};
    pid_t pid = -1;
    if (open_channel(&out, p->output) && open_channel(&err, p->errors) &&
        pipe2(report, O_CLOEXEC) == 0)
        pid = child_fork();
    if (pid == 0)
        become(p, &out, &err, report[1]);
    int cause = errno;
    close_end(&report[1]);
    close_end(&out.fds[1]);
    close_end(&err.fds[1]);
    if (pid > 0)
        read_all(&out, &err, pid);
    close_end(&out.fds[0]);
    close_end(&err.fds[0]);
    bool ok = pid > 0 ? end_of(p, pid, report[0], code, st)
                      : status_set_errno(st, cause, "cannot start %s", p->arguments[0]);
    close_end(&report[0]);
    return ok;
}
