/* sink_moves.h - the rules of the pass sink-moves, for each kind of movement. */
#ifndef TESSERA_GRAPH_SINK_MOVES_H
#define TESSERA_GRAPH_SINK_MOVES_H

#include "ir/uses.h"
#include "ops/graph.h"

typedef struct sink_state {
    ir_module *m;
    ir_uses readers; /* before the pass */
    uint32_t *uses;  /* by value */
    uint32_t capacity;
} sink_state;

/* Uses of a value; one that the pass has built has those of what it stands for. */
uint32_t sink_uses(const sink_state *s, ir_value v);
/* The value that stands for a reshape that joins axes of computed elements for a reduction: the
 * elements, computed in its shape of reshapes of what is in memory. 0: it stays. */
ir_value sink_reshape(const sink_state *s, ir_builder *b, ir_op op);

#endif
