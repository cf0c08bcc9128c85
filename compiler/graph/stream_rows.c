/* stream_rows.c - values as large as rows times columns that lie between products, such as the
 * probabilities of attention's backward, are made of 512 rows at a time, in a loop, and are never
 * whole in memory.
 *
 * Each row of such a value depends on the same row of others. A product over all rows, in chunks of
 * 512, is the chain of the turns' products, which a loop carries from +0: a chunk is never -0, so
 * the bits are the same (split_chunks.c). */
#include "graph/stream_rows.h"

#include <stdlib.h>

#include "graph/passes.h"
#include "ops/dead.h"
#include "ops/orders.h"
#include "parameters/thresholds.h"

/* Sums that a loop carries are read and written in each turn: worth it up to this part. */
enum { SUMS_PART = 6 };

/* ---- rows ---- */

static const ir_type_data *type_of(const stream *s, ir_value v) {
    return ir_type_of(s->m, v);
}

static bool is_large(const stream *s, ir_value v) {
    const ir_type_data *t = type_of(s, v);
    return t->rank >= 2 && t->dims[t->rank - 2] == s->rows && t->dims[t->rank - 1] == s->columns;
}

static int64_t only_number(const stream *s, ir_op op, const char *name) {
    int64_t list[IR_MAX_RANK];
    return ir_op_ints(s->m, op, name, list, IR_MAX_RANK) == 1 ? list[0] : -1;
}

/* A product of two factors, f32, whose leading axes but two are batches. */
static bool is_plain_dot(const stream *s, ir_op op) {
    const ir_op_data *o = ir_op_get(s->m, op);
    int64_t x[IR_MAX_RANK], y[IR_MAX_RANK];
    if (o->opcode != GRAPH_DOT || o->operand_count != 2 || ir_op_attr(s->m, op, "accumulate") ||
        type_of(s, o->results[0])->element != DTYPE_F32 ||
        order_find(ir_op_string(s->m, op, "order", "chunk512")) != ORDER_CHUNK512)
        return false;
    const uint32_t batches = ir_op_ints(s->m, op, "x_batch", x, IR_MAX_RANK);
    bool plain = ir_op_ints(s->m, op, "y_batch", y, IR_MAX_RANK) == batches &&
                 type_of(s, o->operands[0])->rank == (int)batches + 2 &&
                 type_of(s, o->operands[1])->rank == (int)batches + 2;
    for (uint32_t i = 0; i < batches; i++)
        plain = plain && x[i] == i && y[i] == i;
    return plain && only_number(s, op, "x_contract") >= 0 && only_number(s, op, "y_contract") >= 0;
}

bool stream_adds_rows(const stream *s, ir_op op) {
    return ir_op_get(s->m, op)->opcode == GRAPH_DOT &&
           s->axis[ir_op_result(s->m, op, 0)] == AXIS_NONE;
}

/* The axis of a result that is repeated from an operand. */
static int broadcast_axis(const stream *s, ir_op op, int axis) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t rank = ir_op_ints(s->m, op, "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < rank; i++)
        if (axes[i] == axis)
            return type_of(s, ir_op_get(s->m, op)->operands[0])->dims[i] == s->rows ? (int)i
                                                                                    : AXIS_NONE;
    return AXIS_NONE;
}

/* The rows of a reduced value, in what is reduced. */
static int reduced_axis(const stream *s, ir_op op, int axis) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(s->m, op, "axes", axes, IR_MAX_RANK);
    for (int at = 0, left = axis; at < IR_MAX_RANK; at++) {
        bool reduced = false;
        for (uint32_t i = 0; i < count; i++)
            reduced |= axes[i] == at;
        if (!reduced && left-- == 0)
            return at;
    }
    return AXIS_NONE;
}

int stream_operand_axis(const stream *s, ir_op op, uint32_t operand, int axis) {
    const ir_op_data *o = ir_op_get(s->m, op);
    switch (graph_op_class(o->opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
        return axis;
    case GRAPH_CLASS_REDUCE:
        return reduced_axis(s, op, axis);
    case GRAPH_CLASS_DOT:
        return axis == AXIS_NONE ? (int)only_number(s, op, operand ? "y_contract" : "x_contract")
               : operand         ? AXIS_NONE
                                 : axis;
    default:
        return o->opcode == GRAPH_BROADCAST ? broadcast_axis(s, op, axis) : AXIS_NONE;
    }
}

/* ---- what goes inside ---- */

static ir_op maker_of(const stream *s, ir_value v) {
    const ir_op op = ir_value_get(s->m, v)->op;
    return op && ir_op_get(s->m, op)->block == s->block ? op : 0;
}

/* Can some rows of the result be computed of the same rows of the operands? */
static bool is_by_rows(const stream *s, ir_op op, int axis) {
    const ir_op_data *o = ir_op_get(s->m, op);
    int64_t axes[IR_MAX_RANK];
    if (o->result_count != 1 || o->region_count)
        return false;
    switch (graph_op_class(o->opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
        return true;
    case GRAPH_CLASS_REDUCE:
        for (uint32_t i = ir_op_ints(s->m, op, "axes", axes, IR_MAX_RANK); i > 0; i--)
            if (axes[i - 1] == stream_operand_axis(s, op, 0, axis))
                return false;
        return true;
    case GRAPH_CLASS_DOT: /* the rows are those of the left factor, or what is added up */
        return is_plain_dot(s, op) &&
               (axis == AXIS_NONE || (axis == type_of(s, o->results[0])->rank - 2 &&
                                      only_number(s, op, "x_contract") == axis + 1));
    default:
        return o->opcode == GRAPH_BROADCAST || o->opcode == GRAPH_IOTA ||
               o->opcode == GRAPH_CONSTANT;
    }
}

/* The operation goes inside, with the rows of its result along the axis. */
static bool enter(stream *s, ir_op op, int axis) {
    const ir_value made = ir_op_get(s->m, op)->results[0];
    if (s->inside[op])
        return s->axis[made] == axis;
    if (!is_by_rows(s, op, axis))
        return false;
    s->inside[op] = true;
    s->axis[made] = axis;
    vec_push(&s->entered, op);
    return true;
}

/* An operation inside reads it with its rows along the axis: large ones are made inside, too, and
 * numbers. */
static bool demand(stream *s, ir_value v, int axis) {
    const ir_op op = maker_of(s, v);
    if (op && ir_op_get(s->m, op)->opcode == GRAPH_CONSTANT)
        return enter(s, op, AXIS_NONE);
    if (op && s->inside[op])
        return s->axis[v] == axis && axis != AXIS_NONE;
    if (op && axis != AXIS_NONE && is_large(s, v) && axis == type_of(s, v)->rank - 2)
        return enter(s, op, axis);
    for (size_t i = 0; i < s->inputs.count; i++)
        if (s->inputs.items[i].value == v && s->inputs.items[i].axis == axis)
            return true;
    vec_push(&s->inputs, ((stream_input){v, axis}));
    return type_of(s, v)->rank < IR_MAX_RANK;
}

/* Looks at the operands of operations that went inside. */
static bool settle(stream *s) {
    bool ok = true;
    while (ok && s->entered.count) {
        const ir_op op = s->entered.items[--s->entered.count];
        const ir_op_data *o = ir_op_get(s->m, op);
        for (uint32_t i = 0; i < o->operand_count && ok; i++)
            ok = demand(s, o->operands[i], stream_operand_axis(s, op, i, s->axis[o->results[0]]));
    }
    return ok;
}

/* A reader of a large value goes inside, with the axis of its own rows. */
static bool enter_reader(stream *s, ir_op op, uint32_t operand, int axis) {
    const ir_op_data *o = ir_op_get(s->m, op);
    int64_t axes[IR_MAX_RANK];
    int own = axis;
    if (s->inside[op])
        return stream_operand_axis(s, op, operand, s->axis[o->results[0]]) == axis;
    switch (graph_op_class(o->opcode)) {
    case GRAPH_CLASS_REDUCE:
        for (uint32_t i = ir_op_ints(s->m, op, "axes", axes, IR_MAX_RANK); i > 0; i--)
            own -= axes[i - 1] < axis;
        break;
    case GRAPH_CLASS_DOT:
        if (operand > 0)
            return false;
        own = only_number(s, op, "x_contract") == axis ? AXIS_NONE : axis;
        break;
    default:
        break;
    }
    return enter(s, op, own);
}

static bool enter_readers(stream *s, bool *changed) {
    bool ok = true;
    for (ir_op op = ir_block_get(s->m, s->block)->first; op && ok; op = ir_op_get(s->m, op)->next) {
        const ir_op_data *o = ir_op_get(s->m, op);
        for (uint32_t i = 0; i < o->operand_count && ok; i++) {
            const ir_op maker = maker_of(s, o->operands[i]);
            if (!maker || !s->inside[maker] || !is_large(s, o->operands[i]))
                continue;
            const bool before = s->inside[op];
            ok = enter_reader(s, op, i, s->axis[o->operands[i]]);
            *changed |= !before;
        }
    }
    return ok;
}

/* An input that is made of what is inside is made there, too. */
static bool enter_between(stream *s, bool *changed) {
    bool *made = base_calloc((size_t)s->values + 1, sizeof *made), ok = true;
    for (ir_op op = ir_block_get(s->m, s->block)->first; op; op = ir_op_get(s->m, op)->next) {
        const ir_op_data *o = ir_op_get(s->m, op);
        bool own = s->inside[op] && o->opcode != GRAPH_CONSTANT;
        for (uint32_t i = 0; i < o->operand_count; i++)
            own |= made[o->operands[i]];
        for (uint32_t i = 0; i < o->result_count; i++)
            made[o->results[i]] = own;
    }
    for (size_t i = 0; i < s->inputs.count && ok; i++) {
        const stream_input in = s->inputs.items[i];
        if (!made[in.value])
            continue;
        const ir_op op = maker_of(s, in.value);
        *changed = true;
        s->inputs.items[i] = s->inputs.items[--s->inputs.count];
        i--;
        ok = op && in.axis != AXIS_NONE && enter(s, op, in.axis);
    }
    free(made);
    return ok;
}

/* ---- where it is worth it ---- */

static int64_t bytes_of(const stream *s, ir_value v) {
    const ir_type type = ir_value_get(s->m, v)->type;
    return ir_type_count(s->m, type) * (int64_t)dtype_size(type_of(s, v)->element);
}

/* Lists what is read outside, and finds the place of the loop: before the first of these readers,
 * and behind all inputs. */
static bool find_results(stream *s) {
    bool *listed = base_calloc((size_t)s->values + 1, sizeof *listed), ok = true, behind = false;
    for (ir_op op = ir_block_get(s->m, s->block)->first; op; op = ir_op_get(s->m, op)->next) {
        const ir_op_data *o = ir_op_get(s->m, op);
        for (uint32_t i = 0; i < o->operand_count && !s->inside[op]; i++) {
            const ir_value v = o->operands[i];
            const ir_op maker = maker_of(s, v);
            if (!maker || !s->inside[maker] || ir_op_get(s->m, maker)->opcode == GRAPH_CONSTANT)
                continue;
            s->before = s->before ? s->before : op;
            ok = ok && !is_large(s, v);
            if (listed[v])
                continue;
            listed[v] = true;
            if (s->axis[v] == AXIS_NONE)
                vec_push(&s->sums, v);
            else
                vec_push(&s->results, v);
        }
        behind |= op == s->before;
        for (size_t i = 0; i < s->inputs.count && behind; i++)
            ok &= maker_of(s, s->inputs.items[i].value) != op;
    }
    free(listed);
    return ok && s->before;
}

static bool is_worth_it(const stream *s, int64_t large) {
    int64_t sums = 0;
    for (size_t i = 0; i < s->sums.count; i++)
        sums += bytes_of(s, s->sums.items[i]);
    return s->sums.count && sums <= large / SUMS_PART;
}

static void release(stream *s) {
    free(s->inside);
    free(s->axis);
    vec_release(&s->entered);
    vec_release(&s->inputs);
    vec_release(&s->sums);
    vec_release(&s->results);
}

/* Around a product whose result is large. False: there is nothing that can be. */
static bool find(stream *s, ir_module *m, ir_block block, ir_op seed) {
    const ir_value made = ir_op_result(m, seed, 0);
    const ir_type_data *t = ir_type_of(m, made);
    *s =
        (stream){.m = m, .block = block, .values = ir_value_count(m), .operations = ir_op_count(m)};
    if (t->rank < 2 || !ir_type_is_static(m, ir_value_get(m, made)->type))
        return false;
    s->rows = t->dims[t->rank - 2];
    s->columns = t->dims[t->rank - 1];
    if (s->rows % STREAM_ROWS || s->rows < 2 * STREAM_ROWS || bytes_of(s, made) < STREAM_BYTES)
        return false;
    s->inside = base_calloc((size_t)s->operations + 1, sizeof *s->inside);
    s->axis = base_calloc((size_t)s->values + 1, sizeof *s->axis);
    bool changed = true, ok = enter(s, seed, t->rank - 2);
    while (ok && changed) {
        changed = false;
        ok = settle(s) && enter_readers(s, &changed) && settle(s) && enter_between(s, &changed);
    }
    return ok && find_results(s) && is_worth_it(s, bytes_of(s, made));
}

static bool stream_block(ir_module *m, ir_block block, bool build) {
    bool found = false;
    for (ir_op op = ir_block_get(m, block)->first, next; op && (build || !found); op = next) {
        stream s;
        next = ir_op_get(m, op)->next;
        if (ir_op_get(m, op)->opcode != GRAPH_DOT)
            continue;
        if (find(&s, m, block, op)) {
            found = true;
            next = s.before;
            if (build)
                stream_build(&s);
        }
        release(&s);
    }
    return found;
}

bool graph_has_streams(const ir_module *whole) {
    ir_module *m = ir_module_clone(whole);
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    graph_remove_dead(m, block);
    bool found = stream_block(m, block, false);
    ir_module_free(m);
    return found;
}

bool graph_stream_rows(ir_module *m, status *st) {
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    (void)st;
    graph_remove_dead(m, block);
    if (stream_block(m, block, true))
        graph_remove_dead(m, block);
    return true;
}
