/* timing_check.h - is what a module computes right, under a profile that may have other bits than
 * the interpreter? Every element within the bound that the f64 reference derives.
 *
 * The spec's "bounds" has for each side null, or for each input set the offsets of reference and
 * bound of each output (f64, in the scratch file), and where bounds do not judge every element
 * those of its limits and, but of large cases, of its strict bits; "types" the element types of the
 * outputs. */
#ifndef TESSERA_HARNESS_GATE_TIMING_CHECK_H
#define TESSERA_HARNESS_GATE_TIMING_CHECK_H

#include "gate/spec_launch.h"

typedef struct timing_check_request {
    launch *launch;            /* bare */
    const unsigned char *data; /* the scratch file */
    const json_t *spec;
    int side;
} timing_check_request;

/* Checks one output for one set; true where there is nothing to hold it against. False with
 * STATUS_MISMATCH, and the element. */
bool timing_check_output(const timing_check_request *r, uint32_t set, uint32_t output,
                         const void *data, status *st);
/* One launch, on these inputs: the first set's. False with *not_judged where nothing says that any
 * element is right. */
bool timing_check(const timing_check_request *request, const void *const *inputs, bool *not_judged,
                  status *st);

#endif
