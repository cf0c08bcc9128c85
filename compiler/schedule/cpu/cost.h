/* cost.h - what a schedule costs by arithmetic alone: cycles of the slowest thread, phase by phase.
 *
 * A roofline with footprints: a phase takes the longer of its computing and its memory traffic. The
 * formulas are in docs/schedules.md. Their numbers are those of a usual out-of-order core; they
 * rank schedules of one kernel, and predict no time. */
#ifndef TESSERA_SCHEDULE_COST_H
#define TESSERA_SCHEDULE_COST_H

#include "schedule/schedule.h"

double schedule_cost(const ir_module *m, const schedule_target *target);

#endif
