/* symbols.h - the symbols of a graph's dimensions, for code that takes them at launch. */
#ifndef TESSERA_OPS_SYMBOLS_H
#define TESSERA_OPS_SYMBOLS_H

#include "base/status.h"
#include "ir/dim.h"

/* Those of the shapes of inputs, then of outputs, in order of first appearance, as an array of
 * another module. */
ir_attr symbols_names(ir_module *m, ir_module *graph);
/* Constraints on dimensions for the graph to have a meaning: formulas that are not negative, each
 * with what is said where one is. 0 where no dimensions can be right, or one is no formula. */
ir_attr symbols_constraints(ir_module *m, ir_module *graph, status *st);

#endif
