/* schedule_run.h - evaluates Schedule IR, element by element: what the phases, loops and
 * computations of a schedule mean, with nothing of the way from them to Tile IR. */
#ifndef TESSERA_TARGET_INTERP_SCHEDULE_RUN_H
#define TESSERA_TARGET_INTERP_SCHEDULE_RUN_H

#include "base/tensor.h"
#include "ir/ir.h"

/* Can the module be evaluated? Its dimensions are numbers, and its products sums of f32, f64 or
 * integers, element by element: no groups of bytes or pairs, no windows, no matrix units. */
bool schedule_runs(const ir_module *m);

/* The outputs of a kernel of Schedule IR, initialised by the call. STATUS_INVALID: it touches what
 * is outside of a buffer. */
bool schedule_run(const ir_module *m, const tensor *inputs, tensor *outputs, status *st);

#endif
