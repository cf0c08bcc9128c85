/* accumulating.c - statements that add up: reductions, norms, contractions, attention. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))

/* The policy of a sum of `element`: rarely the accumulator is said, which may be its own. */
static const char *accumulator(fuzz_kernel *k, dtype element) {
    if (!choose_rarely(k->c, 4))
        return "";
    if (!dtype_is_float(element))
        return element == DTYPE_I64   ? " @ accum(i64)"
               : element == DTYPE_U64 ? " @ accum(u64)"
               : element == DTYPE_U32 ? " @ accum(u32)"
                                      : " @ accum(i32)";
    return element == DTYPE_F64 || choose_rarely(k->c, 2) ? " @ accum(f64)" : " @ accum(f32)";
}

bool fuzz_reduction(fuzz_kernel *k) {
    static const char *const kinds[] = {"sum", "max", "min", "mean", "prod"};
    static const char *const bools[] = {"all", "any", "all"};
    const fuzz_value *x = fuzz_any(k);
    const bool logical = x->type == DTYPE_BOOL;
    if (x->rank == 0)
        return false;
    uint32_t kind = choose_below(k->c, fuzz_is_single(x->type) ? 4 : 3);
    if (kind < 3 && !logical && choose_rarely(k->c, 5))
        kind = 4;
    int64_t axes[FUZZ_RANK_MAX], dims[FUZZ_RANK_MAX], reduced = 1;
    int axis_count = 0, rank = 0;
    bool keep = choose_rarely(k->c, 3);
    int last = (int)choose_below(k->c, (uint32_t)x->rank);
    for (int i = 0; i < x->rank; i++) {
        bool here = i == x->rank - 1 - last || (kind != 3 && choose_rarely(k->c, 3));
        if (here) {
            axes[axis_count++] = i;
            reduced *= x->dims[i];
        }
        if (!here || keep)
            dims[rank++] = here ? 1 : x->dims[i];
    }
    /* An empty extremum of integers has no value. */
    if (reduced == 0 && kind > 0 && kind < 4 && !logical && !dtype_is_float(x->type))
        kind = 0;
    const bool sums = (kind == 0 || kind == 3) && dtype_is_float(x->type);
    const char *order = sums && choose_rarely(k->c, 4) ? ", order=\"exact\"" : "";
    char tuple[80];
    fuzz_tuple(axes, axis_count, tuple, sizeof tuple);
    if (kind == 3)
        snprintf(tuple, sizeof tuple, "%" PRId64, axes[0]);
    return fuzz_let_as(k, kind == 0 && !logical ? accumulator(k, x->type) : "",
                       fuzz_shaped(x->type, rank, dims), "%s(%s, axis=%s, keepdims=%s%s)",
                       logical ? bools[kind] : kinds[kind], x->name, tuple, keep ? "True" : "False",
                       order);
}

bool fuzz_running(fuzz_kernel *k) {
    static const char *const others[] = {"cumprod", "cummax", "cummin"};
    const fuzz_value *x = fuzz_any(k);
    if (x->rank == 0 || x->type == DTYPE_BOOL)
        return false;
    int axis = x->rank - 1 - (int)choose_below(k->c, (uint32_t)x->rank);
    uint32_t kind = choose_below(k->c, 5);
    const char *reverse = choose_rarely(k->c, 3) ? ", reverse=True" : "";
    if (kind < COUNT(others))
        return fuzz_let(k, x->type, x->rank, x->dims, "%s(%s, axis=%d%s)", others[kind], x->name,
                        axis, reverse);
    return fuzz_let_as(k, accumulator(k, x->type), fuzz_shaped(x->type, x->rank, x->dims),
                       "cumsum(%s, axis=%d%s)", x->name, axis, reverse);
}

bool fuzz_norm(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank == 0 || !fuzz_is_single(x.type))
        return false;
    bool centred = choose_rarely(k->c, 2);
    const fuzz_value *gain = fuzz_parameter(k, x.type, 1, &x.dims[x.rank - 1], NULL);
    const fuzz_value *bias =
        gain && centred ? fuzz_parameter(k, x.type, 1, &x.dims[x.rank - 1], NULL) : NULL;
    if (!gain || (centred && !bias))
        return false;
    return centred ? fuzz_let(k, x.type, x.rank, x.dims, "layernorm(%s, %s, %s)", x.name,
                              gain->name, bias->name)
                   : fuzz_let(k, x.type, x.rank, x.dims, "rmsnorm(%s, %s)", x.name, gain->name);
}

bool fuzz_softmax(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    if (x->rank == 0 || !fuzz_is_single(x->type))
        return false;
    int axis = x->rank - 1 - (int)choose_below(k->c, (uint32_t)x->rank);
    if (!choose_rarely(k->c, 3))
        return fuzz_let(k, x->type, x->rank, x->dims, "softmax(%s, axis=%d)", x->name, axis);
    int64_t dims[FUZZ_RANK_MAX];
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dims[rank++] = x->dims[i];
    return fuzz_let(k, x->type, rank, dims, "logsumexp(%s, axis=%d)", x->name, axis);
}

/* Integers of up to 16 bits may be multiplied by each other. */
static dtype right_type(fuzz_kernel *k, dtype type) {
    static const dtype small[] = {DTYPE_I8, DTYPE_I4, DTYPE_U8, DTYPE_I16};
    return fuzz_is_small_integer(type) ? small[choose_below(k->c, 4)] : type;
}

/* The arguments that a contraction may have, and what comes of them. */
typedef struct extras {
    char words[64];
    dtype out;
    const char *policies;
} extras;

/* `steps`: all of them happen. */
static extras choose_extras(fuzz_kernel *k, dtype type, bool steps) {
    static const dtype floats[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_F64, DTYPE_F8E5M2};
    static const dtype integers[] = {DTYPE_I32, DTYPE_I64, DTYPE_U32, DTYPE_U64};
    bool is_float = dtype_is_float(type);
    bool seq = is_float && choose_rarely(k->c, 3), narrows = choose_rarely(k->c, 4);
    bool pairs = steps && type == DTYPE_BF16 && !seq && choose_rarely(k->c, 2);
    extras e = {.out = fuzz_is_small_integer(type) ? DTYPE_I32 : type};
    if (narrows)
        e.out = is_float ? floats[choose_below(k->c, 5)] : integers[choose_below(k->c, 4)];
    snprintf(e.words, sizeof e.words, "%s%s%s",
             seq     ? ", order=\"seq\""
             : pairs ? ", order=\"pairs512\""
                     : "",
             narrows ? ", out=" : "", narrows ? dtype_name(e.out) : "");
    e.policies = pairs ? "" : accumulator(k, type);
    return e;
}

bool fuzz_product(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank < 2 || x.type == DTYPE_BOOL)
        return false;
    int64_t dims[FUZZ_RANK_MAX], depth = x.dims[x.rank - 1],
                                 n = fuzz_columns(k, x.type, depth, 130);
    int rank = choose_rarely(k->c, 2) ? x.rank : 2;
    memcpy(dims, x.dims + (x.rank - rank), sizeof *dims * (size_t)rank);
    dims[rank - 2] = depth;
    dims[rank - 1] = n;
    if (!fuzz_affordable(k, fuzz_count(x.rank, x.dims) * n))
        return false;
    const fuzz_value *y = fuzz_parameter(k, right_type(k, x.type), rank, dims, NULL);
    if (!y)
        return false;
    memcpy(dims, x.dims, sizeof x.dims);
    dims[x.rank - 1] = n;
    extras e = choose_extras(k, x.type, true);
    return fuzz_let_as(k, e.policies, fuzz_shaped(e.out, x.rank, dims), "matmul(%s, %s%s)", x.name,
                       y->name, e.words);
}

/* ---- the general contraction ---- */

typedef struct contraction {
    int64_t batch[FUZZ_RANK_MAX], contract[FUZZ_RANK_MAX], free[FUZZ_RANK_MAX]; /* axes of x */
    int batches, contracts, frees;
    int64_t y_dims[FUZZ_RANK_MAX], y_batch[FUZZ_RANK_MAX], y_contract[FUZZ_RANK_MAX];
    int y_rank;
    int64_t dims[2 * FUZZ_RANK_MAX];
    int rank;
} contraction;

static void choose_axes(fuzz_kernel *k, const fuzz_value *x, contraction *d) {
    int only = x->rank - 1 - (int)choose_below(k->c, (uint32_t)x->rank);
    for (int i = 0; i < x->rank; i++) {
        uint32_t role = i == only ? 1 : choose_below(k->c, 5);
        if (role == 4)
            d->batch[d->batches++] = i;
        else if (role == 1)
            d->contract[d->contracts++] = i;
        else
            d->free[d->frees++] = i;
    }
}

/* y's axes in a random order: batch and contracted ones of x, and new ones. */
static bool shape_right_side(fuzz_kernel *k, const fuzz_value *x, contraction *d) {
    int fresh = (int)choose_below(k->c, 3), total = d->batches + d->contracts + fresh;
    int order[3 * FUZZ_RANK_MAX];
    int64_t lengths[2];
    if (total > FUZZ_RANK_MAX || total == 0)
        return false;
    for (int i = 0; i < fresh; i++)
        lengths[i] = fuzz_length(k, 67);
    for (int i = 0; i < total; i++) {
        int at = (int)choose_below(k->c, (uint32_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < d->batches + d->frees; i++)
        d->dims[d->rank++] = x->dims[i < d->batches ? d->batch[i] : d->free[i - d->batches]];
    for (int place = 0; place < total; place++) {
        int which = order[place];
        if (which < d->batches) {
            d->y_batch[which] = place;
            d->y_dims[place] = x->dims[d->batch[which]];
        } else if (which < d->batches + d->contracts) {
            d->y_contract[which - d->batches] = place;
            d->y_dims[place] = x->dims[d->contract[which - d->batches]];
        } else {
            d->y_dims[place] = lengths[which - d->batches - d->contracts];
            d->dims[d->rank++] = d->y_dims[place];
        }
    }
    d->y_rank = total;
    return d->rank <= FUZZ_RANK_MAX;
}

/* Rarely a number of steps for each row of x, also past both ends; else NULL. */
static const fuzz_value *row_counts(fuzz_kernel *k, const fuzz_value *x, const contraction *d,
                                    int64_t depth) {
    char steps[64];
    if (d->frees == 0 || !choose_rarely(k->c, 4))
        return NULL;
    snprintf(steps, sizeof steps, "integers(-1, %" PRId64 ")", depth + 3);
    return fuzz_parameter(k, DTYPE_I32, 1, &x->dims[d->free[d->frees - 1]], steps);
}

bool fuzz_contraction(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    contraction d = {.batches = 0};
    char axes[4][80];
    if (x.rank == 0 || x.type == DTYPE_BOOL)
        return false;
    choose_axes(k, &x, &d);
    if (!shape_right_side(k, &x, &d))
        return false;
    int64_t depth = 1;
    for (int i = 0; i < d.contracts; i++)
        depth *= x.dims[d.contract[i]];
    if (!fuzz_affordable(k, fuzz_count(d.rank, d.dims) * depth))
        return false;
    const fuzz_value *y = fuzz_parameter(k, right_type(k, x.type), d.y_rank, d.y_dims, NULL);
    const fuzz_value *counts = y ? row_counts(k, &x, &d, depth) : NULL;
    if (!y)
        return false;
    extras e = choose_extras(k, x.type, !counts);
    fuzz_tuple(d.contract, d.contracts, axes[0], sizeof axes[0]);
    fuzz_tuple(d.y_contract, d.contracts, axes[1], sizeof axes[1]);
    fuzz_tuple(d.batch, d.batches, axes[2], sizeof axes[2]);
    fuzz_tuple(d.y_batch, d.batches, axes[3], sizeof axes[3]);
    return fuzz_let_as(k, e.policies, fuzz_shaped(e.out, d.rank, d.dims),
                       "dot(%s, %s, x_contract=%s, y_contract=%s, x_batch=%s, y_batch=%s%s%s%s)",
                       x.name, y->name, axes[0], axes[1], d.batches ? axes[2] : "()",
                       d.batches ? axes[3] : "()", e.words, counts ? ", k_count=" : "",
                       counts ? counts->name : "");
}

/* ---- composites around a contraction ---- */

bool fuzz_dense(fuzz_kernel *k) {
    static const char *const activations[] = {"none", "relu", "gelu", "gelu_erf", "silu"};
    const fuzz_value x = *fuzz_any(k);
    if (x.rank < 2 || !fuzz_is_single(x.type))
        return false;
    int64_t w_dims[2] = {x.dims[x.rank - 1]}, dims[FUZZ_RANK_MAX];
    w_dims[1] = fuzz_columns(k, x.type, w_dims[0], 97);
    if (!fuzz_affordable(k, fuzz_count(x.rank, x.dims) * w_dims[1]))
        return false;
    const fuzz_value *w = fuzz_parameter(k, x.type, 2, w_dims, NULL);
    const fuzz_value *bias = w ? fuzz_parameter(k, x.type, 1, &w_dims[1], NULL) : NULL;
    memcpy(dims, x.dims, sizeof x.dims);
    dims[x.rank - 1] = w_dims[1];
    return bias && fuzz_let(k, x.type, x.rank, dims, "linear(%s, %s, %s, activation=\"%s\")",
                            x.name, w->name, bias->name, activations[choose_below(k->c, 5)]);
}

bool fuzz_attention(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank < 2 || !fuzz_is_single(x.type))
        return false;
    int64_t dims[FUZZ_RANK_MAX], keys = fuzz_length(k, 97);
    memcpy(dims, x.dims, sizeof x.dims);
    dims[x.rank - 2] = keys;
    if (!fuzz_affordable(k, 2 * fuzz_count(x.rank, x.dims) * keys))
        return false;
    const fuzz_value *key = fuzz_parameter(k, x.type, x.rank, dims, NULL);
    const fuzz_value *value = key ? fuzz_parameter(k, x.type, x.rank, dims, NULL) : NULL;
    return value && fuzz_let(k, x.type, x.rank, x.dims, "attention(%s, %s, %s, causal=%s)", x.name,
                             key->name, value->name, choose_rarely(k->c, 2) ? "True" : "False");
}

bool fuzz_loss(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    char targets[48];
    if (x.rank == 0 || !fuzz_is_single(x.type) || x.dims[x.rank - 1] == 0)
        return false;
    snprintf(targets, sizeof targets, "integers(0, %" PRId64 ")", x.dims[x.rank - 1]);
    const fuzz_value *t = fuzz_parameter(k, DTYPE_I32, x.rank - 1, x.dims, targets);
    return t && fuzz_let(k, x.type, 0, NULL, "cross_entropy(%s, %s)", x.name, t->name);
}
