/* drawn.h - a case at positions that are drawn: which elements these are, and what is computed
 * there, in groups of positions, one group to a thread at a time.
 *
 * Positions of an axis of a plan (case_sample) are apart from each other, so a group gives the
 * bits and the bounds that all positions together would; in groups, what lies between the
 * primitives stays near the size of a cache. */
#ifndef TESSERA_HARNESS_CASE_DRAWN_H
#define TESSERA_HARNESS_CASE_DRAWN_H

#include "case/case_context.h"

/* Positions along each axis of the plan; owned, ascending. */
typedef struct draw {
    int64_t *at[CASE_SAMPLE_AXES];
    int64_t count[CASE_SAMPLE_AXES];
} draw;

/* One of every `strip` positions of each axis, from the system's own random numbers. */
draw draw_positions(const case_sample *p, int64_t strip);
/* Those of one element of an output. */
draw draw_element(const case_context *s, uint32_t output, int64_t element);
void draw_release(draw *d);

/* The elements of output `index` that a draw has, in the order of the part's, whose dimensions go
 * to `shape`; owned by the caller. */
int64_t *draw_places(const case_sample *p, const draw *d, const tensor *whole, uint32_t index,
                     tensor *shape);

/* The results at one group of positions. */
typedef struct drawn_group {
    draw at;
    compiler_instance *part;          /* of so many positions; borrowed */
    tensor *values, *bounds, *limits; /* a list each, of tensors_new, one for each output */
    bool whole;                       /* see compiler_references */
} drawn_group;

typedef struct drawn_groups {
    drawn_group *items; /* owned */
    uint32_t count;
    compiler_instance *parts[2]; /* owned: of a group, and of the last */
} drawn_groups;

/* Fills values, and bounds, limits and whole where it has them, from the part's inputs. Called by
 * several threads at once. */
typedef bool (*drawn_compute)(drawn_group *group, const tensor *inputs, status *st);

/* Computes at all positions of `d`, which is the groups' from now on: drawn_groups_release, also
 * after false. */
bool drawn_groups_compute(const case_context *s, draw d, drawn_compute compute, drawn_groups *out,
                          status *st);
void drawn_groups_release(drawn_groups *g);

/* The number of threads at one time. */
uint32_t drawn_threads(void);
/* The work of the interpreter or the reference for an instance: an added product is one step, an
 * element of an input or a primitive DRAWN_ELEMENT_STEPS. */
enum { DRAWN_ELEMENT_STEPS = 32 };
bool drawn_steps(compiler_instance *instance, uint64_t *steps, status *st);

#endif
