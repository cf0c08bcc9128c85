/* vulkan_probe.c - tries a device's arithmetic against this processor's, on numbers where devices
 * are known to differ: subnormal ones, halfway cases, products that cancel. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "device/vulkan/vulkan.h"
#include "device/vulkan/vulkan_probe_words.h"

#include <stdlib.h>

/* Inputs of each case, and its results, in the order of ci/vulkan-probe. */
enum { A, B, C, INPUTS };
enum { FMA, DIVIDE, ROOT, SUM, PRODUCT, DIFFERENCE, LESS, NARROW, TURNS, RESULTS };
/* Turns that the first case loops. */
enum { PROBE_TURNS = 70000 };
enum { WORKGROUPS = 32, CASES = WORKGROUPS * 64, ELEMENT_BYTES = 8 };

/* ---- numbers ---- */

typedef struct format {
    uint32_t fraction_bits, exponent_bits;
} format;

/* Draws any exponent or one near 1; often with few bits set, or with all. */
static uint64_t draw_number(uint64_t *state, const format *f) {
    uint64_t random = splitmix64(state), most = ((uint64_t)1 << f->exponent_bits) - 1,
             exponent = most / 2 + random % 8 - 4;
    uint64_t fraction = splitmix64(state) >> (64 - f->fraction_bits);
    if (random >> 8 & 1)
        exponent = (random >> 16) % most;
    if ((random >> 9 & 7) == 0)
        exponent = (random >> 16) % (f->fraction_bits + 8); /* subnormal, or about to be */
    if ((random >> 12 & 3) == 0)
        fraction &= ~(uint64_t)0 << (random >> 32) % f->fraction_bits;
    return (random >> 63) << (f->fraction_bits + f->exponent_bits) | exponent << f->fraction_bits |
           fraction;
}

static void draw_f32(float *x, uint64_t *state) {
    const format f = {23, 8};
    for (int i = 0; i < CASES * INPUTS; i++) {
        uint32_t bits = (uint32_t)draw_number(state, &f);
        memcpy(&x[i], &bits, sizeof bits);
    }
    for (int i = 0; i < CASES; i += 4) /* a * b + c is what the product was rounded by */
        x[i * INPUTS + C] = -(x[i * INPUTS + A] * x[i * INPUTS + B]);
}

static void draw_f64(double *x, uint64_t *state) {
    const format f = {52, 11};
    for (int i = 0; i < CASES * INPUTS; i++) {
        uint64_t bits = draw_number(state, &f);
        memcpy(&x[i], &bits, sizeof bits);
    }
    for (int i = 0; i < CASES; i += 4)
        x[i * INPUTS + C] = -(x[i * INPUTS + A] * x[i * INPUTS + B]);
    for (int i = 1; i < CASES; i += 4) /* near where f32 become subnormal */
        x[i * INPUTS + A] =
            ldexp(1 + fabs(x[i * INPUTS + A] - trunc(x[i * INPUTS + A])), -120 - i % 40);
}

static bool same(const void *x, const void *y, size_t bytes, bool both_nan) {
    return both_nan || memcmp(x, y, bytes) == 0;
}

/* Bits of `wrong`: results that differ in some case. */
static uint32_t judge_f32(const float *x, const float *got) {
    uint32_t wrong = 0;
    for (int i = 0; i < CASES; i++, x += INPUTS, got += RESULTS) {
        const float right[RESULTS] = {fmaf(x[A], x[B], x[C]),
                                      x[A] / x[B],
                                      sqrtf(x[A]),
                                      x[A] + x[B],
                                      x[A] * x[B],
                                      x[A] - x[B],
                                      x[A] < x[B] ? x[A] : x[B],
                                      x[A],
                                      i ? 0.0F : (float)PROBE_TURNS};
        for (int r = 0; r < RESULTS; r++)
            if (!same(&right[r], &got[r], sizeof *got, isnan(right[r]) && isnan(got[r])))
                wrong |= 1u << r;
    }
    return wrong;
}

static uint32_t judge_f64(const double *x, const double *got) {
    uint32_t wrong = 0;
    for (int i = 0; i < CASES; i++, x += INPUTS, got += RESULTS) {
        const double right[RESULTS] = {fma(x[A], x[B], x[C]),
                                       x[A] / x[B],
                                       sqrt(x[A]),
                                       x[A] + x[B],
                                       x[A] * x[B],
                                       x[A] - x[B],
                                       x[A] < x[B] ? x[A] : x[B],
                                       (double)(float)x[A],
                                       i ? 0.0 : PROBE_TURNS};
        for (int r = 0; r < RESULTS; r++)
            if (!same(&right[r], &got[r], sizeof *got, isnan(right[r]) && isnan(got[r])))
                wrong |= 1u << r;
    }
    return wrong;
}

/* ---- on the device ---- */

/* Parameters: two blocks, two sides of the host and the size of an element. */
static bool run(vulkan_device *v, device_image *image, const gpu_block *in, const gpu_block *out,
                const void *inputs, void *results, size_t element, status *st) {
    const uint64_t addresses[] = {in->address, out->address};
    const int64_t workgroups = WORKGROUPS;
    const gpu_launch l = {
        .image = image, .addresses = addresses, .address_count = 2, .workgroups = &workgroups};
    gpu_queue *q = &v->gpu.own;
    const gpu_place to = {.block = in}, from = {.block = out};
    return vulkan_copy(q, to, (gpu_place){.host = (unsigned char *)(uintptr_t)inputs},
                       CASES * INPUTS * element, st) &&
           vulkan_launch(q, &l, st) &&
           vulkan_copy(q, (gpu_place){.host = results}, from, CASES * RESULTS * element, st);
}

/* Parameters: one probe: its code, what goes in and what comes out. */
static bool try_words(vulkan_device *v, const uint32_t *words, size_t bytes, const void *inputs,
                      void *results, size_t element, status *st) {
    static const char *const symbols[] = {"probe"};
    const device_source source = {words, bytes, VULKAN_TARGET, "probe", symbols,
                                  1,     64,    NULL,          NULL,    NULL};
    device_image *image = NULL;
    gpu_block in = {0}, out = {0};
    bool ok = vulkan_load(&v->gpu.soft.base, &source, &image, st);
    if (!ok)
        return false;
    ok = vulkan_alloc(&v->gpu, CASES * INPUTS * ELEMENT_BYTES, DEVICE_MEMORY_DEVICE, &in, st) &&
         vulkan_alloc(&v->gpu, CASES * RESULTS * ELEMENT_BYTES, DEVICE_MEMORY_DEVICE, &out, st) &&
         run(v, image, &in, &out, inputs, results, element, st);
    if (in.size_bytes)
        vulkan_free(&v->gpu, &in);
    if (out.size_bytes)
        vulkan_free(&v->gpu, &out);
    vulkan_unload(&v->gpu.soft.base, image);
    return ok;
}

static VkBool32 right(uint32_t wrong, int result) {
    return (wrong >> result & 1) == 0;
}

static void note_f32(vulkan_device *v, uint32_t wrong) {
    v->traits[VULKAN_FMA_F32] = right(wrong, FMA);
    v->traits[VULKAN_DIVIDE_F32] = right(wrong, DIVIDE);
    v->traits[VULKAN_ROOT_F32] = right(wrong, ROOT);
    v->traits[VULKAN_SUM_F32] = right(wrong, SUM) && right(wrong, PRODUCT) &&
                                right(wrong, DIFFERENCE) && right(wrong, LESS);
    v->traits[VULKAN_LONG_LOOPS] = right(wrong, TURNS);
}

static void note_f64(vulkan_device *v, uint32_t wrong) {
    v->traits[VULKAN_FMA_F64] = right(wrong, FMA);
    v->traits[VULKAN_DIVIDE_F64] = right(wrong, DIVIDE);
    v->traits[VULKAN_ROOT_F64] = right(wrong, ROOT);
    v->traits[VULKAN_SUM_F64] = right(wrong, SUM) && right(wrong, PRODUCT) &&
                                right(wrong, DIFFERENCE) && right(wrong, LESS);
    v->traits[VULKAN_NARROW_F64] = right(wrong, NARROW);
}

bool vulkan_probe(vulkan_device *v, status *st) {
    uint64_t state = 1;
    void *inputs = base_malloc(CASES * INPUTS * ELEMENT_BYTES),
         *results = base_calloc(CASES * RESULTS, ELEMENT_BYTES);
    draw_f32(inputs, &state);
    bool ok =
        try_words(v, vulkan_probe_f32, sizeof vulkan_probe_f32, inputs, results, sizeof(float), st);
    if (ok)
        note_f32(v, judge_f32(inputs, results));
    if (ok && v->adapter->features.core.features.shaderFloat64) {
        draw_f64(inputs, &state);
        ok = try_words(v, vulkan_probe_f64, sizeof vulkan_probe_f64, inputs, results,
                       sizeof(double), st);
        if (ok)
            note_f64(v, judge_f64(inputs, results));
    }
    free(inputs);
    free(results);
    v->judged = ok;
    return ok;
}
