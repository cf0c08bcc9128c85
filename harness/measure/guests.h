/* guests.h - the watch over guests (device/foreign/foreign.h) that every command has: how code of
 * others in processes of its own is scheduled, what it computes beside its calls, and what it
 * leaves behind.
 *
 * A part is a stretch of calls of one guest. Within it nobody sleeps between calls (so there is no
 * wake-up to save), and after it the guest and all that it has started are stopped. One guest alone
 * runs between the ends of two parts: what has changed meanwhile is its doing, also where it
 * happened to another guest; watch.h looks at this process. One watch, one thread. */
#ifndef TESSERA_HARNESS_MEASURE_GUESTS_H
#define TESSERA_HARNESS_MEASURE_GUESTS_H

#include "base/status.h"
#include "device/foreign/foreign.h"

enum { GUESTS_MAX = 4 };

/* A guest as it was when it was first seen, and as it is scheduled since the last part. */
typedef struct guest_seen {
    uint64_t number;
    uint32_t threads;    /* that it was given */
    foreign_thread born; /* as it was started */
    foreign_cost before;
    foreign_schedule schedule;
} guest_seen;

typedef struct guest_watch {
    uint32_t threads;
    size_t count;
    guest_seen seen[GUESTS_MAX];
} guest_watch;

/* `threads`: what each guest was given. */
void guest_watch_begin(guest_watch *w, uint32_t threads);
/* Watches a guest from now on; guest_watch_part_begins adds those that live by itself. */
void guest_watch_add(guest_watch *w, uint64_t number);

void guest_watch_part_begins(guest_watch *w);
/* Stops all guests. False with STATUS_MISMATCH: the one that ran changed how threads are scheduled.
 */
bool guest_watch_part_ends(guest_watch *w, status *st);
/* Does the same to the guest that this thread called last alone: others may be in a call. */
bool guest_watch_called(guest_watch *w, status *st);

/* False with STATUS_MISMATCH: that guest computed with more threads than it was given, or left a
 * process behind that computes or holds its tensors. True for a guest that was not seen. */
bool guest_watch_settle(const guest_watch *w, uint64_t number, status *st);

#endif
