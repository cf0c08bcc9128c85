/* cuda_chain.c - see cuda_chain.h. The products are kernels of probes/chain.tsr, compiled for each
 * chip (cuda_chain_words.h); their sums are compared with the chains of this processor. */
#include "device/cuda/cuda_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "device/cuda/cuda_chain_words.h"
#include "device/shared/gpu_once.h"

enum { LEFT = CHAIN_M * CHAIN_K, RIGHT = CHAIN_K * CHAIN_N, SUMS = CHAIN_M * CHAIN_N };

typedef struct chain_factors {
    double wide_left[LEFT], wide_right[RIGHT];
    float left[LEFT], right[RIGHT];
} chain_factors;

typedef struct chain_sums {
    double wide[SUMS];
    float narrow[SUMS];
} chain_sums;

static const struct {
    const char *target, *with_chain;
    const char *symbols[2]; /* of f32, of f64 */
    int64_t workgroups[2];
    const void *code;
    size_t code_bytes;
} chips[] = {
#define CHIP(chip, first, second)                                                                  \
    {"hsaco/" #chip,                                                                               \
     "hsaco/" #chip "+chain",                                                                      \
     {"chain_" #chip "_phase_0", "chain_" #chip "_phase_1"},                                       \
     {first, second},                                                                              \
     chain_##chip,                                                                                 \
     sizeof chain_##chip},
    CHAIN_CHIPS
#undef CHIP
};
enum { CHIP_COUNT = sizeof chips / sizeof chips[0], UNASKED = 0, AGREES, DIFFERS };

/* Rows take turns: products of like size, whose order and single rounding shows; products that
 * cancel; far apart; around the least normal number, where a unit might flush; subnormal factors;
 * and halfway cases with zeros of both signs. `least` is the exponent of the least subnormal
 * number. */
static double factor(uint32_t row, uint64_t any, int least) {
    const double sign = any & 1 ? -1 : 1, size = 1 + (double)(any >> 12) * 0x1p-52;
    const int far = (int)(any >> 1 & 63) - 32;
    switch (row % 6) {
    case 0:
        return sign * size;
    case 1:
        return sign * ldexp(1 + (double)(any >> 40 & 7), -(int)(any >> 8 & 15));
    case 2:
        return sign * ldexp(size, far);
    case 3:
        return sign * ldexp(size, least / 2 + (int)(any >> 1 & 15) - 4);
    case 4:
        return sign * ldexp(size, least + (int)(any >> 1 & 15));
    default:
        return any & 2 ? sign * 0.0 : sign * (1 + ldexp(1, least < -200 ? -27 : -12));
    }
}

static void fill(chain_factors *f) {
    enum { LEAST_F32 = -149, LEAST_F64 = -1074 };
    uint64_t state = 1;
    for (uint32_t i = 0; i < LEFT; i++) {
        const uint64_t any = splitmix64(&state);
        f->left[i] = (float)factor(i / CHAIN_K, any, LEAST_F32);
        f->wide_left[i] = factor(i / CHAIN_K, any, LEAST_F64);
    }
    for (uint32_t i = 0; i < RIGHT; i++) {
        const uint64_t any = splitmix64(&state);
        f->right[i] = (float)factor(i % CHAIN_N, any, LEAST_F32);
        f->wide_right[i] = factor(i % CHAIN_N, any, LEAST_F64);
    }
}

static void add_up(const chain_factors *f, chain_sums *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        float narrow = 0;
        double wide = 0;
        for (uint32_t k = 0; k < CHAIN_K; k++) {
            const uint32_t x = i / CHAIN_N * CHAIN_K + k, y = k * CHAIN_N + i % CHAIN_N;
            narrow = fmaf(f->left[x], f->right[y], narrow);
            wide = fma(f->wide_left[x], f->wide_right[y], wide);
        }
        sums->narrow[i] = narrow;
        sums->wide[i] = wide;
    }
}

static bool multiply(cuda_device *c, int chip, const chain_factors *f, chain_sums *got) {
    const device_source source = {.bytes = chips[chip].code,
                                  .size_bytes = chips[chip].code_bytes,
                                  .target = chips[chip].target,
                                  .label = "a probe",
                                  .symbols = chips[chip].symbols,
                                  .threads = CHAIN_THREADS,
                                  .phase_count = 2};
    device_image *image;
    status why = STATUS_INIT;
    if (!cuda_load(&c->gpu.soft.base, &source, &image, &why))
        return false;
    const gpu_once once = {.image = image,
                           .workgroups = chips[chip].workgroups,
                           .sent = f,
                           .got = got,
                           .sent_bytes = sizeof *f,
                           .got_bytes = sizeof *got,
                           .at = {offsetof(chain_factors, left), offsetof(chain_factors, right),
                                  offsetof(chain_factors, wide_left),
                                  offsetof(chain_factors, wide_right), offsetof(chain_sums, narrow),
                                  offsetof(chain_sums, wide)},
                           .inputs = 4,
                           .outputs = 2,
                           .unused = 2}; /* a workspace, and what is prepared */
    bool ok = gpu_run_once(&c->gpu, &once, &why);
    cuda_unload(&c->gpu.soft.base, image);
    return ok;
}

static bool agrees(cuda_device *c, int chip) {
    chain_factors *f = base_calloc(1, sizeof *f);
    chain_sums *sums = base_calloc(2, sizeof *sums);
    fill(f);
    add_up(f, &sums[0]);
    bool same = multiply(c, chip, f, &sums[1]) && memcmp(&sums[0], &sums[1], sizeof *sums) == 0;
    free(sums);
    free(f);
    return same;
}

void cuda_ask_chain(cuda_device *c, atomic_int *known) {
    device_info *info = &c->gpu.soft.base.info;
    int chip = 0;
    while (chip < CHIP_COUNT && info->targets[0] && strcmp(info->targets[0], chips[chip].target))
        chip++;
    if (chip == CHIP_COUNT || !info->targets[0])
        return;
    if (atomic_load(known) == UNASKED)
        atomic_store(known, agrees(c, chip) ? AGREES : DIFFERS);
    if (atomic_load(known) != AGREES)
        return;
    memmove(&info->targets[1], &info->targets[0],
            (DEVICE_TARGETS_MAX - 1) * sizeof info->targets[0]);
    info->targets[0] = chips[chip].with_chain;
    info->isa = strchr(chips[chip].with_chain, '/') + 1;
}
