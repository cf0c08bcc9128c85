/* generic_plan.c - what has memory in a kernel of any size, where, and what that asks of the
 * dimensions. */
#include <stdlib.h>
#include <string.h>

#include "ops/build.h"
#include "ops/depth.h"
#include "tile/generic.h"

/* ---- axes in their places ---- */

static ir_value transposed(generic *s, ir_op op, ir_value x, const int64_t *permutation) {
    ir_builder b = {s->g, ir_op_block(s->g, ir_module_kernel(s->g), 0), op,
                    ir_op_get(s->g, op)->location};
    uint32_t rank = (uint32_t)generic_type(s, x)->rank;
    bool moves = false;
    for (uint32_t i = 0; i < rank; i++)
        moves |= permutation[i] != (int64_t)i;
    ir_named_attr attr = {"permutation", ir_attr_int_array(s->g, permutation, rank)};
    return moves ? ir_op_result(s->g, graph_build(&b, GRAPH_TRANSPOSE, &x, 1, &attr, 1), 0) : x;
}

static void set_ints(generic *s, ir_op op, const char *name, const int64_t *items, uint32_t n) {
    ir_op_set_attr(s->g, op, name, ir_attr_int_array(s->g, items, n));
}

/* The reduced axis becomes the last. */
static void arrange_reduce(generic *s, ir_op op) {
    ir_value x = ir_op_get(s->g, op)->operands[0];
    int64_t axis = 0, last = generic_type(s, x)->rank - 1, permutation[IR_MAX_RANK], n = 0;
    ir_op_ints(s->g, op, "axes", &axis, 1);
    for (int64_t i = 0; i <= last; i++)
        if (i != axis)
            permutation[n++] = i;
    permutation[n] = axis;
    x = transposed(s, op, x, permutation);
    ir_op_set_operands(s->g, op, &x, 1);
    set_ints(s, op, "axes", &last, 1);
}

/* x: batch, free, contracted; y: batch, contracted, free. */
static ir_value arrange_side(generic *s, ir_op op, uint32_t side) {
    static const char *const batch_names[] = {"x_batch", "y_batch"};
    static const char *const contract_names[] = {"x_contract", "y_contract"};
    int64_t batch[IR_MAX_RANK], contract = 0, permutation[IR_MAX_RANK], place;
    ir_value x = ir_op_get(s->g, op)->operands[side];
    int rank = generic_type(s, x)->rank;
    uint32_t n = ir_op_ints(s->g, op, batch_names[side], batch, IR_MAX_RANK), at = n;
    ir_op_ints(s->g, op, contract_names[side], &contract, 1);
    memcpy(permutation, batch, sizeof batch);
    if (side == 1)
        permutation[at++] = contract;
    for (int64_t i = 0; i < rank; i++)
        if (i != contract && !ir_ints_hold(batch, n, i))
            permutation[at++] = i;
    if (side == 0)
        permutation[at++] = contract;
    place = side == 0 ? rank - 1 : (int64_t)n;
    for (uint32_t i = 0; i < n; i++)
        batch[i] = i;
    set_ints(s, op, batch_names[side], batch, n);
    set_ints(s, op, contract_names[side], &place, 1);
    return transposed(s, op, x, permutation);
}

static void arrange_dot(generic *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    ir_value operands[3] = {0, 0, d->operand_count > 2 ? d->operands[2] : 0};
    for (uint32_t side = 0; side < 2; side++)
        operands[side] = arrange_side(s, op, side);
    ir_op_set_operands(s->g, op, operands, operands[2] ? 3 : 2);
}

/* ---- what has memory ---- */

static ir_op first_op(const generic *s) {
    return ir_block_get(s->g, ir_op_block(s->g, ir_module_kernel(s->g), 0))->first;
}

/* Nothing but data movement and conversions of memory: no work is lost where it is read again. */
static bool is_view(const generic *s, ir_value v) {
    while (!generic_storage(s, v)) {
        const ir_op_data *d = ir_op_get(s->g, ir_value_get(s->g, v)->op);
        bool moves = d->opcode == GRAPH_CONVERT || d->opcode == GRAPH_TRANSPOSE ||
                     d->opcode == GRAPH_SLICE || d->opcode == GRAPH_BROADCAST ||
                     d->opcode == GRAPH_WINDOW;
        if (!moves)
            return false;
        v = d->operands[0];
    }
    return true;
}

static void store(generic *s, ir_value v) {
    s->stored[v] |= ir_value_get(s->g, v)->op != 0;
}

static void store_for_op(generic *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    switch (d->opcode) {
    case GRAPH_RETURN:
        for (uint32_t i = 0; i < d->operand_count; i++)
            store(s, d->operands[i]);
        break;
    case GRAPH_DOT:
        store(s, d->results[0]);
        if (!is_view(s, d->operands[0]))
            store(s, d->operands[0]);
        if (!is_view(s, d->operands[1]) ||
            !generic_vectors(s, d->operands[1], generic_type(s, d->operands[1])->rank - 1, false))
            store(s, d->operands[1]);
        break;
    case GRAPH_REDUCE:
        store(s, d->results[0]);
        if (!generic_vectors(s, d->operands[0], generic_type(s, d->operands[0])->rank - 1, false))
            store(s, d->operands[0]);
        break;
    case GRAPH_CONCAT:
        store(s, d->results[0]);
        break;
    case GRAPH_RESHAPE:
    case GRAPH_GATHER:
        if (!generic_storage(s, d->operands[0]))
            store(s, d->operands[0]);
        break;
    default:
        break;
    }
}

static uint32_t stored_count(const generic *s) {
    uint32_t count = 0;
    for (ir_value v = 1; v <= ir_value_count(s->g); v++)
        count += s->stored[v];
    return count;
}

/* ---- where ---- */

static ir_dim count_of(generic *s, ir_value v) {
    const ir_type_data *t = generic_type(s, v);
    ir_dim count = 1;
    for (int i = 0; i < t->rank; i++)
        count = ir_dim_mul(s->g, count, t->dims[i]);
    return count;
}

/* Values of larger elements come first, so that each begins at a multiple of its own. */
static void place_workspace(generic *s) {
    for (int64_t size = 8; size >= 1; size /= 2)
        for (ir_value v = 1; v <= ir_value_count(s->g); v++) {
            int64_t bytes = (int64_t)dtype_size(generic_type(s, v)->element);
            if (!s->stored[v] || s->memory[v].exists || bytes != size)
                continue;
            s->memory[v] =
                (generic_memory){true, false, -1, ir_dim_floordiv(s->g, s->workspace_bytes, size)};
            s->workspace_bytes =
                ir_dim_add(s->g, s->workspace_bytes, ir_dim_mul(s->g, count_of(s, v), size));
        }
}

static void place_memory(generic *s) {
    const ir_block_data *body = ir_block_get(s->g, ir_op_block(s->g, ir_module_kernel(s->g), 0));
    const ir_op_data *end = ir_op_get(s->g, body->last);
    for (uint32_t i = 0; i < body->argument_count; i++)
        s->memory[body->arguments[i]] = (generic_memory){true, false, (int)i, 0};
    for (uint32_t i = 0; i < end->operand_count; i++) {
        generic_memory *memory = &s->memory[end->operands[i]];
        if (!memory->exists)
            *memory = (generic_memory){true, true, (int)(body->argument_count + i), 0};
    }
    place_workspace(s);
}

void generic_plan(generic *s) {
    for (ir_op op = first_op(s); op; op = ir_op_get(s->g, op)->next) {
        if (ir_op_get(s->g, op)->opcode == GRAPH_REDUCE)
            arrange_reduce(s, op);
        if (ir_op_get(s->g, op)->opcode == GRAPH_DOT)
            arrange_dot(s, op);
    }
    s->stored = base_calloc(ir_value_count(s->g) + 1, sizeof *s->stored);
    s->memory = base_calloc(ir_value_count(s->g) + 1, sizeof *s->memory);
    graph_store_deep(s->g, s->stored, NULL);
    /* What is stored for a later operation may no longer be read in vectors by an earlier one. */
    for (uint32_t before = 0, after = 1; before != after;) {
        before = stored_count(s);
        for (ir_op op = first_op(s); op; op = ir_op_get(s->g, op)->next)
            store_for_op(s, op);
        after = stored_count(s);
    }
    place_memory(s);
}
