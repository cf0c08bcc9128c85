/* library_parts_rules.h - the forms of operands, for that of a result: what library_parts.c and the
 * rules share. */
#ifndef TESSERA_COMPILER_LIBRARY_PARTS_RULES_H
#define TESSERA_COMPILER_LIBRARY_PARTS_RULES_H

#include "library_parts.h"

typedef enum part_need { PART_REFUSED, PART_UNUSED, PART_NEEDED } part_need;

/* The form in which operand i of an operation is needed for its result in `form`. */
part_need parts_operand(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of);

/* Some axes of a type that are some of a form. */
typedef struct part_run {
    int axis, axes;       /* of the type: the first, and how many */
    int first, count;     /* of the form */
    int wide, wide_count; /* axes of more than one place: the first, and how many */
} part_run;
/* All of them in order; -1: they do not meet. */
int parts_runs(const parts *e, const part_form *form, const ir_type_data *type,
               part_run out[PART_AXES]);
/* The run that an axis of the type is in. */
const part_run *parts_run_of(const part_run *runs, int count, int axis);

#endif
