/* cpu.h - the parts of a CPU's policy (policy.h). */
#ifndef TESSERA_SCHEDULE_CPU_H
#define TESSERA_SCHEDULE_CPU_H

#include "schedule/schedule.h"

struct contraction;

/* dot_operands.c: whether elements are multiplied in groups, and which operands are copied. */
void cpu_dot_operands(struct contraction *c);
/* Are all rows best one block, which packs what it reads of the right side for itself? So are those
 * of groups whose left side stays in the second cache: nobody waits for a phase that packs. */
bool cpu_is_one_block(const struct contraction *c);
/* dot_tiles.c */
void cpu_dot_tiles(struct contraction *c);
void cpu_turned_tile(struct contraction *c);
/* cost.c */
double cpu_cost(const ir_module *schedule, const schedule_target *target);

#endif
