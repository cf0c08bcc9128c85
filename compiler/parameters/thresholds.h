/* thresholds.h - the sizes of thresholds.def as constants. */
#ifndef TESSERA_PARAMETERS_THRESHOLDS_H
#define TESSERA_PARAMETERS_THRESHOLDS_H

#include "ops/orders.h"

enum {
#define THRESHOLD(NAME, of, value, summary) NAME = (value),
#include "parameters/thresholds.def"
};

#endif
