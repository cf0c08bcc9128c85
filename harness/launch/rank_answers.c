/* rank_answers.c - the answers of all ranks to one order, as they come.
 *
 * A rank that others wait for in vain makes them fail within their limit; itself it may stand still
 * for ever. So the processes of those that are silent are ended: some time after another one has
 * failed, or long after one has answered, much longer than that took. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/clock.h"
#include "launch/pipes.h"
#include "launch/ranks_parts.h"

enum { LOOK_MS = 200, FAILED_S = 20, TIMES = 10 };

static const uint64_t second_ns = 1000000000;

typedef struct listening {
    rank_seat *seats;
    uint32_t count, left;
    bool *heard;
    uint64_t began, until; /* when silence is enough; UINT64_MAX: nobody has answered */
    bool failed;
} listening;

/* One that has answered, or never will; -1: not yet. */
static int look(const listening *l) {
    struct pollfd *files = base_calloc(l->count, sizeof *files);
    int found = -1;
    for (uint32_t i = 0; i < l->count; i++)
        files[i] = (struct pollfd){.fd = l->heard[i] ? -1 : l->seats[i].from, .events = POLLIN};
    const int ready = poll(files, l->count, LOOK_MS);
    for (uint32_t i = 0; i < l->count && found < 0; i++)
        if (!l->heard[i] &&
            ((ready > 0 && files[i].revents) ||
             (ready == 0 && l->seats[i].starter && pipe_starter_ended(l->seats[i].starter))))
            found = (int)i;
    free(files);
    return found;
}

/* Threads cannot be ended; the others' connections end with them. */
static void end_silent(const listening *l) {
    for (uint32_t i = 0; i < l->count; i++) {
        rank_seat *s = &l->seats[i];
        if (l->heard[i] || s->thread)
            continue;
        s->is_silent = true;
        if (s->process > 0)
            (void)kill(s->process, SIGKILL);
        else if (s->starter && *s->starter > 0)
            (void)kill(*s->starter, SIGTERM); /* which ends all of its ranks */
        else
            (void)shutdown(s->from, SHUT_RDWR);
    }
}

/* Others have not much longer from now on. */
static void bound(listening *l, bool fails) {
    const uint64_t now = clock_now_ns();
    if (fails && !l->failed)
        l->until = now + FAILED_S * second_ns;
    else if (!l->failed)
        l->until = now + RANK_SILENT_S * second_ns + TIMES * (now - l->began);
    l->failed |= fails;
}

void rank_answers(rank_seat *seats, uint32_t count, rank_message *all, bool *told) {
    listening l = {.seats = seats,
                   .count = count,
                   .left = count,
                   .heard = base_calloc(count, sizeof *l.heard),
                   .began = clock_now_ns(),
                   .until = UINT64_MAX};
    while (l.left) {
        const int i = look(&l);
        if (clock_now_ns() > l.until) {
            end_silent(&l);
            l.until = UINT64_MAX;
            l.failed = true;
        }
        if (i < 0)
            continue;
        const pipe_end far = {seats[i].starter, RANK_SILENT_S};
        all[i] = (rank_message){.st = STATUS_INIT};
        told[i] = pipe_receive(seats[i].from, &far, &all[i], sizeof all[i]);
        l.heard[i] = true;
        l.left--;
        bound(&l, !told[i] || all[i].st.code != STATUS_OK);
    }
    free(l.heard);
}
