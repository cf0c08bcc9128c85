/* durable.h - makes what was written to one file durable, on a thread of its own.
 *
 * A transaction is in the file when its commit returns: a crash or kill -9 of this program loses
 * nothing. Bringing it to the disk, for the day of a power cut, takes the disk's time; the next
 * case can run meanwhile. One caller at a time. */
#ifndef TESSERA_HARNESS_STORE_DURABLE_H
#define TESSERA_HARNESS_STORE_DURABLE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct durable durable;

/* Owned. NULL where the file cannot be opened or there is no thread to be had. */
durable *durable_start(const char *path);
/* Begins to make everything durable that was written before; returns at once. */
void durable_request(durable *d);
/* Waits for the last request. False with the disk's refusal, which is told once. */
bool durable_wait(durable *d, status *st);
void durable_stop(durable *d); /* waits; NULL: nothing to do */

#endif
