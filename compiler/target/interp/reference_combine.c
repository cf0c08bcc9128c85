/* reference_combine.c - combiners of the f64 reference: as the interpreter runs them
 * (interp_combine.c), with bounds beside the values. */
#include <stdlib.h>

#include "ops/control.h"
#include "target/interp/combine.h"
#include "target/interp/reference_enclosure.h"
#include "target/interp/reference_walk.h"

typedef struct combination {
    reference_walker *w;
    control_values *c;
    uint32_t count;
    const reference_value *seconds; /* where the second of each pair is taken from */
    reference_value *lanes;         /* the block's arguments, and behind them what it makes */
    reference_value *room;          /* an element of each result */
} combination;

static bool take_lanes(const reference_value *from, const int64_t *places, int64_t count,
                       reference_value *to, status *st) {
    if (!reference_allocate(&from->value, 1, &count, to, st))
        return false;
    for (int64_t i = 0; i < count; i++)
        reference_copy(from, places[i], to, i, 1);
    return true;
}

static bool run(combination *c, const combine_pairs *p) {
    bool ok = true;
    for (uint32_t i = 0; i < c->count && ok; i++)
        ok = take_lanes(&c->c->results[i], p->first, p->count, &c->lanes[i], c->w->st) &&
             take_lanes(&c->seconds[i], p->second, p->count, &c->lanes[c->count + i], c->w->st);
    c->w->lanes = p->count;
    ok = ok && reference_run_block(c->w, ir_op_block(c->w->m, c->c->op, 0), c->lanes,
                                   c->lanes + 2 * (size_t)c->count);
    c->w->lanes = 0;
    reference_release_all(c->lanes, 2 * c->count);
    return ok;
}

static bool combine(void *self, const combine_pairs *p) {
    combination *c = self;
    reference_value *made = c->lanes + 2 * (size_t)c->count;
    if (!run(c, p))
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        for (int64_t k = 0; k < p->count; k++)
            reference_copy(&made[i], k, &c->c->results[i], p->first[k], 1);
    reference_release_all(made, c->count);
    return true;
}

static bool compare(void *self, const combine_pairs *p, bool *before) {
    combination *c = self;
    reference_value *made = c->lanes + 2 * (size_t)c->count;
    if (!run(c, p))
        return false;
    for (int64_t i = 0; i < p->count; i++) {
        before[i] = ((const uint8_t *)made->value.data)[i] != 0;
        c->c->sure = c->c->sure && ((const double *)made->bound.data)[i] == 0;
    }
    reference_release(made);
    return true;
}

static void exchange(void *self, int64_t one, int64_t other) {
    combination *c = self;
    for (uint32_t i = 0; i < c->count; i++) {
        reference_value *v = &c->c->results[i];
        reference_copy(v, one, &c->room[i], 0, 1);
        reference_copy(v, other, v, one, 1);
        reference_copy(&c->room[i], 0, v, other, 1);
    }
}

/* The tensors themselves; of a reduction the scalar that each begins with, everywhere. */
static bool begin(const combination *c) {
    const bool reduces = c->c->d->opcode == GRAPH_REDUCE_WITH;
    bool ok = true;
    for (uint32_t i = 0; i < c->count && ok; i++) {
        const reference_value *from = &c->c->operands[reduces ? c->count + i : i];
        const ir_type_data *t = ir_type_of(c->w->m, c->c->d->results[i]);
        reference_value *to = &c->c->results[i];
        ok = reference_allocate(&from->value, t->rank, t->dims, to, c->w->st) &&
             reference_allocate(&from->value, 0, NULL, &c->room[i], c->w->st);
        for (int64_t k = 0; ok && k < tensor_count(&to->value); k++)
            reference_copy(from, reduces ? 0 : k, to, k, 1);
    }
    return ok;
}

/* No index could be another one, which decides where its update goes. */
static bool is_sure(const reference_value *indices) {
    bool sure = true;
    for (int64_t i = 0; i < tensor_count(&indices->bound); i++)
        sure = sure && ((const double *)indices->bound.data)[i] == 0;
    return sure;
}

bool reference_combine(reference_walker *w, control_values *c) {
    const combine_shape s = combine_shape_of(w->m, c->op);
    combination all = {.w = w, .c = c, .count = s.count};
    const combine_values values = {&all, combine, compare, exchange};
    const int32_t *indices = NULL;
    all.lanes = base_calloc(3 * (size_t)s.count + 1, sizeof *all.lanes);
    all.room = base_calloc((size_t)s.count + 1, sizeof *all.room);
    all.seconds = c->d->opcode == GRAPH_SORT ? c->results : c->operands;
    if (c->d->opcode == GRAPH_SCATTER) {
        indices = c->operands[s.count].value.data;
        c->sure = is_sure(&c->operands[s.count]);
        all.seconds = c->operands + s.count + 1;
    }
    bool ok = begin(&all) && combine_run(w->m, c->op, indices, &values);
    reference_release_all(all.room, s.count);
    free(all.room);
    free(all.lanes);
    return ok;
}
