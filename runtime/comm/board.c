/* board.c - exchanges by channels in memory that ranks share. */
#include "comm/board.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"

/* A rank that waits sleeps after a few looks: where others want its core, one that gives up its
 * turn instead has to wait for theirs to end, milliseconds each. */
enum { LOOKS_AT_ONCE = 200, LOOKS_FOR_LIFE_NS = 20000000 };

/* ---- memory ---- */

static size_t channel_count(uint32_t count) {
    return (size_t)count * count;
}

size_t board_bytes(uint32_t count, bool rings) {
    const size_t channels = channel_count(count);
    return sizeof(board) + channels * sizeof(board_channel) +
           (rings ? channels * BOARD_SLOTS * (size_t)BOARD_SLOT_BYTES : 0);
}

void board_init(board *b, uint32_t count, bool rings) {
    b->count = count;
    b->rings = rings;
    atomic_store(&b->ready, 1);
}

static board_channel *channel(board *b, uint32_t from, uint32_t to) {
    return &b->channels[(size_t)from * b->count + to];
}

static unsigned char *slot(board *b, const board_channel *c, uint64_t piece) {
    unsigned char *rings = (unsigned char *)&b->channels[channel_count(b->count)];
    return rings +
           ((size_t)(c - b->channels) * BOARD_SLOTS + piece % BOARD_SLOTS) * BOARD_SLOT_BYTES;
}

/* ---- bells ---- */

static void ring(board *b, uint32_t rank) {
    atomic_fetch_add(&b->seats[rank].bell, 1);
    if (atomic_load(&b->seats[rank].asleep))
        syscall(SYS_futex, &b->seats[rank].bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Until the bell has another number, or a while has passed. One that rings it afterwards sees that
 * the rank sleeps; one that rang it before has changed the number, so that it does not. */
static void sleep_until(board *b, uint32_t rank, uint32_t bell) {
    const struct timespec a_while = {0, LOOKS_FOR_LIFE_NS};
    atomic_store(&b->seats[rank].asleep, 1);
    syscall(SYS_futex, &b->seats[rank].bell, FUTEX_WAIT, bell, &a_while, NULL, 0);
    atomic_store(&b->seats[rank].asleep, 0);
}

/* ---- seats and failures ---- */

void board_fail(board *b, const char *why) {
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong(&b->failed, &none, 1))
        return;
    strncpy(b->why, why, sizeof b->why - 1);
    atomic_store(&b->failed, 2);
    for (uint32_t i = 0; i < b->count; i++)
        ring(b, i);
}

bool board_sit(board_view *v, status *st) {
    uint32_t empty = SEAT_EMPTY;
    if (!atomic_compare_exchange_strong(&v->board->seats[v->rank].state, &empty, SEAT_TAKEN))
        return status_set(st, STATUS_INVALID,
                          "rank %u is there already: each rank has a number of "
                          "its own",
                          v->rank);
    atomic_fetch_add(&v->board->present, 1);
    return true;
}

void board_leave(board_view *v) {
    board *b = v->board;
    atomic_store(&b->seats[v->rank].state, SEAT_LEFT);
    for (uint32_t i = 0; i < b->count; i++)
        ring(b, i);
}

bool board_is_empty(const board *b) {
    bool empty = true;
    for (uint32_t i = 0; i < b->count; i++)
        empty = empty && atomic_load(&b->seats[i].state) != SEAT_TAKEN;
    return empty;
}

static bool has_failed(board *b, status *st) {
    if (atomic_load(&b->failed) == 0)
        return false;
    while (atomic_load(&b->failed) == 1)
        sched_yield();
    status_set(st, STATUS_UNAVAILABLE, "%s", b->why);
    return true;
}

/* ---- exchanges ---- */

typedef struct transfer {
    const comm_message *m;
    uint64_t sent, received; /* bytes */
    bool put, sent_all, received_all;
} transfer;

static void begin(transfer *t, const comm_message *m) {
    *t = (transfer){.m = m, .sent_all = m->send_bytes == 0, .received_all = m->receive_bytes == 0};
}

/* Puts what there is room for; between threads the whole message, and waits until it was taken. */
static bool push(board_view *v, transfer *t, uint64_t number) {
    board *b = v->board;
    board_channel *c = channel(b, v->rank, t->m->rank);
    const uint64_t put = atomic_load_explicit(&c->put, memory_order_relaxed),
                   taken = atomic_load_explicit(&c->taken, memory_order_acquire);
    if (t->sent_all)
        return false;
    if (!b->rings && t->put) {
        t->sent_all = taken == put;
        return t->sent_all;
    }
    if (put - taken == BOARD_SLOTS)
        return false;
    board_piece *p = &c->pieces[put % BOARD_SLOTS];
    const unsigned char *from = (const unsigned char *)t->m->send + t->sent;
    const uint64_t left = t->m->send_bytes - t->sent,
                   bytes = b->rings && left > BOARD_SLOT_BYTES ? BOARD_SLOT_BYTES : left;
    *p = (board_piece){number, t->m->send_bytes, bytes, b->rings ? NULL : from};
    if (b->rings)
        memcpy(slot(b, c, put), from, bytes);
    t->sent += bytes;
    t->put = true;
    t->sent_all = b->rings && t->sent == t->m->send_bytes;
    atomic_store_explicit(&c->put, put + 1, memory_order_release);
    ring(b, t->m->rank);
    return true;
}

/* Takes a piece that is there. *ok: it is of this exchange. */
static bool pull(board_view *v, transfer *t, uint64_t number, bool *ok, status *st) {
    board *b = v->board;
    board_channel *c = channel(b, t->m->rank, v->rank);
    const uint64_t taken = atomic_load_explicit(&c->taken, memory_order_relaxed);
    if (t->received_all || atomic_load_explicit(&c->put, memory_order_acquire) == taken)
        return false;
    const board_piece p = c->pieces[taken % BOARD_SLOTS];
    if (p.number != number || p.total != t->m->receive_bytes ||
        p.bytes > t->m->receive_bytes - t->received || (b->rings && p.bytes > BOARD_SLOT_BYTES)) {
        *ok = status_set(st, STATUS_INVALID,
                         "rank %u sent %llu bytes of exchange %llu, and rank %u takes %zu of "
                         "exchange %llu: the ranks do not run the same program",
                         t->m->rank, (unsigned long long)p.total, (unsigned long long)p.number,
                         v->rank, t->m->receive_bytes, (unsigned long long)number);
        return false;
    }
    uint32_t waits = HELD_BY_NONE;
    if (!b->rings && !atomic_compare_exchange_strong(&c->held, &waits, HELD_BY_READER))
        return false; /* its rank has failed, which is told soon */
    memcpy((unsigned char *)t->m->receive + t->received, b->rings ? slot(b, c, taken) : p.at,
           p.bytes);
    atomic_store(&c->held, HELD_BY_NONE);
    t->received += p.bytes;
    t->received_all = t->received == t->m->receive_bytes;
    atomic_store_explicit(&c->taken, taken + 1, memory_order_release);
    ring(b, t->m->rank);
    return true;
}

/* Behind a failure nobody may read what was put and not taken: it is the caller's again. */
static void take_back(board_view *v, const transfer *list, uint32_t count) {
    for (uint32_t i = 0; i < count && !v->board->rings; i++) {
        board_channel *c = channel(v->board, v->rank, list[i].m->rank);
        uint32_t waits = HELD_BY_NONE;
        if (!list[i].put || list[i].sent_all)
            continue;
        while (!atomic_compare_exchange_strong(&c->held, &waits, HELD_BY_WRITER) &&
               waits == HELD_BY_READER)
            waits = HELD_BY_NONE;
    }
}

static bool is_done(const transfer *t) {
    return t->sent_all && t->received_all;
}

/* Whoever is waited for must be there. A rank that left has put all that it had. */
static bool is_there(board_view *v, uint32_t rank, status *st) {
    const uint32_t state = atomic_load(&v->board->seats[rank].state);
    if (state == SEAT_LEFT)
        return status_set(st, STATUS_UNAVAILABLE, "rank %u has left, and rank %u waits for it",
                          rank, v->rank);
    return state == SEAT_EMPTY || v->alive(v, rank) ||
           status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: its process has ended", rank);
}

bool board_watch(board_view *v, uint32_t rank, status *st) {
    if (has_failed(v->board, st))
        return false;
    if (is_there(v, rank, st))
        return true;
    (void)has_failed(v->board, st); /* one that left behind a failure is not to blame for it */
    return false;
}

static bool has_come(const board_view *v, const transfer *t) {
    return atomic_load(&v->board->seats[t->m->rank].state) != SEAT_EMPTY;
}

/* One that never came is waited for by all others, too. */
static bool late(const board_view *v, const transfer *list, uint32_t count, uint64_t number,
                 status *st) {
    const transfer *t = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!is_done(&list[i]) && (!t || (has_come(v, t) && !has_come(v, &list[i]))))
            t = &list[i];
    return !t ||
           status_set(st, STATUS_UNAVAILABLE, "rank %u waited %g s for rank %u in exchange %llu%s",
                      v->rank, (double)v->timeout_ns / 1e9, t->m->rank, (unsigned long long)number,
                      has_come(v, t) ? "" : ", and it never came");
}

/* Parameters: a rank, what it sends and takes in one exchange, and how that goes. Moves on what
 * can; *done: all has. False: it went wrong. */
static bool step(board_view *v, transfer *list, uint32_t count, uint64_t number, bool *moved,
                 bool *done, status *st) {
    bool ok = true;
    *moved = false;
    *done = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        *moved |= push(v, &list[i], number);
        *moved |= pull(v, &list[i], number, &ok, st);
        *done &= list[i].sent_all && list[i].received_all;
    }
    return ok;
}

static bool look_around(board_view *v, const transfer *list, uint32_t count, status *st) {
    bool ok = !has_failed(v->board, st);
    for (uint32_t i = 0; i < count && ok; i++)
        ok = is_done(&list[i]) || is_there(v, list[i].m->rank, st);
    if (!ok) /* one that left behind a failure is not to blame for it */
        (void)has_failed(v->board, st);
    return ok;
}

bool board_exchange(board_view *v, uint64_t number, const comm_message *messages, uint32_t count,
                    status *st) {
    transfer *list = base_calloc((size_t)count + 1, sizeof *list);
    const uint64_t end = clock_now_ns() + v->timeout_ns;
    uint32_t idle = 0;
    bool ok = true, moved, done = false;
    for (uint32_t i = 0; i < count; i++)
        begin(&list[i], &messages[i]);
    while (ok && !done) {
        const uint32_t bell = atomic_load(&v->board->seats[v->rank].bell);
        ok = step(v, list, count, number, &moved, &done, st);
        if (!ok || done)
            break;
        idle = moved ? 0 : idle + 1;
        if (idle < LOOKS_AT_ONCE)
            continue;
        sleep_until(v->board, v->rank, bell);
        /* Pieces that came meanwhile are taken before the one that it came from is missed. */
        ok = step(v, list, count, number, &moved, &done, st) &&
             (done || moved ||
              (look_around(v, list, count, st) &&
               (clock_now_ns() < end || late(v, list, count, number, st))));
        idle = moved ? 0 : idle;
    }
    if (!ok)
        take_back(v, list, count);
    free(list);
    return ok;
}
