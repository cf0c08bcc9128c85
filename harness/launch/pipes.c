/* pipes.c - reads and writes until a message is whole. */
#include "launch/pipes.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/file.h"
#include "process/child.h"

/* Waits until one is ready, as long as mpirun runs. */
static bool await_started(pid_t *starter, int file, short events) {
    enum { LOOK_MS = 200 };
    struct pollfd p = {.fd = file, .events = events};
    child_end end;
    while (poll(&p, 1, LOOK_MS) <= 0) {
        if (*starter <= 0)
            return false;
        end = child_wait_ms(*starter, 1);
        if (end.how != CHILD_RUNNING)
            *starter = 0;
    }
    return true;
}

bool pipe_receive(int file, pid_t *starter, void *data, size_t bytes) {
    char *at = data;
    while (bytes) {
        const ssize_t got =
            !starter || await_started(starter, file, POLLIN) ? read(file, at, bytes) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* More than a pipe holds waits for a rank that reads it, which may never come. */
static bool send_started(int file, pid_t *starter, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        const ssize_t put = await_started(starter, file, POLLOUT) ? write(file, at, bytes) : 0;
        if (put < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (put <= 0)
            return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

bool pipe_send(int file, pid_t *starter, const void *data, size_t bytes) {
    return starter ? send_started(file, starter, data, bytes) : file_append(file, data, bytes);
}

void pipe_close_both(int *a, int *b) {
    if (*a >= 0)
        close(*a);
    if (*b >= 0)
        close(*b);
    *a = *b = -1;
}
