/* controls.h - negative controls: every kernel is run wrong in every way that it can be, and each
 * wrong run must be rejected.
 *
 * A control is a fault (faults.def) with its mark. It passes, which is bad, where outputs that are
 * not the right ones are accepted under strict, or where no case of a kernel has it rejected. A
 * control that cannot show in a kernel is left out with its reason (compiler/ops/controls.def). */
#ifndef TESSERA_HARNESS_RUN_CONTROLS_H
#define TESSERA_HARNESS_RUN_CONTROLS_H

#include "job/job_plan.h"

/* Runs and reports; the exit code. */
int controls_run(const corpus *c, const job_choice *choice, bool json, bool colour);

#endif
