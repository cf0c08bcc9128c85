/* spirv_probe.c - see spirv_probe.h. */
#include "device/shared/spirv_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/splitmix64.h"
#include "device/shared/gpu_once.h"
#include "device/shared/spirv_probe_words.h"

enum { NUMBERS = 64, ARITHMETIC_RESULTS = 5, CONVERSION_RESULTS = 2 };

/* ---- what is computed ---- */

static const char *const operations[ARITHMETIC_RESULTS] = {
    "a fused multiply-add", "a division", "a square root", "a product", "a product and then a sum"};
static const char *const conversions[CONVERSION_RESULTS] = {"a conversion to f16",
                                                            "a conversion from f16"};

/* Three numbers each: where a fused product differs from two roundings, results that are subnormal
 * or nearly so, quotients and roots that end near the middle between two numbers; then any. */
static const double hard[][3] = {
    {1 + 0x1p-12, 1 + 0x1p-12, -(1 + 0x1p-11)},
    {1 + 0x1p-27, 1 + 0x1p-27, -(1 + 0x1p-26)},
    {0x1p-140, 1, 0x1p-141},
    {0x1p-1060, 1, 0x1p-1061},
    {0x1.8p-75, 0x1p-70, 0},
    {0x1p-126, 3, -0x1p-126},
    {0x1p-149, 2, 0x1p-149},
    {1, 3, 1},
    {0x1.fffffep0, 0x1.fffffcp0, -1},
    {0x1.000002p0, 0x1.fffffep-1, -1},
    {2, 7, 0.1},
    {0x1p-1022, 3, -0x1p-1022},
};
enum { HARD = sizeof hard / sizeof hard[0] };

static double given(uint32_t i, uint32_t which, uint64_t *state) {
    double any = ldexp((double)(splitmix64(state) >> 11), -52 - (int)(i % 7));
    return i < HARD ? hard[i][which] : any;
}

/* The same lines for both widths. */
#define ARITHMETIC(name, type, fma_of, sqrt_of)                                                    \
    static void name(void *in_out, void *expected_out) {                                           \
        type *in = in_out, *out = expected_out;                                                    \
        uint64_t state = 1;                                                                        \
        for (uint32_t i = 0; i < NUMBERS; i++) {                                                   \
            for (uint32_t k = 0; k < 3; k++)                                                       \
                in[k * NUMBERS + i] = (type)given(i, k, &state);                                   \
            const type a = in[i], b = in[NUMBERS + i], c = in[2 * NUMBERS + i];                    \
            const type product = a * b;                                                            \
            const type results[] = {fma_of(a, b, c), a / b, sqrt_of(a), product, product + c};     \
            for (uint32_t k = 0; k < ARITHMETIC_RESULTS; k++)                                      \
                out[k * NUMBERS + i] = results[k];                                                 \
        }                                                                                          \
    }
ARITHMETIC(arithmetic_f32, float, fmaf, sqrtf)
ARITHMETIC(arithmetic_f64, double, fma, sqrt)

static void conversions_f16(void *in_out, void *expected_out) {
    static const float edges[] = {0x1p-25f, 0x1.8p-25f, 0x1p-24f, 0x1.004p0f,  0x1.00cp0f,
                                  65519,    65520,      -0.0f,    0x1.ff8p-15f};
    float *in = in_out, back;
    uint32_t *out = expected_out;
    uint64_t state = 2;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        in[i] = (float)given(HARD + i, 0, &state) * (i % 2 ? 1 : -0x1p-15f);
        if (i < sizeof edges / sizeof *edges)
            in[i] = edges[i];
        out[i] = f32_to_f16(in[i]);
        back = f16_to_f32((uint16_t)out[i]);
        memcpy(&out[NUMBERS + i], &back, sizeof back);
    }
}

static const struct {
    const char *symbol, *of;
    const void *code;
    size_t code_bytes, number_bytes, inputs;
    void (*expect)(void *in_out, void *expected_out);
    uint32_t results;
    const char *const *names;
} probes[SPIRV_PROBE_COUNT] = {
    [SPIRV_PROBE_F32] = {"probe_arithmetic", "32-bit floats", spirv_f32, sizeof spirv_f32, 4, 3,
                         arithmetic_f32, ARITHMETIC_RESULTS, operations},
    [SPIRV_PROBE_F64] = {"probe_arithmetic", "64-bit floats", spirv_f64, sizeof spirv_f64, 8, 3,
                         arithmetic_f64, ARITHMETIC_RESULTS, operations},
    [SPIRV_PROBE_F16] = {"probe_conversions", "16-bit floats", spirv_f16, sizeof spirv_f16, 4, 1,
                         conversions_f16, CONVERSION_RESULTS, conversions},
};

/* ---- running it ---- */

static bool compute(spirv_target *t, gpu_device *g, spirv_probe_kind kind, void *sent, void *got,
                    status *st) {
    static const int64_t one = 1;
    const size_t bytes = NUMBERS * probes[kind].number_bytes;
    const device_source source = {.bytes = probes[kind].code,
                                  .size_bytes = probes[kind].code_bytes,
                                  .target = "spirv/spirv-opencl",
                                  .label = "a probe",
                                  .symbols = &probes[kind].symbol,
                                  .phase_count = 1};
    device_image *image;
    if (!spirv_load_code(t, g, &source, &image, st))
        return false;
    const gpu_once once = {.image = image,
                           .workgroups = &one,
                           .sent = sent,
                           .got = got,
                           .sent_bytes = bytes * probes[kind].inputs,
                           .got_bytes = bytes * probes[kind].results,
                           .inputs = 1,
                           .outputs = 1};
    bool ok = gpu_run_once(g, &once, st);
    spirv_unload(t, image);
    return ok;
}

static bool is_nan_of(const void *number, size_t bytes) {
    float narrow;
    double wide;
    memcpy(&narrow, number, sizeof narrow);
    if (bytes == sizeof narrow)
        return isnan(narrow);
    memcpy(&wide, number, sizeof wide);
    return isnan(wide);
}

/* Compares bits; any NaN will do for the root of something negative: strict code writes its own. */
static bool compare(const gpu_device *g, spirv_probe_kind kind, const unsigned char *expected,
                    const unsigned char *got, status *st) {
    const size_t bytes = probes[kind].number_bytes;
    for (uint32_t i = 0; i < probes[kind].results * NUMBERS; i++) {
        const unsigned char *e = expected + i * bytes, *o = got + i * bytes;
        if (memcmp(e, o, bytes) != 0 && !(is_nan_of(e, bytes) && is_nan_of(o, bytes)))
            return status_set(st, STATUS_UNAVAILABLE,
                              "device '%s' computes %s of %s (number %u of its probe) with other "
                              "bits than IEEE 754 says",
                              g->soft.base.info.name, probes[kind].names[i / NUMBERS],
                              probes[kind].of, i % NUMBERS);
    }
    return true;
}

/* ---- once a process ---- */

static bool try(spirv_target *t, gpu_device *g, spirv_probe_kind kind, status *st) {
    double sent[3 * NUMBERS], expected[ARITHMETIC_RESULTS * NUMBERS],
        got[ARITHMETIC_RESULTS * NUMBERS];
    probes[kind].expect(sent, expected);
    if (!compute(t, g, kind, sent, got, st))
        return status_context(st, "device '%s' does not compute with %s", g->soft.base.info.name,
                              probes[kind].of);
    (void)compare(g, kind, (unsigned char *)expected, (unsigned char *)got, &t->findings[kind]);
    t->tried[kind] = true;
    return true;
}

bool spirv_probe(spirv_target *t, gpu_device *g, spirv_probe_kind kind, status *st) {
    pthread_mutex_lock(&t->mutex);
    pthread_mutex_lock(&g->own_mutex);
    bool tried = t->tried[kind] || try(t, g, kind, st);
    pthread_mutex_unlock(&g->own_mutex);
    pthread_mutex_unlock(&t->mutex);
    if (!tried)
        return false;
    const status *found = &t->findings[kind];
    return found->code == STATUS_OK || status_set(st, found->code, "%s", found->message);
}
