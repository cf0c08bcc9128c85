/* stream_pairs.h - which call of one recorded program is which of another's.
 *
 * A lane is a thread of a process. Lanes are paired first: those with the most calls in common.
 * Within two lanes, calls are aligned that are alike (function, scalars, shapes, types) and have
 * equal inputs. What is left in all lanes is paired where that holds, too: work that another thread
 * did. Calls that are alike and have other inputs are aligned last, between those of two lanes that
 * are paired already. */
#ifndef TESSERA_HARNESS_DIFF_STREAM_PAIRS_H
#define TESSERA_HARNESS_DIFF_STREAM_PAIRS_H

#include "capture/stream.h"

#define PAIR_NONE SIZE_MAX

typedef struct stream_pairs {
    size_t *of_a, *of_b; /* the partner of each call in the other stream, or PAIR_NONE; owned */
    bool exact;          /* false: too different for the best alignment; a good one was taken */
    size_t moved;        /* pairs across lanes that are not paired */
} stream_pairs;

void stream_pairs_make(stream_pairs *p, const capture_stream *a, const capture_stream *b);
void stream_pairs_release(stream_pairs *p);

#endif
