/* threads.c - ranks that are threads of one process: boards by name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "comm/board.h"

typedef struct named_board {
    struct named_board *next;
    char name[COMM_NAME_BYTES];
    uint32_t users;
    board *board;
} named_board;

typedef struct seat {
    board_view view;
    named_board *at;
} seat;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static named_board *boards; /* under the lock */

/* One whose ranks have all come is no place to meet any more. */
static named_board *find(const char *name) {
    named_board *b = boards;
    while (b && (strcmp(b->name, name) != 0 || atomic_load(&b->board->present) == b->board->count))
        b = b->next;
    return b;
}

static named_board *make(const char *name, uint32_t count) {
    named_board *b = base_calloc(1, sizeof *b);
    strcpy(b->name, name);
    const size_t bytes = (board_bytes(count, false) + 63) / 64 * 64;
    b->board = aligned_alloc(64, bytes);
    if (!b->board)
        abort();
    memset(b->board, 0, bytes);
    board_init(b->board, count, false);
    b->next = boards;
    boards = b;
    return b;
}

static void drop(named_board *b) {
    named_board **at = &boards;
    if (--b->users)
        return;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    free(b->board);
    free(b);
}

static bool lives(const board_view *v, uint32_t rank) {
    (void)v;
    (void)rank;
    return true;
}

static bool open_seat(comm *c, const comm_options *o, status *st) {
    const char *name = o->name ? o->name : "tessera";
    if (o->count > BOARD_RANKS_MAX)
        return status_set(st, STATUS_INVALID, "one machine has at most %d ranks", BOARD_RANKS_MAX);
    seat *s = base_calloc(1, sizeof *s);
    pthread_mutex_lock(&lock);
    named_board *b = find(name);
    if (!b)
        b = make(name, o->count);
    b->users++;
    bool ok = b->board->count == o->count ||
              status_set(st, STATUS_INVALID,
                         "rank %u is of %u ranks, and others by the name '%s' are of %u", o->rank,
                         o->count, name, b->board->count);
    s->view = (board_view){b->board, o->rank, c->timeout_ns, lives, -1};
    s->at = b;
    ok = ok && board_sit(&s->view, st);
    if (!ok)
        drop(b);
    pthread_mutex_unlock(&lock);
    if (!ok) {
        free(s);
        return false;
    }
    c->state = s;
    return true;
}

static void close_seat(comm *c) {
    seat *s = c->state;
    board_leave(&s->view);
    pthread_mutex_lock(&lock);
    drop(s->at);
    pthread_mutex_unlock(&lock);
    free(s);
}

static bool exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                     status *st) {
    return board_exchange(&((seat *)c->state)->view, number, messages, count, st);
}

static void fail(comm *c, const char *why) {
    board_fail(((seat *)c->state)->view.board, why);
}

const comm_transport comm_threads = {
    "threads",  "threads of one process, which read each other's memory",
    NULL,       open_seat,
    close_seat, exchange,
    fail};
