/* speed.c - tsr-function-speed: how many elements a nanosecond the compiled specified functions do
 * on one core, over arrays that stay in its first-level cache.
 *
 *   tsr-function-speed [FUNCTION...]
 *
 * Prints the rows of the table of speeds in docs/numerics.md. What is timed is the kernel's own
 * loop as the pipeline makes it for this machine, loads, stores and canonical NaNs included,
 * without a launch around it. The ceiling is an exponential by hand: one constant to reduce with, a
 * polynomial of degree 5, one scaling, and nothing for special values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/text.h"
#include "device/host/host_elf.h"
#include "target/interp/functions.h"
#include "tessera/compiler.h"
#include "tessera/kernel.h"

/* Input and output take 32 KiB. A sample is the fastest of TRIES runs of PASSES passes. */
enum { COUNT = 4096, PASSES = 200, TRIES = 3, SAMPLES = 31 };

static float in[COUNT] __attribute__((aligned(64)));
static float out[COUNT] __attribute__((aligned(64)));

typedef void (*pass_fn)(const void *context);

/* Elements a nanosecond: the median, and half the distance between the quartiles. */
typedef struct speed {
    double median, spread;
} speed;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sample(pass_fn pass, const void *context) {
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        double begin = now_ns();
        for (int i = 0; i < PASSES; i++)
            pass(context);
        double rate = COUNT * (double)PASSES / (now_ns() - begin);
        best = rate > best ? rate : best;
    }
    return best;
}

static speed measure(pass_fn pass, const void *context) {
    double rates[SAMPLES];
    sample(pass, context);
    for (int i = 0; i < SAMPLES; i++)
        rates[i] = sample(pass, context);
    qsort(rates, SAMPLES, sizeof *rates, ascending);
    return (speed){rates[SAMPLES / 2], (rates[SAMPLES * 3 / 4] - rates[SAMPLES / 4]) / 2};
}

/* ---- compiled functions ---- */

/* One workgroup is the whole array. */
static bool emit_object(math_set set, math_function function, text *object, status *st) {
    char source[256];
    text diagnostics;
    compiler_options options = {
        .profile = PROFILE_STRICT, .threads = 1, .schedule = "P0.BLOCK=4096"};
    snprintf(source, sizeof source,
             "%s@kernel\ndef speed(x: Tensor[%d, f32]) -> Tensor[%d, f32]:\n    return %s(x)\n",
             set == MATH_CORRECT ? "@math(\"correct\")\n" : "", COUNT, COUNT,
             function_name(function));
    text_init(&diagnostics);
    compiler_source *opened = compiler_open_text("speed.tsr", source, false, &diagnostics);
    compiler_instance *instance = NULL;
    if (compiler_error_count(opened) == 0)
        instance =
            compiler_instance_open(opened, compiler_kernel_at(opened, 0), NULL, &diagnostics);
    bool ok = instance ? compiler_emit(instance, &options, "obj", object, st)
                       : status_set(st, STATUS_INTERNAL, "%.900s", diagnostics.data);
    compiler_instance_free(instance);
    compiler_close(opened);
    text_release(&diagnostics);
    return ok;
}

static void run_compiled(const void *context) {
    const tsr_phase_fn *phase = context;
    void *buffers[] = {in, out};
    tsr_kernel_frame frame = {.buffers = buffers};
    (*phase)(&frame, 0, 1);
}

static bool measure_function(math_set set, math_function function, speed *result, status *st) {
    text object;
    text_init(&object);
    bool ok = emit_object(set, function, &object, st);
    host_elf *elf = ok ? host_elf_load(object.data, object.length, st) : NULL;
    void *address = elf ? host_elf_symbol(elf, "speed_phase_0") : NULL;
    tsr_phase_fn phase;
    memcpy(&phase, &address, sizeof address); /* ISO C knows no such cast */
    if (address)
        *result = measure(run_compiled, &phase);
    if (elf)
        host_elf_free(elf);
    text_release(&object);
    return address != NULL;
}

/* ---- the ceiling ---- */

#if defined(__x86_64__)
enum { LANES = 16, CHAINS = 4 };

__attribute__((target("avx512f"))) static void run_ceiling(const void *context) {
    static const float c[] = {0x1.1111p-7f, 0x1.5555p-5f, 0x1.5555p-3f, 0.5f, 1.0f, 1.0f};
    const __m512 magic = _mm512_set1_ps(0x1.8p23f), log2_e = _mm512_set1_ps(0x1.715476p0f),
                 ln2 = _mm512_set1_ps(0x1.62e43p-1f);
    (void)context;
    for (int i = 0; i < COUNT; i += CHAINS * LANES) {
        _Pragma("GCC unroll 4") for (int k = 0; k < CHAINS; k++) {
            __m512 x = _mm512_load_ps(in + i + k * LANES);
            __m512 t = _mm512_fmadd_ps(x, log2_e, magic);
            __m512 r = _mm512_fnmadd_ps(_mm512_sub_ps(t, magic), ln2, x);
            __m512 p = _mm512_set1_ps(c[0]);
            _Pragma("GCC unroll 5") for (int d = 1; d < 6; d++) p =
                _mm512_fmadd_ps(p, r, _mm512_set1_ps(c[d]));
            __m512i scale = _mm512_slli_epi32(_mm512_castps_si512(t), 23);
            p = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), scale));
            _mm512_store_ps(out + i + k * LANES, p);
        }
    }
}

static bool measure_ceiling(speed *result) {
    if (!__builtin_cpu_supports("avx512f"))
        return false;
    *result = measure(run_ceiling, NULL);
    return true;
}
#else
static bool measure_ceiling(speed *result) {
    (void)result;
    return false;
}
#endif

static void print_row(const char *name, speed s, speed exponential, const speed *correct) {
    printf("| `%s` | %.2f +- %.2f | %.2f |", name, s.median, s.spread,
           exponential.median / s.median);
    if (correct)
        printf(" %.2f +- %.2f | %.1f |\n", correct->median, correct->spread,
               s.median / correct->median);
    else
        printf(" | |\n");
    fflush(stdout);
}

static bool wanted(math_function function, int count, char **names) {
    bool any = count == 0;
    for (int i = 0; i < count; i++)
        any |= strcmp(names[i], function_name(function)) == 0;
    return any;
}

int main(int argc, char **argv) {
    status st = STATUS_INIT;
    speed exponential, s, correct;
    bool ok = true;
    compiler_init();
    for (int i = 0; i < COUNT; i++)
        in[i] = 0.001f + 20.0f * (float)i / COUNT;
    ok = measure_function(MATH_SPECIFIED, MATH_EXP, &exponential, &st);
    if (ok)
        printf(
            "| function | elements/ns | time, of exp's | correctly rounded, elements/ns | time, of "
            "the specified one's |\n|---|---|---|---|---|\n");
    for (int f = 0; ok && f < MATH_FUNCTION_COUNT; f++) {
        if (!wanted((math_function)f, argc - 1, argv + 1))
            continue;
        ok = measure_function(MATH_SPECIFIED, (math_function)f, &s, &st) &&
             measure_function(MATH_CORRECT, (math_function)f, &correct, &st);
        if (ok)
            print_row(function_name((math_function)f), s, exponential, &correct);
    }
    if (ok && measure_ceiling(&s))
        print_row("ceiling", s, exponential, NULL);
    if (!ok)
        fprintf(stderr, "tsr-function-speed: %s\n", st.message);
    return ok ? 0 : 1;
}
