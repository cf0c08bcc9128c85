/* unit_order.h - orders of accumulation that are what a matrix unit computes:
 * order="mma.sm90.bf16". The units are those of chip/matrix_units.def; an order is one whose
 * factors are an element type. docs/numerics.md, "What a matrix unit adds". */
#ifndef TESSERA_OPS_UNIT_ORDER_H
#define TESSERA_OPS_UNIT_ORDER_H

#include "base/dtype.h"
#include "base/text.h"
#include "chip/matrix_unit.h"

/* The unit's format for an element type; NULL: it has none. */
const binary_format *unit_order_format(dtype type);
/* Does it multiply floats of that type? */
bool unit_order_takes(const matrix_unit *unit, dtype type);
/* The type that it accumulates in. */
dtype unit_order_accumulator(const matrix_unit *unit);

/* The table of all units, as docs/numerics.md has it. */
void unit_order_print(text *out);

#endif
