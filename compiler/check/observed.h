/* observed.h - values that something looks at beside the kernel's results: print(), debug.check(),
 * and whoever tries what functions promise. What a block of a loop or of a branch makes of them
 * goes out of it turn by turn, until it is the kernel's own. */
#ifndef TESSERA_CHECK_OBSERVED_H
#define TESSERA_CHECK_OBSERVED_H

#include "check/regions.h"

typedef struct observed_turns {
    ir_value turn; /* i32, of the block of a turn */
    ir_dim most;
} observed_turns;

/* Looks at a value of the block that is written, for a launch to print or to check (`held`), or at
 * one of `block`; gives its number. */
size_t observe(checker *c, const entity *e, bool held);
size_t observe_in(checker *c, ir_value value, ir_block block);

/* Gives a value for each turn of a loop, as its block makes it, behind those that it has. */
void observed_stack(checker *c, const region_draft *d, ir_dim turns, value_list *next,
                    type_list *results);
/* Gives a value as the block of an operation that runs once makes it. */
void observed_hand_out(checker *c, const region_draft *d, value_list *next, type_list *results);
/* Gives a value for both sides of a branch: where the other one is taken, true of an effect, zeros
 * of anything else. */
void observed_join(checker *c, const region_draft *d, value_list *next, type_list *results);
/* Carries a value from turn to turn of a loop whose condition ends it, behind what it carries: of a
 * check whether it held in all of them, else one for each of at most so many turns, in its place.
 */
void observed_carry(checker *c, const region_draft *d, const observed_turns *t,
                    value_list *operands, value_list *next, type_list *results);
/* Those are results of the operation, from `first` on. */
void observed_take(checker *c, ir_op op, size_t first);

#endif
