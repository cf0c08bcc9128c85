/* tiles.c - tiles of 8 by 8 elements and what a unit of chip/matrix_units.def gives for them, as
 * text for compare.py:
 *
 *     tiles UNIT A B COUNT
 *
 * A and B are formats. A line a tile: recipe, then as hexadecimal codes the rows of A, the columns
 * of B, c, d, and d as MMA-Sim says it where that is known to differ from hardware: a zero has the
 * exponent -126 there, and the greatest exponent no lower bound. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../matrix-units/tile.h"

enum { SIDE = 8, EXIT_USAGE = 2 };

static void print_codes(const uint64_t *codes, int count) {
    for (int k = 0; k < count; k++)
        printf(" %" PRIx64, codes[k]);
}

static void print_results(const instruction *i, const matrix_unit *unit, const tile *t) {
    static matrix_factors rows[SIDE], columns[SIDE];
    for (int s = 0; s < SIDE; s++) {
        matrix_factors_decode(&rows[s], unit, i->a, t->a[s], (size_t)i->k);
        matrix_factors_decode(&columns[s], unit, i->b, t->b[s], (size_t)i->k);
    }
    for (int m = 0; m < SIDE; m++)
        for (int n = 0; n < SIDE; n++)
            printf(" %" PRIx64, matrix_unit_dot(unit, &rows[m], &columns[n], t->c[m][n]));
}

static void print_tile(const instruction *i, uint64_t index) {
    static tile t;
    matrix_unit published = *i->model;
    if (published.rule == MATRIX_UNIT_ALIGNED) {
        published.zero_exponent = -126;
        published.least_exponent = -1000;
    }
    tile_fill(&t, i, index);
    printf("%s", t.recipe);
    for (int s = 0; s < SIDE; s++)
        print_codes(t.a[s], i->k);
    for (int s = 0; s < SIDE; s++)
        print_codes(t.b[s], i->k);
    for (int s = 0; s < SIDE; s++)
        print_codes(t.c[s], SIDE);
    print_results(i, i->model, &t);
    print_results(i, &published, &t);
    printf("\n");
}

int main(int count, char **words) {
    instruction i = {.unit = UNIT_MMA, .m = SIDE, .n = SIDE, .chain = 1};
    if (count == 5) {
        i.model = matrix_unit_find(words[1]);
        i.a = binary_format_named(words[2]);
        i.b = binary_format_named(words[3]);
    }
    if (!i.model || !matrix_unit_takes(i.model, i.a) || !matrix_unit_takes(i.model, i.b)) {
        fprintf(stderr, "usage: tiles UNIT A B COUNT\n");
        return EXIT_USAGE;
    }
    i.k = i.model->k;
    i.c = i.model->accumulator;
    snprintf(i.name, sizeof i.name, "%s.%s.%s", words[1], words[2], words[3]);
    for (uint64_t tiles = strtoull(words[4], NULL, 10), t = 0; t < tiles; t++)
        print_tile(&i, t);
    return 0;
}
