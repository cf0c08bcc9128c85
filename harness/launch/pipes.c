/* pipes.c - reads and writes until a message is whole. */
#include "launch/pipes.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "process/child.h"

bool pipe_starter_ended(pid_t *starter) {
    if (*starter > 0 && child_wait_ms(*starter, 1).how != CHILD_RUNNING)
        *starter = 0;
    return *starter <= 0;
}

/* Waits until it is ready, as long as mpirun runs, and no longer than the limit. */
static bool await(const pipe_end *far, int file, short events) {
    enum { LOOK_MS = 200 };
    struct pollfd p = {.fd = file, .events = events};
    int64_t waited_ms = 0;
    while (poll(&p, 1, LOOK_MS) <= 0) {
        waited_ms += LOOK_MS;
        if ((far->starter && *far->starter <= 0) || waited_ms > far->limit_s * 1000)
            return false;
        if (far->starter) /* what it has written before it ended is looked for once more */
            (void)pipe_starter_ended(far->starter);
    }
    return true;
}

bool pipe_receive(int file, const pipe_end *far, void *data, size_t bytes) {
    char *at = data;
    while (bytes) {
        const ssize_t got = !far || await(far, file, POLLIN) ? read(file, at, bytes) : 0;
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
bool pipe_send(int file, const pipe_end *far, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        const ssize_t put = await(far, file, POLLOUT) ? write(file, at, bytes) : 0;
        if (put < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (put <= 0)
            return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

void pipe_close_both(int *a, int *b) {
    if (*a >= 0)
        close(*a);
    if (*b >= 0)
        close(*b);
    *a = *b = -1;
}
