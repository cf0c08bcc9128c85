/* derived.c - statements of functions that stand for several operations. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

/* clip, sign, isnan and isfinite. */
bool fuzz_derived(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k), *end = fuzz_like(k, &x, x.type);
    if (x.type == DTYPE_BOOL)
        return false;
    switch (choose_below(k->c, dtype_is_float(x.type) ? 5 : 3)) {
    case 0:
        return fuzz_let(k, x.type, x.rank, x.dims, "sign(%s)", x.name);
    case 1:
        return fuzz_let(k, x.type, x.rank, x.dims,
                        dtype_is_unsigned(x.type) ? "clip(%s, 1, 3)" : "clip(%s, -1, 3)", x.name);
    case 2:
        return fuzz_let(k, x.type, x.rank, x.dims, "clip(%s, %s, 2)", x.name, end->name);
    case 3:
        return fuzz_let(k, DTYPE_BOOL, x.rank, x.dims, "isnan(%s)", x.name);
    default:
        return fuzz_let(k, DTYPE_BOOL, x.rank, x.dims, "isfinite(%s)", x.name);
    }
}

/* Calls are numbered, so two of equal arguments have masks of their own. A batch would need a step
 * that is another one for each part. */
bool fuzz_dropout(fuzz_kernel *k) {
    static const char *const chances[] = {"0.5", "0.1", "0.999", "0.0"};
    const fuzz_value *x = fuzz_any(k);
    return dtype_is_float(x->type) && !k->batches &&
           fuzz_let(k, x->type, x->rank, x->dims, "dropout(%s, p=%s, seed=%u, step=%u)", x->name,
                    chances[choose_below(k->c, 4)], choose_below(k->c, 3), choose_below(k->c, 2));
}

bool fuzz_random(fuzz_kernel *k) {
    static const char *const calls[] = {"uniform(%s.shape, -2, 3, seed=%u, step=%u)",
                                        "normal(%s.shape, seed=%u, step=%u)",
                                        "bernoulli(%s.shape, 0.25, seed=%u, step=%u)"};
    const fuzz_value *x = fuzz_any(k);
    const uint32_t call = choose_below(k->c, 4), seed = choose_below(k->c, 3),
                   step = choose_below(k->c, 2);
    if (k->batches)
        return false;
    if (call < 3)
        return fuzz_let(k, call == 2 ? DTYPE_BOOL : DTYPE_F32, x->rank, x->dims, calls[call],
                        x->name, seed, step);
    return x->rank > 0 && x->dims[x->rank - 1] > 0 && dtype_is_float(x->type) &&
           x->type != DTYPE_F64 &&
           fuzz_let(k, DTYPE_I32, x->rank - 1, x->dims, "categorical(%s, seed=%u, step=%u)",
                    x->name, seed, step);
}

bool fuzz_positions(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    if (x->rank == 0 || x->type == DTYPE_BOOL)
        return false;
    int64_t dims[FUZZ_RANK_MAX];
    int axis = x->rank - 1 - (int)choose_below(k->c, (uint32_t)x->rank), rank = 0;
    bool keep = choose_rarely(k->c, 3);
    if (x->dims[axis] == 0)
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != axis || keep)
            dims[rank++] = i == axis ? 1 : x->dims[i];
    return fuzz_let(k, DTYPE_I32, rank, dims, "%s(%s, axis=%d, keepdims=%s)",
                    choose_rarely(k->c, 2) ? "argmin" : "argmax", x->name, axis,
                    keep ? "True" : "False");
}

/* sort, argsort, and one of the two results of topk. */
bool fuzz_ordering(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    if (x->rank == 0 || x->type == DTYPE_BOOL)
        return false;
    int axis = x->rank - 1 - (int)choose_below(k->c, (uint32_t)x->rank);
    const char *down = choose_rarely(k->c, 2) ? "True" : "False";
    bool places = choose_rarely(k->c, 2);
    dtype type = places ? DTYPE_I32 : x->type;
    if (!choose_rarely(k->c, 3))
        return fuzz_let(k, type, x->rank, x->dims, "%s(%s, axis=%d, descending=%s)",
                        places ? "argsort" : "sort", x->name, axis, down);
    memcpy(dims, x->dims, sizeof dims);
    int64_t *last = &dims[x->rank - 1];
    *last = choose_below(k->c, (uint32_t)*last + 1);
    return fuzz_let(k, type, x->rank, dims, "topk(%s, %" PRId64 ")[%d]", x->name, *last, places);
}

bool fuzz_stacking(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k), *y = fuzz_like(k, x, x->type);
    int64_t dims[FUZZ_RANK_MAX];
    if (x->rank == FUZZ_RANK_MAX)
        return false;
    int axis = (int)choose_below(k->c, (uint32_t)x->rank + 1);
    for (int i = 0; i <= x->rank; i++)
        dims[i] = i == axis ? 2 : x->dims[i - (i > axis)];
    return fuzz_let(k, x->type, x->rank + 1, dims, "stack([%s, %s], axis=%d)", x->name, y->name,
                    axis);
}

/* One of two parts. */
bool fuzz_splitting(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    if (x->rank == 0)
        return false;
    int axis = (int)choose_below(k->c, (uint32_t)x->rank);
    int64_t whole = x->dims[axis], first = choose_below(k->c, (uint32_t)whole + 1);
    int part = choose_rarely(k->c, 2) ? 1 : 0;
    memcpy(dims, x->dims, sizeof dims);
    if (whole % 2 == 0 && choose_rarely(k->c, 3)) {
        dims[axis] = whole / 2;
        return fuzz_let(k, x->type, x->rank, dims, "split(%s, 2, axis=%d)[%d]", x->name, axis,
                        part);
    }
    dims[axis] = part ? whole - first : first;
    return fuzz_let(k, x->type, x->rank, dims, "split(%s, (%" PRId64 ", %" PRId64 "), %d)[%d]",
                    x->name, first, whole - first, axis, part);
}

bool fuzz_padding(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    char widths[FUZZ_RANK_MAX * 48];
    size_t at = 0;
    if (x->rank == 0)
        return false;
    for (int i = 0; i < x->rank; i++) {
        int64_t before = choose_rarely(k->c, 2) ? fuzz_length(k, 5) : 0,
                after = choose_rarely(k->c, 2) ? fuzz_length(k, 5) : 0;
        at += (size_t)snprintf(widths + at, sizeof widths - at, "(%" PRId64 ", %" PRId64 "), ",
                               before, after);
        dims[i] = before + x->dims[i] + after;
    }
    const char *value = choose_rarely(k->c, 3) ? x->type == DTYPE_BOOL        ? ", True"
                                                 : dtype_is_unsigned(x->type) ? ", 1"
                                                                              : ", -1"
                                               : "";
    return fuzz_let(k, x->type, x->rank, dims, "pad(%s, (%s)%s)", x->name, widths, value);
}

/* Matrices by a vector, or a vector by a matrix. */
bool fuzz_vector(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank == 0 || x.type == DTYPE_BOOL)
        return false;
    bool left = x.rank == 1;
    int64_t dims[2] = {x.dims[x.rank - 1], 1};
    dims[1] = left ? fuzz_columns(k, x.type, dims[0], 130) : 1;
    if (!fuzz_affordable(k, fuzz_count(x.rank, x.dims) * dims[1]))
        return false;
    const fuzz_value *y = fuzz_parameter(k, x.type, left ? 2 : 1, dims, NULL);
    dtype out = fuzz_is_small_integer(x.type) ? DTYPE_I32 : x.type;
    return y && fuzz_let(k, out, left ? 1 : x.rank - 1, left ? dims + 1 : x.dims, "%s @ %s", x.name,
                         y->name);
}

/* Indices of einsum, and how long each is: x has the first letters, y some of them and a new one.
 */
typedef struct einsum_terms {
    char x[FUZZ_RANK_MAX + 1], y[FUZZ_RANK_MAX + 1], out[FUZZ_RANK_MAX + 1];
    int64_t y_dims[FUZZ_RANK_MAX], out_dims[FUZZ_RANK_MAX];
    int y_rank, out_rank;
    bool contracts;
    int64_t multiplications;
} einsum_terms;

static void put_index(char *term, int *rank, int64_t *dims, int index, int64_t length, bool first) {
    int at = first ? 0 : *rank;
    memmove(term + at + 1, term + at, (size_t)(*rank - at));
    memmove(dims + at + 1, dims + at, sizeof *dims * (size_t)(*rank - at));
    term[at] = (char)('a' + index);
    dims[at] = length;
    term[++*rank] = 0;
}

static void choose_terms(fuzz_kernel *k, const fuzz_value *x, einsum_terms *t) {
    int added = x->rank < FUZZ_RANK_MAX ? 1 : 0;
    for (int i = 0; i < x->rank + added; i++) {
        bool of_x = i < x->rank, of_y = !of_x || choose_rarely(k->c, 2);
        int64_t length = of_x ? x->dims[i] : 1 + choose_below(k->c, 19);
        bool kept = t->out_rank < FUZZ_RANK_MAX && !choose_rarely(k->c, 3);
        t->multiplications *= length;
        if (of_x)
            t->x[i] = (char)('a' + i);
        if (of_y)
            put_index(t->y, &t->y_rank, t->y_dims, i, length, choose_rarely(k->c, 2));
        if (kept)
            put_index(t->out, &t->out_rank, t->out_dims, i, length, choose_rarely(k->c, 2));
        t->contracts |= of_x && of_y && !kept;
    }
}

bool fuzz_einsum(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    einsum_terms t = {.multiplications = 1};
    if (x.type == DTYPE_BOOL)
        return false;
    choose_terms(k, &x, &t);
    if (!fuzz_affordable(k, t.multiplications))
        return false;
    const fuzz_value *y = fuzz_parameter(k, x.type, t.y_rank, t.y_dims, NULL);
    dtype out = t.contracts && fuzz_is_small_integer(x.type) ? DTYPE_I32 : x.type;
    return y && fuzz_let(k, out, t.out_rank, t.out_dims, "einsum(\"%s,%s->%s\", %s, %s)", t.x, t.y,
                         t.out, x.name, y->name);
}
