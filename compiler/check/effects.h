/* effects.h - print() and debug.check() of a program. */
#ifndef TESSERA_CHECK_EFFECTS_H
#define TESSERA_CHECK_EFFECTS_H

#include "check/observed.h"

/* print(...), debug.NAME(...); and one of them, whose value is nothing. */
bool effects_is_call(checker *c, const node *n);
entity effects_call(checker *c, const node *n);
/* All of the condition holds, or a launch fails with the message. False when reported. */
bool effects_check(checker *c, const entity *condition, const char *message, span at);

/* Those of a block that is being written are the ones behind a mark. */
size_t effects_mark(const checker *c);
/* Reports one behind the mark in a block of which it is not known how often it runs. */
void effects_refuse(checker *c, size_t mark, const char *around);
/* Is something behind the mark printed in that block? */
bool effects_print_in(const checker *c, size_t mark, const written_block *block);
/* So many turns of the block happen, i32; or is it taken, bool. */
void effects_turns(checker *c, const written_block *block, const entity *turns);

/* For the kernel's attribute: what each output is for, "" of the kernel's own. */
ir_attr effects_attribute(checker *c, uint32_t outputs);

#endif
