/* split_chunks.c - long products and sums that are too few workgroups: their chunks are computed at
 * once by operations of their own, and their results are added in the order that they have.
 *
 * x[m,k] y[k,n] in chunks of C steps is the sum over c of x[m,c,i] y[c,i,n], i < C, from the first
 * to the last. A chunk by itself is never -0, so that adding the first to +0 leaves it as it is.
 * A sum in lanes64 is that of the sums of its blocks, of which the last may be shorter, in the same
 * order, by definition. */
#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/orders.h"
#include "ops/reductions.h"
#include "parameters/thresholds.h"

/* A product is split into so many at most: each is read where they are added. */
enum { MOST_CHUNKS = 32 };

/* On a CPU, where one more thread has to wake, the shortest sum that is split is so many times as
 * long as on a chip. */
enum { SUMS_OF_THREADS = 4 };

/* Rows of a workgroup on a chip, at most; runs of memory that a thread of a CPU reads well, and the
 * bytes of a matrix that are worth another pass over the sums. */
enum { CHIP_ROWS = 64, RUN_BYTES = 4096, MATRIX_BYTES = 1 << 20 };

typedef struct product {
    int64_t rows, columns, steps, chunks;
    int64_t element_bytes; /* of the right side */
} product;

static bool only_axis(const ir_module *m, ir_op op, const char *name, int64_t axis) {
    int64_t list[IR_MAX_RANK];
    return ir_op_ints(m, op, name, list, IR_MAX_RANK) == 1 && list[0] == axis;
}

static bool is_known(const ir_type_data *t) {
    return t->rank == 2 && ir_dim_is_static(t->dims[0]) && ir_dim_is_static(t->dims[1]);
}

/* A product of two matrices in whole chunks, whose sums are f32. */
static bool find_product(const ir_builder *b, ir_op op, product *out) {
    const ir_op_data *d = ir_op_get(b->m, op);
    int64_t list[IR_MAX_RANK];
    if (d->opcode != GRAPH_DOT || d->operand_count != 2)
        return false;
    const ir_type_data *x = build_type(b, d->operands[0]), *y = build_type(b, d->operands[1]);
    if (!is_known(x) || !is_known(y) || build_type(b, d->results[0])->element != DTYPE_F32 ||
        ir_op_ints(b->m, op, "x_batch", list, IR_MAX_RANK) > 0 ||
        !only_axis(b->m, op, "x_contract", 1) || !only_axis(b->m, op, "y_contract", 0) ||
        ir_op_attr(b->m, op, "accumulate") ||
        order_find(ir_op_string(b->m, op, "order", "")) != ORDER_CHUNK512)
        return false;
    *out = (product){x->dims[0], y->dims[1], x->dims[1], x->dims[1] / ORDER_CHUNK512_CHUNK,
                     (int64_t)dtype_size(y->element)};
    return x->dims[1] % ORDER_CHUNK512_CHUNK == 0 && out->steps >= SPLIT_STEPS &&
           out->chunks <= MOST_CHUNKS && out->rows > 0 && out->columns > 0;
}

static int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* Would more than half of a chip's units wait for the rest? */
static bool leaves_units(const product *p, const chunk_split *s) {
    return 2 * divide_up(p->rows, CHIP_ROWS) * divide_up(p->columns, s->columns) <= s->workers;
}

/* Would threads read short parts of rows, where all of them can have chunks of whole rows? */
static bool shortens_runs(const ir_module *m, ir_op op, const product *p, const chunk_split *s) {
    ir_op right = ir_value_get(m, ir_op_get(m, op)->operands[1])->op;
    bool lies_by_steps = !right || ir_op_get(m, right)->opcode != GRAPH_TRANSPOSE;
    bool even = p->chunks % s->workers == 0 || p->chunks >= 4 * s->workers;
    return s->workers > 1 && p->rows <= FEW_ROWS && lies_by_steps && even &&
           p->columns * p->element_bytes < RUN_BYTES * s->workers &&
           p->columns * p->steps * p->element_bytes >= MATRIX_BYTES;
}

static ir_value chunks_of_product(ir_builder *b, ir_op op, const product *p) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const int64_t each = ORDER_CHUNK512_CHUNK, axis[] = {0, 1, 2};
    const ir_dim left[] = {p->rows, p->chunks, each}, right[] = {p->chunks, each, p->columns};
    const ir_named_attr attrs[] = {{"x_batch", ir_attr_int_array(b->m, &axis[1], 1)},
                                   {"x_contract", ir_attr_int_array(b->m, &axis[2], 1)},
                                   {"y_batch", ir_attr_int_array(b->m, &axis[0], 1)},
                                   {"y_contract", ir_attr_int_array(b->m, &axis[1], 1)},
                                   {"order", ir_op_attr(b->m, op, "order")},
                                   {"out", ir_op_attr(b->m, op, "out")},
                                   {"chunks", ir_attr_int(b->m, p->chunks)},
                                   {"id", ir_op_attr(b->m, op, "id")}};
    const ir_value operands[] = {build_reshape(b, d->operands[0], 3, left),
                                 build_reshape(b, d->operands[1], 3, right)};
    return ir_op_result(b->m, graph_build(b, GRAPH_DOT, operands, 2, attrs, 8), 0);
}

static ir_value split_product(ir_builder *b, ir_op op, const product *p) {
    const ir_dim shape[] = {p->rows, p->columns};
    ir_value parts = chunks_of_product(b, op, p), sum = 0;
    for (int64_t c = 0; c < p->chunks; c++) {
        ir_value one = build_reshape(b, build_slice_axis(b, parts, 0, c, c + 1), 2, shape);
        sum = sum ? build_binary(b, GRAPH_ADD, sum, one) : one;
    }
    return sum;
}

/* ---- sums ---- */

typedef struct rewriting {
    const chunk_split *split;
    int64_t next; /* id */
} rewriting;

/* A sum along the last axis, of fewer rows than there are workers. */
static bool is_long_sum(const ir_builder *b, ir_op op, const chunk_split *s) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const ir_type_data *x = build_type(b, d->operands[0]);
    const int64_t last = x->rank - 1;
    if (d->opcode != GRAPH_REDUCE || last < 0 || x->rank == IR_MAX_RANK ||
        !ir_type_is_static(b->m, ir_value_get(b->m, d->operands[0])->type) ||
        !only_axis(b->m, op, "axes", last) || ir_op_attr(b->m, op, "accumulate") ||
        ir_op_attr(b->m, op, "joins") || ir_op_attr(b->m, op, "chunks") ||
        order_find(ir_op_string(b->m, op, "order", "any")) != ORDER_LANES64)
        return false;
    int64_t rows = ir_type_count(b->m, ir_value_get(b->m, d->results[0])->type);
    return x->dims[last] >= (s->columns ? SPLIT_SUM : SUMS_OF_THREADS * SPLIT_SUM) && rows > 0 &&
           (s->columns ? 2 : 1) * rows < s->workers;
}

/* Builds the sum over the axis, with the attribute that tells which part of the whole it is. */
static ir_value sum_again(ir_builder *b, ir_op op, ir_value x, int64_t axis, ir_named_attr part,
                          int64_t id) {
    const ir_named_attr attrs[] = {{"kind", ir_op_attr(b->m, op, "kind")},
                                   {"axes", ir_attr_int_array(b->m, &axis, 1)},
                                   {"order", ir_op_attr(b->m, op, "order")},
                                   part,
                                   {"id", ir_attr_int(b->m, id)}};
    return ir_op_result(b->m, graph_build(b, GRAPH_REDUCE, &x, 1, attrs, 5), 0);
}

/* The sums of whole blocks, along `last`. */
static ir_value sum_blocks(ir_builder *b, ir_op op, int64_t last, int64_t blocks, int64_t id) {
    const ir_named_attr part = {"chunks", ir_attr_int(b->m, blocks)};
    const int64_t end = blocks * ORDER_LANES64_CHUNK;
    ir_value x = ir_op_get(b->m, op)->operands[0];
    ir_type_data t = *build_type(b, x);
    if (t.dims[last] > end)
        x = build_slice_axis(b, x, (int)last, 0, end);
    t.dims[last] = blocks;
    t.dims[t.rank++] = ORDER_LANES64_CHUNK;
    return sum_again(b, op, build_reshape(b, x, t.rank, t.dims), last + 1, part, id);
}

/* That of what is left, behind those of the blocks. */
static ir_value add_rest(ir_builder *b, ir_op op, ir_value blocks, int64_t last, int64_t from,
                         rewriting *r) {
    ir_value x = ir_op_get(b->m, op)->operands[0];
    const ir_named_attr part = {"rest", ir_attr_int(b->m, reduction_id(b->m, op))};
    ir_type_data t = *build_type(b, x);
    x = build_slice_axis(b, x, (int)last, from, t.dims[last]);
    t.dims[last] = 1;
    ir_value both[] = {blocks, sum_again(b, op, x, last, part, r->next++)};
    both[1] = build_reshape(b, both[1], t.rank, t.dims);
    return build_concat(b, (int)last, both, 2);
}

static ir_value split_sum(ir_builder *b, ir_op op, rewriting *r) {
    const ir_type_data *x = build_type(b, ir_op_get(b->m, op)->operands[0]);
    const int64_t last = x->rank - 1, steps = x->dims[last], blocks = steps / ORDER_LANES64_CHUNK,
                  whole = blocks * ORDER_LANES64_CHUNK, id = reduction_id(b->m, op);
    const ir_named_attr joins = {"joins", ir_attr_int(b->m, id)};
    ir_value sums = sum_blocks(b, op, last, blocks, id);
    if (steps > whole)
        sums = add_rest(b, op, sums, last, whole, r);
    return sum_again(b, op, sums, last, joins, r->next++);
}

static control_rewritten rewrite(ir_builder *b, ir_op op, ir_value *results, void *context) {
    rewriting *r = context;
    const chunk_split *s = r->split;
    product p;
    if (reduction_id(b->m, op) < 0) /* in a block of a loop, whose dispatches are kernels later */
        return CONTROL_KEPT;
    if (find_product(b, op, &p) &&
        (s->columns ? leaves_units(&p, s) : shortens_runs(b->m, op, &p, s)))
        results[0] = split_product(b, op, &p);
    else if (is_long_sum(b, op, s))
        results[0] = split_sum(b, op, r);
    else
        return CONTROL_KEPT;
    return CONTROL_REPLACED;
}

bool graph_split_chunks(ir_module *m, const chunk_split *split, status *st) {
    rewriting r = {split, 0};
    (void)st;
    reductions_number(m);
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        r.next = reduction_id(m, w.op) >= r.next ? reduction_id(m, w.op) + 1 : r.next;
    return control_rewrite(m, rewrite, &r);
}
