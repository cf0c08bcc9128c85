/* jvp.c - forward derivatives: tangents are built beside the values. */
#include <stdlib.h>

#include "ops/control.h"
#include "transforms/engine.h"

bool expand_jvp(transforming *t, ir_op op) {
    ir_module *m = t->m;
    const ir_op_data *o = ir_op_get(m, op);
    const transform_shape s = transform_shape_of(m, op);
    derivation d = derive_begin(t, &(ir_builder){.m = m, .block = o->block, .before = op});
    ir_value *results = base_calloc(s.result_count + s.of_count + 1, sizeof *results);
    const derived_function f = {ir_op_block(m, op, 0), s.values, s.wrt, s.wrt_count};
    const ir_value *own = derive_bind(&d, &f);
    for (uint32_t i = 0; i < s.wrt_count; i++)
        value_table_set(&d.tangents, own[i], o->operands[i]);
    bool ok = derive_block(&d, f.block, results);
    for (uint32_t i = 0; i < s.of_count && ok; i++)
        results[s.result_count + i] = derive_tangent(&d, results[s.of[i]]);
    if (ok)
        transform_replace(m, op, results);
    free(results);
    derive_end(&d);
    return ok;
}
