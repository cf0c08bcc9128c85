/* outline.h - cuts a kernel into dispatches: functions that are compiled by themselves, and calls
 * of them. */
#ifndef TESSERA_PROGRAM_OUTLINE_H
#define TESSERA_PROGRAM_OUTLINE_H

#include "ir/ir.h"

typedef struct outline_request {
    bool unfused;        /* each group of the schedule's plan is a dispatch */
    bool apart;          /* likewise, so that what lies between them is planned */
    bool concurrent;     /* ... of which products that run at once are one */
    bool nests_together; /* ... and element-wise nests that follow each other, and of which none
                            waits for another, as many as have room in `buffers` */
    uint32_t buffers;    /* that a dispatch may read and write; 0: any number */
    bool rows_apart; /* each group is one, too, where rows of one may be: kernels of their own */
    /* Does the dispatch of a composite take in an operation that its operand i is made of, or, for
     * as many as there are, one that is made of its result? Asked where there is a composite. */
    bool (*takes_in)(const ir_module *m, ir_op composite, uint32_t i, ir_op op);
} outline_request;

/* After it the kernel's block, those of its branches and loops, and functions that are more than
 * one dispatch hold calls, branches and loops alone. Equal dispatches are one function. Takes
 * primitives whose dimensions are numbers, without calls. A composite that is there yet is a
 * dispatch, with work around it. A function that has room in one kernel is
 * one dispatch, else each group of the schedule's plan is one; a group with too many buffers is cut
 * into its operations. STATUS_UNAVAILABLE: one of these has too many. */
bool program_outline(ir_module *m, const outline_request *request, status *st);
/* The function does work of its own: it is a dispatch. Others call some. */
bool program_is_dispatch(const ir_module *m, ir_op function);

#endif
