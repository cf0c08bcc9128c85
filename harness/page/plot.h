/* plot.h - a roofline in characters: GFLOP/s over FLOP a byte, both logarithmic, with the points of
 * a run. In Unicode roofs are drawn in dots of a quarter of a line, in ASCII in letters. */
#ifndef TESSERA_HARNESS_PAGE_PLOT_H
#define TESSERA_HARNESS_PAGE_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

typedef struct plot_roof {
    char name[16]; /* "L1", "f32" */
    bool memory;   /* GB/s; else GFLOP/s */
    double value;
} plot_roof;

typedef struct plot_point {
    double intensity, rate; /* FLOP a byte, GFLOP/s */
    int profile;            /* place in plot_profiles */
} plot_point;

extern const char *const plot_profiles[3];

typedef struct plot {
    uint32_t threads;
    int width; /* columns of a line, axis and names included */
    bool unicode, colour;
    VEC(plot_roof) roofs;
    VEC(plot_point) points;
    size_t without_work; /* timed results that have no intensity, and so no place */
} plot;

/* The number of threads that most timed results have; 0: none is timed. */
uint32_t plot_usual_threads(const json_t *results);
/* From the "ceilings" of a document (report/document.h): one for each type of element and, the best
 * of its loops, each level of the memory. */
void plot_add_roofs(plot *p, const json_t *ceilings);
/* From the "results" of a document: those that were timed with p->threads threads and whose
 * KERNEL or KERNEL/CASE a filter names (none: all). */
void plot_add_points(plot *p, const json_t *results, const char *const *filters, size_t count);

/* Nothing where no roof of both kinds was measured. */
void plot_print(const plot *p, text *out);
void plot_release(plot *p);

#endif
