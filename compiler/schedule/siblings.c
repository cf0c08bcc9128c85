/* siblings.c - products of few rows that do not wait for each other: matrices that are read once.
 *
 * Memory is read fastest in long runs, and a thread's part of a row is a short one. So each product
 * gets its share of the threads, of which most read whole rows, and they run at once. */
#include "schedule/plan.h"

#include <stdlib.h>

#include "parameters/thresholds.h"

int64_t plan_right_side(const plan *p, ir_op dot) {
    const ir_op_data *d = ir_op_get(p->g, dot);
    int64_t list[IR_MAX_RANK], steps = 1;
    if (d->opcode != GRAPH_DOT || ir_op_ints(p->g, dot, "x_batch", list, IR_MAX_RANK) > 0)
        return 0;
    const ir_type left = ir_value_get(p->g, d->operands[0])->type,
                  right = ir_value_get(p->g, d->operands[1])->type;
    uint32_t axes = ir_op_ints(p->g, dot, "x_contract", list, IR_MAX_RANK);
    if (!ir_type_is_static(p->g, left) || !ir_type_is_static(p->g, right))
        return 0;
    for (uint32_t i = 0; i < axes; i++)
        steps *= ir_type_get(p->g, left)->dims[list[i]];
    return steps && ir_type_count(p->g, left) / steps <= FEW_ROWS ? ir_type_count(p->g, right) : 0;
}

bool plan_are_siblings(const plan *p, ir_op a, ir_op b) {
    ir_value left = ir_op_get(p->g, a)->operands[0], other = ir_op_get(p->g, b)->operands[0];
    return plan_right_side(p, a) && plan_right_side(p, b) &&
           plan_storage(p, left) == plan_storage(p, other) && plan_storage(p, left);
}

static int64_t streamed(const plan *p, int group) {
    const plan_group *g = &p->groups[group];
    bool plain = g->kind == GROUP_DOT && !g->ends_chain && !g->prologue && !g->inside;
    return plain ? plan_right_side(p, g->anchor) : 0;
}

ir_value plan_streamed_left(const plan *p, int group) {
    return streamed(p, group)
               ? plan_storage(p, ir_op_get(p->g, p->groups[group].anchor)->operands[0])
               : 0;
}

/* When the last thread ends, where each takes the next part when it has ended: parts are of one
 * size in each product. */
static double time_of(const sibling *list, int count, int64_t threads) {
    double *ends = base_calloc((size_t)threads, sizeof *ends), last = 0;
    for (int i = 0; i < count; i++)
        for (int64_t part = 0; part < list[i].threads; part++) {
            int64_t first = 0;
            for (int64_t t = 1; t < threads; t++)
                first = ends[t] < ends[first] ? t : first;
            ends[first] += (double)list[i].elements / (double)list[i].threads;
            last = ends[first] > last ? ends[first] : last;
        }
    free(ends);
    return last;
}

/* Shares by size, where they keep all threads busy nearly to the end; else all have all. */
static void share_threads(sibling *list, int count, int64_t threads) {
    enum { SPARE = 8 };
    double total = 0;
    for (int i = 0; i < count; i++)
        total += (double)list[i].elements;
    for (int i = 0; i < count; i++) {
        list[i].threads = (int64_t)((double)(list[i].elements * threads) / total + 0.5);
        list[i].threads = list[i].threads > 1 ? list[i].threads : 1;
    }
    if (time_of(list, count, threads) <= total / (double)threads * (1 + 1.0 / SPARE))
        return;
    for (int i = 0; i < count; i++)
        list[i].threads = threads;
}

static bool waits_for_any(const plan *p, int group, const sibling *list, int count) {
    bool waits = false;
    for (int k = 0; k < count; k++)
        waits |= group_set_has(p->groups[group].depends, list[k].group);
    return waits;
}

/* The largest first; equal ones as they are. */
static int by_elements(const void *a, const void *b) {
    const sibling *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements < y->elements ? 1 : -1;
    return x->place - y->place;
}

int plan_siblings(const plan *p, int *order, int first, int64_t threads, sibling *list) {
    int count = 0;
    for (int i = first; i < p->group_count && count < SIBLINGS_MAX; i++) {
        int64_t elements = streamed(p, order[i]);
        if (!elements || waits_for_any(p, order[i], list, count))
            break;
        list[count++] = (sibling){order[i], i, elements, threads};
    }
    if (count > 1) {
        qsort(list, (size_t)count, sizeof *list, by_elements);
        share_threads(list, count, threads);
    }
    for (int i = 0; i < count; i++)
        order[first + i] = list[i].group;
    return count;
}
