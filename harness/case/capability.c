/* capability.c - look-ups in capabilities.def, and the types that a graph mentions. */
#include "case/capability.h"

static const capability rows[BACKEND_COUNT][DTYPE_COUNT] = {
#define CAPABILITY(id, type, as, why) [BACKEND_##id][type] = {true, as, why},
#include "device/capabilities.def"
#undef CAPABILITY
};

const capability *capability_of(backend_id id, dtype type) {
    return &rows[id][type];
}

uint32_t capability_fallbacks(backend_id id, const ir_module *graph, dtype *lacking) {
    bool used[DTYPE_COUNT] = {false};
    uint32_t count = 0, values = ir_value_count(graph);
    for (ir_value v = 1; v <= values; v++)
        used[ir_type_get(graph, ir_value_get(graph, v)->type)->element] = true;
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (used[t] && rows[id][t].as != DTYPE_NONE)
            lacking[count++] = (dtype)t;
    return count;
}
