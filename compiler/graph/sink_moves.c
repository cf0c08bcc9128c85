/* sink_moves.c - data movement goes before what is computed of it, where it costs less there.
 *
 * A reduction of reshaped elements needs them in memory; a reshape of memory is free
 * (sink_reshape.c). A sum of concatenations, as the cotangents of slices are, writes and reads each
 * of them: it becomes the concatenation of the pieces' sums. So does one that is transposed. Every
 * element is computed by the same operations. */
#include "graph/sink_moves.h"

#include <stdlib.h>

#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"

uint32_t sink_uses(const sink_state *s, ir_value v) {
    return v < s->capacity ? s->uses[v] : 0;
}

static bool is_once(const sink_state *s, ir_value v, int opcode) {
    ir_op op = ir_value_get(s->m, v)->op;
    return op && ir_op_get(s->m, op)->opcode == opcode && sink_uses(s, v) == 1;
}

static void note_uses(sink_state *s, ir_value v, uint32_t count) {
    if (v >= s->capacity) {
        uint32_t capacity = 2 * v + 64;
        s->uses = base_realloc(s->uses, sizeof *s->uses * capacity);
        for (uint32_t i = s->capacity; i < capacity; i++)
            s->uses[i] = 0;
        s->capacity = capacity;
    }
    s->uses[v] = count;
}

/* ---- concatenations ---- */

typedef struct pieces {
    int axis;
    uint32_t count, next;
    ir_value items[LIMIT_OPERANDS];
    ir_dim at; /* the next element of piece `next` that is taken */
} pieces;

static bool read_pieces(const ir_module *m, ir_value v, pieces *p) {
    const ir_op op = ir_value_get(m, v)->op;
    const ir_op_data *d = ir_op_get(m, op);
    *p = (pieces){.axis = (int)ir_op_int(m, op, "axis", 0), .count = d->operand_count};
    bool numbers = true;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        p->items[i] = d->operands[i];
        numbers &= ir_dim_is_static(ir_type_of(m, d->operands[i])->dims[p->axis]);
    }
    return numbers;
}

static ir_dim left_of(const ir_module *m, const pieces *p) {
    return ir_type_of(m, p->items[p->next])->dims[p->axis] - p->at;
}

/* One number everywhere. */
static bool is_fill(const ir_module *m, ir_value v) {
    const ir_op op = ir_value_get(m, v)->op;
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    return d && d->opcode == GRAPH_BROADCAST && ir_type_of(m, d->operands[0])->rank == 0;
}

static ir_value fill_number(const ir_module *m, ir_value fill) {
    return ir_op_get(m, ir_value_get(m, fill)->op)->operands[0];
}

static ir_value fill_like(ir_builder *b, ir_value number, const ir_type_data *like) {
    const ir_type_data t = *like;
    return build_broadcast(b, number, t.rank, t.dims, NULL);
}

/* The next `length` elements of a piece. */
static ir_value take(ir_builder *b, pieces *p, ir_dim length) {
    const ir_value piece = p->items[p->next];
    ir_type_data t = *build_type(b, piece);
    const bool whole = length == t.dims[p->axis];
    const ir_dim start = p->at;
    p->at = start + length == t.dims[p->axis] ? 0 : start + length;
    p->next += p->at == 0;
    if (whole)
        return piece;
    if (!is_fill(b->m, piece))
        return build_slice_axis(b, piece, p->axis, start, start + length);
    t.dims[p->axis] = length;
    return fill_like(b, fill_number(b->m, piece), &t);
}

static ir_dim shorter(const ir_module *m, const pieces *x, const pieces *y) {
    const ir_dim a = left_of(m, x), b = left_of(m, y);
    return a < b ? a : b;
}

/* Is one of two pieces that meet a number everywhere, always? */
static bool meet_fills(const ir_module *m, pieces x, pieces y) {
    while (x.next < x.count) {
        if (!is_fill(m, x.items[x.next]) && !is_fill(m, y.items[y.next]))
            return false;
        const ir_dim length = shorter(m, &x, &y);
        if (length == 0)
            return false;
        pieces *both[] = {&x, &y};
        for (int i = 0; i < 2; i++) {
            bool ends = length == left_of(m, both[i]);
            both[i]->at = ends ? 0 : both[i]->at + length;
            both[i]->next += ends;
        }
    }
    return true;
}

/* That of two numbers everywhere is one, too. */
static ir_value sum(ir_builder *b, ir_value x, ir_value y) {
    if (!is_fill(b->m, x) || !is_fill(b->m, y))
        return build_binary(b, GRAPH_ADD, x, y);
    const ir_value number = fill_number(b->m, x);
    return fill_like(b, build_binary(b, GRAPH_ADD, number, fill_number(b->m, y)), build_type(b, x));
}

/* concat(a, b) + concat(c, d): the concatenation of a + c and b + d. */
static ir_value sum_of_concats(sink_state *s, ir_builder *b, const ir_op_data *d) {
    const ir_value x = d->operands[0], y = d->operands[1];
    pieces p, q;
    ir_value sums[2 * LIMIT_OPERANDS];
    uint32_t count = 0;
    if (!is_once(s, x, GRAPH_CONCAT) || !is_once(s, y, GRAPH_CONCAT) || !read_pieces(s->m, x, &p) ||
        !read_pieces(s->m, y, &q) || p.axis != q.axis || p.count + q.count > LIMIT_OPERANDS ||
        !meet_fills(s->m, p, q))
        return 0;
    while (p.next < p.count) {
        const ir_dim length = shorter(s->m, &p, &q);
        const ir_value a = take(b, &p, length);
        sums[count++] = sum(b, a, take(b, &q, length));
    }
    return build_concat(b, p.axis, sums, count);
}

/* The concatenation of what is transposed, where that is the transposition of a concatenation. */
static ir_value transposed_concat(sink_state *s, ir_builder *b, ir_op op) {
    const ir_value x = ir_op_get(s->m, op)->operands[0];
    pieces p;
    int64_t permutation[IR_MAX_RANK];
    if (!is_once(s, x, GRAPH_CONCAT) || !read_pieces(s->m, x, &p))
        return 0;
    const uint32_t rank = ir_op_ints(s->m, op, "permutation", permutation, IR_MAX_RANK);
    int axis = 0;
    for (uint32_t i = 0; i < rank; i++)
        axis = permutation[i] == p.axis ? (int)i : axis;
    for (uint32_t i = 0; i < p.count; i++)
        p.items[i] = build_transpose(b, p.items[i], permutation);
    return build_concat(b, axis, p.items, p.count);
}

static control_rewritten rewrite(ir_builder *b, ir_op op, ir_value *results, void *context) {
    sink_state *s = context;
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_value made = d->opcode == GRAPH_ADD         ? sum_of_concats(s, b, d)
                    : d->opcode == GRAPH_TRANSPOSE ? transposed_concat(s, b, op)
                    : d->opcode == GRAPH_RESHAPE   ? sink_reshape(s, b, op)
                                                   : 0;
    if (!made)
        return CONTROL_KEPT;
    note_uses(s, made, sink_uses(s, ir_op_get(s->m, op)->results[0]));
    results[0] = made;
    return CONTROL_REPLACED;
}

bool graph_sink_moves(ir_module *m, status *st) {
    (void)st;
    sink_state s = {.m = m,
                    .readers = ir_uses_fill(m),
                    .uses = ir_count_uses(m),
                    .capacity = ir_value_count(m) + 1};
    bool ok = control_rewrite(m, rewrite, &s);
    ir_uses_release(&s.readers);
    free(s.uses);
    return ok;
}
