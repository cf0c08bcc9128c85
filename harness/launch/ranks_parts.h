/* ranks_parts.h - orders and answers between ranks.c, which tells all ranks what to do, and rank.c,
 * which is one of them. */
#ifndef TESSERA_HARNESS_LAUNCH_RANKS_PARTS_H
#define TESSERA_HARNESS_LAUNCH_RANKS_PARTS_H

#include <pthread.h>
#include <sys/types.h>

#include "launch/ranks.h"
#include "state/part.h"

enum { RANK_IN = 3, RANK_OUT = 4 };
enum { RANK_SILENT_S = 60 /* in the midst of a message, or alone where others have answered */ };

typedef enum rank_order {
    ORDER_WRITE,
    ORDER_POISON,
    ORDER_RUN,
    ORDER_TRACE,
    ORDER_SHARE,
    ORDER_READ_INPUT,
    ORDER_READ,
    ORDER_KEEP,
    ORDER_TAKE,
    ORDER_END
} rank_order;

typedef struct rank_message {
    uint32_t order, index; /* of an input or an output */
    uint64_t number;       /* bytes behind it; launches; of an answer ns, or bytes behind it */
    uint64_t began;        /* of an answer: when, by the clock of the machine */
    status st;
} rank_message;

typedef struct rank_seat {
    int to, from;         /* this process's ends */
    int far_from, far_to; /* the rank's; -1: it has them, or has ended */
    pid_t process;        /* 0: it is a thread, or mpirun's */
    pid_t *starter;       /* mpirun, while it runs; NULL: it has none */
    pthread_t thread;
    const launch_request *request;
    uint32_t rank, count;
    const char *transport;
    char name[48];
    shard_part *parts; /* of its buffers; NULL: it has all of each */
    uint32_t inputs;   /* ... before the outputs */
    bool is_lost;      /* it answers no more, */
    bool is_silent;    /* and was ended, as it stood still where others failed */
} rank_seat;

/* Facts that a process needs of its rank: the module, its name and the sizes of buffers follow. */
typedef struct rank_head {
    uint32_t rank, count, device, threads, inputs, outputs;
    uint64_t image_bytes, kernel_bytes;
    char name[48], transport[16];
} rank_head;

/* Receives the answer of each seat to one order, in whatever order they come; told[i] false: there
 * is none, as the rank has ended. */
void rank_answers(rank_seat *seats, uint32_t count, rank_message *all, bool *told);

/* Follows orders until nobody tells any more; `seat`: a rank_seat, with its ends. */
void *launch_rank_follow(void *seat);

#endif
