/* judge.h - what is known of a function after some of its inputs were tried.
 *
 * Tallies of disjoint sets of inputs merge in any order to the same tally. No pointers: a tally is
 * stored as it is (state.h). */
#ifndef TESSERA_MATH_CHECK_JUDGE_H
#define TESSERA_MATH_CHECK_JUDGE_H

#include "math/check/exact.h"

enum { JUDGE_COUNT = 1 << 14, HARD_ERRORS = 16, HARD_BOUNDARIES = 24, HARD_ENDS = 32 };

/* An input worth trying in every test. */
typedef struct hard_case {
    double rank; /* the least are kept; equal ranks: the lower input */
    uint64_t at;
} hard_case;

typedef struct hard_list {
    uint64_t count;
    hard_case items[HARD_ENDS]; /* ascending */
} hard_list;

typedef struct tally {
    uint64_t inputs;
    uint64_t differing;   /* compiled bits are not the interpreter's; counted by the caller */
    uint64_t wrong;       /* a NaN, an infinity or a zero's sign where it should not be */
    uint64_t misrounded;  /* not the nearest f32 */
    uint64_t asked;       /* decided by MPFR */
    uint64_t verified;    /* of the filter, among them all that were decided by MPFR */
    uint64_t unsafe;      /* the filter's error was above its bound */
    double excess;        /* greatest error of the filter, as a part of its bound */
    double ulp;           /* greatest error, exact */
    uint64_t at;          /* the lowest input that shows it */
    hard_list misses;     /* the lowest inputs that are misrounded */
    hard_list errors;     /* the largest errors */
    hard_list boundaries; /* the nearest to the middle between two f32 */
    hard_list ends;       /* on both sides of where the kind of the result changes */
} tally;

/* Judges got[i], the result at the f32 with bits base + i. */
void judge_block(tally *t, exact_judge *j, uint32_t base, const float *got);
void tally_merge(tally *all, const tally *part);
/* Why the function is not what it promises, or NULL. */
const char *tally_complaint(const tally *t, bool correct);

#endif
