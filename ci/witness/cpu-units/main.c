/* main.c - what this processor's own instructions add, beside the models of them, on blocks of 16
 * by 16 results:
 *
 *     cpu-units [BLOCKS]     of each unit: 2200
 *
 * Prints for each instruction how many results there were and how many are not the model's, or why
 * it was not run; and, so that it is seen what the inputs can tell apart, how many results the
 * other models of the same operands would have had otherwise. Exits with 1 where a result is not
 * the model's, with 77 where the processor has none of the instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../matrix-units/tile.h"
#include "unit.h"

enum { EXIT_AGREES = 0, EXIT_MISMATCH = 1, EXIT_USAGE = 2, EXIT_SKIPPED = 77, BLOCKS = 2200 };

static uint64_t code_of(random_bits *r, const binary_format *format, unsigned recipe) {
    return binary_is_integer(format) ? random_next(r) >> (64 - format->storage_bits)
                                     : random_number(r, format, recipe);
}

/* Makes the second of each two products the first with the other sign, in some with another last
 * bit of a factor. */
static void cancel(block *x, const cpu_unit *u, random_bits *r) {
    for (int k = 0; k + 1 < u->k; k += 2) {
        for (int m = 0; m < BLOCK_M; m++)
            x->a[m][k + 1] = x->a[m][k] ^ (random_next(r) % 3 == 0);
        for (int n = 0; n < BLOCK_N; n++)
            x->b[n][k + 1] = x->b[n][k] ^ UINT64_C(1) << (u->b->storage_bits - 1);
    }
}

static void fill(block *x, const cpu_unit *u, uint64_t index) {
    const matrix_unit *model = matrix_unit_find(u->model);
    random_bits r = {index * 31 + (uint64_t)u->k};
    unsigned recipe = (unsigned)index, of_c = (unsigned)(random_next(&r) >> 32);
    for (int k = 0; k < u->k; k++) {
        for (int m = 0; m < BLOCK_M; m++)
            x->a[m][k] = code_of(&r, u->a, recipe);
        for (int n = 0; n < BLOCK_N; n++)
            x->b[n][k] = code_of(&r, u->b, recipe);
    }
    if (index / TILE_RECIPES % 3 == 2 && !binary_is_integer(u->a))
        cancel(x, u, &r);
    for (int m = 0; m < BLOCK_M; m++)
        for (int n = 0; n < BLOCK_N; n++)
            x->c[m][n] = code_of(&r, model->accumulator, index % 2 ? recipe : of_c);
}

/* Every NaN is one. */
static uint64_t comparable(const binary_format *format, uint64_t code) {
    bool nan = !binary_is_integer(format) && binary_decode(format, code).kind == BINARY_NAN;
    return nan ? binary_nan(format) : code;
}

/* Results that are not this model's. */
static uint64_t differing(const block *x, const cpu_unit *u, const matrix_unit *model, bool show) {
    static matrix_factors rows[BLOCK_M], columns[BLOCK_N];
    uint64_t count = 0;
    for (int i = 0; i < BLOCK_M; i++) {
        matrix_factors_decode(&rows[i], model, u->a, x->a[i], (size_t)u->k);
        matrix_factors_decode(&columns[i], model, u->b, x->b[i], (size_t)u->k);
    }
    for (int m = 0; m < BLOCK_M; m++)
        for (int n = 0; n < BLOCK_N; n++) {
            uint64_t said = matrix_unit_dot(model, &rows[m], &columns[n], x->c[m][n]);
            bool other =
                comparable(model->accumulator, said) != comparable(model->accumulator, x->d[m][n]);
            if (other && show && !count)
                printf("    first: c %" PRIx64 ": %" PRIx64 ", the model %" PRIx64 "\n", x->c[m][n],
                       x->d[m][n], said);
            count += other;
        }
    return count;
}

/* Another rule for the same operands, or NULL. */
static const matrix_unit *rival(const matrix_unit *model, size_t at) {
    const matrix_unit *other = &matrix_units[at];
    bool same = other->factors[0] == model->factors[0] && other->accumulator == model->accumulator;
    return same && other->rule != model->rule ? other : NULL;
}

/* False: a result is not the model's, or the inputs do not tell it from another one. */
static bool check(const cpu_unit *u, uint64_t blocks) {
    static block x;
    static uint64_t otherwise[64];
    const matrix_unit *model = matrix_unit_find(u->model);
    uint64_t wrong = 0;
    bool good = true;
    for (size_t at = 0; at < matrix_unit_count && at < 64; at++)
        otherwise[at] = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        fill(&x, u, i);
        u->run(&x);
        wrong += differing(&x, u, model, wrong == 0);
        for (size_t at = 0; i % 10 == 0 && at < matrix_unit_count && at < 64; at++)
            otherwise[at] += rival(model, at) ? differing(&x, u, rival(model, at), false) : 0;
    }
    uint64_t least = UINT64_MAX;
    for (size_t at = 0; at < matrix_unit_count && at < 64; at++)
        if (rival(model, at) && otherwise[at] < least)
            least = otherwise[at];
    printf("%-16s %-18s %12" PRIu64 " results %8" PRIu64 " not the model's", u->instruction,
           u->model, blocks * BLOCK_M * BLOCK_N, wrong);
    if (least != UINT64_MAX) {
        printf("; of a tenth, at least %" PRIu64 " not another one's", least);
        good = least > 0;
    }
    printf("\n");
    return good && wrong == 0;
}

int main(int count, char **words) {
    uint64_t blocks = count > 1 ? strtoull(words[1], NULL, 10) : BLOCKS;
    int code = EXIT_SKIPPED;
    if (blocks < 10 * TILE_RECIPES) {
        fprintf(stderr, "usage: cpu-units [BLOCKS]     at least %d\n", 10 * TILE_RECIPES);
        return EXIT_USAGE;
    }
    for (int i = 0; i < cpu_unit_count; i++) {
        const char *why = cpu_units[i].missing();
        if (why)
            printf("%-16s %-18s skipped: %s\n", cpu_units[i].instruction, cpu_units[i].model, why);
        else if (!check(&cpu_units[i], blocks))
            code = EXIT_MISMATCH;
        else if (code == EXIT_SKIPPED)
            code = EXIT_AGREES;
    }
    if (code == EXIT_SKIPPED)
        printf("skipped: this processor has none of these instructions\n");
    return code;
}
