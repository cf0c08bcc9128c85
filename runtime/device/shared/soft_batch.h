/* soft_batch.h - commands that were submitted together, with copies of all that they point at, in
 * one piece of memory; for soft_queue.c.
 *
 * A piece that is done with is kept by its queue for a later batch, since it is freed by another
 * thread than makes the next one. */
#ifndef TESSERA_RUNTIME_SOFT_BATCH_H
#define TESSERA_RUNTIME_SOFT_BATCH_H

#include "device/shared/soft.h"

struct soft_batch {
    soft_batch *next;
    size_t room_bytes;  /* of the piece, all included */
    bool awaited, done; /* awaited: whoever waits frees it, and learns how it ended */
    status result;      /* the first failure of its commands */
    size_t count;
    soft_recording **recordings; /* of each command, or NULL; behind them, before the payloads */
    device_command commands[];
};

/* Copies commands for the queue's device; with no lock held. */
soft_batch *soft_batch_new(device_queue *queue, const device_command *commands, size_t count);
/* Drops what it holds; with the device's lock held. */
void soft_batch_free(device_queue *queue, soft_batch *b);
/* Frees what the queue keeps for later batches; nobody submits to it any more. */
void soft_batches_release(device_queue *queue);

#endif
