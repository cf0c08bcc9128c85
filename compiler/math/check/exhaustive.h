/* exhaustive.h - one function at all 2^32 inputs, by all cores, resumable. */
#ifndef TESSERA_MATH_CHECK_EXHAUSTIVE_H
#define TESSERA_MATH_CHECK_EXHAUSTIVE_H

#include "base/text.h"
#include "math/check/state.h"
#include "math/math.h"

typedef struct exhaustive_job {
    math_set set;
    math_function function;
    const char *name;
    const char *state_path;
    bool again; /* from the start, whatever the state holds */
} exhaustive_job;

/* Runs what `state_path` lacks; `levels` receives the CPU levels that were tried. False: the run
 * could not be made or finished; what was found wrong is in `out`. */
bool exhaustive_run(const exhaustive_job *job, tally *out, text *levels, status *st);

#endif
