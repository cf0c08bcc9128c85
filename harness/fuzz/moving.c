/* moving.c - statements that move elements about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

bool fuzz_transposition(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t axes[FUZZ_RANK_MAX], dims[FUZZ_RANK_MAX];
    char tuple[80];
    if (x->rank < 2)
        return false;
    for (int i = 0; i < x->rank; i++) {
        int at = i - (int)choose_below(k->c, (uint32_t)i + 1);
        axes[i] = axes[at];
        axes[at] = i;
    }
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[axes[i]];
    fuzz_tuple(axes, x->rank, tuple, sizeof tuple);
    return fuzz_let(k, x->type, x->rank, dims, "transpose(%s, %s)", x->name, tuple);
}

/* A random factorisation of the number of elements. */
bool fuzz_reshaping(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t left = fuzz_count(x->rank, x->dims), dims[FUZZ_RANK_MAX];
    int rank = 0;
    char tuple[120];
    if (left == 0)
        return false;
    uint32_t more = choose_below(k->c, 4);
    while (more-- > 0 && left > 1 && rank < FUZZ_RANK_MAX - 1) {
        int64_t divisors[64];
        uint32_t n = 0;
        for (int64_t d = 1; d <= left && d <= 260 && n < 64; d++)
            if (left % d == 0)
                divisors[n++] = d;
        dims[rank] = divisors[choose_below(k->c, n)];
        left /= dims[rank++];
    }
    dims[rank++] = left;
    fuzz_tuple(dims, rank, tuple, sizeof tuple);
    return fuzz_let(k, x->type, rank, dims, "reshape(%s, %s)", x->name, tuple);
}

bool fuzz_slicing(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    char words[200];
    size_t at = 0;
    int rank = 0;
    if (x->rank == 0)
        return false;
    for (int i = 0; i < x->rank; i++) {
        const char *comma = i ? ", " : "";
        int64_t n = x->dims[i];
        if (rank + x->rank - i < FUZZ_RANK_MAX && choose_rarely(k->c, 6)) {
            at += (size_t)snprintf(words + at, sizeof words - at, "%sNone", comma);
            dims[rank++] = 1;
            comma = ", ";
        }
        uint32_t how = n ? choose_below(k->c, 4) : 0;
        if (how < 2) {
            at += (size_t)snprintf(words + at, sizeof words - at, "%s:", comma);
            dims[rank++] = n;
            continue;
        }
        int64_t start = choose_below(k->c, (uint32_t)n);
        if (how == 3) {
            at += (size_t)snprintf(words + at, sizeof words - at, "%s%" PRId64, comma, start);
            continue;
        }
        int64_t stop = start + choose_below(k->c, (uint32_t)(n - start + 1));
        int64_t step = 1 + choose_below(k->c, 3);
        char by[32];
        if (choose_rarely(k->c, 4)) {
            step = n;
            snprintf(by, sizeof by, "%s.shape[%d]", x->name, i);
        } else {
            snprintf(by, sizeof by, "%" PRId64, step);
        }
        at += (size_t)snprintf(words + at, sizeof words - at, "%s%" PRId64 ":%" PRId64 ":%s", comma,
                               start, stop, by);
        dims[rank++] = (stop - start + step - 1) / step;
    }
    return fuzz_let(k, x->type, rank, dims, "%s[%s]", x->name, words);
}

/* Axes of length 1 are repeated, new ones come in front. */
bool fuzz_broadcast(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    char shape[160];
    int more = (int)choose_below(k->c, x->rank < FUZZ_RANK_MAX ? 3 : 1), rank = 0;
    while (more-- > 0 && rank + x->rank < FUZZ_RANK_MAX)
        dims[rank++] = fuzz_length(k, 33);
    for (int i = 0; i < x->rank; i++)
        dims[rank++] = x->dims[i] == 1 ? fuzz_length(k, 130) : x->dims[i];
    fuzz_tuple(dims, rank, shape, sizeof shape);
    return fuzz_let(k, x->type, rank, dims, "broadcast_to(%s, %s)", x->name, shape);
}

/* With a value that has the same lengths on the other axes. */
bool fuzz_joining(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k), *found[FUZZ_VALUES_MAX];
    uint32_t n = 0;
    if (x->rank == 0)
        return false;
    int axis = (int)choose_below(k->c, (uint32_t)x->rank);
    for (uint32_t i = k->count; i-- > 0;) {
        const fuzz_value *y = &k->values[i];
        bool fits = y->rank == x->rank && y->type == x->type;
        for (int a = 0; a < x->rank && fits; a++)
            fits = a == axis || y->dims[a] == x->dims[a];
        if (fits)
            found[n++] = y;
    }
    const fuzz_value *y = found[choose_below(k->c, n)];
    int64_t dims[FUZZ_RANK_MAX];
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] += y->dims[axis];
    return fuzz_let(k, x->type, x->rank, dims, "concat([%s, %s], axis=%d)", x->name, y->name, axis);
}

bool fuzz_gathering(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    int64_t dims[2 * FUZZ_RANK_MAX], n = fuzz_length(k, 33);
    char indices[64];
    if (x.rank == 0)
        return false;
    int axis = (int)choose_below(k->c, (uint32_t)x.rank);
    if (x.dims[axis] == 0)
        return false;
    /* Indices past both ends are clamped. */
    snprintf(indices, sizeof indices, "integers(%d, %" PRId64 ")", choose_rarely(k->c, 4) ? -3 : 0,
             x.dims[axis] + (choose_rarely(k->c, 4) ? 3 : 0));
    /* The indices have the leading `batch` axes of x, then up to two of their own. */
    int batch = axis ? (int)choose_below(k->c, (uint32_t)axis + 1) : 0, rank = batch;
    memcpy(dims, x.dims, sizeof x.dims);
    if (!choose_rarely(k->c, 5))
        dims[rank++] = n;
    if (choose_rarely(k->c, 5))
        dims[rank++] = fuzz_length(k, 5);
    if (rank > FUZZ_RANK_MAX)
        return false;
    const fuzz_value *p = fuzz_parameter(k, DTYPE_I32, rank, dims, indices);
    if (!p)
        return false;
    int64_t own[2] = {dims[batch], batch + 1 < rank ? dims[batch + 1] : 0};
    memcpy(dims, x.dims, sizeof x.dims);
    memcpy(dims + axis, own, sizeof *own * (size_t)(rank - batch));
    memcpy(dims + axis + rank - batch, x.dims + axis + 1,
           sizeof *dims * (size_t)(x.rank - axis - 1));
    return fuzz_let(k, x.type, x.rank - 1 + rank - batch, dims,
                    "take(%s, %s, axis=%d, batch_dims=%d)", x.name, p->name, axis, batch);
}

/* A part of x from places that are values, beyond its ends too; or x with another part there. */
bool fuzz_parting(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    char range[64], starts[160] = "", sizes[160] = "";
    int64_t dims[FUZZ_RANK_MAX];
    size_t at = 0, s = 0;
    if (x.rank == 0)
        return false;
    const int axis = (int)choose_below(k->c, (uint32_t)x.rank);
    snprintf(range, sizeof range, "integers(-2, %" PRId64 ")", x.dims[axis] + 2);
    const fuzz_value *place = fuzz_parameter(k, DTYPE_I32, 0, NULL, range);
    for (int i = 0; i < x.rank; i++) {
        dims[i] = i == axis ? x.dims[i] - x.dims[i] / 3 : x.dims[i];
        at += (size_t)snprintf(starts + at, sizeof starts - at, "%s, ",
                               i == axis && place ? place->name : "0");
        s += (size_t)snprintf(sizes + s, sizeof sizes - s, "%" PRId64 ", ", dims[i]);
    }
    if (!place)
        return false;
    if (choose_rarely(k->c, 2))
        return fuzz_let(k, x.type, x.rank, dims, "dynamic_slice(%s, (%s), (%s))", x.name, starts,
                        sizes);
    const fuzz_value *part = fuzz_parameter(k, x.type, x.rank, dims, NULL);
    return part && fuzz_let(k, x.type, x.rank, x.dims, "dynamic_update(%s, %s, (%s))", x.name,
                            part->name, starts);
}

/* Updates at indices, some twice and some outside. */
bool fuzz_scattering(fuzz_kernel *k) {
    static const char *const modes[] = {"set", "max", "min", "add", "mul"};
    const fuzz_value x = *fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX], n = fuzz_length(k, 33);
    char range[64];
    if (x.rank == 0)
        return false;
    const int axis = (int)choose_below(k->c, (uint32_t)x.rank);
    snprintf(range, sizeof range, "integers(-2, %" PRId64 ")", x.dims[axis] + 2);
    memcpy(dims, x.dims, sizeof dims);
    dims[axis] = n;
    const fuzz_value *places = fuzz_parameter(k, DTYPE_I32, 1, &n, range);
    const fuzz_value *updates = places ? fuzz_parameter(k, x.type, x.rank, dims, NULL) : NULL;
    const char *mode = modes[choose_below(k->c, x.type == DTYPE_BOOL ? 1 : 5)];
    return updates && fuzz_let(k, x.type, x.rank, x.dims, "scatter(%s, %s, %s, \"%s\", axis=%d)",
                               x.name, places->name, updates->name, mode, axis);
}

bool fuzz_rotation(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank < 2 || !fuzz_is_single(x.type) || x.dims[x.rank - 1] % 2 != 0)
        return false;
    int64_t dims[2] = {x.dims[x.rank - 2], x.dims[x.rank - 1] / 2};
    const fuzz_value *c = fuzz_parameter(k, x.type, 2, dims, NULL);
    const fuzz_value *s = c ? fuzz_parameter(k, x.type, 2, dims, NULL) : NULL;
    return s && fuzz_let(k, x.type, x.rank, x.dims, "rope(%s, %s, %s)", x.name, c->name, s->name);
}
