/* join_turns.h - a loop over blocks whose turns depend on each other, while it is joined. */
#ifndef TESSERA_GRAPH_JOIN_TURNS_H
#define TESSERA_GRAPH_JOIN_TURNS_H

#include "graph/join_tiles.h"

typedef struct turns {
    joining_pass *j;
    ir_op op;
    ir_op_data d;
    ir_block_data body;
    ir_value end[JOIN_OPERANDS]; /* the next values */
    uint32_t *needs;             /* by value: carried tiles that it is made of, as bits */
    int64_t count, ahead;        /* turns, and those that are computed at once */
    uint32_t known;              /* carried tiles of which all those turns are known */
    joined *all;                 /* by value: of all those turns */
    joined next[JOIN_OPERANDS];  /* carried tiles as the next turn takes them */
} turns;

/* Tells that the value is known for all turns. */
bool turns_know(const turns *t, ir_value v);
/* Operations that make what is not known of one turn. */
bool turns_join_one(turns *t, int64_t turn);
/* Makes what is not known of the turns ahead one tessera.fold; false, with nothing built: it is no
 * element-wise work on rows and their columns. */
bool turns_fold(turns *t);

#endif
