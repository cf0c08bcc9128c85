/* state.h - how far a run has come, in a file that an interrupted run leaves behind.
 *
 * A file holds the units that are done and their tally, under the key of what was tried: the judge,
 * the sequence, the compiled code and the interpreter. A file of another key, of another version or
 * damaged is discarded. */
#ifndef TESSERA_MATH_CHECK_STATE_H
#define TESSERA_MATH_CHECK_STATE_H

#include "base/sha256.h"
#include "base/status.h"
#include "math/check/judge.h"

enum { STATE_UNITS = 256 }; /* of 2^24 inputs each */

typedef struct progress_state {
    char magic[16];
    sha256 key;
    uint8_t done[STATE_UNITS];
    tally all;
} progress_state;

/* Loads the file at `path` under this key, or nothing done. True: something was taken up. */
bool state_load(progress_state *s, const char *path, const sha256 *key);
bool state_save(const progress_state *s, const char *path, status *st);
uint32_t state_done(const progress_state *s);

#endif
