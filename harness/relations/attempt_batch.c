/* attempt_batch.c - relations between positions of a batch: how many there are, where one stands,
 * what the others hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "relations/attempt.h"

enum { SIZES_MAX = 8 };

/* ---- positions of tensors ---- */

bool attempt_take(const tensor *from, int axis, const int64_t *order, int64_t count, tensor *out,
                  status *st) {
    int64_t dims[TENSOR_MAX_RANK];
    memcpy(dims, from->dims, sizeof dims);
    if (axis >= 0)
        dims[axis] = count;
    if (!tensor_init(out, from->type, from->rank, dims, st))
        return false;
    if (axis < 0) {
        memcpy(out->data, from->data, tensor_bytes(from));
        return true;
    }
    size_t behind = dtype_size(from->type), before = 1;
    for (int i = 0; i < axis; i++)
        before *= (size_t)from->dims[i];
    for (int i = axis + 1; i < from->rank; i++)
        behind *= (size_t)from->dims[i];
    for (size_t b = 0; b < before; b++)
        for (int64_t i = 0; i < count; i++)
            memcpy((char *)out->data + (b * (size_t)count + (size_t)i) * behind,
                   (const char *)from->data +
                       (b * (size_t)from->dims[axis] + (size_t)order[i]) * behind,
                   behind);
    return true;
}

typedef struct arrays {
    tensor *items; /* tensors_new */
} arrays;

static void release(arrays *a) {
    tensors_free(a->items);
}

typedef struct positions_taken {
    const int64_t *order;
    int64_t count;
} positions_taken;

/* Positions of inputs (or outputs) in their order. */
static bool take_all(const attempt *t, const tensor *from, bool of_outputs, positions_taken taken,
                     arrays *out, status *st) {
    const compiler_signature *s = &t->shape->signature;
    uint32_t tensors = of_outputs ? s->output_count : s->input_count;
    const int *axes = of_outputs ? t->lanes->outputs : t->lanes->inputs;
    out->items = tensors_new(tensors);
    for (uint32_t i = 0; i < tensors; i++)
        if (!attempt_take(&from[i], axes[i], taken.order, taken.count, &out->items[i], st))
            return false;
    return true;
}

static int64_t positions(const attempt *t) {
    int64_t dims[ATTEMPT_DIMS_MAX];
    attempt_dims(t->request->column, t->shape, dims);
    return dims[t->dim];
}

static const char *name_of(const attempt *t) {
    return t->request->column->kernel->dim_names[t->dim];
}

static bool run_plain(attempt *t, arrays *out, status *st) {
    circumstances how = attempt_plain(t);
    out->items = tensors_new(t->shape->signature.output_count);
    return runner_run(t->runner, t->shape, &how, t->shape->inputs, out->items, st);
}

/* ---- batch ---- */

/* The first `count` positions alone. */
static bool run_first(attempt *t, const int64_t *order, int64_t count, arrays *out, status *st) {
    int64_t dims[ATTEMPT_DIMS_MAX];
    arrays inputs = {NULL};
    shape small;
    circumstances how = attempt_plain(t);
    attempt_dims(t->request->column, t->shape, dims);
    dims[t->dim] = count;
    out->items = tensors_new(t->shape->signature.output_count);
    shape_request request = {t->shape->c, dims, t->request->seed, false, NULL};
    bool ok = shape_open(&small, t->request->column, &request, st);
    if (!ok)
        return false;
    ok = take_all(t, t->shape->inputs, false, (positions_taken){order, count}, &inputs, st) &&
         runner_run(t->runner, &small, &how, inputs.items, out->items, st);
    release(&inputs);
    shape_close(&small);
    return ok;
}

/* Do `count` positions by themselves have the bits that they have among all? */
static bool first_agree(attempt *t, const arrays *full, const int64_t *order, int64_t count,
                        status *st) {
    arrays part, wanted = {NULL};
    char between[120];
    bool ok = run_first(t, order, count, &part, st) &&
              take_all(t, full->items, true, (positions_taken){order, count}, &wanted, st);
    snprintf(between, sizeof between, "%s=%lld and %s=%lld", name_of(t), (long long)count,
             name_of(t), (long long)positions(t));
    if (ok)
        attempt_compare_judged(t, part.items, wanted.items, between);
    release(&part);
    release(&wanted);
    return ok;
}

/* Between a number of positions at which bits differ from those of all, and all: where they
 * change. What fails on the way is no boundary. */
static void find_boundary(attempt *t, const arrays *full, const int64_t *order, int64_t low) {
    violation kept = t->violation;
    int64_t high = positions(t);
    status ignored = STATUS_INIT;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        t->violation.found = false;
        if (!first_agree(t, full, order, middle, &ignored))
            break;
        if (t->violation.found)
            low = middle;
        else
            high = middle;
    }
    kept.boundary[0] = high - low == 1 ? low : 0;
    kept.boundary[1] = high;
    t->violation = kept;
}

/* Adds the size, once. */
static uint32_t add_size(int64_t *sizes, uint32_t n, int64_t size) {
    for (uint32_t i = 0; i < n; i++)
        if (sizes[i] == size)
            return n;
    sizes[n] = size;
    return n + 1;
}

static uint32_t draw_sizes(attempt *t, int64_t count, int64_t *sizes) {
    enum { USUAL = 5 };
    uint32_t n = 0;
    const int64_t usual[USUAL] = {1, 2, 3, count / 2, count - 1};
    for (int i = 0; i < USUAL; i++)
        if (usual[i] >= 1 && usual[i] < count)
            n = add_size(sizes, n, usual[i]);
    for (int i = USUAL; i < SIZES_MAX && count > 4; i++)
        n = add_size(sizes, n, 1 + (int64_t)(splitmix64(&t->random) % (uint64_t)(count - 1)));
    return n;
}

bool attempt_batch(attempt *t, status *st) {
    int64_t sizes[SIZES_MAX], count = positions(t);
    int64_t *order = base_malloc((size_t)(count + 1) * sizeof *order);
    arrays full;
    uint32_t n = draw_sizes(t, count, sizes);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    bool ok = run_plain(t, &full, st);
    for (uint32_t i = 0; i < n && ok && !t->violation.found; i++) {
        ok = first_agree(t, &full, order, sizes[i], st);
        if (ok && t->violation.found && t->boundary)
            find_boundary(t, &full, order, sizes[i]);
    }
    release(&full);
    free(order);
    return ok;
}

/* ---- position ---- */

static bool permuted_agree(attempt *t, const arrays *full, const int64_t *order,
                           const char *between, status *st) {
    arrays inputs, outputs = {tensors_new(t->shape->signature.output_count)}, wanted = {NULL};
    circumstances how = attempt_plain(t);
    int64_t count = positions(t);
    bool ok = take_all(t, t->shape->inputs, false, (positions_taken){order, count}, &inputs, st) &&
              runner_run(t->runner, t->shape, &how, inputs.items, outputs.items, st) &&
              take_all(t, full->items, true, (positions_taken){order, count}, &wanted, st);
    if (ok)
        attempt_compare(t, wanted.items, outputs.items, between);
    release(&inputs);
    release(&outputs);
    release(&wanted);
    return ok;
}

bool attempt_position(attempt *t, status *st) {
    int64_t count = positions(t);
    int64_t *order = base_malloc((size_t)(count + 1) * sizeof *order);
    arrays full;
    bool ok = run_plain(t, &full, st);
    for (int64_t shift = 1; shift < count && shift <= 7 && ok && !t->violation.found; shift += 3) {
        char between[80];
        for (int64_t i = 0; i < count; i++)
            order[i] = (i + shift) % count;
        snprintf(between, sizeof between, "a place and one %lld further", (long long)shift);
        ok = permuted_agree(t, &full, order, between, st);
    }
    for (int64_t i = 0; i < count; i++)
        order[i] = count - 1 - i;
    if (ok && !t->violation.found)
        ok = permuted_agree(t, &full, order, "an order and the reverse", st);
    release(&full);
    free(order);
    return ok;
}

/* ---- isolation ---- */

/* Every position of the floats but one is NaN, an infinity, or zero. */
static void spoil(const attempt *t, tensor *inputs, int64_t kept) {
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0};
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++) {
        tensor *x = &inputs[i];
        int axis = t->lanes->inputs[i];
        if (axis < 0 || !dtype_is_float(x->type))
            continue;
        int64_t behind = 1, count = tensor_count(x);
        for (int k = axis + 1; k < x->rank; k++)
            behind *= x->dims[k];
        for (int64_t e = 0; e < count; e++) {
            int64_t position = e / behind % x->dims[axis];
            if (position != kept)
                dtype_store(x->type, x->data, (size_t)e, bad[position % 4]);
        }
    }
}

static bool isolated_agrees(attempt *t, const arrays *full, int64_t kept, const int64_t *all,
                            status *st) {
    arrays inputs, outputs = {tensors_new(t->shape->signature.output_count)}, part = {NULL},
                   wanted = {NULL};
    circumstances how = attempt_plain(t);
    char between[120];
    bool ok =
        take_all(t, t->shape->inputs, false, (positions_taken){all, positions(t)}, &inputs, st);
    if (ok)
        spoil(t, inputs.items, kept);
    ok = ok && runner_run(t->runner, t->shape, &how, inputs.items, outputs.items, st) &&
         take_all(t, outputs.items, true, (positions_taken){&kept, 1}, &part, st) &&
         take_all(t, full->items, true, (positions_taken){&kept, 1}, &wanted, st);
    snprintf(between, sizeof between,
             "position %lld of %s among numbers and among NaN and infinities", (long long)kept,
             name_of(t));
    if (ok)
        attempt_compare(t, wanted.items, part.items, between);
    release(&inputs);
    release(&outputs);
    release(&part);
    release(&wanted);
    return ok;
}

bool attempt_isolation(attempt *t, status *st) {
    int64_t count = positions(t);
    int64_t *all = base_malloc((size_t)(count + 1) * sizeof *all);
    const int64_t kept[] = {0, count / 2, count - 1};
    arrays full;
    for (int64_t i = 0; i < count; i++)
        all[i] = i;
    bool ok = run_plain(t, &full, st);
    for (int i = 0; i < 3 && count > 1 && ok && !t->violation.found; i++)
        ok = isolated_agrees(t, &full, kept[i], all, st);
    release(&full);
    free(all);
    return ok;
}
