/* ceiling_kernels.c - one function for each unit and vector width. GNU target attributes: the file
 * is compiled for the base ISA, and the caller chooses by what the host has. */
#include "measure/ceiling_kernels.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Keeps the accumulators alive without storing them. */
#define KEEP(value) __asm__ volatile("" : : "x"(value))
#define KEEP_WIDE(value) __asm__ volatile("" : : "v"(value))
/* Hides where the value came from, so that a chain cannot be folded. */
#define HIDE(value) __asm__ volatile("" : "+v"(value))
/* Equal chains would be merged into one. */
#define HIDE_CHAIN(n) HIDE(c##n);

/* Twelve independent chains cover latency 4 on 2 units with room, and leave registers in a file
 * of 16. */
#define CHAINS(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
enum { CHAIN_COUNT = 12, UNROLL = 4 };

#define COMPUTE(NAME, TARGET, TYPE, ZERO, STEP, KEEPER, OPERATIONS)                                \
    __attribute__((target(TARGET))) static double NAME(uint64_t rounds) {                          \
        TYPE a = ZERO, b = ZERO;                                                                   \
        __asm__ volatile("" : "+v"(a), "+v"(b));                                                   \
        TYPE c0 = a, c1 = a, c2 = a, c3 = a, c4 = a, c5 = a, c6 = a, c7 = a, c8 = a, c9 = a,       \
             c10 = a, c11 = a;                                                                     \
        CHAINS(HIDE_CHAIN)                                                                         \
        for (uint64_t round = 0; round < rounds; round++) {                                        \
            _Pragma("GCC unroll 4") for (int i = 0; i < UNROLL; i++) {                             \
                CHAINS(STEP)                                                                       \
            }                                                                                      \
        }                                                                                          \
        KEEPER(c0);                                                                                \
        KEEPER(c1);                                                                                \
        KEEPER(c2);                                                                                \
        KEEPER(c3);                                                                                \
        KEEPER(c4);                                                                                \
        KEEPER(c5);                                                                                \
        KEEPER(c6);                                                                                \
        KEEPER(c7);                                                                                \
        KEEPER(c8);                                                                                \
        KEEPER(c9);                                                                                \
        KEEPER(c10);                                                                               \
        KEEPER(c11);                                                                               \
        return (double)rounds * UNROLL * CHAIN_COUNT * (OPERATIONS);                               \
    }

#define F32_512(n) c##n = _mm512_fmadd_ps(c##n, a, b);
#define F64_512(n) c##n = _mm512_fmadd_pd(c##n, a, b);
#define F32_256(n) c##n = _mm256_fmadd_ps(c##n, a, b);
#define F64_256(n) c##n = _mm256_fmadd_pd(c##n, a, b);
#define F32_128(n) c##n = _mm_fmadd_ps(c##n, a, b);
#define F64_128(n) c##n = _mm_fmadd_pd(c##n, a, b);
#define VNNI_512(n) c##n = _mm512_dpbusd_epi32(c##n, a, b);
#define BF16_512(n) c##n = _mm512_dpbf16_ps(c##n, (__m512bh)a, (__m512bh)b);
/* Widening multiply-add of 16-bit pairs, then a 32-bit add: exact, unlike the saturating 8-bit
 * form. */
#define PAIRS_256(n)                                                                               \
    c##n = _mm256_add_epi32(c##n, _mm256_madd_epi16(a, b));                                        \
    HIDE(a);
#define PAIRS_128(n)                                                                               \
    c##n = _mm_add_epi32(c##n, _mm_madd_epi16(a, b));                                              \
    HIDE(a);

COMPUTE(f32_512, "avx512f,fma", __m512, _mm512_setzero_ps(), F32_512, KEEP_WIDE, 32)
COMPUTE(f64_512, "avx512f,fma", __m512d, _mm512_setzero_pd(), F64_512, KEEP_WIDE, 16)
COMPUTE(f32_256, "avx2,fma", __m256, _mm256_setzero_ps(), F32_256, KEEP, 16)
COMPUTE(f64_256, "avx2,fma", __m256d, _mm256_setzero_pd(), F64_256, KEEP, 8)
COMPUTE(f32_128, "avx,fma", __m128, _mm_setzero_ps(), F32_128, KEEP, 8)
COMPUTE(f64_128, "avx,fma", __m128d, _mm_setzero_pd(), F64_128, KEEP, 4)
COMPUTE(i8_vnni, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), VNNI_512, KEEP_WIDE, 128)
COMPUTE(i8_256, "avx2", __m256i, _mm256_setzero_si256(), PAIRS_256, KEEP, 32)
COMPUTE(i8_128, "sse4.1", __m128i, _mm_setzero_si128(), PAIRS_128, KEEP, 16)
COMPUTE(bf16_512, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(), BF16_512, KEEP_WIDE, 64)

/* Tiles of 16 rows of 64 bytes: four sums of two by two factors, in turn. The kernel lets a process
 * have them that asks (Documentation/arch/x86/xstate.rst). */
enum { TILE_ROWS = 16, TILE_BYTES = 64, TILES = 8, TILE_SUMS = 4 };

static bool may_have_tiles(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

typedef struct __attribute__((aligned(64))) tile_settings {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_settings;

#define OF_TILES(NAME, TARGET, STEP, OPERATIONS)                                                   \
    __attribute__((target(TARGET))) static double NAME(uint64_t rounds) {                          \
        tile_settings settings = {.palette = 1};                                                   \
        for (int i = 0; i < TILES; i++) {                                                          \
            settings.row_bytes[i] = TILE_BYTES;                                                    \
            settings.rows[i] = TILE_ROWS;                                                          \
        }                                                                                          \
        /* GCC 12 tells its optimiser of the first word alone. */                                  \
        __asm__ volatile("" : : "r"(&settings) : "memory");                                        \
        _tile_loadconfig(&settings);                                                               \
        _tile_zero(0);                                                                             \
        _tile_zero(1);                                                                             \
        _tile_zero(2);                                                                             \
        _tile_zero(3);                                                                             \
        _tile_zero(4);                                                                             \
        _tile_zero(5);                                                                             \
        _tile_zero(6);                                                                             \
        _tile_zero(7);                                                                             \
        for (uint64_t round = 0; round < rounds; round++) {                                        \
            STEP(0, 4, 6);                                                                         \
            STEP(1, 4, 7);                                                                         \
            STEP(2, 5, 6);                                                                         \
            STEP(3, 5, 7);                                                                         \
        }                                                                                          \
        _tile_release();                                                                           \
        return (double)rounds * TILE_SUMS * TILE_ROWS * TILE_ROWS * (OPERATIONS);                  \
    }

OF_TILES(bf16_tiles, "amx-tile,amx-bf16", _tile_dpbf16ps, TILE_BYTES)
OF_TILES(i8_tiles, "amx-tile,amx-int8", _tile_dpbssd, 2 * TILE_BYTES)

#define V4 "x86-64-v4"
#define V3 "x86-64-v3"
#define V2 "x86-64-v2+fma"
const ceiling_compute_kernel ceiling_compute_kernels[] = {
    {"f32", V4, NULL, NULL, NULL, "GFLOP/s", f32_512},
    {"f64", V4, NULL, NULL, NULL, "GFLOP/s", f64_512},
    {"i8", V4, NULL, "amx_int8", may_have_tiles, "GOP/s", i8_tiles},
    {"i8", V4, NULL, "avx512_vnni", NULL, "GOP/s", i8_vnni},
    {"bf16", V4, "deterministic", "amx_bf16", may_have_tiles, "GFLOP/s", bf16_tiles},
    {"bf16", V4, "deterministic", "avx512_bf16", NULL, "GFLOP/s", bf16_512},
    {"f32", V3, NULL, NULL, NULL, "GFLOP/s", f32_256},
    {"f64", V3, NULL, NULL, NULL, "GFLOP/s", f64_256},
    {"i8", V3, NULL, NULL, NULL, "GOP/s", i8_256},
    {"f32", V2, NULL, NULL, NULL, "GFLOP/s", f32_128},
    {"f64", V2, NULL, NULL, NULL, "GFLOP/s", f64_128},
    {"i8", V2, NULL, NULL, NULL, "GOP/s", i8_128},
};
const size_t ceiling_compute_kernel_count =
    sizeof ceiling_compute_kernels / sizeof ceiling_compute_kernels[0];

/* Parts of a set of which one is read and the others are written past the caches: more than either
 * alone, where a core has places of their own for both. */
enum { FAN = 5 };

/* Streams: eight vectors a step. The sum of a read is hidden, so that no load is dropped. */
#define MEMORY(WIDTH, TARGET, TYPE, LOAD, STORE, STREAM, ADD, ZERO, CONSTRAINT)                    \
    __attribute__((target(TARGET))) static double read_##WIDTH(void *data, size_t bytes) {         \
        const unsigned char *p = data;                                                             \
        TYPE s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO;                                           \
        for (size_t i = 0; i < bytes; i += 8 * sizeof(TYPE)) {                                     \
            const TYPE *v = (const TYPE *)(const void *)(p + i);                                   \
            s0 = ADD(s0, LOAD(v));                                                                 \
            s1 = ADD(s1, LOAD(v + 1));                                                             \
            s2 = ADD(s2, LOAD(v + 2));                                                             \
            s3 = ADD(s3, LOAD(v + 3));                                                             \
            s0 = ADD(s0, LOAD(v + 4));                                                             \
            s1 = ADD(s1, LOAD(v + 5));                                                             \
            s2 = ADD(s2, LOAD(v + 6));                                                             \
            s3 = ADD(s3, LOAD(v + 7));                                                             \
        }                                                                                          \
        __asm__ volatile(""                                                                        \
                         :                                                                         \
                         : CONSTRAINT(s0), CONSTRAINT(s1), CONSTRAINT(s2), CONSTRAINT(s3)          \
                         : "memory");                                                              \
        return (double)bytes;                                                                      \
    }                                                                                              \
    __attribute__((target(TARGET))) static double write_##WIDTH(void *data, size_t bytes) {        \
        unsigned char *p = data;                                                                   \
        TYPE zero = ZERO;                                                                          \
        for (size_t i = 0; i < bytes; i += 4 * sizeof(TYPE)) {                                     \
            TYPE *v = (TYPE *)(void *)(p + i);                                                     \
            STORE(v, zero);                                                                        \
            STORE(v + 1, zero);                                                                    \
            STORE(v + 2, zero);                                                                    \
            STORE(v + 3, zero);                                                                    \
            __asm__ volatile("" : : : "memory");                                                   \
        }                                                                                          \
        return (double)bytes;                                                                      \
    }                                                                                              \
    __attribute__((target(TARGET))) static double copy_##WIDTH(void *data, size_t bytes) {         \
        unsigned char *from = data, *to = from + bytes / 2;                                        \
        for (size_t i = 0; i < bytes / 2; i += 4 * sizeof(TYPE)) {                                 \
            TYPE *t = (TYPE *)(void *)(to + i);                                                    \
            const TYPE *f = (const TYPE *)(const void *)(from + i);                                \
            TYPE a = LOAD(f), b = LOAD(f + 1), c = LOAD(f + 2), d = LOAD(f + 3);                   \
            STORE(t, a);                                                                           \
            STORE(t + 1, b);                                                                       \
            STORE(t + 2, c);                                                                       \
            STORE(t + 3, d);                                                                       \
            __asm__ volatile("" : : : "memory");                                                   \
        }                                                                                          \
        return (double)bytes;                                                                      \
    }                                                                                              \
    __attribute__((target(TARGET))) static double fan_##WIDTH(void *data, size_t bytes) {          \
        const size_t part = bytes / FAN / sizeof(TYPE) * sizeof(TYPE);                             \
        unsigned char *p = data;                                                                   \
        for (size_t i = 0; i < part; i += sizeof(TYPE)) {                                          \
            TYPE a = LOAD((const TYPE *)(const void *)(p + i));                                    \
            STREAM((TYPE *)(void *)(p + part + i), a);                                             \
            STREAM((TYPE *)(void *)(p + 2 * part + i), a);                                         \
            STREAM((TYPE *)(void *)(p + 3 * part + i), a);                                         \
            STREAM((TYPE *)(void *)(p + 4 * part + i), a);                                         \
            __asm__ volatile("" : : : "memory");                                                   \
        }                                                                                          \
        return (double)(FAN * part);                                                               \
    }                                                                                              \
    __attribute__((target(TARGET))) static double stream_##WIDTH(void *data, size_t bytes) {       \
        unsigned char *from = data, *to = from + bytes / 2;                                        \
        for (size_t i = 0; i < bytes / 2; i += 4 * sizeof(TYPE)) {                                 \
            TYPE *t = (TYPE *)(void *)(to + i);                                                    \
            const TYPE *f = (const TYPE *)(const void *)(from + i);                                \
            TYPE a = LOAD(f), b = LOAD(f + 1), c = LOAD(f + 2), d = LOAD(f + 3);                   \
            STREAM(t, a);                                                                          \
            STREAM(t + 1, b);                                                                      \
            STREAM(t + 2, c);                                                                      \
            STREAM(t + 3, d);                                                                      \
        }                                                                                          \
        _mm_sfence();                                                                              \
        return (double)bytes;                                                                      \
    }

MEMORY(512, "avx512f", __m512i, _mm512_load_si512, _mm512_store_si512, _mm512_stream_si512,
       _mm512_xor_si512, _mm512_setzero_si512(), "v")
MEMORY(256, "avx2", __m256i, _mm256_load_si256, _mm256_store_si256, _mm256_stream_si256,
       _mm256_xor_si256, _mm256_setzero_si256(), "x")
MEMORY(128, "sse4.1", __m128i, _mm_load_si128, _mm_store_si128, _mm_stream_si128, _mm_xor_si128,
       _mm_setzero_si128(), "x")

const ceiling_memory_kernel ceiling_memory_kernels[] = {
    {"read", V4, read_512},      {"write", V4, write_512},    {"copy", V4, copy_512},
    {"copy-nt", V4, stream_512}, {"fan-nt", V4, fan_512},     {"read", V3, read_256},
    {"write", V3, write_256},    {"copy", V3, copy_256},      {"copy-nt", V3, stream_256},
    {"fan-nt", V3, fan_256},     {"read", V2, read_128},      {"write", V2, write_128},
    {"copy", V2, copy_128},      {"copy-nt", V2, stream_128}, {"fan-nt", V2, fan_128},
};
const size_t ceiling_memory_kernel_count =
    sizeof ceiling_memory_kernels / sizeof ceiling_memory_kernels[0];
