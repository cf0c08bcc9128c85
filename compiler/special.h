/* special.h - what the schedule of a target is made of: @schedule, and what @specialize gives it.
 */
#ifndef TESSERA_COMPILER_SPECIAL_H
#define TESSERA_COMPILER_SPECIAL_H

#include "base/vec.h"
#include "tessera/chip.h"
#include "tessera/compiler.h"

typedef struct special_room {
    compiler_schedule schedule;
    VEC(compiler_schedule_entry) entries;
} special_room;

/* Parameters that count for the target: of a chip what @specialize gives it alone, of a CPU each
 * one that this does not say as @schedule has it. NULL: nothing is written. Released by
 * special_room_release; `room` starts as all zero. */
const compiler_schedule *special_join(const compiler_schedule *schedule, const char *isa,
                                      bool is_chip, special_room *room);
void special_room_release(special_room *room);

#endif
