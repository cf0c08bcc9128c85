/* search.c - parameters that explain records: search.h. */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>

#include "record.h"

enum { SHOWN = 4, LEAST_FRACTION = 8, GREATEST_FRACTION = 34 };

typedef struct candidate {
    matrix_unit model;
    size_t mismatches;
} candidate;

typedef struct search {
    record *records; /* of one instruction */
    size_t count;
    candidate best[SHOWN + 1];
    size_t found;
} search;

/* Ends early when it is worse than those found. */
static void try_model(search *s, matrix_unit model) {
    size_t limit = s->found == SHOWN ? s->best[SHOWN - 1].mismatches : s->count, mismatches = 0;
    for (size_t r = 0; r < s->count && mismatches <= limit; r++)
        mismatches += record_model(&s->records[r], &model) != s->records[r].result;
    if (mismatches > limit || (s->found == SHOWN && mismatches == limit))
        return;
    size_t at = s->found;
    for (; at > 0 && s->best[at - 1].mismatches > mismatches; at--)
        s->best[at] = s->best[at - 1];
    s->best[at] = (candidate){model, mismatches};
    s->found += s->found < SHOWN;
}

/* Tries all combinations of what is not a width. */
static void try_orders(search *s, matrix_unit model) {
    static const int least_exponents[] = {-1000, -133, -126};
    for (int align = ALIGN_CUT; align <= ALIGN_NEAREST; align++)
        for (int bits = 0; bits < 4; bits++)
            for (int least = 0; least < 3; least++) {
                model.align = (matrix_alignment)align;
                model.zero_exponent = (bits & 1) ? -126 : MATRIX_UNIT_NOWHERE;
                model.rule = (bits & 2) ? MATRIX_UNIT_ALIGNED_AS_F16 : MATRIX_UNIT_ALIGNED;
                model.least_exponent = least_exponents[least];
                if (model.rule == MATRIX_UNIT_ALIGNED || model.step == 1)
                    try_model(s, model);
            }
}

static void try_all(search *s, const instruction *i) {
    const int kept[] = {i->c->fraction_bits, 13};
    size_t widths = i->c->fraction_bits > 13 ? 2 : 1;
    for (int step = 1; step <= i->k; step *= 2)
        for (int fraction = LEAST_FRACTION; fraction <= GREATEST_FRACTION; fraction++)
            for (size_t w = 0; w < widths; w++)
                for (int round = BINARY_CUT; round <= BINARY_NEAREST_EVEN; round++)
                    try_orders(s, (matrix_unit){.accumulator = i->c,
                                                .step = step,
                                                .k = i->k,
                                                .fraction_bits = fraction,
                                                .result_fraction_bits = kept[w],
                                                .round = (binary_rounding)round});
}

static void show(const search *s, const instruction *i) {
    static const char *const aligned[] = {"cut", "down", "nearest"};
    printf("%s: %zu records\n", i->name, s->count);
    for (size_t c = 0; c < s->found; c++) {
        const matrix_unit *m = &s->best[c].model;
        bool as_f16 = m->rule == MATRIX_UNIT_ALIGNED_AS_F16;
        printf("    %zu mismatches: %s %d, %d fraction bits, aligned %s, zero %s, exponent at "
               "least %d, "
               "result %d bits %s\n",
               s->best[c].mismatches, as_f16 ? "as f16, step" : "step", as_f16 ? i->k / 2 : m->step,
               m->fraction_bits, aligned[m->align],
               m->zero_exponent == MATRIX_UNIT_NOWHERE ? "does not count" : "counts as 2^-126",
               m->least_exponent, m->result_fraction_bits,
               m->round == BINARY_CUT ? "cut" : "to nearest even");
    }
}

int search_records(const char *path, const instruction *list, size_t count) {
    FILE *file = fopen(path, "r");
    search s = {0};
    size_t capacity = 0;
    static char line[RECORD_LINE];
    if (!file) {
        perror(path);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        s.count = s.found = 0;
        rewind(file);
        while (fgets(line, sizeof line, file)) {
            if (s.count == capacity &&
                !(s.records =
                      realloc(s.records, (capacity = 2 * capacity + 64) * sizeof *s.records)))
                abort();
            if (record_read(line, list, count, &s.records[s.count]) &&
                s.records[s.count].instruction == &list[i])
                s.count++;
        }
        if (s.count && (list[i].model->rule == MATRIX_UNIT_ALIGNED ||
                        list[i].model->rule == MATRIX_UNIT_ALIGNED_AS_F16)) {
            try_all(&s, &list[i]);
            show(&s, &list[i]);
        }
    }
    free(s.records);
    fclose(file);
    return 0;
}
