/* judge.c - a block is judged in f64; what that leaves open is asked of MPFR. */
#include "math/check/judge.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"

/* An error in ULP is off by at most 2^24 * EXACT_RELATIVE in f64; twice that. Below FLOOR no error
 * can be the greatest: half an ULP is lost somewhere by any function that is not exact. */
static const double margin = 0x1p-23, least_maximum = 0.4;

enum { VERIFY_STEP = 4093 };

typedef struct block {
    double f64[JUDGE_COUNT];
    double error[JUDGE_COUNT]; /* in ULP; 0 for special values */
    float nearest[JUDGE_COUNT];
    bool open[JUDGE_COUNT]; /* the margin does not decide what is nearest */
} block;

/* 1 / the spacing of f32 below |value|, or the one below that where the margin leaves it open. */
static double units(double value) {
    double low = fabs(value) * (1 - 2 * EXACT_RELATIVE);
    int exponent = (int)(f64_bits(low) >> 52) - 1023;
    exponent = exponent < -126 ? -126 : exponent;
    return f64_from_bits((uint64_t)(1023 + 23 - exponent) << 52);
}

static bool spacing_open(double value) {
    double high = fabs(value) * (1 + 2 * EXACT_RELATIVE);
    return units(value) != units(high);
}

/* Functions that repeat themselves from binade to binade have inputs of equal rank; the lowest
 * stands for them, where f64 can tell that ranks are equal. */
static void add_hard(hard_list *list, uint32_t limit, double rank, uint64_t at) {
    uint64_t i = 0;
    bool distinct = fabs(rank) < 0x1p-27;
    while (i < list->count && (list->items[i].rank < rank ||
                               (distinct && list->items[i].rank == rank && list->items[i].at < at)))
        i++;
    if (i < list->count && list->items[i].rank == rank && (!distinct || list->items[i].at == at)) {
        list->items[i].at = at < list->items[i].at ? at : list->items[i].at;
        return;
    }
    if (i == limit)
        return;
    list->count += list->count < limit;
    memmove(&list->items[i + 1], &list->items[i], (list->count - 1 - i) * sizeof *list->items);
    list->items[i] = (hard_case){rank, at};
}

static bool would_add(const hard_list *list, uint32_t limit, double rank) {
    return list->count < limit || rank <= list->items[limit - 1].rank;
}

/* ---- MPFR ---- */

static void verify(tally *t, exact_judge *j, float x, double f64) {
    double excess = exact_excess(j, x, f64);
    t->verified++;
    t->unsafe += !(excess <= 1);
    t->excess = excess > t->excess ? excess : t->excess;
}

static void decide_nearest(tally *t, exact_judge *j, block *b, uint32_t base) {
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        if (!b->open[i])
            continue;
        float x = f32_from_bits(base + i);
        b->nearest[i] = exact_nearest(j, x);
        t->asked++;
        verify(t, j, x, b->f64[i]);
    }
}

static void decide_error(tally *t, exact_judge *j, double f64, uint32_t at, float got) {
    float x = f32_from_bits(at);
    double ulp = exact_error(j, x, got);
    t->asked++;
    verify(t, j, x, f64);
    if (ulp > t->ulp || (ulp == t->ulp && at < t->at)) {
        t->ulp = ulp;
        t->at = at;
    }
}

/* Every input whose error may be the greatest so far. */
static void decide_errors(tally *t, exact_judge *j, const block *b, uint32_t base,
                          const float *got) {
    double greatest = 0;
    for (uint32_t i = 0; i < JUDGE_COUNT; i++)
        if (b->error[i] > greatest && !spacing_open(b->f64[i]))
            greatest = b->error[i];
    double least = fmax(fmax(t->ulp - margin, greatest - margin), least_maximum);
    for (uint32_t i = 0; i < JUDGE_COUNT; i++)
        if (b->error[i] >= least)
            decide_error(t, j, b->f64[i], base + i, got[i]);
}

/* ---- the filter ---- */

static void judge_special(tally *t, block *b, uint32_t i, float got) {
    double f64 = b->f64[i];
    bool same = isnan(f64) ? isnan(got) : (double)got == f64;
    b->nearest[i] = (float)f64;
    t->wrong += !same;
    t->misrounded += !same;
}

static void judge_f64(block *b, uint32_t i, float got) {
    double f64 = b->f64[i], off = fabs(f64) * EXACT_RELATIVE + EXACT_ABSOLUTE;
    float low = (float)(f64 - off), high = (float)(f64 + off);
    b->nearest[i] = (float)f64;
    b->open[i] = low != high;
    double value = (double)got;
    if (isinf(got))
        value = (got > 0) == (f64 > 0) && fabs(f64) > 0x1p128 ? f64 : copysign(0x1p128, value);
    b->error[i] = isnan(got) ? 0 : fabs(value - f64) * units(f64);
}

static void judge_result(tally *t, const block *b, uint32_t i, float got) {
    float nearest = b->nearest[i];
    if (!isfinite(b->f64[i]))
        return;
    bool same = got == nearest && !signbit(got) == !signbit(nearest);
    t->misrounded += !same;
    t->wrong += isnan(got) || (got == 0 && !signbit(got) != !signbit(b->f64[i]));
}

/* ---- hard cases ---- */

/* NaN, infinite, zero, subnormal, one, or an ordinary number; and its sign. */
static int kind_of(float x) {
    int kind = isnan(x) ? 0 : fpclassify(x) * 4 + (fabsf(x) == 1);
    return isnan(x) ? 0 : kind * 2 + !!signbit(x);
}

static void add_end(tally *t, uint32_t at) {
    add_hard(&t->ends, HARD_ENDS, at, at);
}

static void collect_hard(tally *t, const exact_judge *j, const block *b, uint32_t base) {
    float before = (float)j->function->f64((double)f32_from_bits(base - 1));
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        float nearest = b->nearest[i];
        if (kind_of(nearest) != kind_of(before) && t->ends.count < HARD_ENDS) {
            add_end(t, base + i - 1);
            add_end(t, base + i);
        }
        before = nearest;
        if (!isfinite(b->f64[i]) || isinf(nearest))
            continue;
        if (would_add(&t->errors, HARD_ERRORS, -b->error[i]))
            add_hard(&t->errors, HARD_ERRORS, -b->error[i], base + i);
        double lost = fabs((double)nearest - b->f64[i]) * units(b->f64[i]);
        double distance = fabs(0.5 - lost);
        if (would_add(&t->boundaries, HARD_BOUNDARIES, distance))
            add_hard(&t->boundaries, HARD_BOUNDARIES, distance, base + i);
    }
}

void judge_block(tally *t, exact_judge *j, uint32_t base, const float *got) {
    static _Thread_local block b;
    memset(b.error, 0, sizeof b.error);
    memset(b.open, 0, sizeof b.open);
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        b.f64[i] = j->function->f64((double)f32_from_bits(base + i));
        if (isfinite(b.f64[i]))
            judge_f64(&b, i, got[i]);
        else
            judge_special(t, &b, i, got[i]);
    }
    decide_nearest(t, j, &b, base);
    decide_errors(t, j, &b, base, got);
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        judge_result(t, &b, i, got[i]);
        if ((base + i) % VERIFY_STEP == 0 && isfinite(b.f64[i]))
            verify(t, j, f32_from_bits(base + i), b.f64[i]);
    }
    collect_hard(t, j, &b, base);
    t->inputs += JUDGE_COUNT;
}

/* ---- tallies ---- */

static void merge_hard(hard_list *all, uint32_t limit, const hard_list *part) {
    for (uint64_t i = 0; i < part->count; i++)
        add_hard(all, limit, part->items[i].rank, part->items[i].at);
}

void tally_merge(tally *all, const tally *part) {
    all->inputs += part->inputs;
    all->differing += part->differing;
    all->wrong += part->wrong;
    all->misrounded += part->misrounded;
    all->asked += part->asked;
    all->verified += part->verified;
    all->unsafe += part->unsafe;
    all->excess = fmax(all->excess, part->excess);
    if (part->ulp > all->ulp || (part->ulp == all->ulp && part->at < all->at)) {
        all->ulp = part->ulp;
        all->at = part->at;
    }
    merge_hard(&all->errors, HARD_ERRORS, &part->errors);
    merge_hard(&all->boundaries, HARD_BOUNDARIES, &part->boundaries);
    merge_hard(&all->ends, HARD_ENDS, &part->ends);
}

const char *tally_complaint(const tally *t) {
    if (t->differing)
        return "compiled bits are not the interpreter's";
    if (t->wrong)
        return "a NaN, an infinity or the sign of a zero is wrong";
    if (t->unsafe)
        return "libm in f64 is further off than the filter assumes";
    if (!(t->ulp <= 1) || t->ulp == 0)
        return "the greatest error is not within 1 ULP";
    return NULL;
}
