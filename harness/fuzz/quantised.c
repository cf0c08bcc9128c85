/* quantised.c - statements that convert as a type's policies say, and those over i8 and i4 with
 * scales. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

/* ---- policies of conversions ---- */

/* The greatest number of a type; of an integer, one past it. */
static double reach(dtype type) {
    const dtype_format *f = dtype_format_of(type);
    return f ? f->largest : ldexp(1, dtype_integer_bits(type) - !dtype_is_unsigned(type));
}

/* Does `saturate` change this conversion? */
static bool can_saturate(dtype from, dtype to) {
    const dtype_format *f = dtype_format_of(to);
    bool by_itself = f ? !f->infinity : dtype_is_float(from) || to == DTYPE_BOOL;
    return !by_itself && (!f || reach(from) > reach(to)) && !dtype_holds(to, from);
}

static bool can_draw(dtype from, dtype to) {
    bool small = dtype_is_narrow(to) && to != DTYPE_TF32;
    return small && fuzz_is_single(from) && !dtype_holds(to, from);
}

/* A cast with policies, or an annotation that converts. */
bool fuzz_policy(fuzz_kernel *k) {
    static const dtype narrow[] = {DTYPE_F16,  DTYPE_BF16, DTYPE_F8E5M2, DTYPE_F8E4M3FN,
                                   DTYPE_TF32, DTYPE_I8,   DTYPE_I4,     DTYPE_I32,
                                   DTYPE_U8,   DTYPE_U16,  DTYPE_U32,    DTYPE_I16};
    const fuzz_value *x = fuzz_any(k);
    char policies[80] = "";
    dtype to = narrow[choose_below(k->c, 12)];
    bool draws = can_draw(x->type, to) && choose_rarely(k->c, 2);
    bool saturates = can_saturate(draws ? DTYPE_F32 : x->type, to) && !choose_rarely(k->c, 3);
    size_t at = 0;
    if (x->type == DTYPE_BOOL || !(draws || saturates))
        return false;
    if (saturates)
        at = (size_t)snprintf(policies, sizeof policies, " @ saturate");
    if (draws)
        snprintf(policies + at, sizeof policies - at, " @ stochastic_round(%u)",
                 choose_below(k->c, 1000));
    if (choose_rarely(k->c, 3))
        return fuzz_let_as(k, policies, fuzz_shaped(to, x->rank, x->dims), "%s", x->name);
    return fuzz_let(k, to, x->rank, x->dims, "cast(%s, %s%s)", x->name, dtype_name(to), policies);
}

/* Held times a power of two for a while: only a cast may look at it. */
bool fuzz_holding(fuzz_kernel *k) {
    static const dtype narrow[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F8E5M2, DTYPE_F8E4M3FN};
    static const int scales[] = {1024, 2, 65536, 16};
    const fuzz_value *x = fuzz_any(k);
    if (!fuzz_is_single(x->type))
        return false;
    dtype to = narrow[choose_below(k->c, 4)];
    const char *saturate = to != DTYPE_F8E4M3FN && choose_rarely(k->c, 3) ? " @ saturate" : "";
    return fuzz_let(k, DTYPE_F32, x->rank, x->dims, "cast(cast(%s, %s%s @ loss_scale(%d)), f32)",
                    x->name, dtype_name(to), saturate, scales[choose_below(k->c, 4)]);
}

/* ---- scales ---- */

/* One for each of `length`, or one for all. */
static const fuzz_value *scale(fuzz_kernel *k, int64_t length) {
    return fuzz_parameter(k, DTYPE_F32, choose_rarely(k->c, 4) ? 0 : 1, &length, NULL);
}

bool fuzz_scaled(fuzz_kernel *k) {
    static const dtype types[] = {DTYPE_I8, DTYPE_I4, DTYPE_F8E4M3FN, DTYPE_F8E5M2};
    const fuzz_value x = *fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX], n = fuzz_length(k, 97);
    bool float8 = x.type == DTYPE_F8E4M3FN || x.type == DTYPE_F8E5M2;
    if (x.rank < 2 || (!fuzz_is_small_integer(x.type) && !float8) ||
        !fuzz_affordable(k, fuzz_count(x.rank, x.dims) * n))
        return false;
    int64_t right[2] = {x.dims[x.rank - 1], n};
    const fuzz_value *y =
        fuzz_parameter(k, types[choose_below(k->c, 2) + 2 * float8], 2, right, NULL);
    const fuzz_value *rows = y ? scale(k, x.dims[x.rank - 2]) : NULL;
    const fuzz_value *columns = rows ? scale(k, n) : NULL;
    memcpy(dims, x.dims, sizeof dims);
    dims[x.rank - 1] = n;
    return columns && fuzz_let(k, DTYPE_F32, x.rank, dims, "scaled_matmul(%s, %s, %s, %s)", x.name,
                               y->name, rows->name, columns->name);
}

bool fuzz_dequantized(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    if (x.rank == 0 || !fuzz_is_small_integer(x.type))
        return false;
    int axis = x.rank - 1 - (int)choose_below(k->c, (uint32_t)x.rank);
    const fuzz_value *s = scale(k, x.dims[axis]);
    return s && fuzz_let(k, DTYPE_F32, x.rank, x.dims, "dequantize(%s, %s, axis=%d)", x.name,
                         s->name, axis);
}
