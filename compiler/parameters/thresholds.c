/* thresholds.c - thresholds.def as a list. */
#include "parameters/thresholds.h"

#include "tessera/thresholds.h"

uint32_t compiler_thresholds(const compiler_threshold **list) {
    static const compiler_threshold table[] = {
#define THRESHOLD(NAME, of, value, summary) {#NAME, COMPILER_THRESHOLD_##of, value, summary},
#include "parameters/thresholds.def"
    };
    *list = table;
    return sizeof table / sizeof *table;
}
