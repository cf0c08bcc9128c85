/* fold.c - the rules of tessera.fold. */
#include "ops/fold.h"

#include <string.h>

/* A number, a value for each row, or one for each of its columns. */
static bool fits(const fold_shape *f, const ir_type_data *t) {
    bool whole = t->element == DTYPE_F32 || t->element == DTYPE_F64 || t->element == DTYPE_I32 ||
                 t->element == DTYPE_BOOL;
    return whole && (t->rank == 0 || t->rank == f->rank || t->rank == f->rank + 1) &&
           memcmp(t->dims, f->dims, sizeof *t->dims * (size_t)t->rank) == 0;
}

/* Rows are the carried tensor of the fewest axes, columns those of another. */
static bool find_rows(const ir_module *m, const ir_op_data *d, fold_shape *f, status *st) {
    f->rank = IR_MAX_RANK;
    for (uint32_t i = 0; i < f->carried; i++) {
        const ir_type_data *t = ir_type_of(m, d->operands[i]);
        f->rank = t->rank < f->rank ? t->rank : f->rank;
    }
    for (uint32_t i = 0; i < f->carried; i++) {
        const ir_type_data *t = ir_type_of(m, d->operands[i]);
        if (t->rank > f->rank || i == 0)
            memcpy(f->dims, t->dims, sizeof *t->dims * (size_t)t->rank);
    }
    int columns = 0;
    for (uint32_t i = 0; i < f->carried; i++) {
        if (!fits(f, ir_type_of(m, d->operands[i])))
            return ir_broken(st, "what it carries are not rows, and columns of these");
        columns += ir_type_of(m, d->operands[i])->rank > f->rank;
    }
    if (columns > FOLD_COLUMNS_MAX)
        return ir_broken(st, "carries more than 8 tensors with columns");
    return (f->rank > 0 && f->rank < IR_MAX_RANK) || ir_broken(st, "carries rows");
}

/* An operand with turns, and the block's argument for one of them. */
static bool check_input(const ir_module *m, const ir_op_data *d, uint32_t i, fold_shape *f,
                        ir_value argument) {
    const ir_type_data *all = ir_type_of(m, d->operands[i]), *one = ir_type_of(m, argument);
    int64_t axis = f->axis[i];
    if (axis < 0 || axis >= all->rank || one->rank + 1 != all->rank || one->element != all->element)
        return false;
    for (int k = 0; k < one->rank; k++)
        if (one->dims[k] != all->dims[k + (k >= axis)])
            return false;
    f->turns = f->turns ? f->turns : all->dims[axis];
    return all->dims[axis] == f->turns && f->turns > 0 && ir_dim_is_static(f->turns);
}

static bool check_arguments(const ir_module *m, const ir_op_data *d, const ir_block_data *block,
                            fold_shape *f, status *st) {
    for (uint32_t i = 0; i < f->carried; i++)
        if (ir_value_get(m, block->arguments[i])->type != ir_value_get(m, d->operands[i])->type ||
            ir_value_get(m, d->results[i])->type != ir_value_get(m, d->operands[i])->type)
            return ir_broken(st, "what it carries changes its type");
    for (uint32_t i = f->carried; i < d->operand_count; i++)
        if (!check_input(m, d, i, f, block->arguments[i]))
            return ir_broken(st, "an operand does not have the turns that its block takes");
    return true;
}

bool fold_read(const ir_module *m, ir_op fold, fold_shape *out, status *st) {
    const ir_op_data *d = ir_op_get(m, fold);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, fold, 0));
    int64_t carried = ir_op_int(m, fold, "carried", 0), axes[LIMIT_OPERANDS];
    *out = (fold_shape){.rank = 0};
    if (carried < 1 || carried != (int64_t)d->result_count ||
        carried >= (int64_t)d->operand_count || d->operand_count > LIMIT_OPERANDS ||
        block->argument_count != d->operand_count)
        return ir_broken(st, "carries some of its operands, and has a result for each");
    out->carried = (uint32_t)carried;
    out->inputs = d->operand_count - out->carried;
    if (ir_op_ints(m, fold, "turns", axes, LIMIT_OPERANDS) != out->inputs)
        return ir_broken(st, "needs the axis of turns of each other operand");
    for (uint32_t i = 0; i < out->inputs; i++)
        out->axis[out->carried + i] = axes[i];
    return find_rows(m, d, out, st) && check_arguments(m, d, block, out, st);
}

int64_t fold_axis(const ir_module *m, ir_op fold, const fold_shape *f, ir_value operand) {
    const ir_op_data *d = ir_op_get(m, fold);
    for (uint32_t i = f->carried; i < d->operand_count; i++)
        if (d->operands[i] == operand)
            return f->axis[i];
    return -1;
}

int64_t fold_turns(const ir_module *m, ir_op fold) {
    fold_shape f;
    status why = STATUS_INIT;
    return fold_read(m, fold, &f, &why) ? f.turns : 0;
}

/* Repeats of a row's value along its columns, or of one number everywhere. */
static bool is_repeated(const ir_module *m, ir_op op) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, op, "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        if (axes[i] != i)
            return false;
    return true;
}

static bool check_inner(const ir_module *m, ir_op op, const fold_shape *f, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    bool known = class == GRAPH_CLASS_ELEMENTWISE || d->opcode == GRAPH_CONSTANT ||
                 (d->opcode == GRAPH_BROADCAST && is_repeated(m, op));
    if (!known || d->opcode == GRAPH_STOCHASTIC_ROUND)
        return ir_broken(st, "its block is not element-wise");
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!fits(f, ir_type_of(m, d->operands[i])))
            return ir_broken(st, "its block computes of something else than rows and columns");
    return fits(f, ir_type_of(m, d->results[0])) ||
           ir_broken(st, "its block computes something else than rows and columns");
}

bool fold_verify(const ir_module *m, ir_op fold, status *st) {
    fold_shape f;
    if (!fold_read(m, fold, &f, st))
        return false;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, fold, 0));
    const ir_op_data *end = block->last ? ir_op_get(m, block->last) : NULL;
    if (!end || end->opcode != GRAPH_NEXT || end->operand_count != f.carried)
        return ir_broken(st, "does not end in what the next turn takes");
    for (uint32_t i = 0; i < f.carried; i++)
        if (ir_value_get(m, end->operands[i])->type != ir_value_get(m, block->arguments[i])->type)
            return ir_broken(st, "what it carries changes its type");
    for (ir_op op = block->first; op != block->last; op = ir_op_get(m, op)->next)
        if (!check_inner(m, op, &f, st))
            return false;
    return true;
}
