/* needed.c - which elements of the inputs an output is made from: a walk backward over the
 * primitives, with the values that the interpreter gives them.
 *
 * A select needs only the side that its condition takes, a contraction only the steps that it
 * does; everything else needs what it reads. Conditions and counts are needed themselves, so what
 * is not needed could hold anything: no value that decides the walk would change. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "target/interp/needed.h"
#include "tessera/compiler.h"

/* An operation under way. */
typedef struct visit {
    interp_step step; /* its `out` has the value */
    const ir_op_data *op;
    const unsigned char *wanted; /* of its result */
    int64_t count;               /* elements of its result */
} visit;

static unsigned char *marks_of(const need_table *n, const visit *v, uint32_t operand) {
    return n->needed[v->op->operands[operand]];
}

static void mark_all(const need_table *n, const visit *v, uint32_t operand) {
    memset(marks_of(n, v, operand), 1, (size_t)tensor_count(v->step.in[operand]));
}

/* ---- one operation each ---- */

static void of_elementwise(const need_table *n, const visit *v) {
    bool select = v->step.opcode == GRAPH_SELECT;
    const unsigned char *condition = v->step.in[0]->data;
    for (uint32_t i = 0; i < v->step.in_count; i++)
        for (int64_t e = 0; e < v->count; e++)
            if (v->wanted[e] && !(select && i > 0 && (condition[e] != 0) != (i == 1)))
                marks_of(n, v, i)[e] = 1;
}

/* Moves numbers of elements, so the result says where each of its own came from. */
static bool of_move(const need_table *n, const visit *v, uint32_t moved) {
    tensor numbers[LIMIT_OPERANDS] = {{0}}, out = {0};
    const tensor *in[LIMIT_OPERANDS];
    int64_t first = 0;
    bool ok = tensor_init(&out, DTYPE_I64, v->step.out->rank, v->step.out->dims, n->st);
    for (uint32_t i = 0; i < v->step.in_count && ok; i++) {
        const tensor *x = v->step.in[i];
        in[i] = i < moved ? &numbers[i] : x;
        ok = i >= moved || tensor_init(&numbers[i], DTYPE_I64, x->rank, x->dims, n->st);
        for (int64_t e = 0; ok && i < moved && e < tensor_count(x); e++)
            ((int64_t *)numbers[i].data)[e] = first++;
    }
    interp_step step = v->step;
    step.in = in;
    step.out = &out;
    ok = ok && interp_move(&step, n->st);
    for (int64_t e = 0; ok && e < v->count; e++) {
        int64_t from = ((const int64_t *)out.data)[e];
        uint32_t i = 0;
        while (v->wanted[e] && from >= tensor_count(v->step.in[i]))
            from -= tensor_count(v->step.in[i++]);
        if (v->wanted[e])
            marks_of(n, v, i)[from] = 1;
    }
    tensor_release_all(numbers, LIMIT_OPERANDS);
    tensor_release(&out);
    return ok;
}

/* The same with numbers in rows: which elements of x make each result. */
static bool of_reduce(const need_table *n, const visit *v) {
    const tensor *x = v->step.in[0];
    tensor numbers, rows;
    int64_t length;
    if (!tensor_init(&numbers, DTYPE_I64, x->rank, x->dims, n->st))
        return false;
    for (int64_t e = 0; e < tensor_count(x); e++)
        ((int64_t *)numbers.data)[e] = e;
    const tensor *in[] = {&numbers};
    interp_step step = v->step;
    step.in = in;
    bool ok = interp_reduce_rows(&step, &rows, &length, n->st);
    for (int64_t row = 0; ok && row < v->count; row++)
        for (int64_t i = 0; v->wanted[row] && i < length; i++)
            marks_of(n, v, 0)[((const int64_t *)rows.data)[row * length + i]] = 1;
    if (ok)
        tensor_release(&rows);
    tensor_release(&numbers);
    return ok;
}

/* The numbers of a side's elements, its axes in the plan's order. */
static bool number_side(const need_table *n, const tensor *x, const int64_t *axes, tensor *out) {
    tensor numbers;
    if (!tensor_init(&numbers, DTYPE_I64, x->rank, x->dims, n->st))
        return false;
    for (int64_t e = 0; e < tensor_count(x); e++)
        ((int64_t *)numbers.data)[e] = e;
    bool ok = interp_permute(&numbers, axes, out, n->st);
    tensor_release(&numbers);
    return ok;
}

static void mark_row(const need_table *n, const visit *v, const dot_plan *p, int64_t row,
                     const tensor *sides) {
    const int64_t *x = sides[0].data, *y = sides[1].data;
    const int64_t steps = interp_dot_steps(&v->step, p, row), batch = row / p->m;
    bool any = false;
    for (int64_t column = 0; column < p->n; column++) {
        if (!v->wanted[row * p->n + column])
            continue;
        any = true;
        for (int64_t k = 0; k < steps; k++)
            marks_of(n, v, 1)[y[(batch * p->k + k) * p->n + column]] = 1;
    }
    for (int64_t k = 0; k < steps && any; k++)
        marks_of(n, v, 0)[x[row * p->k + k]] = 1;
    if (any && v->step.in_count > 2)
        marks_of(n, v, 2)[row % tensor_count(v->step.in[2])] = 1;
}

static bool of_dot(const need_table *n, const visit *v) {
    tensor sides[2] = {{0}};
    dot_plan p = interp_dot_plan(&v->step);
    bool ok = number_side(n, v->step.in[0], p.x_axes, &sides[0]) &&
              number_side(n, v->step.in[1], p.y_axes, &sides[1]);
    for (int64_t row = 0; ok && row < p.batch * p.m; row++)
        mark_row(n, v, &p, row, sides);
    tensor_release_all(sides, 2);
    return ok;
}

static void of_anything(const need_table *n, const visit *v) {
    if (memchr(v->wanted, 1, (size_t)v->count))
        for (uint32_t i = 0; i < v->step.in_count; i++)
            mark_all(n, v, i);
}

static bool visit_op(const need_table *n, const visit *v) {
    switch (graph_op_class(v->step.opcode)) {
    case GRAPH_CLASS_GENERATOR:
        return true;
    case GRAPH_CLASS_ELEMENTWISE:
        of_elementwise(n, v);
        return true;
    case GRAPH_CLASS_MOVE:
        if (v->step.opcode == GRAPH_GATHER && memchr(v->wanted, 1, (size_t)v->count))
            mark_all(n, v, 1);
        return of_move(n, v, v->step.opcode == GRAPH_GATHER ? 1 : v->step.in_count);
    case GRAPH_CLASS_REDUCE:
        return of_reduce(n, v);
    case GRAPH_CLASS_DOT:
        if (v->step.opcode == GRAPH_DOT)
            return of_dot(n, v);
        break;
    default:
        break;
    }
    of_anything(n, v);
    return true;
}

/* A branch or a loop: what it makes is made of all that it takes. */
static void visit_control(const need_table *n, const ir_op_data *d) {
    bool wanted = false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        size_t count = (size_t)tensor_count(&n->values[d->results[i]]);
        wanted |= memchr(n->needed[d->results[i]], 1, count) != NULL;
    }
    for (uint32_t i = 0; i < d->operand_count && wanted; i++)
        memset(n->needed[d->operands[i]], 1, (size_t)tensor_count(&n->values[d->operands[i]]));
}

/* ---- the walk ---- */

bool needed_by(const need_table *n, ir_op op) {
    const ir_op_data *d = ir_op_get(n->m, op);
    if (control_has_blocks(d->opcode)) {
        visit_control(n, d);
        return true;
    }
    const tensor *in[LIMIT_OPERANDS];
    for (uint32_t i = 0; i < d->operand_count; i++)
        in[i] = &n->values[d->operands[i]];
    tensor out = n->values[d->results[0]];
    const visit v = {.step = {n->m, op, d->opcode, in, d->operand_count, &out},
                     .op = d,
                     .wanted = n->needed[d->results[0]],
                     .count = tensor_count(&out)};
    return visit_op(n, &v);
}

bool needed_walk(const need_table *n, const ir_block_data *block) {
    bool ok = true;
    for (ir_op op = ir_op_get(n->m, block->last)->previous; op && ok;
         op = ir_op_get(n->m, op)->previous)
        ok = needed_by(n, op);
    return ok;
}

static bool want(const need_table *n, const ir_op_data *last, const compiler_element *of) {
    for (uint32_t i = 0; i < last->operand_count; i++) {
        unsigned char *marks = n->needed[last->operands[i]];
        int64_t count = tensor_count(&n->values[last->operands[i]]);
        if (!of)
            memset(marks, 1, (size_t)count);
        else if (of->output == i && of->element < count)
            marks[of->element] = 1;
        else if (of->output == i)
            return status_set(n->st, STATUS_INVALID, "output %u has no element %lld", i,
                              (long long)of->element);
    }
    return true;
}

static bool give(const need_table *n, const ir_block_data *block, tensor *out) {
    for (uint32_t i = 0; i < block->argument_count; i++) {
        const tensor *x = &n->values[block->arguments[i]];
        if (!tensor_init(&out[i], DTYPE_BOOL, x->rank, x->dims, n->st)) {
            tensor_release_all(out, i);
            return false;
        }
        memcpy(out[i].data, n->needed[block->arguments[i]], (size_t)tensor_count(x));
    }
    return true;
}

bool compiler_needed(compiler_instance *instance, const tensor *inputs, const compiler_element *of,
                     tensor *needed, status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    if (!m || !graph_require_formula(m, st))
        return false;
    const ir_block_data *block = ir_kernel_body(m);
    uint32_t count = ir_value_count(m) + 1;
    tensor *values = base_calloc(count, sizeof *values);
    need_table n = {m, values, base_calloc(count, sizeof(unsigned char *)), st};
    bool ok = interp_values(m, inputs, NULL, values, st);
    for (uint32_t i = 1; i < count && ok; i++)
        n.needed[i] = base_calloc((size_t)tensor_count(&values[i]) + 1, 1);
    ok = ok && want(&n, ir_op_get(m, block->last), of) && needed_walk(&n, block) &&
         give(&n, block, needed);
    interp_values_release(m, values);
    for (uint32_t i = 0; i < count; i++)
        free(n.needed[i]);
    free(n.needed);
    free(values);
    return ok;
}
