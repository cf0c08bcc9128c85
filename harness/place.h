/* place.h - puts a timed result on the roofline. */
#ifndef TESSERA_HARNESS_PLACE_H
#define TESSERA_HARNESS_PLACE_H

#include <jansson.h>

#include "base/status.h"
#include "measure/ceilings.h"

/* Fills result["roofline"], and makes the result an error where it stays above the limit. A point
 * that memory beyond a core's own caches bounds has its bandwidth measured at once, over as many
 * bytes; any point above the limit has its ceiling measured again, a few times. `resource` receives
 * the ceiling's name, or "" where the result is not timed. False: measuring failed. */
bool place_result(ceilings *c, json_t *result, const json_t *internal,
                  char resource[CEILING_NAME_BYTES], status *st);

#endif
