/* formula_trend.h - whether a formula of dimensions can only grow with one of them. */
#ifndef TESSERA_HARNESS_CASE_FORMULA_TREND_H
#define TESSERA_HARNESS_CASE_FORMULA_TREND_H

#include <stdbool.h>

/* True: as `name` grows, all dimensions being 0 or more, the value never falls. False: it may fall,
 * or that cannot be seen from its parts; also where the formula (of runtime/formula.h) is none. */
bool formula_rises(const char *formula, const char *name);

#endif
