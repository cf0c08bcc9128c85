/* observed.h - values that something looks at beside the kernel's results: print(), debug.check(),
 * and whoever tries what functions promise. What a block of a loop or of a branch makes of them
 * goes out of it turn by turn, until it is the kernel's own. */
#ifndef TESSERA_CHECK_OBSERVED_H
#define TESSERA_CHECK_OBSERVED_H

#include "check/regions.h"

/* Looks at a value of the block that is written, or at one of `block`; gives its number. */
size_t observe(checker *c, const entity *e, bool of_effect);
size_t observe_in(checker *c, ir_value value, ir_block block);

/* Gives a value for each turn of a loop, as its block makes it, behind those that it has. */
void observed_stack(checker *c, const region_draft *d, ir_dim turns, value_list *next,
                    type_list *results);
/* Gives a value for both sides of a branch: where the other one is taken, true of an effect, zeros
 * of anything else. */
void observed_join(checker *c, const region_draft *d, value_list *next, type_list *results);
/* Carries a check from turn to turn of a loop whose turns are not counted, behind what it carries:
 * whether it held in all of them. */
void observed_carry(checker *c, const region_draft *d, value_list *operands, value_list *next,
                    type_list *results);
/* Those are results of the operation, from `first` on. */
void observed_take(checker *c, ir_op op, size_t first);

#endif
