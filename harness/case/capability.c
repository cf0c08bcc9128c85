/* capability.c - the types that a graph mentions, and what a backend takes for them. */
#include "case/capability.h"

uint32_t capability_fallbacks(backend_id id, const ir_module *graph, dtype *lacking) {
    bool used[DTYPE_COUNT] = {false};
    uint32_t count = 0, values = ir_value_count(graph);
    for (ir_value v = 1; v <= values; v++)
        used[ir_type_of(graph, v)->element] = true;
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (used[t] && capability_of(id, (dtype)t)->as != DTYPE_NONE)
            lacking[count++] = (dtype)t;
    return count;
}
