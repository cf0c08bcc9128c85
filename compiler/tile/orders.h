/* orders.h - the state shared by the files that check the orders of accumulation in Tile IR.
 *
 * Loops and folds name the reduction of the graph that they are part of, and its order. What is
 * checked does not rest on those names: from the loops' bounds, steps and carried values follows
 * which elements are added in which grouping, and that must be the order. */
#ifndef TESSERA_TILE_ORDERS_H
#define TESSERA_TILE_ORDERS_H

#include "ops/reductions.h"
#include "tile/tile.h"

/* Copies of what ops/orders.def says, on purpose: what is lowered by that table is held to these.
 */
enum { ORDER_LANES = 64, ORDER_BLOCK = 4096 };

/* Progress of the walk over a reduction. */
typedef struct order_track {
    int64_t start, end; /* dot: elements of the chunks seen last; running sums: elements so far;
                         * they go on at `end` */
    int64_t block;      /* lanes64: how many entries of the sequence of blocks were seen */
    int64_t lanes;      /* lanes64 in memory: elements added to the lanes so far */
    int64_t half;       /* ... and the next halving; 0 before the first */
    uint32_t realised;  /* how many times all of it was seen */
} order_track;

typedef struct orders {
    const ir_module *m;
    reduction_list list;
    order_track *tracks; /* by place in the list */
    uint16_t *state;     /* by value: scratch of orders_carried */
    VEC(ir_op) loops;    /* around the present operation, outermost first */
    bool symbolic;       /* a launch gives dimensions */
    const char *kind;    /* lanes64: sum or prod, as the present loop or fold has it */
    ir_op open;          /* a loop that ended inside of its chunk: the next one goes on; or 0 */
    ir_value open_end;   /* ... up to here */
    status *st;
} orders;

/* Elements of a chunk; 0: the order has none. */
static inline int64_t orders_chunk(order_id order) {
    switch (order) {
    case ORDER_CHUNK512:
    case ORDER_PAIRS512:
        return 512;
    case ORDER_CHUNK256:
        return 256;
    case ORDER_CHUNK128:
        return 128;
    case ORDER_CHUNK64:
        return 64;
    case ORDER_CHUNK32:
        return 32;
    case ORDER_CHUNK16:
        return 16;
    default:
        return 0;
    }
}

bool orders_fail(const orders *o, ir_op op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline order_track *orders_track(const orders *o, ir_op op) {
    return &o->tracks[reduction_index(&o->list, ir_op_int(o->m, op, "reduction", -1))];
}
/* The innermost loop around the present operation that belongs to that reduction; 0: none. */
ir_op orders_loop_around(const orders *o, ir_op op);

/* Kinds of what a loop's block makes of a carried value. */
typedef enum carried_kind {
    CARRIED_NOT,        /* the yield does not depend on it */
    CARRIED_SAME,       /* it is yielded as it came */
    CARRIED_ADDED,      /* something is added to it, `steps` times */
    CARRIED_MULTIPLIED, /* it is multiplied by something, `steps` times */
    CARRIED_FMA,        /* products are added to it by fma, `steps` times */
    CARRIED_PAIRS, /* products of pairs of bf16, `steps` of them; the odd one of a pair first */
    CARRIED_MMA,   /* products are added to it by a matrix unit, `steps` of them */
    CARRIED_FREE,  /* a maximum or minimum: the order cannot be seen */
    CARRIED_OTHER
} carried_kind;
carried_kind orders_carried(const orders *o, ir_op loop, uint32_t i, int *steps);

/* Is that the products of one trip of a loop, in the order of its reduction? */
bool orders_adds_products(const orders *o, const reduction_record *r, ir_op loop, carried_kind kind,
                          int steps);

/* The operation that defines a value when it has that opcode; 0 otherwise. */
ir_op orders_defined_by(const orders *o, ir_value v, int opcode);
bool orders_constant(const orders *o, ir_value index, int64_t *value);
/* Is an index computed from another one? */
bool orders_depends_on(const orders *o, ir_value index, ir_value on);
/* A constant splat of +0; of these bits. */
bool orders_is_zero(const orders *o, ir_value v);
bool orders_is_splat(const orders *o, ir_value v, uint64_t bits);
bool orders_is_float(const orders *o, ir_value v);

/* verify_bounds.c: an index is factor times another one, plus something from least to most. */
typedef struct order_bound {
    int64_t factor, least, most;
    bool counted; /* read from memory */
} order_bound;
/* The other index, which is from first to last; 0: there is none. */
typedef struct order_base {
    ir_value index;
    int64_t first, last;
} order_base;
/* Further than any index; and the operations between an index and the other one: more are of no
 * lowering. */
#define ORDERS_FAR (INT64_MAX / 4)
enum { ORDERS_DEPTH = 12 };
order_bound orders_bound_of(const orders *o, const order_base *base, ir_value v);
/* The same bound with another factor. */
order_bound orders_relative(const order_base *base, order_bound x, int64_t factor);

/* Bounds of a loop that are constants. */
bool orders_bounds(const orders *o, ir_op loop, int64_t *low, int64_t *high);

/* verify_chunks.c: the loops of a dot in chunk512 or seq. */
bool orders_check_dot_loop(orders *o, ir_op loop, const reduction_record *r);
/* The loop whose result a loop carries on; 0 where it starts with +0. */
bool orders_find_before(const orders *o, ir_op loop, ir_op *before);

/* Is [from, to) the chunk that a loop is in, or all elements where they are one? */
bool orders_is_chunk(const orders *o, ir_op loop, ir_value from, ir_value to,
                     const reduction_record *r);
/* The steps [*start, *end) of the chunks of which a run of a loop's steps has a part each time: it
 * begins and ends no further than they do. False: it passes one, or ends before it. */
bool orders_find_run(const orders *o, ir_op loop, ir_op run, const reduction_record *r,
                     int64_t *start, int64_t *end);
/* Notes the elements of chunks that a loop walks, whose steps divide them. */
bool orders_note_chunk(orders *o, ir_op loop, const reduction_record *r);

/* verify_strips.c: the loop over strips of a chunk, whose sums are in memory between them. */
bool orders_is_strip_loop(const orders *o, ir_op loop);
bool orders_check_strip_loop(orders *o, ir_op loop, const reduction_record *r);

/* verify_mma.c: loops of products that a matrix unit adds. */
bool orders_is_mma_loop(const orders *o, ir_op loop);
bool orders_check_mma_loop(orders *o, ir_op loop, const reduction_record *r);
/* A chunk's sum may be carried on or added to the total, and nothing else. */
bool orders_check_chunk_use(const orders *o, ir_op op);

/* verify_scan.c: the loops and steps of running sums in seq, whether or not bounds are numbers. */
bool orders_check_scan_loop(orders *o, ir_op loop, const reduction_record *r);
bool orders_check_scan(orders *o, ir_op scan, const reduction_record *r);
/* Notes elements [start, end) of a dot: they follow those before, or are the same once more (for
 * other rows or columns), or begin anew. */
bool orders_note_elements(orders *o, ir_op loop, const reduction_record *r, int64_t start,
                          int64_t end);

/* verify_windows.c: the loop over the rows of windows, in it loops over runs of steps. */
bool orders_is_window_loop(const orders *o, ir_op loop);
bool orders_check_window_loop(orders *o, ir_op loop, const reduction_record *r);

/* verify_lanes.c: the loops and folds of a sum in lanes64. */
bool orders_check_lanes_loop(orders *o, ir_op loop, const reduction_record *r);
bool orders_check_fold(orders *o, ir_op fold, const reduction_record *r);
/* verify_exact.c: the loops and folds of an exact sum. */
bool orders_check_exact(orders *o, ir_op op, const reduction_record *r);
/* verify_symbolic.c: the same, where bounds are no numbers. */
bool orders_check_symbolic_loop(orders *o, ir_op loop, const reduction_record *r);
bool orders_check_symbolic_fold(orders *o, ir_op fold, const reduction_record *r);
bool orders_check_symbolic_end(const orders *o, size_t at);
/* In a loop's block: memory[offset] = memory[offset] + x, and further elements onto that; the
 * store, or 0. *added is x, *steps how many elements there are; none of several is of that memory.
 */
ir_op orders_memory_sum(const orders *o, int opcode, ir_op store, ir_value *added, int *steps);

#endif
