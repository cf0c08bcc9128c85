/* vmap.c - batches of a function's values. */
#include "transforms/engine.h"

bool expand_vmap(transforming *t, ir_op op) {
    return transform_refuse(t, TRANSFORM_FAULT_BATCH, op, "there is no rule for batches");
}
