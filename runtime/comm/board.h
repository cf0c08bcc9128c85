/* board.h - memory that all ranks of one machine see: channels between each two of them, and what
 * became of whom. */
#ifndef TESSERA_RUNTIME_COMM_BOARD_H
#define TESSERA_RUNTIME_COMM_BOARD_H

#include <stdatomic.h>

#include "comm/comm.h"

enum { BOARD_RANKS_MAX = 256, BOARD_SLOTS = 2, BOARD_SLOT_BYTES = 256 << 10, BOARD_WORDS = 320 };

/* A piece of a message: its bytes lie in the channel's ring, or, between threads, where they were.
 */
typedef struct board_piece {
    uint64_t number, total; /* of the message */
    uint64_t bytes;
    const void *at; /* between threads */
} board_piece;

/* From one rank to another: pieces that were put, and that were taken. */
typedef struct board_channel {
    _Alignas(64) _Atomic uint64_t put;
    _Alignas(64) _Atomic uint64_t taken;
    _Atomic uint32_t held; /* between threads: by whom the piece is, board_hold */
    board_piece pieces[BOARD_SLOTS];
} board_channel;

typedef enum board_hold {
    HELD_BY_NONE, /* it waits */
    HELD_BY_READER,
    HELD_BY_WRITER /* who took it back */
} board_hold;

typedef struct board_seat {
    _Alignas(64) _Atomic uint32_t bell; /* rung when something of this rank's moved on */
    _Atomic uint32_t state;             /* board_state */
    _Atomic uint32_t asleep;            /* 1: it waits for the bell; else nobody needs a wake-up */
} board_seat;

typedef enum board_state { SEAT_EMPTY, SEAT_TAKEN, SEAT_LEFT } board_state;

typedef struct board {
    _Atomic uint32_t ready; /* the rest is there */
    uint32_t count;
    bool rings; /* bytes go through rings, behind the channels */
    _Atomic uint32_t present;
    _Atomic uint32_t failed; /* 0: none; 1: words are being written; 2: they are there */
    char why[BOARD_WORDS];
    board_seat seats[BOARD_RANKS_MAX];
    board_channel channels[]; /* by from * count + to */
} board;

size_t board_bytes(uint32_t count, bool rings);
void board_init(board *b, uint32_t count, bool rings);

/* A rank at a board. `alive` tells of another one, that has taken its seat, whether it lives. */
typedef struct board_view {
    board *board;
    uint32_t rank;
    uint64_t timeout_ns;
    bool (*alive)(const struct board_view *v, uint32_t rank);
    int file; /* shm */
} board_view;

/* False: the seat is taken. */
bool board_sit(board_view *v, status *st);
void board_leave(board_view *v);
/* Has everybody left that came? */
bool board_is_empty(const board *b);
bool board_exchange(board_view *v, uint64_t number, const comm_message *messages, uint32_t count,
                    status *st);
/* Is that rank still to be waited for? False: it has left, was lost, or one of all has failed. */
bool board_watch(board_view *v, uint32_t rank, status *st);
/* shm.c: that of a rank by shared memory. */
board_view *board_of_shm(const comm *c);
void board_fail(board *b, const char *why);

#endif
