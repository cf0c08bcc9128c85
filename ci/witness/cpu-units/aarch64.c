/* aarch64.c - bfdot, with FPCR.EBF clear and set. */
#include "unit.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>

/* asm/hwcap.h. */
#define HAS_BF16 (UINT64_C(1) << 14)
#define HAS_EBF16 (UINT64_C(1) << 32)
#define EBF (UINT64_C(1) << 13)

enum { LANES = 4, DOT_K = 8 };

static const char *no_bfdot(void) {
    return getauxval(AT_HWCAP2) & HAS_BF16 ? NULL : "no FEAT_BF16";
}

static const char *no_extended(void) {
    return getauxval(AT_HWCAP2) & HAS_EBF16 ? NULL : "no FEAT_EBF16";
}

static uint32_t pair_of(const uint64_t *codes, int at) {
    return (uint32_t)codes[at] | (uint32_t)codes[at + 1] << 16;
}

/* One row beside four columns. */
static void dot_lanes(block *x, int m, int n, uint64_t control) {
    uint32_t sums[LANES], columns[LANES];
    for (int i = 0; i < LANES; i++)
        sums[i] = (uint32_t)x->c[m][n + i];
    uint32x4_t sum = vld1q_u32(sums);
    for (int at = 0; at < DOT_K; at += 2) {
        for (int i = 0; i < LANES; i++)
            columns[i] = pair_of(x->b[n + i], at);
        uint32x4_t a = vdupq_n_u32(pair_of(x->a[m], at)), b = vld1q_u32(columns);
        uint64_t before;
        __asm__ volatile(".arch_extension bf16\n\t"
                         "mrs %[before], fpcr\n\tmsr fpcr, %[control]\n\t"
                         "bfdot %[sum].4s, %[a].8h, %[b].8h\n\t"
                         "msr fpcr, %[before]"
                         : [sum] "+w"(sum), [before] "=&r"(before)
                         : [a] "w"(a), [b] "w"(b), [control] "r"(control));
    }
    vst1q_u32(sums, sum);
    for (int i = 0; i < LANES; i++)
        x->d[m][n + i] = sums[i];
}

static void run_all(block *x, uint64_t control) {
    for (int m = 0; m < BLOCK_M; m++)
        for (int n = 0; n < BLOCK_N; n += LANES)
            dot_lanes(x, m, n, control);
}

static void run_bfdot(block *x) {
    run_all(x, 0);
}

static void run_extended(block *x) {
    run_all(x, EBF);
}

const cpu_unit cpu_units[] = {
    {"bfdot", "bfdot", &binary_bf16, &binary_bf16, DOT_K, no_bfdot, run_bfdot},
    {"bfdot, FPCR.EBF", "bfdot.ebf", &binary_bf16, &binary_bf16, DOT_K, no_extended, run_extended},
};
const int cpu_unit_count = sizeof cpu_units / sizeof *cpu_units;
#else
typedef int other_architecture; /* a file has at least one declaration */
#endif
