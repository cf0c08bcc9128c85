/* combiner.h - combiners (ops/combiner.h) that give way to loops. */
#ifndef TESSERA_GRAPH_COMBINER_H
#define TESSERA_GRAPH_COMBINER_H

#include "ops/combiner.h"

/* Fill `results` with the values that stand for the results of one. */
void combiner_expand_reduction(combiner *c, ir_value *results);
void combiner_expand_sort(combiner *c, ir_value *results);

#endif
