/* model_test.c - the models of matrix units on rows with known answers, and on elements that
 * hardware computed. Usage: ci_matrix_model FILE of records. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record.h"

/* Products first[0] * second[0] `count[0]` times, then first[1] * second[1] `count[1]` times; zeros
 * up to k. */
typedef struct known {
    const char *model, *factors, *accumulator;
    size_t k;
    uint64_t first[2], second[2];
    size_t count[2];
    uint64_t c, expected;
} known;

static const known rows[] = {
    /* Four times 2^-25 below 1: kept by 25 bits, cut by 24. Three times is cut in the end. */
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x3980}, {0x3900}, {4}, 0x3f800000, 0x3f800001},
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x3980}, {0x3900}, {3}, 0x3f800000, 0x3f800000},
    {"mma.sm80.bf16", "bf16", "f32", 16, {0x3980}, {0x3900}, {4}, 0x3f800000, 0x3f800000},
    {"mma.sm80.bf16", "bf16", "f32", 16, {0x3980}, {0x3980}, {2}, 0x3f800000, 0x3f800001},
    /* Cut towards zero: 1 - 2^-25 loses its last bit, and 2^-26 is not seen. */
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x3980}, {0xb900}, {1}, 0x3f800000, 0x3f7fffff},
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x3900}, {0xb900}, {1}, 0x3f800000, 0x3f800000},
    /* 1.5 * 1.5 is not normalised: eight times 2^-25 are kept beside it. */
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x3fc0, 0x3980}, {0x3fc0, 0x3900}, {1, 8}, 0, 0x40100001},
    /* Below 2^24 + 15 - 2^24 all are in one step; in sm80 each half is cut to even numbers. */
    {"mma.sm90.f16",
     "f16",
     "f32",
     16,
     {0x6c00, 0x3c00},
     {0x6c00, 0x3c00},
     {1, 15},
     0xcb800000,
     0x41700000},
    {"mma.sm80.f16", "f16", "f32", 16, {0x3c00, 0x6c00}, {0x3c00, 0x6c00}, {15, 1}, 0, 0x4b800007},
    {"mma.sm80.tf32",
     "tf32",
     "f32",
     8,
     {0x45800000, 0x3f800000},
     {0x45800000, 0x3f800000},
     {1, 7},
     0,
     0x4b800003},
    {"mma.sm90.tf32",
     "tf32",
     "f32",
     8,
     {0x45800000, 0x3f800000},
     {0x45800000, 0x3f800000},
     {1, 7},
     0,
     0x4b800003},
    /* Zero is +0. A zero beside 2^127 hides nothing; the least subnormal is kept. */
    {"mma.sm90.f16", "f16", "f32", 16, {0x8000}, {0x3c00}, {16}, 0x80000000, 0},
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x8000, 0x1}, {0x7f00, 0x3f80}, {1, 1}, 0, 0x10000},
    /* Below 2^-158 nothing is seen when all terms are small: 2^-147 - 2^-159 is not cut down. */
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x1a80, 0x1780}, {0x1b00, 0x9800}, {1, 1}, 0, 0x4},
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x1a80, 0x1780}, {0x1b00, 0x9880}, {1, 1}, 0, 0x3},
    /* Infinities, NaN, overflow; the low bits of a tf32 are not read. */
    {"mma.sm90.f16", "f16", "f32", 16, {0x7c00}, {0x0000}, {1}, 0, 0x7fffffff},
    {"mma.sm90.f16", "f16", "f32", 16, {0x7c00, 0x7c00}, {0x3c00, 0xbc00}, {1, 1}, 0, 0x7fffffff},
    {"mma.sm90.f16", "f16", "f32", 16, {0xfc00}, {0x3c00}, {2}, 0x7f7fffff, 0xff800000},
    {"mma.sm90.f16", "f16", "f32", 16, {0x3c00}, {0x3c00}, {1}, 0xffc12345, 0x7fffffff},
    {"mma.sm90.bf16", "bf16", "f32", 16, {0x7f7f}, {0x3f80}, {1}, 0x7f7fffff, 0x7f800000},
    {"mma.sm90.tf32", "tf32", "f32", 8, {0x7f801fff}, {0x3f801fff}, {1}, 0, 0x7f800000},
    /* An f16 accumulator is rounded to nearest even from all 25 bits. */
    {"mma.sm90.f16.f16", "f16", "f16", 16, {0x2800}, {0x2400}, {1}, 0x3c00, 0x3c00},
    {"mma.sm90.f16.f16",
     "f16",
     "f16",
     16,
     {0x2800, 0x0c00},
     {0x2400, 0x0800},
     {1, 1},
     0x3c00,
     0x3c01},
    {"mma.sm90.f16.f16",
     "f16",
     "f16",
     16,
     {0x2800, 0x0800},
     {0x2400, 0x0800},
     {1, 1},
     0x3c00,
     0x3c00},
    /* 13 bits: of products, of c, of the result. */
    {"mma.sm90.fp8", "e4m3", "f32", 32, {0x08}, {0x04}, {1}, 0x3f800000, 0x3f800400},
    {"mma.sm90.fp8", "e4m3", "f32", 32, {0x08}, {0x02}, {2}, 0x3f800000, 0x3f800000},
    {"mma.sm90.fp8", "e4m3", "f32", 32, {0x00}, {0x00}, {1}, 0x3f800200, 0x3f800000},
    {"mma.sm90.fp8", "e4m3", "f32", 32, {0x7f}, {0x38}, {1}, 0x3f800000, 0x7fffffff},
    /* c last, to nearest even: 1 + 2^-24 + 2^-25 is rounded up. */
    {"mma.sm90.fp8_as_f16",
     "e5m2",
     "f32",
     32,
     {0x0c, 0x08},
     {0x0c, 0x0c},
     {1, 1},
     0x3f800000,
     0x3f800001},
    /* Each fma of f64 rounds. Of two NaNs b's is kept. */
    {"fma.f64",
     "f64",
     "f64",
     4,
     {0x3e50000000000000},
     {0x3e40000000000000},
     {2},
     0x3ff0000000000000,
     0x3ff0000000000000},
    {"fma.f64",
     "f64",
     "f64",
     4,
     {0x3ff0000000000000},
     {0x7ff0000000000001},
     {1},
     0x7ff0000000000002,
     0x7ff8000000000001},
    {"fma.f64", "f64", "f64", 4, {0x7ff0000000000000}, {0}, {1}, 0, 0xfff8000000000000},
};

static int check_known(const known *row) {
    uint64_t a[MODEL_MAX_K] = {0}, b[MODEL_MAX_K] = {0};
    const sum_model *model = model_named(row->model);
    const float_format *factors = format_named(row->factors),
                       *accumulator = format_named(row->accumulator);
    operands x, y;
    size_t k = 0;
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t n = 0; n < row->count[kind]; n++, k++)
            a[k] = row->first[kind], b[k] = row->second[kind];
    operands_decode(&x, model, factors, a, row->k);
    operands_decode(&y, model, factors, b, row->k);
    uint64_t got = model_element(model, &x, &y, accumulator, row->c);
    if (got != row->expected)
        printf("row %zu, %s: %" PRIx64 " instead of %" PRIx64 "\n", (size_t)(row - rows),
               row->model, got, row->expected);
    return got != row->expected;
}

/* How many records the model does not explain; with a bit more in the aligned sum, `sharper` of
 * them. */
static int check_records(const char *path, size_t *count, size_t *sharper) {
    static instruction list[INSTRUCTION_MAX];
    static char line[RECORD_LINE];
    size_t instructions = instruction_list(list);
    FILE *file = fopen(path, "r");
    int wrong = 0;
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        record r;
        if (line[0] == '#')
            continue;
        bool is_one = record_read(line, list, instructions, &r);
        if (!is_one || record_model(&r, r.instruction->model) != r.result) {
            printf("%s: %s", is_one ? "other bits" : "not a record", line);
            wrong++;
            continue;
        }
        sum_model finer = *r.instruction->model;
        finer.fraction_bits++;
        *sharper += record_model(&r, &finer) != r.result;
        ++*count;
    }
    fclose(file);
    return wrong;
}

int main(int argument_count, char **arguments) {
    size_t count = 0, sharper = 0;
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += check_known(&rows[i]);
    if (argument_count == 2)
        wrong += check_records(arguments[1], &count, &sharper);
    printf("%zu rows, %zu records (%zu of them need every bit), %d wrong\n",
           sizeof rows / sizeof *rows, count, sharper, wrong);
    return wrong || count < 300 || !sharper;
}
