/* ucx.c - ranks that are processes of one machine, whose bytes go by UCX: libtessera-ucx.so, which
 * lies beside the program or this library.
 *
 * They meet, and tell each other of failures and ends, at a board in shared memory as those of
 * shm.c; their addresses are the first bytes that go through it. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "comm/board.h"
#include "comm/ucx_calls.h"

/* Numbers that no exchange of a program has. */
#define GREETINGS (UINT64_C(1) << 40)
#define LINGER_NS UINT64_C(2000000000)

static const ucx_calls *calls;
static char why_not[600];

static void find_calls(void) {
    comm_library l = {UCX_CALLS_LIBRARY, UCX_CALLS_SYMBOL, sizeof *calls,
                      "it is built where ucp/api/ucp.h is: libucx-dev of Debian"};
    calls = comm_library_open(&l, why_not, sizeof why_not);
}

static const char *missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_calls);
    return calls ? NULL : why_not;
}

typedef struct ucx_seat {
    comm meeting; /* by shm */
    void *rank;
    ucx_address own;
    bool connected;
} ucx_seat;

/* A message may wait in this process until others take it: they know that it is about to leave,
 * and it does so when they are, too. */
static void linger(ucx_seat *s) {
    const struct timespec a_while = {0, 200000};
    const uint64_t end = clock_now_ns() + LINGER_NS;
    board_view *v = board_of_shm(&s->meeting);
    board_leave(v);
    while (!board_is_empty(v->board) && clock_now_ns() < end) {
        calls->progress(s->rank);
        nanosleep(&a_while, NULL);
    }
}

static void release(ucx_seat *s) {
    if (s->rank && s->connected)
        linger(s);
    if (s->rank)
        calls->close(s->rank);
    comm_shm.close(&s->meeting);
    free(s);
}

static bool open_seat(comm *c, const comm_options *o, status *st) {
    ucx_seat *s = base_calloc(1, sizeof *s);
    s->meeting = *c;
    s->meeting.transport = &comm_shm;
    if (!comm_shm.open(&s->meeting, o, st)) {
        free(s);
        return false;
    }
    s->rank = calls->open(&s->own, st);
    if (!s->rank) {
        release(s);
        return false;
    }
    c->state = s;
    return true;
}

static void close_seat(comm *c) {
    release(c->state);
}

typedef struct waiting {
    const comm *c;
    ucx_seat *s;
    uint64_t number, end;
} waiting;

static bool go_on(void *context, uint32_t rank, status *st) {
    const waiting *w = context;
    if (!board_watch(board_of_shm(&w->s->meeting), rank, st))
        return false;
    return clock_now_ns() < w->end ||
           status_set(st, STATUS_UNAVAILABLE, "rank %u waited %g s for rank %u in exchange %llu",
                      w->c->rank, (double)w->c->timeout_ns / 1e9, rank,
                      (unsigned long long)w->number);
}

static bool exchange_by_ucx(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                            status *st) {
    ucx_seat *s = c->state;
    waiting w = {c, s, number, clock_now_ns() + c->timeout_ns};
    return calls->exchange(s->rank, number, messages, count, go_on, &w, st);
}

/* UCX reaches for the memory of another rank when the first message goes there, which must not have
 * left then. So each sends each other one, and one more when it has that. */
static bool greet(comm *c, comm_message *messages, uint32_t count, status *st) {
    uint64_t *words = base_calloc((size_t)count + 1, sizeof *words);
    bool ok = true;
    for (uint64_t round = 0; round < 2 && ok; round++) {
        for (uint32_t i = 0; i < count; i++)
            messages[i] = (comm_message){messages[i].rank, &words[count], &words[i], sizeof *words,
                                         sizeof *words};
        ok = exchange_by_ucx(c, GREETINGS + round, messages, count, st);
    }
    free(words);
    return ok;
}

/* With all ranks, before the first exchange. */
static bool connect_all(comm *c, ucx_seat *s, status *st) {
    ucx_address *all = base_calloc(c->count, sizeof *all);
    comm_message *messages = base_calloc(c->count, sizeof *messages);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (i != c->rank)
            messages[count++] = (comm_message){i, &s->own, &all[i], sizeof s->own, sizeof s->own};
    const bool ok = comm_shm.exchange(&s->meeting, GREETINGS, messages, count, st) &&
                    calls->connect(s->rank, all, c->count, c->rank, st) &&
                    greet(c, messages, count, st);
    free(all);
    free(messages);
    s->connected = ok;
    return ok;
}

static bool exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                     status *st) {
    ucx_seat *s = c->state;
    return (s->connected || connect_all(c, s, st)) &&
           exchange_by_ucx(c, number, messages, count, st);
}

static void fail(comm *c, const char *why) {
    comm_shm.fail(&((ucx_seat *)c->state)->meeting, why);
}

const comm_transport comm_ucx = {
    "ucx", "processes of one machine, by UCX", missing, open_seat, close_seat, exchange, fail};
