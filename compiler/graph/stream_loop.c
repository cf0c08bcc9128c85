/* stream_loop.c - the loop of some rows at a time (stream_rows.h). */
#include <stdlib.h>
#include <string.h>

#include "graph/stream_rows.h"
#include "ops/build.h"
#include "ops/combiner.h"
#include "ops/control.h"

typedef VEC(ir_value) value_list;

typedef struct writer {
    stream *s;
    ir_builder out, in; /* around the loop, and in its block */
    ir_value turn;
    ir_value *copies; /* by value made inside */
    value_list parts; /* by input: what stands for it in the block */
} writer;

static ir_dim turns_of(const stream *s) {
    return s->rows / STREAM_ROWS;
}

/* [.., rows, ..] as [turns, .., 512, ..]. */
static ir_value cut(writer *w, ir_value v, int axis) {
    ir_type_data t = *ir_type_of(w->s->m, v);
    for (int i = t.rank++; i > axis; i--)
        t.dims[i] = t.dims[i - 1];
    t.dims[axis] = turns_of(w->s);
    t.dims[axis + 1] = STREAM_ROWS;
    return build_moved(&w->out, build_reshape(&w->out, v, t.rank, t.dims), axis, 0);
}

static ir_value join(writer *w, ir_value stack, int axis) {
    ir_value v = build_moved(&w->out, stack, 0, axis);
    ir_type_data t = *ir_type_of(w->s->m, v);
    t.dims[axis] = w->s->rows;
    t.rank--;
    for (int i = axis + 1; i < t.rank; i++)
        t.dims[i] = t.dims[i + 1];
    return build_reshape(&w->out, v, t.rank, t.dims);
}

/* ---- the loop, with an empty block ---- */

static void push_cut(writer *w, value_list *operands, bool with_rows) {
    const stream *s = w->s;
    for (size_t i = 0; i < s->inputs.count; i++) {
        const stream_input in = s->inputs.items[i];
        if ((in.axis != AXIS_NONE) == with_rows)
            vec_push(operands, with_rows ? cut(w, in.value, in.axis) : in.value);
    }
}

static ir_type part_type(const stream *s, ir_value v) {
    ir_type_data t = *ir_type_of(s->m, v);
    t.dims[s->axis[v]] = STREAM_ROWS;
    return ir_type_tensor(s->m, t.element, t.rank, t.dims);
}

static ir_type stacked_type(const stream *s, ir_value v) {
    const ir_type_data t = *ir_type_get(s->m, part_type(s, v));
    ir_dim dims[IR_MAX_RANK] = {turns_of(s)};
    for (int i = 0; i < t.rank; i++)
        dims[i + 1] = t.dims[i];
    return ir_type_tensor(s->m, t.element, t.rank + 1, dims);
}

static ir_op build_loop(writer *w) {
    stream *s = w->s;
    value_list operands = {0};
    VEC(ir_type) results = {0};
    for (size_t i = 0; i < s->sums.count; i++) {
        vec_push(&operands, build_f32(&w->out, 0, s->sums.items[i]));
        vec_push(&results, ir_value_get(s->m, s->sums.items[i])->type);
    }
    const uint32_t carried = (uint32_t)operands.count;
    push_cut(w, &operands, true);
    const uint32_t sliced = (uint32_t)operands.count - carried;
    push_cut(w, &operands, false);
    for (size_t i = 0; i < s->results.count; i++)
        vec_push(&results, stacked_type(s, s->results.items[i]));
    ir_op loop =
        control_build_loop(&w->out, &(loop_request){.operands = operands.items,
                                                    .operand_count = (uint32_t)operands.count,
                                                    .results = results.items,
                                                    .result_count = (uint32_t)results.count,
                                                    .carried = carried,
                                                    .sliced = sliced,
                                                    .count = turns_of(s)});
    vec_release(&operands);
    vec_release(&results);
    return loop;
}

/* Arguments of the block, in the order of the loop's operands. */
static void take_arguments(writer *w, ir_op loop, value_list *sums) {
    stream *s = w->s;
    const ir_block block = ir_op_block(s->m, loop, 0);
    const loop_shape l = loop_shape_of(s->m, loop);
    value_list all = {0};
    w->turn = ir_block_add_argument(s->m, block, ir_type_tensor(s->m, DTYPE_I32, 0, NULL), NULL);
    for (uint32_t i = 0; i < ir_op_get(s->m, loop)->operand_count; i++) {
        const ir_value v = ir_op_get(s->m, loop)->operands[i];
        const bool part = i >= l.carried && i < l.carried + l.sliced;
        const ir_type type = part ? control_part_type(s->m, v) : ir_value_get(s->m, v)->type;
        vec_push(&all, ir_block_add_argument(s->m, block, type, NULL));
        if (i < l.carried)
            vec_push(sums, all.items[i]);
    }
    uint32_t next[] = {l.carried + l.sliced, l.carried}; /* without rows, with rows */
    for (size_t i = 0; i < s->inputs.count; i++)
        vec_push(&w->parts, all.items[next[s->inputs.items[i].axis != AXIS_NONE]++]);
    vec_release(&all);
}

/* ---- its block ---- */

static ir_value operand_in(const writer *w, ir_value v, int axis) {
    const stream *s = w->s;
    if (w->copies[v])
        return w->copies[v];
    size_t i = 0;
    while (s->inputs.items[i].value != v || s->inputs.items[i].axis != axis)
        i++;
    return w->parts.items[i];
}

/* The rows of this turn count on from where the one before ended. */
static ir_value count_on(writer *w, ir_value iota) {
    ir_builder *b = &w->in;
    const ir_type_data t = *build_type(b, iota);
    ir_value first = build_binary(b, GRAPH_MUL, w->turn, build_i32(b, STREAM_ROWS, w->turn));
    return build_binary(b, GRAPH_ADD, iota, build_broadcast(b, first, t.rank, t.dims, NULL));
}

static ir_value build_part(writer *w, ir_op op) {
    stream *s = w->s;
    const ir_op_data o = *ir_op_get(s->m, op);
    const int axis = s->axis[o.results[0]];
    ir_value operands[8];
    ir_named_attr attrs[16];
    uint32_t count = 0;
    for (uint32_t i = 0; i < o.operand_count; i++)
        operands[i] = operand_in(w, o.operands[i], stream_operand_axis(s, op, i, axis));
    for (uint32_t i = 0; i < o.attr_count; i++) {
        ir_named_attr a = o.attrs[i];
        if (strcmp(a.name, "id") == 0) /* sums in blocks have none */
            continue;
        if (strcmp(a.name, "shape") == 0 && axis != AXIS_NONE) {
            const ir_type_data t = *ir_type_get(s->m, part_type(s, o.results[0]));
            a.value = ir_attr_dim_array(s->m, t.dims, (uint32_t)t.rank);
        }
        attrs[count++] = a;
    }
    w->in.location = o.location;
    w->in.location.checkpoint = 0; /* it is computed once */
    ir_value v = ir_op_result(
        s->m, graph_build(&w->in, o.opcode, operands, o.operand_count, attrs, count), 0);
    return o.opcode == GRAPH_IOTA && axis == ir_op_int(s->m, op, "axis", 0) ? count_on(w, v) : v;
}

static void write_block(writer *w, const value_list *sums) {
    stream *s = w->s;
    value_list next = {0};
    for (ir_op op = ir_block_get(s->m, s->block)->first; op; op = ir_op_get(s->m, op)->next)
        if (op <= s->operations && s->inside[op])
            w->copies[ir_op_result(s->m, op, 0)] = build_part(w, op);
    for (size_t i = 0; i < s->sums.count; i++)
        vec_push(&next,
                 build_binary(&w->in, GRAPH_ADD, sums->items[i], w->copies[s->sums.items[i]]));
    for (size_t i = 0; i < s->results.count; i++)
        vec_push(&next, w->copies[s->results.items[i]]);
    build_next(&w->in, next.items, (uint32_t)next.count);
    vec_release(&next);
}

/* Tells which sums are in the loop now. */
static void name_sums(const stream *s, ir_op loop) {
    VEC(int64_t) ids = {0};
    for (ir_op op = 1; op <= s->operations; op++)
        if (s->inside[op] && ir_op_attr(s->m, op, "id"))
            vec_push(&ids, ir_op_int(s->m, op, "id", 0));
    ir_op_set_attr(s->m, loop, "sums", ir_attr_int_array(s->m, ids.items, (uint32_t)ids.count));
    vec_release(&ids);
}

void stream_build(stream *s) {
    writer w = {.s = s,
                .out = {.m = s->m, .block = s->block, .before = s->before},
                .copies = base_calloc((size_t)s->values + 1, sizeof *w.copies)};
    value_list sums = {0};
    w.out.location = ir_op_get(s->m, s->before)->location;
    w.out.location.checkpoint = 0;
    const ir_op loop = build_loop(&w);
    name_sums(s, loop);
    take_arguments(&w, loop, &sums);
    w.in = (ir_builder){.m = s->m, .block = ir_op_block(s->m, loop, 0)};
    write_block(&w, &sums);
    for (size_t i = 0; i < s->sums.count; i++)
        ir_replace_uses(s->m, s->sums.items[i], ir_op_result(s->m, loop, (uint32_t)i));
    for (size_t i = 0; i < s->results.count; i++) {
        const ir_value v = s->results.items[i];
        const ir_value made = ir_op_result(s->m, loop, (uint32_t)(s->sums.count + i));
        ir_replace_uses(s->m, v, join(&w, made, s->axis[v]));
    }
    free(w.copies);
    vec_release(&w.parts);
    vec_release(&sums);
}
