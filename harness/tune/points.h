/* points.h - the choices of a kernel's space of tiles that are worth measuring.
 *
 * All combinations of sizes are looked at, up to a bound, in the order of the source; the first is
 * the kernel's own. What is the same code as one before it, adds in another order, or is not known
 * to have the same bits where only the strict ones are held, is left out, and the reason noted. */
#ifndef TESSERA_HARNESS_TUNE_POINTS_H
#define TESSERA_HARNESS_TUNE_POINTS_H

#include <jansson.h>

#include "case/case.h"

enum { POINTS_MAX = 16, COMBINATIONS_MAX = 256 };

typedef struct space_point {
    char *space; /* "BM=128,BN=64"; NULL: the kernel's own */
    compiler_instance *instance;
    compiler_code code;
} space_point;
typedef struct space_points {
    space_point items[POINTS_MAX]; /* the first is the kernel's own, whose instance is borrowed */
    uint32_t count;
} space_points;

typedef struct points_request {
    const corpus_case *item;
    compiler_instance *own; /* of the item */
    bool strict;     /* bits are held against those of the kernel's own tiles, so that what may have
                        them is worth trying */
    bool chip;       /* hints change its code, too */
    uint64_t end_ns; /* nothing is looked at after it (timer_now_ns) */
} points_request;

/* Notes ({"space", "schedule": "", "why"}) are appended to `tried`. Where something of
 * the space is chosen already, nothing else is looked at. */
void points_find(const points_request *r, space_points *out, json_t *tried);
void points_release(space_points *p);
/* Why a choice is not taken. */
void points_note(json_t *tried, const char *space, const char *why);

#endif
