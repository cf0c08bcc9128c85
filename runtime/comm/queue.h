/* queue.h - what a rank does with others while its launch goes on: jobs, one after the other in the
 * order in which they were given, on a thread that is there from the first one on. */
#ifndef TESSERA_RUNTIME_COMM_QUEUE_H
#define TESSERA_RUNTIME_COMM_QUEUE_H

#include <pthread.h>

#include "comm/comm.h"

/* It is its owner's, who leaves it alone until it has ended. */
typedef struct comm_job {
    bool (*run)(comm *c, struct comm_job *job, status *st);
    uint64_t start_ns, end_ns; /* of clock.h: when it ran */
    struct comm_job *next;
    bool ended, ok;
    status st; /* why it failed */
} comm_job;

typedef struct comm_queue {
    comm *comm;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stops;
    comm_job *first, *last; /* that have not ended */
} comm_queue;

void comm_queue_init(comm_queue *q, comm *c);
/* All jobs have ended. */
void comm_queue_release(comm_queue *q);
/* `soon`: its owner waits for it at once, so that it is run here where no other one is before it.
 * Behind one that fails, those that were given by then fail with its words. */
void comm_queue_give(comm_queue *q, comm_job *job, bool soon);
bool comm_queue_ended(comm_queue *q, const comm_job *job);
/* Waits for its end. Returns what its run did. */
bool comm_queue_await(comm_queue *q, comm_job *job, status *st);

#endif
