/* search.c - parameters that explain records: search.h. */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>

#include "record.h"

enum { SHOWN = 4, LEAST_FRACTION = 8, GREATEST_FRACTION = 34 };

typedef struct candidate {
    sum_model model;
    size_t mismatches;
} candidate;

typedef struct search {
    record *records; /* of one instruction */
    size_t count;
    candidate best[SHOWN + 1];
    size_t found;
} search;

/* Ends early when it is worse than those found. */
static void try_model(search *s, sum_model model) {
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

/* What is not a width, in all combinations. */
static void try_orders(search *s, sum_model model) {
    static const int least_exponents[] = {-1000, -133, -126};
    for (int align = ALIGN_CUT; align <= ALIGN_NEAREST; align++)
        for (int bits = 0; bits < 4; bits++)
            for (int least = 0; least < 3; least++) {
                model.align = (alignment)align;
                model.zero_counts = (bits & 1) != 0;
                model.as_f16 = (bits & 2) != 0;
                model.least_exponent = least_exponents[least];
                if (!model.as_f16 || model.step == 1)
                    try_model(s, model);
            }
}

static void try_all(search *s, const instruction *i) {
    const int kept[] = {i->c->fraction_bits, 13};
    size_t widths = i->c->fraction_bits > 13 ? 2 : 1;
    for (int step = 1; step <= i->k; step *= 2)
        for (int fraction = LEAST_FRACTION; fraction <= GREATEST_FRACTION; fraction++)
            for (size_t w = 0; w < widths; w++)
                for (int round = ROUND_CUT; round <= ROUND_NEAREST_EVEN; round++)
                    try_orders(s, (sum_model){.step = step,
                                              .fraction_bits = fraction,
                                              .result_fraction_bits = kept[w],
                                              .round = (rounding)round});
}

static void show(const search *s, const instruction *i) {
    static const char *const aligned[] = {"cut", "down", "nearest"};
    printf("%s: %zu records\n", i->name, s->count);
    for (size_t c = 0; c < s->found; c++) {
        const sum_model *m = &s->best[c].model;
        printf("    %zu mismatches: %s %d, %d fraction bits, aligned %s, zero %s, exponent at "
               "least %d, "
               "result %d bits %s\n",
               s->best[c].mismatches, m->as_f16 ? "as f16, step" : "step",
               m->as_f16 ? i->k / 2 : m->step, m->fraction_bits, aligned[m->align],
               m->zero_counts ? "counts" : "does not count", m->least_exponent,
               m->result_fraction_bits, m->round == ROUND_CUT ? "cut" : "to nearest even");
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
        if (s.count && list[i].model->order == SUM_ALIGNED) {
            try_all(&s, &list[i]);
            show(&s, &list[i]);
        }
    }
    free(s.records);
    fclose(file);
    return 0;
}
