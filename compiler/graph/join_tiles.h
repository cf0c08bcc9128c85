/* join_tiles.h - what the files that join program instances share.
 *
 * A value of the block of tessera.tiles is one tile for each instance. Joined, all of them are one
 * tensor: an axis along which the tiles of neighbours lie side by side becomes the whole axis, any
 * other dependence on an index becomes an axis in front. Then what is computed of tiles is the same
 * computation on whole tensors, in the same orders, element for element. */
#ifndef TESSERA_GRAPH_JOIN_TILES_H
#define TESSERA_GRAPH_JOIN_TILES_H

#include "graph/expand_tiles.h"

enum { JOIN_INDICES = 16, JOIN_OPERANDS = 16, JOIN_ATTRS = 16 };

/* Meaning of a tile's axis in the tensor: an axis of the same length, none (all places along it are
 * alike), or from 0 on the index whose tiles lie side by side along it. */
enum { AXIS_OWN = -1, AXIS_ALIKE = -2 };

/* Roles of a value in a loop that is one contraction. */
typedef enum joined_role {
    ROLE_TILE,
    ROLE_CARRIED, /* the sum so far */
    ROLE_PRODUCT, /* of one turn, which is to be added to it */
    ROLE_SUM      /* of both */
} joined_role;

typedef struct joined {
    ir_value value;   /* axes: those of `batches`, ascending, then the tile's without alike ones */
    uint32_t batches; /* indices that have an axis in front, as bits */
    int rank;         /* of the tile */
    int along[IR_MAX_RANK];
    bool is_number, is_zero, counts; /* counts: element i of the only own axis is i */
    ir_attr number;                  /* a dimension of the indices, not a value yet */
    joined_role role;
    uint32_t carried; /* number of the carried tile */
} joined;

typedef struct joined_index {
    const char *name;
    int64_t count, size; /* size: places of a tile along the axis; 0: not known yet */
    bool in_front;       /* always an axis in front */
} joined_index;

/* The axes that a value is wanted with. */
typedef struct layout {
    uint32_t batches;
    int rank, along[IR_MAX_RANK];
    int64_t length[IR_MAX_RANK]; /* of the tile's axes that are there */
} layout;

typedef struct joining_pass {
    expansion e; /* loops that are written out have their indices here */
    joined *now;
    joined_index indices[JOIN_INDICES];
    int index_count;
    int contracted; /* the index of the loop that is one contraction at hand; -1 */
    int blamed;     /* the index that stood in the way; -1 */
    bool whole;     /* it makes operations on whole tensors alone, and no tessera.fold */
} joining_pass;

/* Why not: false. `index` could have an axis in front instead; -1: no way. */
bool join_blame(joining_pass *j, int index);
const ir_type_data *join_type(const joining_pass *j, ir_value v);
/* Place in the value of an axis of the tile, and of one in front. */
int join_axis(const joined *x, int axis);
int join_front(const joined *x, int index);
int join_rank(const joined *x);
/* Length of a tile's axis in the value; of those that are alike, in a whole tile of `like`. */
int64_t join_length(const joining_pass *j, const joined *x, int axis);
/* One operation with inferred types; 0 where they do not fit. */
ir_value join_build(joining_pass *j, int opcode, const ir_value *operands, uint32_t count,
                    const ir_named_attr *attrs, uint32_t attr_count);
/* The value cut and repeated to that layout; 0: it has axes that the layout lacks. */
ir_value join_align(joining_pass *j, const joined *x, const layout *to);
/* The layout that both have; false: an index is met in two ways. */
bool join_meet(joining_pass *j, layout *l, const joined *x);
layout join_layout(const joined *x);
joined join_of_layout(const layout *l, ir_value value);
/* A number of the indices as a value. */
bool join_number(joining_pass *j, joined *x);
/* start = base + delta * index; index -1: base alone. False: it is something else. */
typedef struct join_start {
    int index;
    int64_t base, delta;
} join_start;
bool join_start_of(joining_pass *j, ir_op op, ir_attr dim, join_start *out);

/* The operation built last; what was built behind it was built in vain. */
ir_op join_last(const joining_pass *j);
void join_take_back(joining_pass *j, ir_op last);

/* join_tiles.c */
bool join_op(joining_pass *j, ir_op op);
bool join_block(joining_pass *j, ir_block block);
/* join_loops.c */
bool join_loop(joining_pass *j, ir_op op);
/* join_tile.c */
bool join_step(joining_pass *j, ir_op op);
/* join_memory.c */
bool join_load(joining_pass *j, ir_op op);
bool join_give(joining_pass *j, ir_op give, ir_value *results);

#endif
