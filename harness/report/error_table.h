/* error_table.h - how far `deterministic` and `fast` results are from the f64 reference: by kernel
 * and element type, over all cases that were checked against it. */
#ifndef TESSERA_HARNESS_REPORT_ERROR_TABLE_H
#define TESSERA_HARNESS_REPORT_ERROR_TABLE_H

#include <jansson.h>

#include "base/text.h"

/* One object a kernel, backend, profile and type: cases, max_ulp_f64, max_error_over_bound. */
/* More ULP say nothing: near zero a difference far below the bound is of millions. */
enum { ERROR_TABLE_ULP = 1 << 16 };

json_t *error_table_json(const json_t *results);
/* Appends the table; nothing where no result has an error. */
void error_table_print(const json_t *results, text *out);

#endif
