/* exhaustive.c - tsr-exhaustive: the specified functions at all 2^32 inputs, and their greatest
 * error.
 *
 *   tsr-exhaustive [exp log tanh erf logistic rsqrt]
 *
 * The reference is libm in f64, whose own error (below 1 ULP of f64) is 2e-9 ULP of f32. An error
 * is counted in units of the spacing of f32 at the exact result, in the binade below where the
 * result is a power of two; above the largest f32 the spacing goes on. Exit 1 where a function
 * exceeds 1 ULP or a special value is wrong. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "target/interp/functions.h"

enum { THREADS = 2, CHUNK = 1 << 14 };

typedef struct worst {
    double ulp;
    uint32_t at;
    uint64_t faithless; /* results that are neither neighbour of the exact one */
    uint64_t wrong;     /* NaN or infinity in the wrong place */
    uint64_t inexact;   /* not the nearest f32 */
} worst;

typedef struct job {
    math_function function;
    uint64_t first, last;
    worst worst;
    pthread_t thread;
} job;

static double reference(math_function function, double x) {
    switch (function) {
    case MATH_EXP:
        return exp(x);
    case MATH_LOG:
        return log(x);
    case MATH_TANH:
        return tanh(x);
    case MATH_ERF:
        return erf(x);
    case MATH_LOGISTIC:
        return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    default:
        return 1 / sqrt(x);
    }
}

/* Spacing of f32 just below |exact|. */
static double spacing(double exact) {
    int exponent;
    double mantissa = frexp(fabs(exact), &exponent);
    exponent -= mantissa == 0.5 ? 25 : 24;
    return ldexp(1.0, exponent < -149 ? -149 : exponent);
}

static void judge(worst *w, uint32_t at, float got, double exact) {
    if (isnan(got) || isnan(exact) || isinf(exact)) {
        bool same = isnan(exact) ? isnan(got) : (double)got == exact;
        w->wrong += !same;
        return;
    }
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    if (isinf(got) && fabs(exact) > 0x1p128)
        value = exact;
    if (got == 0 && exact == 0 && !!signbit(got) != !!signbit(exact))
        w->wrong++;
    double ulp = fabs(value - exact) / spacing(exact);
    w->faithless += ulp >= 1;
    w->inexact += got != (float)exact;
    if (ulp > w->ulp) {
        w->ulp = ulp;
        w->at = at;
    }
}

static void *run(void *context) {
    job *j = context;
    static _Thread_local float in[CHUNK], out[CHUNK];
    for (uint64_t base = j->first; base < j->last; base += CHUNK) {
        for (uint32_t i = 0; i < CHUNK; i++)
            in[i] = f32_from_bits((uint32_t)base + i);
        function_apply(j->function, out, in, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++)
            judge(&j->worst, (uint32_t)base + i, out[i], reference(j->function, (double)in[i]));
    }
    return NULL;
}

static bool check(math_function function) {
    job jobs[THREADS];
    worst all = {0};
    for (uint64_t i = 0; i < THREADS; i++) {
        jobs[i] = (job){
            .function = function, .first = (i << 32) / THREADS, .last = ((i + 1) << 32) / THREADS};
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0)
            return false;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        const worst *w = &jobs[i].worst;
        if (w->ulp > all.ulp)
            all.ulp = w->ulp, all.at = w->at;
        all.wrong += w->wrong;
        all.faithless += w->faithless;
        all.inexact += w->inexact;
    }
    printf("%-8s max %.6f ULP at 0x%08x (%a); not nearest %.3f %%; over 1 ULP %llu; wrong special "
           "values %llu\n",
           function_name(function), all.ulp, all.at, (double)f32_from_bits(all.at),
           (double)all.inexact / 0x1p32 * 100, (unsigned long long)all.faithless,
           (unsigned long long)all.wrong);
    fflush(stdout);
    return all.ulp <= 1 && all.wrong == 0;
}

int main(int argc, char **argv) {
    bool ok = true;
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], function_name((math_function)f)) == 0;
        ok &= !wanted || check((math_function)f);
    }
    return ok ? 0 : 1;
}
