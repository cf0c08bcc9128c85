/* x86.c - vdpbf16ps, vpdpbusd, and AMX's tdpbf16ps and tdpbssd. */
#include "unit.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAF = 7, AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
/* asm/prctl.h: the state of tiles is large, so Linux wants to be asked for it. */
enum { REQUEST_STATE = 0x1023, TILE_DATA = 18 };

static const char *no_dot(void) {
    return __builtin_cpu_supports("avx512bf16") ? NULL : "no AVX512-BF16";
}

static const char *no_vnni(void) {
    return __builtin_cpu_supports("avx512vnni") ? NULL : "no AVX512-VNNI";
}

static const char *no_tiles(unsigned kind) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(LEAF, 0, &a, &b, &c, &d) || (d & (AMX_TILE | kind)) != (AMX_TILE | kind))
        return "no AMX";
    return syscall(SYS_arch_prctl, REQUEST_STATE, TILE_DATA) ? "Linux does not give AMX's state"
                                                             : NULL;
}

static const char *no_tiles_bf16(void) {
    return no_tiles(AMX_BF16);
}

static const char *no_tiles_int8(void) {
    return no_tiles(AMX_INT8);
}

/* ---- vectors: a group of a row beside the same group of 16 columns ---- */

static uint32_t group_of(const uint64_t *codes, int at, int bits) {
    uint32_t group = 0;
    for (int i = 0; i < 32 / bits; i++)
        group |= (uint32_t)codes[at + i] << (i * bits);
    return group;
}

/* sums[n] += the group `a` times the group columns[n]. No variable holds a vector: with a fake
 * stack, GCC 12's address sanitizer puts such variables where their loads and stores trap (GCC bug
 * 110027). */
typedef void (*group_fn)(uint32_t sums[BLOCK_N], uint32_t a, const uint32_t columns[BLOCK_N]);

static void by_groups(block *x, group_fn group, int k, int bits) {
    for (int m = 0; m < BLOCK_M; m++) {
        uint32_t sums[BLOCK_N], columns[BLOCK_N];
        for (int n = 0; n < BLOCK_N; n++)
            sums[n] = (uint32_t)x->c[m][n];
        for (int at = 0; at < k; at += 32 / bits) {
            for (int n = 0; n < BLOCK_N; n++)
                columns[n] = group_of(x->b[n], at, bits);
            group(sums, group_of(x->a[m], at, bits), columns);
        }
        for (int n = 0; n < BLOCK_N; n++)
            x->d[m][n] = sums[n];
    }
}

/* The memory operands are whole arrays: what the instructions read and write. */
#define BY_GROUP(NAME, INSTRUCTION)                                                                \
    static void NAME(uint32_t sums[BLOCK_N], uint32_t a, const uint32_t columns[BLOCK_N]) {        \
        __asm__("vmovdqu32 %[sums], %%zmm0\n\t"                                                    \
                "vpbroadcastd %[a], %%zmm1\n\t" INSTRUCTION " %[columns], %%zmm1, %%zmm0\n\t"      \
                "vmovdqu32 %%zmm0, %[sums]\n\t"                                                    \
                "vzeroupper"                                                                       \
                : [sums] "+m"(*(uint32_t(*)[BLOCK_N])sums)                                         \
                : [a] "m"(a), [columns] "m"(*(const uint32_t(*)[BLOCK_N])columns)                  \
                : "xmm0", "xmm1");                                                                 \
    }

BY_GROUP(dot_group, "vdpbf16ps")
BY_GROUP(byte_group, "vpdpbusd")

enum { DOT_K = 8, BYTES_K = 16, TILE_BF16_K = 32, TILE_INT8_K = 64 };

static void run_dot(block *x) {
    by_groups(x, dot_group, DOT_K, 16);
}

static void run_bytes(block *x) {
    by_groups(x, byte_group, BYTES_K, 8);
}

/* ---- tiles: 16 rows of 64 bytes, B by groups of 4 bytes ---- */

typedef struct tiles {
    uint32_t a[BLOCK_M][16], b[16][BLOCK_N], c[BLOCK_M][BLOCK_N];
} tiles;

static void pack(const block *x, tiles *t, int bits) {
    int each = 32 / bits;
    for (int m = 0; m < BLOCK_M; m++)
        for (int g = 0; g < 16; g++) {
            t->a[m][g] = group_of(x->a[m], g * each, bits);
            t->b[g][m] = group_of(x->b[m], g * each, bits);
            t->c[m][g] = (uint32_t)x->c[m][g];
        }
}

static void unpack(block *x, const tiles *t) {
    for (int m = 0; m < BLOCK_M; m++)
        for (int n = 0; n < BLOCK_N; n++)
            x->d[m][n] = t->c[m][n];
}

__attribute__((target("amx-tile,amx-bf16,amx-int8"))) static void run_tiles(tiles *t, bool bf16) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int i = 0; i < 3; i++)
        shape.row_bytes[i] = 64, shape.rows[i] = 16;
    /* Compilers do not know that the intrinsics read and write memory. */
    __asm__ volatile("ldtilecfg %0" : : "m"(shape) : "memory");
    _tile_loadd(0, t->c, 64);
    _tile_loadd(1, t->a, 64);
    _tile_loadd(2, t->b, 64);
    if (bf16)
        _tile_dpbf16ps(0, 1, 2);
    else
        _tile_dpbssd(0, 1, 2);
    _tile_stored(0, t->c, 64);
    _tile_release();
    __asm__ volatile("" : : : "memory");
}

static void run_tiles_bf16(block *x) {
    static tiles t;
    pack(x, &t, 16);
    run_tiles(&t, true);
    unpack(x, &t);
}

static void run_tiles_int8(block *x) {
    static tiles t;
    pack(x, &t, 8);
    run_tiles(&t, false);
    unpack(x, &t);
}

const cpu_unit cpu_units[] = {
    {"vdpbf16ps", "avx512.vdpbf16ps", &binary_bf16, &binary_bf16, DOT_K, no_dot, run_dot},
    {"vpdpbusd", "avx512.vpdpbusd", &binary_u8, &binary_i8, BYTES_K, no_vnni, run_bytes},
    {"tdpbf16ps", "amx.bf16", &binary_bf16, &binary_bf16, TILE_BF16_K, no_tiles_bf16,
     run_tiles_bf16},
    {"tdpbssd", "amx.int8", &binary_i8, &binary_i8, TILE_INT8_K, no_tiles_int8, run_tiles_int8},
};
const int cpu_unit_count = sizeof cpu_units / sizeof *cpu_units;
#else
typedef int other_architecture; /* a file has at least one declaration */
#endif
