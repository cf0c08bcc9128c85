/* interp_control.c - branches and loops: blocks run with values of their own, again and again. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "ops/functions.h"
#include "target/interp/interp_walk.h"

/* The block's values are as they were before it ran for the first time. */
static void reset_block(interpreter *in, const ir_block_data *block) {
    for (ir_op op = block->first; op; op = ir_op_get(in->m, op)->next) {
        const ir_op_data *d = ir_op_get(in->m, op);
        for (uint32_t i = 0; i < d->result_count; i++) {
            tensor_release(&in->values[d->results[i]]);
            in->uses[d->results[i]] = in->counts[d->results[i]];
        }
    }
}

bool interp_run_block(interpreter *in, ir_block id, const tensor *arguments, tensor *out) {
    const ir_block_data *block = ir_block_get(in->m, id);
    const ir_op_data *end = ir_op_get(in->m, block->last);
    uint32_t given = 0;
    reset_block(in, block);
    for (uint32_t i = 0; i < block->argument_count; i++) {
        in->values[block->arguments[i]] = arguments[i];
        in->uses[block->arguments[i]] = UINT32_MAX; /* borrowed: never the last use */
    }
    bool ok = interp_run(in, block->first) && (!in->watch || in->watch->ran(in->watch->self, id));
    for (; ok && given < end->operand_count; given++)
        ok = tensor_copy(&in->values[end->operands[given]], &out[given], in->st);
    if (!ok)
        tensor_release_all(out, given);
    for (uint32_t i = 0; i < block->argument_count; i++)
        in->values[block->arguments[i]] = (tensor){0};
    reset_block(in, block);
    return ok;
}

static bool holds(const tensor *condition) {
    return *(const uint8_t *)condition->data != 0;
}

static tensor *operands_of(const interpreter *in, const ir_op_data *d) {
    tensor *list = base_calloc((size_t)d->operand_count + 1, sizeof *list);
    for (uint32_t i = 0; i < d->operand_count; i++)
        list[i] = in->values[d->operands[i]];
    return list;
}

static bool run_if(interpreter *in, ir_op op, const tensor *operands, tensor *results) {
    return interp_run_block(in, ir_op_block(in->m, op, holds(&operands[0]) ? 0 : 1), operands + 1,
                            results);
}

void interp_take_over(tensor *values, tensor *next, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        tensor_release(&values[i]);
        values[i] = next[i];
        next[i] = (tensor){0};
    }
}

bool interp_copy_all(const tensor *from, tensor *to, uint32_t count, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = tensor_copy(&from[i], &to[i], st);
    return ok;
}

static bool run_while(interpreter *in, ir_op op, const tensor *operands, tensor *results) {
    uint32_t count = ir_op_get(in->m, op)->operand_count;
    tensor *next = base_calloc((size_t)count + 1, sizeof *next), condition = {0};
    bool ok = interp_copy_all(operands, results, count, in->st), goes_on = ok;
    while (ok && goes_on) {
        ok = interp_run_block(in, ir_op_block(in->m, op, 0), results, &condition);
        goes_on = ok && holds(&condition);
        tensor_release(&condition);
        ok = ok && (!goes_on || interp_run_block(in, ir_op_block(in->m, op, 1), results, next));
        if (ok && goes_on)
            interp_take_over(results, next, count);
    }
    tensor_release_all(next, count);
    free(next);
    return ok;
}

/* ---- counted loops ---- */

/* A part of `all` along axis 0, in place. */
static tensor part_of(const tensor *all, int64_t turn) {
    tensor part = {.type = all->type, .rank = all->rank - 1};
    memcpy(part.dims, all->dims + 1, sizeof *part.dims * (size_t)part.rank);
    part.data = (char *)all->data + (size_t)turn * tensor_bytes(&part);
    return part;
}

/* Sets what the block takes: the turn, carried values, parts, and the rest. */
static void set_arguments(const loop_shape *l, int64_t turn, const tensor *carried,
                          const tensor *operands, tensor *arguments) {
    *(int32_t *)arguments[0].data = (int32_t)turn;
    memcpy(arguments + 1, carried, sizeof *carried * l->carried);
    for (uint32_t i = l->carried; i < l->carried + l->sliced + l->whole; i++)
        arguments[1 + i] = i < l->carried + l->sliced ? part_of(&operands[i], turn) : operands[i];
}

static void stack(const loop_shape *l, int64_t turn, tensor *made, tensor *results) {
    for (uint32_t i = l->carried; i < l->carried + l->stacked; i++) {
        tensor part = part_of(&results[i], turn);
        memcpy(part.data, made[i].data, tensor_bytes(&part));
        tensor_release(&made[i]);
    }
}

static bool run_loop(interpreter *in, ir_op op, const tensor *operands, tensor *results) {
    const ir_op_data *d = ir_op_get(in->m, op);
    const loop_shape l = loop_shape_of(in->m, op);
    tensor *made = base_calloc((size_t)d->result_count + 1, sizeof *made);
    tensor *arguments = base_calloc((size_t)d->operand_count + 1, sizeof *arguments);
    bool ok = tensor_init(&arguments[0], DTYPE_I32, 0, NULL, in->st) &&
              interp_copy_all(operands, results, l.carried, in->st);
    for (uint32_t i = l.carried; ok && i < d->result_count; i++)
        ok = interp_allocate(in->m, d->results[i], DTYPE_NONE, &results[i], in->st);
    for (int64_t turn = 0; ok && turn < l.count; turn++) {
        set_arguments(&l, turn, results, operands, arguments);
        ok = interp_run_block(in, ir_op_block(in->m, op, 0), arguments, made);
        if (ok) {
            interp_take_over(results, made, l.carried);
            stack(&l, turn, made, results);
        }
    }
    tensor_release(&arguments[0]);
    free(arguments);
    free(made);
    return ok;
}

static bool keep_results(interpreter *in, const ir_op_data *d, bool ok, tensor *results) {
    for (uint32_t i = 0; i < d->result_count; i++)
        if (ok)
            in->values[d->results[i]] = results[i];
        else
            tensor_release(&results[i]);
    free(results);
    return ok;
}

bool interp_call(interpreter *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    const ir_op function = function_named(in->m, ir_op_string(in->m, op, "callee", ""));
    tensor *operands = operands_of(in, d);
    tensor *results = base_calloc((size_t)d->result_count + 1, sizeof *results);
    const bool watched = in->watch && in->watch->calls;
    bool ok = (!watched || in->watch->calls(in->watch->self, op, operands)) &&
              interp_run_block(in, ir_op_block(in->m, function, 0), operands, results);
    free(operands);
    return keep_results(in, d, ok, results);
}

bool interp_folded(interpreter *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    const interp_watch *watch = in->watch;
    tensor *operands = operands_of(in, d);
    tensor *results = base_calloc((size_t)d->result_count + 1, sizeof *results);
    in->watch = NULL;
    bool ok = interp_fold(in, op, operands, results);
    in->watch = watch;
    free(operands);
    return keep_results(in, d, ok, results);
}

bool interp_control(interpreter *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    tensor *operands = operands_of(in, d);
    tensor *results = base_calloc((size_t)d->result_count + 1, sizeof *results);
    if (in->watch)
        in->watch->begins(in->watch->self, op);
    bool ok = d->opcode == GRAPH_IF      ? run_if(in, op, operands, results)
              : d->opcode == GRAPH_WHILE ? run_while(in, op, operands, results)
              : d->opcode == GRAPH_LOOP  ? run_loop(in, op, operands, results)
                                         : interp_combine(in, op, operands, results);
    if (in->watch)
        in->watch->ends(in->watch->self);
    free(operands);
    return keep_results(in, d, ok, results);
}
