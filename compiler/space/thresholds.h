/* thresholds.h - the sizes of thresholds.def as constants. */
#ifndef TESSERA_SPACE_THRESHOLDS_H
#define TESSERA_SPACE_THRESHOLDS_H

#include "ops/orders.h"

enum {
#define THRESHOLD(NAME, of, value, summary) NAME = (value),
#include "space/thresholds.def"
};

#endif
