/* judge.c - a block is judged in f64; what that leaves open is asked of MPFR. */
#include "math/check/judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* An error in ULP is off by at most 2^24 * EXACT_RELATIVE in f64; twice that. Below FLOOR no error
 * can be the greatest: half an ULP is lost somewhere by any function that is not exact. */
static const double margin = 0x1p-23, least_maximum = 0.4;

enum { VERIFY_STEP = 4093 };

typedef struct block {
    double f64[JUDGE_COUNT];
    double unit[JUDGE_COUNT];  /* units(f64) */
    double error[JUDGE_COUNT]; /* in ULP; 0 for special values */
    float nearest[JUDGE_COUNT];
    bool open[JUDGE_COUNT];    /* the margin does not decide what is nearest */
    bool special[JUDGE_COUNT]; /* the exact value or the result is no number */
} block;

/* The inner loops see no calls: base/dtype.h's are in another file. */
static inline double double_from(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_from(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 1 / the spacing of f32 below |value|, or the one below that where the margin leaves it open. */
static inline double units(double value) {
    int64_t exponent = (int64_t)(bits_of_double(fabs(value) * (1 - 2 * EXACT_RELATIVE)) >> 52);
    exponent = exponent < 1023 - 126 ? 1023 - 126 : exponent;
    return double_from((uint64_t)(2 * 1023 + 23 - exponent) << 52);
}

static bool spacing_open(double value) {
    return units(value) != units(fabs(value) * (1 + 4 * EXACT_RELATIVE));
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
        float x = float_from(base + i);
        b->nearest[i] = exact_nearest(j, x);
        t->asked++;
        verify(t, j, x, b->f64[i]);
    }
}

static void decide_error(tally *t, exact_judge *j, double f64, uint32_t at, float got) {
    float x = float_from(at);
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

static void evaluate(block *b, const exact_function *function, uint32_t base) {
    for (uint32_t i = 0; i < JUDGE_COUNT; i++)
        b->f64[i] = function->f64((double)float_from(base + i));
}

/* Every value as if it were a number. */
static void judge_f64(block *b, const float *got) {
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        double f64 = b->f64[i], off = fabs(f64) * EXACT_RELATIVE + EXACT_ABSOLUTE;
        b->nearest[i] = (float)f64;
        b->open[i] = (float)(f64 - off) != (float)(f64 + off);
        b->unit[i] = units(f64);
        b->error[i] = fabs((double)got[i] - f64) * b->unit[i];
        b->special[i] = !(fabs(f64) <= DBL_MAX) | !(fabsf(got[i]) <= FLT_MAX);
    }
}

static void judge_special(tally *t, block *b, uint32_t i, float got) {
    double f64 = b->f64[i], value = (double)got;
    b->error[i] = 0;
    if (isnan(f64) || isinf(f64)) {
        bool same = isnan(f64) ? isnan(got) : value == f64;
        b->open[i] = false;
        t->wrong += !same;
        b->nearest[i] = (float)f64;
        return;
    }
    t->wrong += isnan(got) ? 1 : 0;
    if (isinf(got) && ((got > 0) != (f64 > 0) || fabs(f64) <= 0x1p128))
        b->error[i] = fabs(copysign(0x1p128, value) - f64) * b->unit[i];
}

static void judge_results(tally *t, const block *b, uint32_t base, const float *got) {
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        if (bits_of(got[i]) == bits_of(b->nearest[i]) || (isnan(got[i]) && isnan(b->nearest[i])))
            continue;
        t->misrounded++;
        if (t->misses.count < HARD_ENDS)
            add_hard(&t->misses, HARD_ENDS, base + i, base + i);
        t->wrong += got[i] == 0 && !b->special[i] && !signbit(got[i]) != !signbit(b->f64[i]);
    }
}

/* ---- hard cases ---- */

/* Zero, subnormal, an ordinary number, one, infinite or NaN; and its sign, but for a NaN. */
static inline uint32_t kind_of(float x) {
    uint32_t bits = bits_of(x) & 0x7fffffff;
    uint32_t kind = bits == 0x3f800000 ? 8 : 0;
    kind += (uint32_t)(bits > 0) + (uint32_t)(bits >= 0x00800000);
    kind += (uint32_t)(bits >= 0x7f800000) + (uint32_t)(bits > 0x7f800000);
    return bits > 0x7f800000 ? kind : kind | bits_of(x) >> 31 << 4;
}

/* Ranks below it are kept. Inputs come in ascending order, so equal ranks need not be looked at. */
static double bar_of(const hard_list *list, uint32_t limit, double otherwise) {
    return list->count < limit ? otherwise : list->items[limit - 1].rank;
}

static void collect_ends(tally *t, const exact_judge *j, const block *b, uint32_t base) {
    uint32_t before = kind_of((float)j->function->f64((double)float_from(base - 1)));
    for (uint32_t i = 0; i < JUDGE_COUNT && t->ends.count < HARD_ENDS; i++) {
        uint32_t kind = kind_of(b->nearest[i]);
        if (kind != before) {
            add_hard(&t->ends, HARD_ENDS, base + i - 1, base + i - 1);
            add_hard(&t->ends, HARD_ENDS, base + i, base + i);
        }
        before = kind;
    }
}

static void collect_hard(tally *t, const block *b, uint32_t base) {
    double errors = bar_of(&t->errors, HARD_ERRORS, -0.25);
    double boundaries = bar_of(&t->boundaries, HARD_BOUNDARIES, 0.25);
    for (uint32_t i = 0; i < JUDGE_COUNT; i++) {
        double lost = fabs((double)b->nearest[i] - b->f64[i]) * b->unit[i];
        double distance = fabs(0.5 - lost);
        if ((-b->error[i] >= errors) & (distance >= boundaries))
            continue;
        if (!(fabs(b->f64[i]) <= DBL_MAX) || isinf(b->nearest[i]))
            continue;
        if (-b->error[i] < errors)
            add_hard(&t->errors, HARD_ERRORS, -b->error[i], base + i);
        if (distance < boundaries)
            add_hard(&t->boundaries, HARD_BOUNDARIES, distance, base + i);
        errors = bar_of(&t->errors, HARD_ERRORS, -0.25);
        boundaries = bar_of(&t->boundaries, HARD_BOUNDARIES, 0.25);
    }
}

void judge_block(tally *t, exact_judge *j, uint32_t base, const float *got) {
    static _Thread_local block b;
    evaluate(&b, j->function, base);
    judge_f64(&b, got);
    for (uint32_t i = 0; i < JUDGE_COUNT; i++)
        if (b.special[i])
            judge_special(t, &b, i, got[i]);
    decide_nearest(t, j, &b, base);
    decide_errors(t, j, &b, base, got);
    judge_results(t, &b, base, got);
    for (uint32_t i = (VERIFY_STEP - base % VERIFY_STEP) % VERIFY_STEP; i < JUDGE_COUNT;
         i += VERIFY_STEP)
        if (isfinite(b.f64[i]))
            verify(t, j, float_from(base + i), b.f64[i]);
    collect_ends(t, j, &b, base);
    collect_hard(t, &b, base);
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
    merge_hard(&all->misses, HARD_ENDS, &part->misses);
    merge_hard(&all->errors, HARD_ERRORS, &part->errors);
    merge_hard(&all->boundaries, HARD_BOUNDARIES, &part->boundaries);
    merge_hard(&all->ends, HARD_ENDS, &part->ends);
}

const char *tally_complaint(const tally *t, bool correct) {
    if (t->differing)
        return "compiled bits are not the interpreter's";
    if (t->wrong)
        return "a NaN, an infinity or the sign of a zero is wrong";
    if (t->unsafe)
        return "libm in f64 is further off than the filter assumes";
    if (!(t->ulp <= 1) || t->ulp == 0)
        return "the greatest error is not within 1 ULP";
    return correct && t->misrounded ? "results are not correctly rounded" : NULL;
}
