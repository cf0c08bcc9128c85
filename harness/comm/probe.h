/* probe.h - how long exchanges between ranks take: measured, and fitted (runtime/comm_model.h). */
#ifndef TESSERA_HARNESS_COMM_PROBE_H
#define TESSERA_HARNESS_COMM_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "comm_model.h"

/* Ranks that send each other: PROBE_PATTERN(id, name, meaning). */
#define PROBE_PATTERNS(PROBE_PATTERN)                                                              \
    PROBE_PATTERN(PAIR, "pair", "two of them")                                                     \
    PROBE_PATTERN(PAIRS, "pairs", "all, two and two")                                              \
    PROBE_PATTERN(ALL, "all", "each to each other")

typedef enum probe_pattern {
#define ID(id, name, meaning) PROBE_##id,
    PROBE_PATTERNS(ID)
#undef ID
        PROBE_PATTERN_COUNT
} probe_pattern;

enum { PROBE_SIZES_MAX = 16, PROBE_CELLS_MAX = PROBE_SIZES_MAX * PROBE_PATTERN_COUNT };

/* Messages of a size, in a pattern. */
typedef struct probe_cell {
    probe_pattern pattern;
    uint64_t bytes;
    double ns; /* the median of an exchange, as long as the slowest rank takes */
} probe_cell;

typedef struct probe_result {
    char transport[16];
    uint32_t ranks, cell_count;
    probe_cell cells[PROBE_CELLS_MAX];
    double sum_ns; /* for a byte of each of two terms of f32, all ranks at once */
} probe_result;

/* Starts the ranks, and measures. */
bool probe_run(const char *transport, uint32_t ranks, bool quick, probe_result *out, status *st);
/* A rank of it, which was started in a process of its own: `tsr --probe-rank WORD...`; the exit
 * code. */
int probe_rank_serve(int count, char *const *words);

/* fit.c: the numbers that make the sum of the squares of relative errors the least. */
void probe_fit(const probe_result *r, comm_fit *out);
/* The time of a cell by the fit. */
double probe_predicted_ns(const comm_fit *f, const probe_result *r, const probe_cell *c);

/* Messages of a rank, and pairs of ranks that send at once. */
uint32_t probe_messages(probe_pattern p, uint32_t ranks);
double probe_pairs(probe_pattern p, uint32_t ranks);

#endif
