/* exhaustive.c - tsr-exhaustive: the specified functions at all 2^32 inputs.
 *
 *   tsr-exhaustive [exp log tanh erf logistic rsqrt]
 *
 * Prints the rows of the table in docs/numerics.md. Two questions are asked of every input:
 * - Are the bits of the compiled code, for every CPU level that this machine can run, those of the
 *   interpreter's transcription?
 * - How far is the result from the exact one? The reference is libm in f64, whose own error (below
 *   1 ULP of f64) is 2e-9 ULP of f32. An error is counted in units of the spacing of f32 at the
 *   exact result, in the binade below where the result is a power of two; above the largest f32 the
 *   spacing goes on.
 * Exit 1 where bits differ, a function exceeds 1 ULP or a special value is wrong. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "math/check/compiled.h"
#include "target/interp/functions.h"
#include "target/target.h"

enum { THREADS = 2, MAX_LEVELS = 8 };

typedef struct worst {
    double ulp;
    uint32_t at;
    uint64_t inputs;
    uint64_t differing; /* compiled bits are not the interpreter's, at any level */
    uint64_t wrong;     /* NaN or infinity in the wrong place */
    uint64_t inexact;   /* not the nearest f32 */
} worst;

typedef struct job {
    math_function function;
    uint64_t first, last;
    compiled levels[MAX_LEVELS];
    uint32_t level_count;
    bool failed;
    worst worst;
    pthread_t thread;
} job;

static double reference(math_function function, double x) {
    switch (function) {
    case MATH_EXP:
        return exp(x);
    case MATH_EXP2:
        return exp2(x);
    case MATH_EXPM1:
        return expm1(x);
    case MATH_LOG:
        return log(x);
    case MATH_LOG2:
        return log2(x);
    case MATH_LOG1P:
        return log1p(x);
    case MATH_TANH:
        return tanh(x);
    case MATH_ERF:
        return erf(x);
    case MATH_SIN:
        return sin(x);
    case MATH_COS:
        return cos(x);
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
    w->inexact += got != (float)exact;
    if (ulp > w->ulp) {
        w->ulp = ulp;
        w->at = at;
    }
}

static uint64_t count_differing(const float *compiled_out, const float *out) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < COMPILED_COUNT; i++) {
        uint32_t expected = isnan(out[i]) ? 0x7fc00000u : f32_bits(out[i]);
        count += f32_bits(compiled_out[i]) != expected;
    }
    return count;
}

static bool run_chunk(job *j, uint32_t base) {
    static _Thread_local float in[COMPILED_COUNT], out[COMPILED_COUNT];
    for (uint32_t i = 0; i < COMPILED_COUNT; i++)
        in[i] = f32_from_bits(base + i);
    function_apply(j->function, out, in, COMPILED_COUNT);
    for (uint32_t l = 0; l < j->level_count; l++) {
        memcpy(j->levels[l].in, in, sizeof in);
        if (!compiled_run(&j->levels[l]))
            return false;
        j->worst.differing += count_differing(j->levels[l].out, out);
    }
    for (uint32_t i = 0; i < COMPILED_COUNT; i++)
        judge(&j->worst, base + i, out[i], reference(j->function, (double)in[i]));
    j->worst.inputs += COMPILED_COUNT;
    return true;
}

static void *run(void *context) {
    job *j = context;
    for (uint64_t base = j->first; base < j->last && !j->failed; base += COMPILED_COUNT)
        j->failed = !run_chunk(j, (uint32_t)base);
    return NULL;
}

/* Compiled code for every level; one that this machine lacks is left out with a word. */
static void open_levels(job *j) {
    const cpu_isa *isas;
    uint32_t count = cpu_isa_list(&isas);
    for (uint32_t i = 0; i < count && i < MAX_LEVELS; i++) {
        status st = STATUS_INIT;
        if (compiled_open(&j->levels[j->level_count], j->function, isas[i].name, &st)) {
            j->level_count++;
            continue;
        }
        fprintf(stderr, "%s not tried: %s\n", isas[i].name, st.message);
        compiled_close(&j->levels[j->level_count]);
        j->failed |= st.code != STATUS_UNAVAILABLE;
    }
}

static void add(worst *all, const worst *w) {
    if (w->ulp > all->ulp) {
        all->ulp = w->ulp;
        all->at = w->at;
    }
    all->inputs += w->inputs;
    all->differing += w->differing;
    all->wrong += w->wrong;
    all->inexact += w->inexact;
}

static void print_row(math_function function, const worst *w, const job *j) {
    printf("| `%s` | %llu | ", function_name(function), (unsigned long long)w->inputs);
    for (uint32_t l = 0; l < j->level_count; l++)
        printf("%s%s", l ? ", " : "", j->levels[l].isa);
    printf(" | %llu | %llu | %.4f at `0x%08x` (%.9g) | %llu (%.3f %%) |\n",
           (unsigned long long)w->differing, (unsigned long long)w->wrong, w->ulp, w->at,
           (double)f32_from_bits(w->at), (unsigned long long)w->inexact,
           (double)w->inexact / 0x1p32 * 100);
    fflush(stdout);
}

static bool check(math_function function) {
    static job jobs[THREADS];
    worst all = {0};
    bool ok = true;
    for (uint64_t i = 0; i < THREADS; i++) {
        jobs[i] = (job){
            .function = function, .first = (i << 32) / THREADS, .last = ((i + 1) << 32) / THREADS};
        open_levels(&jobs[i]);
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0)
            return false;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        add(&all, &jobs[i].worst);
        ok &= !jobs[i].failed;
    }
    print_row(function, &all, &jobs[0]);
    for (int i = 0; i < THREADS; i++)
        for (uint32_t l = 0; l < jobs[i].level_count; l++)
            compiled_close(&jobs[i].levels[l]);
    return ok && all.ulp <= 1 && all.wrong == 0 && all.differing == 0;
}

int main(int argc, char **argv) {
    bool ok = true;
    printf("| function | inputs | compiled for | differing bits | wrong special values | "
           "greatest error, ULP | not the nearest f32 |\n|---|---|---|---|---|---|---|\n");
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], function_name((math_function)f)) == 0;
        ok &= !wanted || check((math_function)f);
    }
    return ok ? 0 : 1;
}
