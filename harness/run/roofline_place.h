/* roofline_place.h - puts a timed result on the roofline.
 *
 * A point that memory beyond a core's own caches bounds has its bandwidth measured at once, over as
 * many bytes. A point above the limit has too short a time, or a ceiling that was measured in the
 * slower of the machine's modes: so both are measured again in turn, ceiling, point, ceiling,
 * within the same seconds, a few times. It holds as soon as a time lies below the greatest of the
 * ceilings; where none does the result is an error that has both series. */
#ifndef TESSERA_HARNESS_RUN_ROOFLINE_PLACE_H
#define TESSERA_HARNESS_RUN_ROOFLINE_PLACE_H

#include <jansson.h>

#include "base/status.h"
#include "measure/roofline.h"

enum { ROOFLINE_PLACE_ROUNDS = 4 };

/* Sources of new measurements. Each false where it cannot go on. */
typedef struct roofline_place_source {
    /* The point: both documents may be replaced by new ones (references are the caller's). A result
     * that is not ok any more stays as it is. NULL: the point cannot be measured again. */
    bool (*point)(void *context, json_t **result, json_t **internal, status *st);
    /* The ceiling, which keeps the greater value unless the probe says otherwise: of arithmetic by
     * its name, or where that is NULL of a set of so many bytes. NULL: that of this machine. */
    bool (*ceiling)(void *context, ceilings *c, const char *resource,
                    const ceiling_set_probe *probe, status *st);
    /* Measures the ceilings that the point is held against (roofline.h). NULL: they are there. */
    bool (*needed)(void *context, ceilings *c, const roofline_query *query, status *st);
    void *context;
} roofline_place_source;

/* Fills (*result)["roofline"] where it is timed, and makes the result an error where it stays above
 * the limit. False: measuring failed. */
bool roofline_place_result(ceilings *c, const roofline_place_source *source, json_t **result,
                           json_t **internal, status *st);

#endif
