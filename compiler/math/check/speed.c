/* speed.c - tsr-function-speed: how many elements a nanosecond the compiled specified functions do,
 * on one core, over arrays that stay in its first-level cache.
 *
 *   tsr-function-speed [--isa LEVEL] [FUNCTION...]
 *
 * Prints the rows of the table of speeds in docs/numerics.md. What is timed is the kernel's own loop
 * as the pipeline makes it, loads, stores and canonical NaNs included, without a launch around it.
 * `ceiling` is an exponential by hand: one reduction, a polynomial of degree 5, one scaling, nothing
 * for special values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "device/host_elf.h"
#include "target/interp/functions.h"
#include "tessera/compiler.h"
#include "tessera/kernel.h"

/* In and out together take 32 KiB. A sample is PASSES passes over them, of which the fastest of
 * TRIES counts; the median of SAMPLES is shown. */
enum { COUNT = 4096, PASSES = 200, TRIES = 3, SAMPLES = 31 };

static float in[COUNT] __attribute__((aligned(64)));
static float out[COUNT] __attribute__((aligned(64)));

typedef void (*pass_fn)(void *context);

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sample(pass_fn pass, void *context) {
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        uint64_t begin = now_ns();
        for (int i = 0; i < PASSES; i++)
            pass(context);
        double rate = (double)COUNT * PASSES / (double)(now_ns() - begin);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Elements a nanosecond: median and half the distance between the quartiles. */
typedef struct speed {
    double median, spread;
} speed;

static speed measure(pass_fn pass, void *context) {
    double rates[SAMPLES];
    sample(pass, context);
    for (int i = 0; i < SAMPLES; i++)
        rates[i] = sample(pass, context);
    qsort(rates, SAMPLES, sizeof *rates, ascending);
    return (speed){rates[SAMPLES / 2], (rates[SAMPLES * 3 / 4] - rates[SAMPLES / 4]) / 2};
}

/* ---- compiled functions ---- */

typedef struct loaded {
    host_elf *elf;
    tsr_phase_fn phase;
} loaded;

static bool emit_object(const char *source, const char *isa, text *object, status *st) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *opened = compiler_open_text("speed.tsr", source, false, &diagnostics);
    /* One cell is the whole array. */
    compiler_options options = {
        .profile = PROFILE_STRICT, .isa = isa, .threads = 1, .schedule = "P0.BLOCK=4096,P0.VECTOR=64"};
    ir_module *graph = NULL;
    if (compiler_error_count(opened) == 0)
        graph = compiler_graph(opened, compiler_kernel_at(opened, 0), NULL, &diagnostics);
    bool ok = graph ? compiler_emit(graph, NULL, 0, &options, "obj", object, st)
                    : status_set(st, STATUS_INTERNAL, "%.900s", diagnostics.data);
    if (graph)
        ir_module_free(graph);
    compiler_close(opened);
    text_release(&diagnostics);
    return ok;
}

static bool load(loaded *l, const char *function, const char *isa, status *st) {
    char source[256];
    text object;
    void *address = NULL;
    snprintf(source, sizeof source,
             "@kernel\ndef speed(x: Tensor[%d, f32]) -> Tensor[%d, f32]:\n    return %s(x)\n", COUNT,
             COUNT, function);
    text_init(&object);
    bool ok = emit_object(source, isa, &object, st);
    l->elf = ok ? host_elf_load(object.data, object.length, st) : NULL;
    if (l->elf)
        address = host_elf_symbol(l->elf, "speed_phase_0");
    memcpy(&l->phase, &address, sizeof address); /* ISO C knows no such cast */
    text_release(&object);
    return l->phase != NULL;
}

static void run_compiled(void *context) {
    const loaded *l = context;
    void *buffers[] = {in, out};
    tsr_kernel_frame frame = {.buffers = buffers};
    l->phase(&frame, 0, 1);
}

/* ---- the ceiling ---- */

#if defined(__x86_64__)
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t integers __attribute__((vector_size(64)));

#define FMA(a, b, c) ((a) * (b) + (c))

__attribute__((target("avx512f"), optimize("fp-contract=fast", "O3"))) static void
run_ceiling(void *context) {
    (void)context;
    const lanes magic = (lanes){} + 0x1.8p23f, one = (lanes){} + 1.0f;
    for (int i = 0; i < COUNT; i += 16) {
        lanes x = *(const lanes *)(in + i), n, r, p;
        lanes t = FMA(x, (lanes){} + 0x1.715476p0f, magic);
        n = t - magic;
        r = FMA(n, (lanes){} - 0x1.62e43p-1f, x);
        p = FMA((lanes){} + 0x1.1111p-7f, r, (lanes){} + 0x1.5555p-5f);
        p = FMA(p, r, (lanes){} + 0x1.5555p-3f);
        p = FMA(p, r, (lanes){} + 0.5f);
        p = FMA(p, r, one);
        p = FMA(p, r, one);
        *(lanes *)(out + i) = (lanes)((integers)p + ((integers)t << 23));
    }
}
#endif

int main(int argc, char **argv) {
    (void)argc, (void)argv;
    compiler_init();
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)i / COUNT * 20.0f - 10.0f + 0.001f;
    speed c = measure(run_ceiling, NULL);
    printf("ceiling %.2f +- %.2f\n", c.median, c.spread);
    for (int f = 0; f < MATH_FUNCTION_COUNT; f++) {
        status st = STATUS_INIT;
        loaded l;
        if (!load(&l, function_name((math_function)f), argc > 1 ? argv[1] : NULL, &st)) {
            printf("%s\n", st.message);
            return 1;
        }
        speed s = measure(run_compiled, &l);
        printf("%-10s %.2f +- %.2f\n", function_name((math_function)f), s.median, s.spread);
        host_elf_free(l.elf);
    }
    return 0;
}
