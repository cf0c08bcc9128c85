/* scalar.c - fma, division, roots, minima and conversions of the device, in default PTX without
 * .ftz, beside the CPU's: scalar.h. */
#include "scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "parallel.h"
#include "tile.h"

typedef struct operation operation;
typedef uint64_t (*reference)(const operation *o, const uint64_t x[3]);

/* PTX with registers r (result) and x, y, z; bf16 and f16 are b16, two f8 are the low and high half
 * of a b16. */
struct operation {
    const char *ptx;
    const binary_format *from, *to;
    reference expected;
};

static float f32_of(uint64_t code) {
    uint32_t bits = (uint32_t)code;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double f64_of(uint64_t code) {
    double x;
    memcpy(&x, &code, sizeof x);
    return x;
}

static uint64_t code_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t code_of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t fma32(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f32(fmaf(f32_of(x[0]), f32_of(x[1]), f32_of(x[2])));
}

static uint64_t add32(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f32(f32_of(x[0]) + f32_of(x[1]));
}

static uint64_t mul32(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f32(f32_of(x[0]) * f32_of(x[1]));
}

static uint64_t div32(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f32(f32_of(x[0]) / f32_of(x[1]));
}

static uint64_t sqrt32(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f32(sqrtf(f32_of(x[0])));
}

static uint64_t fma64(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f64(fma(f64_of(x[0]), f64_of(x[1]), f64_of(x[2])));
}

static uint64_t div64(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f64(f64_of(x[0]) / f64_of(x[1]));
}

static uint64_t sqrt64(const operation *o, const uint64_t x[3]) {
    (void)o;
    return code_of_f64(sqrt(f64_of(x[0])));
}

/* x * y + z of 16-bit floats: the product is exact in double; their sum is rounded to odd, so that
 * the second rounding, to less than half of the bits, is right (Boldo and Melquiond, 2008). */
static uint64_t fma16(const operation *o, const uint64_t x[3]) {
    double product = binary_value(o->from, x[0]) * binary_value(o->from, x[1]),
           c = binary_value(o->from, x[2]);
    double sum = product + c;
    double shadow = sum - product, error = (product - (sum - shadow)) + (c - shadow);
    if (isfinite(sum) && error != 0 && !(code_of_f64(sum) & 1))
        sum = nextafter(sum, error > 0 ? INFINITY : -INFINITY);
    return binary_round(o->to, sum);
}

static uint64_t convert(const operation *o, const uint64_t x[3]) {
    return binary_round(o->to, binary_value(o->from, x[0]));
}

/* As in PTX: too large, and infinity, is the greatest finite. */
static uint64_t convert_satfinite(const operation *o, const uint64_t x[3]) {
    double value = binary_value(o->from, x[0]);
    uint64_t result = binary_round(o->to, value);
    binary_kind kind = binary_decode(o->to, result).kind;
    if (isnan(value) || kind == BINARY_ZERO || kind == BINARY_FINITE)
        return result;
    return binary_code(o->to, signbit(value), binary_greatest_exponent(o->to), ~UINT64_C(0));
}

/* minimumNumber: a NaN is left out, -0 is less than +0. */
static uint64_t minimum(const operation *o, const uint64_t x[3]) {
    double a = binary_value(o->from, x[0]), b = binary_value(o->from, x[1]);
    if (isnan(a) || isnan(b))
        return isnan(a) ? x[1] : x[0];
    return a < b || (a == b && signbit(a)) ? x[0] : x[1];
}

static uint64_t maximum(const operation *o, const uint64_t x[3]) {
    uint64_t least = minimum(o, x);
    if (isnan(binary_value(o->from, x[0])) || isnan(binary_value(o->from, x[1])))
        return least;
    return least == x[0] ? x[1] : x[0];
}

static const operation operations[] = {
    {"add.rn.f32 r, x, y;", &binary_f32, &binary_f32, add32},
    {"mul.rn.f32 r, x, y;", &binary_f32, &binary_f32, mul32},
    {"fma.rn.f32 r, x, y, z;", &binary_f32, &binary_f32, fma32},
    {"div.rn.f32 r, x, y;", &binary_f32, &binary_f32, div32},
    {"sqrt.rn.f32 r, x;", &binary_f32, &binary_f32, sqrt32},
    {"min.f32 r, x, y;", &binary_f32, &binary_f32, minimum},
    {"max.f32 r, x, y;", &binary_f32, &binary_f32, maximum},
    {"fma.rn.f64 r, x, y, z;", &binary_f64, &binary_f64, fma64},
    {"div.rn.f64 r, x, y;", &binary_f64, &binary_f64, div64},
    {"sqrt.rn.f64 r, x;", &binary_f64, &binary_f64, sqrt64},
    {"min.f64 r, x, y;", &binary_f64, &binary_f64, minimum},
    {"max.f64 r, x, y;", &binary_f64, &binary_f64, maximum},
    {"fma.rn.f16 r, x, y, z;", &binary_f16, &binary_f16, fma16},
    {"min.f16 r, x, y;", &binary_f16, &binary_f16, minimum},
    {"max.f16 r, x, y;", &binary_f16, &binary_f16, maximum},
    {"fma.rn.bf16 r, x, y, z;", &binary_bf16, &binary_bf16, fma16},
    {"min.bf16 r, x, y;", &binary_bf16, &binary_bf16, minimum},
    {"max.bf16 r, x, y;", &binary_bf16, &binary_bf16, maximum},
    {"cvt.rn.f16.f32 r, x;", &binary_f32, &binary_f16, convert},
    {"cvt.rn.bf16.f32 r, x;", &binary_f32, &binary_bf16, convert},
    {"cvt.rn.f32.f64 r, x;", &binary_f64, &binary_f32, convert},
    {"cvt.rn.f16.f64 r, x;", &binary_f64, &binary_f16, convert},
    {"cvt.f32.f16 r, x;", &binary_f16, &binary_f32, convert},
    {"cvt.f32.bf16 r, x;", &binary_bf16, &binary_f32, convert},
    {"cvt.f64.f32 r, x;", &binary_f32, &binary_f64, convert},
    {"cvt.rn.satfinite.e4m3x2.f32 r, 0f00000000, x;", &binary_f32, &binary_e4m3, convert_satfinite},
    {"cvt.rn.satfinite.e5m2x2.f32 r, 0f00000000, x;", &binary_f32, &binary_e5m2, convert_satfinite},
    {"{ .reg .b32 w; cvt.rn.f16x2.e4m3x2 w, x; cvt.u16.u32 r, w; }", &binary_e4m3, &binary_f16,
     convert},
    {"{ .reg .b32 w; cvt.rn.f16x2.e5m2x2 w, x; cvt.u16.u32 r, w; }", &binary_e5m2, &binary_f16,
     convert},
};

/* Operands as three u64, results as one. */
static void kernel_of(const operation *o, char *text, size_t size) {
    int from = o->from->storage_bits < 16 ? 16 : o->from->storage_bits;
    int to = o->to->storage_bits < 16 ? 16 : o->to->storage_bits;
    snprintf(
        text, size,
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry each(.param .u64 in, .param .u64 out, .param .u32 count)\n{\n"
        "    .reg .b64 p, q;\n    .reg .b32 i, n;\n    .reg .pred past;\n    .reg .b%d x, y, z;\n  "
        "  .reg .b%d r;\n"
        "    mov.u32 i, %%ctaid.x;\n    mov.u32 n, %%tid.x;\n    mad.lo.u32 i, i, 256, n;\n"
        "    ld.param.u32 n, [count];\n    setp.ge.u32 past, i, n;\n    @past ret;\n"
        "    ld.param.u64 p, [in];\n    mad.wide.u32 p, i, 24, p;\n    ld.param.u64 q, [out];\n"
        "    mad.wide.u32 q, i, 8, q;\n"
        "    ld.global.b%d x, [p];\n    ld.global.b%d y, [p+8];\n    ld.global.b%d z, [p+16];\n    "
        "%s\n"
        "    st.global.b%d [q], r;\n    ret;\n}\n",
        from, to, from, from, from, o->ptx, to);
}

typedef struct comparison {
    const operation *o;
    uint64_t *operands, *results;
    uint64_t mismatches, first,
        nan_codes[2]; /* of NaN results: all bits that were set, all that were always set */
} comparison;

static void draw_operands(void *context, size_t worker, size_t i) {
    comparison *x = context;
    (void)worker;
    random_bits r = {i * 3 + 1};
    uint64_t choice = random_next(&r);
    bool mixed = (choice >> 32 & 3) == 0;
    for (int n = 0; n < 3; n++)
        x->operands[3 * i + (size_t)n] =
            random_number(&r, x->o->from, (unsigned)(choice >> (mixed ? 8 * n : 0) & 0xff));
    /* A third operand that nearly cancels a product. */
    if ((choice >> 40 & 7) == 0 && x->o->expected == fma32)
        x->operands[3 * i + 2] =
            code_of_f32(-(f32_of(x->operands[3 * i]) * f32_of(x->operands[3 * i + 1])));
}

static void compare_one(comparison *x, size_t i) {
    uint64_t expected = x->o->expected(x->o, x->operands + 3 * i);
    uint64_t mask =
        x->o->to->storage_bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << x->o->to->storage_bits) - 1;
    uint64_t got = x->results[i] & mask;
    bool both_nan = binary_decode(x->o->to, expected).kind == BINARY_NAN &&
                    binary_decode(x->o->to, got).kind == BINARY_NAN;
    if (both_nan) {
        x->nan_codes[0] |= got;
        x->nan_codes[1] &= got;
    } else if (got != expected && !x->mismatches++) {
        x->first = i;
    }
}

static void run_operation(comparison *x, uint64_t count) {
    char text[2048];
    kernel_of(x->o, text, sizeof text);
    cuda_module module;
    cuda_function function = cuda_assemble(text, "each", &module);
    parallel_for(count, draw_operands, x);
    device_address in = cuda_allocate(count * 24), out = cuda_allocate(count * 8);
    unsigned threads = (unsigned)count;
    void *arguments[] = {&in, &out, &threads};
    CUDA_CHECK(cuda.cuMemcpyHtoD_v2(in, x->operands, count * 24));
    CUDA_CHECK(cuda.cuMemsetD8_v2(out, 0x55, count * 8));
    CUDA_CHECK(cuda.cuLaunchKernel(function, (threads + 255) / 256, 1, 1, 256, 1, 1, 0, NULL,
                                   arguments, NULL));
    CUDA_CHECK(cuda.cuMemcpyDtoH_v2(x->results, out, count * 8));
    CUDA_CHECK(cuda.cuMemFree_v2(in));
    CUDA_CHECK(cuda.cuMemFree_v2(out));
    CUDA_CHECK(cuda.cuModuleUnload(module));
}

static void print_comparison(const comparison *x, uint64_t count) {
    printf("%-64s %9" PRIu64 " operands %9" PRIu64 " mismatches", x->o->ptx, count, x->mismatches);
    if (x->nan_codes[0])
        printf(", NaN %" PRIx64 "%s", x->nan_codes[0],
               x->nan_codes[0] == x->nan_codes[1] ? "" : " and others");
    if (x->mismatches) {
        const uint64_t *in = x->operands + 3 * x->first;
        printf("\n    first: %" PRIx64 " %" PRIx64 " %" PRIx64 " gives %" PRIx64
               ", expected %" PRIx64,
               in[0], in[1], in[2], x->results[x->first], x->o->expected(x->o, in));
    }
    printf("\n");
    fflush(stdout);
}

bool scalar_check(uint64_t count) {
    uint64_t mismatches = 0;
    comparison x = {.operands = malloc(count * 24), .results = malloc(count * 8)};
    if (!x.operands || !x.results)
        abort();
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        x.o = &operations[o];
        x.mismatches = x.nan_codes[0] = 0;
        x.nan_codes[1] = ~UINT64_C(0);
        run_operation(&x, count);
        for (size_t i = 0; i < count; i++)
            compare_one(&x, i);
        print_comparison(&x, count);
        mismatches += x.mismatches;
    }
    free(x.operands);
    free(x.results);
    return mismatches == 0;
}
