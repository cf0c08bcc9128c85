/* checks.c - the checks of a kernel that integers alone decide, such as the invariant of a cache.
 */
#include <stdlib.h>

#include "base/effect.h"
#include "check/source.h"
#include "graph/instance.h"
#include "ops/graph.h"
#include "tessera/checks.h"

/* Tells of each value whether it is made of floats that are given, and of integers. */
typedef struct origins {
    bool *floats, *integers;
} origins;

static void note_inputs(const ir_module *m, origins *o) {
    const ir_block_data *body = ir_kernel_body(m);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const ir_value v = body->arguments[i];
        const bool is_float = dtype_is_float(ir_type_of(m, v)->element);
        *(is_float ? &o->floats[v] : &o->integers[v]) = true;
    }
}

/* Blocks of an operation see its operands alone. */
static void note_op(const ir_op_data *d, origins *o) {
    bool floats = false, integers = false;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        floats |= o->floats[d->operands[i]];
        integers |= o->integers[d->operands[i]];
    }
    for (uint32_t i = 0; i < d->result_count; i++) {
        o->floats[d->results[i]] = floats;
        o->integers[d->results[i]] = integers;
    }
}

static bool is_check(const compiler_signature *s, uint32_t output) {
    effect e;
    return effect_read(s->outputs[output].effect, &e) && e.kind == EFFECT_CHECK;
}

static bool has_checks(const compiler_signature *s) {
    bool any = false;
    for (uint32_t i = 0; i < s->output_count; i++)
        any |= is_check(s, i);
    return any;
}

static uint32_t find_checks(const ir_module *m, const compiler_signature *s, ir_value *out) {
    const ir_op_data *end = ir_op_get(m, ir_kernel_body(m)->last);
    const size_t values = ir_value_count(m) + 1;
    origins o = {base_calloc(values, sizeof *o.floats), base_calloc(values, sizeof *o.integers)};
    uint32_t count = 0;
    note_inputs(m, &o);
    for (ir_op op = ir_kernel_body(m)->first; op; op = ir_op_get(m, op)->next)
        note_op(ir_op_get(m, op), &o);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const ir_value v = end->operands[i];
        if (is_check(s, i) && o.integers[v] && !o.floats[v])
            out[count++] = v;
    }
    free(o.floats);
    free(o.integers);
    return count;
}

bool compiler_integer_checks(compiler_instance *instance, compiler_instance **out, bool *decides,
                             status *st) {
    compiler_signature s;
    *out = NULL;
    if (!compiler_signature_of(instance, &s, st))
        return false;
    if (!has_checks(&s))
        return true;
    const ir_module *m = instance_specialized(instance, st);
    if (!m)
        return false;
    ir_value *checks = base_malloc(((size_t)s.output_count + 1) * sizeof *checks);
    const uint32_t count = find_checks(m, &s, checks);
    if (count) {
        ir_module *made = kernel_giving(m, checks, count);
        uint32_t *uses = ir_count_uses(made);
        for (uint32_t i = 0; i < s.input_count; i++)
            decides[i] = uses[ir_kernel_body(made)->arguments[i]] > 0;
        free(uses);
        *out = compiler_instance_new(made, instance->dims);
    }
    free(checks);
    return true;
}
