/* attempt_steps.c - a kernel of @verify.steps("N"): N positions at once, and in pieces that hand
 * their states on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "case/effects.h"
#include "relations/attempt.h"

/* Axes along which positions lie, by buffer: -1 has none. */
typedef struct step_axes {
    int *inputs, *outputs;
} step_axes;

/* A run in pieces: the next one's first position, and how many it has; what all have made. */
typedef struct steps_run {
    attempt *t;
    step_axes axes;
    int64_t at, count;
    tensor *joined, *states; /* states: by input, those that the piece before left */
} steps_run;

/* A cut of the positions. */
typedef struct pieces {
    int64_t *sizes, all;
    uint32_t count;
    const char *words;
} pieces;

/* The shape with another number of positions; its inputs are not used. */
static bool open_piece(const attempt *t, int64_t count, shape *out, status *st) {
    int64_t dims[ATTEMPT_DIMS_MAX];
    attempt_dims(t->request->column, t->shape, dims);
    dims[t->dim] = count;
    const shape_request request = {t->shape->like, dims, t->request->seed, false, NULL};
    return shape_open(out, t->request->column, &request, st);
}

/* The one axis whose extent is that number in each; false where the two differ otherwise. */
static bool find_axis(const struct compiler_buffer *all, const struct compiler_buffer *piece,
                      const int64_t counts[2], int *axis) {
    *axis = -1;
    for (int i = 0; i < all->rank; i++) {
        if (all->dims[i] == piece->dims[i])
            continue;
        if (*axis >= 0 || all->dims[i] != counts[0] || piece->dims[i] != counts[1])
            return false;
        *axis = i;
    }
    return true;
}

static bool find_axes(const attempt *t, const shape *piece, const int64_t counts[2], step_axes *out,
                      status *st) {
    const compiler_signature *all = &t->shape->signature, *one = &piece->signature;
    const char *wrong = NULL;
    out->inputs = base_calloc((size_t)all->input_count + 1, sizeof *out->inputs);
    out->outputs = base_calloc((size_t)all->output_count + 1, sizeof *out->outputs);
    for (uint32_t i = 0; i < all->input_count && !wrong; i++)
        if (!find_axis(&all->inputs[i], &one->inputs[i], counts, &out->inputs[i]))
            wrong = all->inputs[i].name;
    for (uint32_t i = 0; i < all->output_count && !wrong; i++)
        if (!find_axis(&all->outputs[i], &one->outputs[i], counts, &out->outputs[i]) ||
            (all->outputs[i].replaces >= 0 && out->outputs[i] >= 0))
            wrong = all->outputs[i].name;
    return !wrong || status_set(st, STATUS_UNAVAILABLE,
                                "'%s' has no axis of %s positions, or is a state and has one",
                                wrong, t->request->column->kernel->steps);
}

/* `part` into positions of `whole` from `at` on. */
static void put_part(tensor *whole, const tensor *part, int axis, int64_t at) {
    size_t behind = dtype_size(whole->type), before = 1;
    for (int i = 0; i < axis; i++)
        before *= (size_t)whole->dims[i];
    for (int i = axis + 1; i < whole->rank; i++)
        behind *= (size_t)whole->dims[i];
    const size_t row = behind * (size_t)whole->dims[axis],
                 bytes = behind * (size_t)part->dims[axis];
    for (size_t b = 0; b < before; b++)
        memcpy((char *)whole->data + b * row + behind * (size_t)at,
               (const char *)part->data + b * bytes, bytes);
}

/* The inputs of a piece: its positions, and the states that the one before left. */
static bool piece_inputs(const steps_run *r, tensor *out, status *st) {
    const shape *all = r->t->shape;
    bool ok = true;
    int64_t *order = base_malloc((size_t)(r->count + 1) * sizeof *order);
    for (int64_t i = 0; i < r->count; i++)
        order[i] = r->at + i;
    for (uint32_t i = 0; i < all->signature.input_count && ok; i++)
        ok = attempt_take(r->states[i].data ? &r->states[i] : &all->inputs[i], r->axes.inputs[i],
                          order, r->count, &out[i], st);
    free(order);
    return ok;
}

/* Puts results to their positions, and hands states to the next piece. */
static bool keep_outputs(const steps_run *r, const tensor *made, status *st) {
    const compiler_signature *s = &r->t->shape->signature;
    bool ok = true;
    for (uint32_t i = 0; i < s->output_count && ok; i++) {
        const int state = s->outputs[i].replaces, axis = r->axes.outputs[i];
        if (s->outputs[i].effect)
            continue;
        if (axis >= 0)
            put_part(&r->joined[i], &made[i], axis, r->at);
        else
            memcpy(r->joined[i].data, made[i].data, tensor_bytes(&made[i]));
        if (state < 0)
            continue;
        tensor_release(&r->states[state]);
        ok = attempt_take(&made[i], -1, NULL, 0, &r->states[state], st);
    }
    return ok;
}

static bool run_piece(const steps_run *r, const shape *piece, status *st) {
    const compiler_signature *s = &r->t->shape->signature;
    const circumstances how = attempt_plain(r->t);
    tensor *inputs = tensors_new(s->input_count), *made = tensors_new(s->output_count);
    bool ok = piece_inputs(r, inputs, st) &&
              runner_run(r->t->runner, piece, &how, inputs, made, st) && keep_outputs(r, made, st);
    tensors_free(inputs);
    tensors_free(made);
    return ok;
}

static void free_axes(step_axes *axes) {
    free(axes->inputs);
    free(axes->outputs);
    *axes = (step_axes){NULL, NULL};
}

static bool run_pieces(steps_run *r, const pieces *p, status *st) {
    shape piece = {0};
    bool ok = true;
    for (uint32_t i = 0; i < p->count && ok; i++) {
        const int64_t counts[] = {p->all, p->sizes[i]};
        if (r->count != p->sizes[i]) {
            free_axes(&r->axes);
            shape_close(&piece);
            ok = open_piece(r->t, p->sizes[i], &piece, st) &&
                 find_axes(r->t, &piece, counts, &r->axes, st);
        }
        r->count = p->sizes[i];
        ok = ok && run_piece(r, &piece, st);
        r->at += r->count;
    }
    free_axes(&r->axes);
    shape_close(&piece);
    return ok;
}

static bool pieces_agree(attempt *t, const tensor *full, const pieces *p, status *st) {
    const compiler_signature *s = &t->shape->signature;
    steps_run r = {
        .t = t, .joined = tensors_new(s->output_count), .states = tensors_new(s->input_count)};
    bool ok = true;
    for (uint32_t i = 0; i < s->output_count && ok; i++)
        ok = attempt_take(&full[i], -1, NULL, 0, &r.joined[i], st);
    ok = ok && run_pieces(&r, p, st);
    if (ok)
        attempt_compare(t, full, r.joined, p->words);
    tensors_free(r.joined);
    tensors_free(r.states);
    return ok;
}

/* One by one; then pieces of any sizes. */
static bool try_cuts(attempt *t, const tensor *full, int64_t count, status *st) {
    enum { CUTS = 3 };
    char words[120];
    int64_t *sizes = base_malloc((size_t)(count + 1) * sizeof *sizes);
    bool ok = true;
    for (int cut = 0; cut < CUTS && ok && !t->violation.found; cut++) {
        pieces p = {.sizes = sizes, .all = count, .words = words};
        for (int64_t left = count; left > 0; left -= sizes[p.count++])
            sizes[p.count] = cut == 0 ? 1 : 1 + (int64_t)(splitmix64(&t->random) % (uint64_t)left);
        snprintf(words, sizeof words, "%s=%lld at once and in %u steps, the first of %lld",
                 t->request->column->kernel->steps, (long long)count, p.count, (long long)sizes[0]);
        ok = pieces_agree(t, full, &p, st);
    }
    free(sizes);
    return ok;
}

/* On the shape as it is, or where a check does not hold, as of a cache that is full. */
static bool try_shape(attempt *t, int64_t count, bool *held, status *st) {
    tensor *full = tensors_new(t->shape->signature.output_count);
    const circumstances how = attempt_plain(t);
    bool ok = runner_run(t->runner, t->shape, &how, t->shape->inputs, full, st);
    *held = ok && effects_failed(&t->shape->signature, full) < 0;
    ok = ok && (!*held || try_cuts(t, full, count, st));
    tensors_free(full);
    return ok;
}

/* The case of the source, where nothing that is drawn has room for two steps. */
static bool try_case(attempt *t, bool *held, status *st) {
    const shape *drawn = t->shape;
    const shape_request request = {drawn->like, NULL, t->request->seed, false, NULL};
    int64_t dims[ATTEMPT_DIMS_MAX];
    shape own;
    if (!shape_open(&own, t->request->column, &request, st))
        return false;
    t->shape = &own;
    attempt_dims(t->request->column, &own, dims);
    bool ok = dims[t->dim] < 2 || try_shape(t, dims[t->dim], held, st);
    t->shape = drawn;
    shape_close(&own);
    return ok;
}

bool attempt_steps(attempt *t, status *st) {
    const compiler_kernel *k = t->request->column->kernel;
    const shape *drawn = t->shape;
    int64_t dims[ATTEMPT_DIMS_MAX];
    while (t->dim < k->dim_count && strcmp(k->dim_names[t->dim], k->steps) != 0)
        t->dim++;
    attempt_dims(t->request->column, drawn, dims);
    bool held = false, ok = true;
    for (int64_t count = dims[t->dim]; count > 1 && ok && !held; count /= 2) {
        shape fewer = {0};
        ok = count == dims[t->dim] || open_piece(t, count, &fewer, st);
        t->shape = fewer.signature.input_count ? &fewer : drawn;
        ok = ok && try_shape(t, count, &held, st);
        t->shape = drawn;
        shape_close(&fewer);
    }
    ok = ok && (held || try_case(t, &held, st));
    return ok && (held || status_set(st, STATUS_UNAVAILABLE,
                                     "no shape has two steps or more for which the kernel's checks "
                                     "hold"));
}
