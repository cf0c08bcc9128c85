/* main.c - vdpbf16ps against its model, on 2^N lanes of all kinds of inputs in turn, under every
 * rounding mode and with both flags of flushing: the instruction must heed none of them.
 *
 *     vdpbf16ps [N]     N: 22
 *
 * Prints for each kind how many lanes there were, how many results are not the model's, and in what
 * share of a sample each of the other models has another result, so that it is seen what the inputs
 * could tell apart. Exits with 1 where a result is not the model's, or a model could not be told
 * from it; with 77 where the processor has no such instruction. */
#include <immintrin.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "inputs.h"

enum { LANES = 16, BLOCK = 4096, SAMPLED = 16, MODES = 16, SHOWN = 10 };

typedef struct tally {
    uint64_t lanes, wrong, sampled, other[MODEL_COUNT];
} tally;

/* The rounding mode, flush to zero (1 << 15) and denormals are zero (1 << 6), from four bits. */
static unsigned control_of(unsigned mode) {
    return 0x1f80u | (mode & 3) << 13 | (mode >> 2 & 1) << 15 | (mode >> 3 & 1) << 6;
}

__attribute__((target("avx512f,avx512bf16"))) static void
run_instruction(const lane *in, uint32_t *out, unsigned control) {
    static uint32_t sum[LANES], x[LANES], y[LANES];
    unsigned before = _mm_getcsr();
    for (int first = 0; first < BLOCK; first += LANES) {
        for (int i = 0; i < LANES; i++) {
            sum[i] = in[first + i].sum;
            x[i] = in[first + i].x;
            y[i] = in[first + i].y;
        }
        __m512 r = _mm512_loadu_ps(sum);
        __m512i a = _mm512_loadu_si512(x), b = _mm512_loadu_si512(y);
        __asm__ volatile("vldmxcsr %[control]\n\tvdpbf16ps %[b], %[a], %[r]\n\tvldmxcsr %[before]"
                         : [r] "+v"(r)
                         : [a] "v"(a), [b] "v"(b), [control] "m"(control), [before] "m"(before));
        _mm512_storeu_ps(out + first, r);
    }
}

static void show(input_kind kind, const lane *l, uint32_t got, uint32_t expected, unsigned mode) {
    printf("%s: sum %08" PRIx32 " x %08" PRIx32 " y %08" PRIx32 ": %08" PRIx32
           ", the model %08" PRIx32 " (mode %u)\n",
           input_names[kind], l->sum, l->x, l->y, got, expected, mode);
}

static void check_block(input_kind kind, uint64_t block, tally *t) {
    static lane in[BLOCK];
    static uint32_t out[BLOCK];
    unsigned mode = (unsigned)(block % MODES);
    for (unsigned i = 0; i < BLOCK; i++)
        in[i] = input_lane(kind, block * BLOCK + i);
    run_instruction(in, out, control_of(mode));
    for (unsigned i = 0; i < BLOCK; i++) {
        uint32_t expected = model_result(MODEL_PAIRS, &in[i]), got = canonical_bits(out[i]);
        if (got != expected && t->wrong++ < SHOWN)
            show(kind, &in[i], got, expected, mode);
        if (i % SAMPLED)
            continue;
        t->sampled++;
        for (int m = MODEL_PAIRS + 1; m < MODEL_COUNT; m++)
            t->other[m] += model_result((model)m, &in[i]) != expected;
    }
    t->lanes += BLOCK;
}

static int report(const tally *tallies) {
    tally all = {0};
    printf("%-10s %12s %6s   another result, of a sample, by\n%-10s %12s %6s   even first  flush "
           "before  flush stored  one rounding\n",
           "inputs", "lanes", "wrong", "", "", "");
    for (int k = 0; k <= INPUT_KIND_COUNT; k++) {
        const tally *t = k < INPUT_KIND_COUNT ? &tallies[k] : &all;
        printf("%-10s %12" PRIu64 " %6" PRIu64, k < INPUT_KIND_COUNT ? input_names[k] : "all",
               t->lanes, t->wrong);
        for (int m = MODEL_PAIRS + 1; m < MODEL_COUNT; m++) {
            printf(" %11.4f %%", 100.0 * (double)t->other[m] / (double)(t->sampled + !t->sampled));
            all.other[m] += k < INPUT_KIND_COUNT ? t->other[m] : 0;
        }
        printf("\n");
        if (k == INPUT_KIND_COUNT)
            break;
        all.lanes += t->lanes;
        all.wrong += t->wrong;
        all.sampled += t->sampled;
    }
    for (int m = MODEL_PAIRS + 1; m < MODEL_COUNT; m++)
        if (all.other[m] == 0) {
            printf("model %d cannot be told from the instruction's\n", m);
            return 1;
        }
    return all.wrong != 0;
}

int main(int count, char **words) {
    int log2_lanes = count > 1 ? atoi(words[1]) : 22;
    tally tallies[INPUT_KIND_COUNT] = {{0}};
    if (log2_lanes < 18 || log2_lanes > 40) {
        fprintf(stderr, "usage: vdpbf16ps [N]     on 2^N lanes, N from 18 to 40\n");
        return 2;
    }
    if (!__builtin_cpu_supports("avx512bf16")) {
        printf("skipped: this processor has no vdpbf16ps (avx512_bf16)\n");
        return 77;
    }
    uint64_t blocks = (UINT64_C(1) << log2_lanes) / BLOCK;
    for (uint64_t b = 0; b < blocks; b++)
        check_block((input_kind)(b % INPUT_KIND_COUNT), b / INPUT_KIND_COUNT,
                    &tallies[b % INPUT_KIND_COUNT]);
    return report(tallies);
}
