/* lanes.h - the axis of each value of the primitives along which positions stay apart. */
#ifndef TESSERA_GRAPH_LANES_H
#define TESSERA_GRAPH_LANES_H

#include "graph/instance.h"

/* In place of an axis: the value has no such positions; an element of it depends on several of
 * them, or on the number of its own. */
enum { LANE_NONE = -1, LANE_MIXED = -2 };

typedef struct lanes {
    const ir_module *m;
    int *axis;         /* by value: an axis, or one of the above */
    uint32_t *varies;  /* by value: the axes along which elements may differ */
    const char *where; /* the operation that mixed first, static; NULL: none did */
} lanes;

lanes lanes_new(const ir_module *primitives);
void lanes_release(lanes *l);
/* The axis of an input. */
void lanes_seed(lanes *l, ir_value input, int axis);
/* Those of all other values, from the inputs'. */
void lanes_follow(lanes *l);

#endif
