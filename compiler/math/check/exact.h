/* exact.h - the mathematical functions: in f64 by libm, and exactly by MPFR.
 *
 * libm is the filter: it is asked for every input, and believed within EXACT_RELATIVE of its result
 * (16 units of f64's last place, where glibc documents at most 2 for these functions) and
 * EXACT_ABSOLUTE, which covers an underflow. Whatever that margin leaves open is MPFR's to decide,
 * and `exact_excess` holds libm to the margin. MPFR's exponent range belongs to the thread. */
#ifndef TESSERA_MATH_CHECK_EXACT_H
#define TESSERA_MATH_CHECK_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include <mpfr.h>

#define EXACT_RELATIVE 0x1p-48
#define EXACT_ABSOLUTE 0x1p-1000

typedef struct exact_function {
    const char *name;
    double (*f64)(double x);
    int (*mpfr)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
} exact_function;

/* NULL where nobody has said what the function is. */
const exact_function *exact_find(const char *name);

/* One thread's MPFR variables. */
typedef struct exact_judge {
    const exact_function *function;
    mpfr_t x, value, difference, nearest;
} exact_judge;

void exact_init(exact_judge *j, const exact_function *function);
void exact_release(exact_judge *j);
/* The f32 nearest to the exact value at x, ties to even; x and the exact value are finite. */
float exact_nearest(exact_judge *j, float x);
/* |got - exact value| in units of the spacing of f32 at the exact value, in the binade below where
 * that is a power of two; above the greatest f32 the spacing goes on, and an infinity stands
 * for 2^128 or anything beyond. */
double exact_error(exact_judge *j, float x, float got);
/* |f64 - exact value| as a part of what is allowed; above 1 the filter is not safe. */
double exact_excess(exact_judge *j, float x, double f64);

#endif
