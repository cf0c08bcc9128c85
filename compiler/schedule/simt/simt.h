/* simt.h - the parts of the policy of targets with threads (policy.h). */
#ifndef TESSERA_SCHEDULE_SIMT_H
#define TESSERA_SCHEDULE_SIMT_H

#include "schedule/schedule.h"

struct contraction;

/* dot_tiles.c */
bool simt_stages_dot(struct contraction *c);
void simt_dot_operands(struct contraction *c);
void simt_dot_tiles(struct contraction *c);
/* cost.c */
double simt_cost(const ir_module *schedule, const schedule_target *target);

#endif
