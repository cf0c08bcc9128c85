/* reference_control.c - branches and loops of the f64 reference: as the interpreter runs them
 * (interp_control.c), with bounds beside the values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "target/interp/reference_enclosure.h"
#include "target/interp/reference_walk.h"

/* ---- values ---- */

void reference_copy(const reference_value *from, int64_t first, reference_value *to, int64_t at,
                    int64_t count) {
    const size_t size = dtype_size(from->value.type);
    memcpy((char *)to->value.data + (size_t)at * size,
           (const char *)from->value.data + (size_t)first * size, (size_t)count * size);
    memcpy((double *)to->bound.data + at, (const double *)from->bound.data + first,
           (size_t)count * sizeof(double));
    for (int64_t i = 0; i < count && (from->limits || to->limits); i++)
        if (enclosure_kept(from, first + i))
            enclosure_keep(to, at + i, enclosure_at(from, first + i));
        else
            enclosure_forget(to, at + i);
}

bool reference_allocate(const tensor *like, int rank, const int64_t *dims, reference_value *to,
                        status *st) {
    *to = (reference_value){.limits = NULL};
    return tensor_init(&to->value, like->type, rank, dims, st) &&
           tensor_init(&to->bound, DTYPE_F64, rank, dims, st);
}

static bool copy_value(const reference_value *from, reference_value *to, status *st) {
    const tensor *t = &from->value;
    if (!reference_allocate(t, t->rank, t->dims, to, st))
        return false;
    reference_copy(from, 0, to, 0, tensor_count(t));
    return true;
}

/* The part of a turn along axis 0. */
static bool copy_part(const reference_value *all, int64_t turn, reference_value *to, status *st) {
    const tensor *t = &all->value;
    if (!reference_allocate(t, t->rank - 1, t->dims + 1, to, st))
        return false;
    int64_t count = tensor_count(&to->value);
    reference_copy(all, turn * count, to, 0, count);
    return true;
}

void reference_release_all(reference_value *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        reference_release(&list[i]);
}

static void promise_nothing(reference_value *v) {
    for (int64_t i = 0; i < tensor_count(&v->bound); i++)
        ((double *)v->bound.data)[i] = HUGE_VAL;
    free(v->limits);
    v->limits = NULL;
}

/* ---- blocks ---- */

static void reset_block(reference_walker *w, const ir_block_data *block) {
    for (ir_op op = block->first; op; op = ir_op_get(w->m, op)->next) {
        const ir_op_data *d = ir_op_get(w->m, op);
        for (uint32_t i = 0; i < d->result_count; i++) {
            reference_release(&w->values[d->results[i]]);
            w->uses[d->results[i]] = w->counts[d->results[i]];
        }
    }
}

bool reference_run_block(reference_walker *w, ir_block id, const reference_value *arguments,
                         reference_value *out) {
    const ir_block_data *block = ir_block_get(w->m, id);
    const ir_op_data *end = ir_op_get(w->m, block->last);
    uint32_t given = 0;
    reset_block(w, block);
    for (uint32_t i = 0; i < block->argument_count; i++) {
        w->values[block->arguments[i]] = arguments[i];
        w->uses[block->arguments[i]] = UINT32_MAX; /* borrowed: never the last use */
    }
    bool ok = reference_walk(w, block->first);
    for (; ok && given < end->operand_count; given++)
        ok = copy_value(&w->values[end->operands[given]], &out[given], w->st);
    if (!ok)
        reference_release_all(out, given);
    for (uint32_t i = 0; i < block->argument_count; i++)
        w->values[block->arguments[i]] = (reference_value){.limits = NULL};
    reset_block(w, block);
    return ok;
}

/* `sure` becomes false where the condition could have been the other. */
static bool holds(const reference_value *condition, bool *sure) {
    *sure = *sure && *(const double *)condition->bound.data == 0;
    return *(const uint8_t *)condition->value.data != 0;
}

/* ---- the operations ---- */

static bool run_if(reference_walker *w, control_values *c) {
    uint32_t side = holds(&c->operands[0], &c->sure) ? 0 : 1;
    return reference_run_block(w, ir_op_block(w->m, c->op, side), c->operands + 1, c->results);
}

static void take_over(reference_value *values, reference_value *next, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        reference_release(&values[i]);
        values[i] = next[i];
        next[i] = (reference_value){.limits = NULL};
    }
}

static bool copy_all(const reference_value *from, reference_value *to, uint32_t count, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = copy_value(&from[i], &to[i], st);
    return ok;
}

static bool run_while(reference_walker *w, control_values *c) {
    uint32_t count = c->d->operand_count;
    reference_value *next = base_calloc((size_t)count + 1, sizeof *next);
    bool ok = copy_all(c->operands, c->results, count, w->st), goes_on = ok;
    while (ok && goes_on) {
        reference_value condition = {.limits = NULL};
        ok = reference_run_block(w, ir_op_block(w->m, c->op, 0), c->results, &condition);
        goes_on = ok && holds(&condition, &c->sure) && c->sure;
        reference_release(&condition);
        ok = ok &&
             (!goes_on || reference_run_block(w, ir_op_block(w->m, c->op, 1), c->results, next));
        if (ok && goes_on)
            take_over(c->results, next, count);
    }
    reference_release_all(next, count);
    free(next);
    return ok;
}

/* Carried values, and the rest, are borrowed; the turn and the parts are made. */
static bool set_arguments(reference_walker *w, const control_values *c, const loop_shape *l,
                          int64_t turn, reference_value *arguments) {
    bool ok = true;
    *(int32_t *)arguments[0].value.data = (int32_t)turn;
    for (uint32_t i = 0; i < c->d->operand_count && ok; i++)
        if (i < l->carried || i >= l->carried + l->sliced)
            arguments[1 + i] = i < l->carried ? c->results[i] : c->operands[i];
        else
            ok = copy_part(&c->operands[i], turn, &arguments[1 + i], w->st);
    return ok;
}

static bool run_turn(reference_walker *w, control_values *c, const loop_shape *l, int64_t turn,
                     reference_value *arguments, reference_value *made) {
    bool ok = set_arguments(w, c, l, turn, arguments) &&
              reference_run_block(w, ir_op_block(w->m, c->op, 0), arguments, made);
    reference_release_all(arguments + 1 + l->carried, l->sliced);
    if (!ok)
        return false;
    take_over(c->results, made, l->carried);
    for (uint32_t i = l->carried; i < c->d->result_count; i++) {
        int64_t count = tensor_count(&made[i].value);
        reference_copy(&made[i], 0, &c->results[i], turn * count, count);
        reference_release(&made[i]);
    }
    return true;
}

static bool allocate_result(const reference_walker *w, ir_value v, reference_value *out) {
    dtype element = ir_type_of(w->m, v)->element;
    return interp_allocate(w->m, v, dtype_is_float(element) ? DTYPE_F64 : DTYPE_NONE, &out->value,
                           w->st) &&
           interp_allocate(w->m, v, DTYPE_F64, &out->bound, w->st);
}

static bool run_loop(reference_walker *w, control_values *c) {
    const loop_shape l = loop_shape_of(w->m, c->op);
    reference_value *made = base_calloc((size_t)c->d->result_count + 1, sizeof *made);
    reference_value *arguments = base_calloc((size_t)c->d->operand_count + 1, sizeof *arguments);
    const tensor turn_like = {.type = DTYPE_I32};
    bool ok = reference_allocate(&turn_like, 0, NULL, &arguments[0], w->st) &&
              copy_all(c->operands, c->results, l.carried, w->st);
    for (uint32_t i = l.carried; ok && i < c->d->result_count; i++)
        ok = allocate_result(w, c->d->results[i], &c->results[i]);
    for (int64_t turn = 0; ok && turn < l.count; turn++)
        ok = run_turn(w, c, &l, turn, arguments, made);
    reference_release(&arguments[0]);
    free(arguments);
    free(made);
    return ok;
}

/* Escapes are looked for in the kernel's own block: the interpreter keeps no values of others. */
bool reference_control(reference_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const tensor *strict = w->strict;
    control_values c = {.d = d, .op = op, .sure = true};
    c.operands = base_calloc((size_t)d->operand_count + 1, sizeof *c.operands);
    c.results = base_calloc((size_t)d->result_count + 1, sizeof *c.results);
    for (uint32_t i = 0; i < d->operand_count; i++)
        c.operands[i] = w->values[d->operands[i]];
    w->strict = NULL;
    bool ok = d->opcode == GRAPH_IF      ? run_if(w, &c)
              : d->opcode == GRAPH_WHILE ? run_while(w, &c)
              : d->opcode == GRAPH_LOOP  ? run_loop(w, &c)
                                         : reference_combine(w, &c);
    w->strict = strict;
    for (uint32_t i = 0; i < d->result_count; i++)
        if (ok) {
            if (!c.sure)
                promise_nothing(&c.results[i]);
            w->values[d->results[i]] = c.results[i];
        } else {
            reference_release(&c.results[i]);
        }
    free(c.operands);
    free(c.results);
    return ok;
}
