/* pretend.c - see pretend.h: the entry points of kernels.ptx and of the kernels in SPIR-V, and one
 * that our compiler makes of a kernel `twice_1000`, and one that others made. */
#include "test/pretend.h"

#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda_chain_words.h"
#include "test/stub_gpu/stub_control.h"

long pretend_fault(const char *name, long otherwise) {
    const char *at = getenv(STUB_FAULTS); // NOLINT(concurrency-mt-unsafe)
    size_t length = strlen(name);
    while (at && *at) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtol(at + length + 1, NULL, 0);
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return otherwise;
}

/* ---- kernels ---- */

enum { A, OUT, WORKSPACE, PREPARED };

static const struct {
    const char *name;
    int from, to;
    float scale, add;
    bool by_table; /* adds 1, 2, 3, 4 in turn */
    size_t count;  /* elements; 0: one for each workgroup */
} maps[] = {
    {"phase_double", A, WORKSPACE, 2, 0, false, 0},
    {"phase_add", WORKSPACE, OUT, 1, 0, true, 0},
    {"phase_twice_prepared", A, PREPARED, 2, 0, false, 0},
    {"phase_add_prepared", PREPARED, OUT, 1, 1, false, 0},
    {"twice_1000_phase_0", A, OUT, 2, 0, false, 1000},
    {"phase_boxes", A, OUT, 2, 0, false, 0},
};
enum { MAPS = sizeof maps / sizeof maps[0] };
static const char spin[] = "phase_spin", nothing[] = "phase_nothing";

bool pretend_is_probe(const char *name) {
    return strncmp(name, "chain_", 6) == 0;
}

static int find(const char *name) {
    int i = 0;
    while (i < MAPS && strcmp(maps[i].name, name) != 0)
        i++;
    return i;
}

bool pretend_is_foreign(const char *name) {
    return strcmp(name, "scale") == 0;
}

bool pretend_takes_map(const char *name) {
    return strcmp(name, "phase_boxes") == 0;
}

bool pretend_has_kernel(const char *name) {
    return find(name) < MAPS || strcmp(name, spin) == 0 || strcmp(name, nothing) == 0 ||
           pretend_is_foreign(name) || pretend_is_probe(name);
}

/* A thread has an element, where there is one: too few threads leave some out. */
static bool run_scale(const pretend_launch *l) {
    uint32_t count = (uint32_t)l->arguments[2], factor_bits = (uint32_t)l->arguments[3];
    float factor;
    memcpy(&factor, &factor_bits, sizeof factor);
    if (count > l->workgroups)
        count = (uint32_t)l->workgroups;
    const float *x = (const void *)l->resolve(l->arguments[A], count * sizeof *x);
    float *out = (void *)l->resolve(l->arguments[OUT], count * sizeof *out);
    for (uint32_t i = 0; i < count && x && out; i++)
        out[i] = factor * x[i];
    return x && out;
}

/* Sums of products of both widths, from the arguments x, y and out; with the fault `split` each
 * product is rounded before it is added. */
#define CHAINS(function, type, fma_of, x_at, y_at, out_at)                                         \
    static bool function(const pretend_launch *l) {                                                \
        enum { M = CHAIN_M, N = CHAIN_N, K = CHAIN_K };                                            \
        const bool split = pretend_fault("split", 0) != 0;                                         \
        const type *x = (const void *)l->resolve(l->arguments[x_at], M * K * sizeof *x);           \
        const type *y = (const void *)l->resolve(l->arguments[y_at], K * N * sizeof *y);           \
        type *out = (void *)l->resolve(l->arguments[out_at], M * N * sizeof *out);                 \
        for (int i = 0; i < M * N && x && y && out; i++) {                                         \
            type sum = 0;                                                                          \
            for (int k = 0; k < K; k++) {                                                          \
                const type a = x[i / N * K + k], b = y[k * N + i % N], product = a * b;            \
                sum = split ? product + sum : fma_of(a, b, sum);                                   \
            }                                                                                      \
            out[i] = sum;                                                                          \
        }                                                                                          \
        return x && y && out;                                                                      \
    }
CHAINS(run_chains_f32, float, fmaf, 0, 1, 4)
CHAINS(run_chains_f64, double, fma, 2, 3, 5)

static bool run_spin(const pretend_launch *l) {
    const int32_t *flag = (const void *)l->resolve(l->arguments[A], sizeof *flag);
    while (flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0 && !l->is_ended())
        sched_yield();
    return flag != NULL;
}

bool pretend_run(const pretend_launch *l) {
    int map = find(l->name);
    if (pretend_is_probe(l->name))
        return (strstr(l->name, "_phase_0") ? run_chains_f32 : run_chains_f64)(l);
    while (pretend_fault("endless", 0) && !l->is_ended())
        sched_yield();
    if (pretend_is_foreign(l->name))
        return run_scale(l);
    if (strcmp(l->name, nothing) == 0)
        return true;
    if (map == MAPS)
        return run_spin(l);
    size_t count = maps[map].count ? maps[map].count : l->workgroups, bytes = count * sizeof(float);
    const float *from = (const void *)l->resolve(l->arguments[maps[map].from], bytes);
    float *to = (void *)l->resolve(l->arguments[maps[map].to], bytes);
    for (size_t i = 0; i < count && from && to; i++)
        to[i] =
            maps[map].scale * from[i] + (maps[map].by_table ? (float)(i % 4 + 1) : maps[map].add);
    return from && to;
}

/* ---- probes ---- */

/* The same lines for both widths. */
#define ARITHMETIC(name, type, fma_of, sqrt_of, least)                                             \
    void name(const type *in, type *out, pretend_flaw flaw) {                                      \
        for (int i = 0; i < PROBE_NUMBERS; i++) {                                                  \
            const type a = in[i], b = in[PROBE_NUMBERS + i], c = in[2 * PROBE_NUMBERS + i];        \
            const type product = a * b;                                                            \
            const bool flushed = flaw == FLUSHES && product < least && product > -least;           \
            out[i] = flaw == SPLITS_FMA ? product + c : fma_of(a, b, c);                           \
            out[PROBE_NUMBERS + i] = flaw == DIVIDES_LOOSELY ? a * (1 / b) : a / b;                \
            out[2 * PROBE_NUMBERS + i] = sqrt_of(a);                                               \
            out[3 * PROBE_NUMBERS + i] = flushed ? 0 : product;                                    \
            out[4 * PROBE_NUMBERS + i] = product + c;                                              \
        }                                                                                          \
    }
ARITHMETIC(pretend_arithmetic_f32, float, fmaf, sqrtf, FLT_MIN)
ARITHMETIC(pretend_arithmetic_f64, double, fma, sqrt, DBL_MIN)

/* To the nearest number with 10 bits behind the point, or a multiple of 2^-24; ties to even. */
static uint32_t to_f16(float x) {
    enum { BIAS = 15, FRACTION = 10, SIGN = 0x8000, INFINITE = 0x7C00 };
    const float size = fabsf(x);
    const uint32_t sign = signbit(x) ? SIGN : 0;
    int exponent;
    if (size == 0)
        return sign;
    (void)frexpf(size, &exponent);
    exponent = exponent - 1 < 1 - BIAS ? 1 - BIAS : exponent - 1;
    float units = rintf(ldexpf(size, FRACTION - exponent)); /* 1 << FRACTION: a leading 1 */
    uint32_t bits = (uint32_t)units + ((uint32_t)(exponent + BIAS - 1) << FRACTION);
    return sign | (bits > INFINITE ? INFINITE : bits);
}

static float from_f16(uint32_t bits) {
    enum { BIAS = 15, FRACTION = 10, SIGN = 0x8000, EXPONENTS = 31 };
    const uint32_t exponent = bits >> FRACTION & EXPONENTS, fraction = bits & 0x3FF;
    const float size =
        exponent == EXPONENTS ? INFINITY
        : exponent ? ldexpf((float)(fraction | 1u << FRACTION), (int)exponent - BIAS - FRACTION)
                   : ldexpf((float)fraction, 1 - BIAS - FRACTION);
    return bits & SIGN ? -size : size;
}

void pretend_conversions_f16(const uint32_t *in, uint32_t *out) {
    for (int i = 0; i < PROBE_NUMBERS; i++) {
        float given, back;
        memcpy(&given, &in[i], sizeof given);
        out[i] = to_f16(given);
        back = from_f16(out[i]);
        memcpy(&out[PROBE_NUMBERS + i], &back, sizeof back);
    }
}
