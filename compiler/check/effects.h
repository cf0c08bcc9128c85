/* effects.h - print() and debug.check() of a program. */
#ifndef TESSERA_CHECK_EFFECTS_H
#define TESSERA_CHECK_EFFECTS_H

#include "check/regions.h"

/* print(...), debug.NAME(...); and one of them, whose value is nothing. */
bool effects_is_call(checker *c, const node *n);
entity effects_call(checker *c, const node *n);
/* All of the condition holds, or a launch fails with the message. False when reported. */
bool effects_check(checker *c, const entity *condition, const char *message, span at);

/* Those of a block that is being written are the ones behind a mark. */
size_t effects_mark(const checker *c);
/* Adds a value for each turn, as a loop makes it, behind those that it has. */
void effects_leave_loop(checker *c, size_t mark, ir_dim turns, value_list *next,
                        type_list *results);
/* Those before `end` are results of the operation, from `first` on; of none where it is 0. */
void effects_take(checker *c, size_t mark, size_t end, ir_op op, uint32_t first);
/* Reports that there are any in a block around which the number of turns is not known. */
void effects_refuse(checker *c, size_t mark, const char *around);
/* The value of a check on the side of a branch that does not make it. */
ir_value effects_other_side(checker *c, size_t i);

/* For the kernel's attribute: what each output is for, "" of the kernel's own. */
ir_attr effects_attribute(checker *c, uint32_t outputs);

#endif
