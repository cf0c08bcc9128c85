/* specialize.c - binds the symbolic dimensions of a kernel to the numbers of one case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "ops/control.h"
#include "ops/graph.h"
#include "ops/tiles.h"

typedef struct specializer {
    ir_bindings dims;
    status *st;
    bool ok;
} specializer;

/* Indices of instances and loops have no number yet; all else must. */
static ir_dim bind_index(ir_module *m, specializer *s, ir_dim d) {
    ir_dim left = ir_dim_substitute(m, d, s->dims);
    s->ok = left != IR_DIM_INVALID;
    if (!s->ok)
        status_set(s->st, STATUS_INVALID, "%s is negative or too large", ir_dim_text(m, d));
    return left;
}

static ir_dim bind_dim(ir_module *m, specializer *s, ir_dim d) {
    int64_t value = 0;
    const char *missing = NULL;
    if (s->ok && !ir_dim_evaluate(m, d, s->dims, &value, &missing)) {
        if (missing && tiles_has_index(m, missing))
            return bind_index(m, s, d);
        s->ok = false;
        if (missing)
            status_set(s->st, STATUS_INVALID, "dimension %s has no value; give %s=...", missing,
                       missing);
        else
            status_set(s->st, STATUS_INVALID, "dimension %s is negative or too large",
                       ir_dim_text(m, d));
    }
    return value;
}

/* No size in bytes that is computed from such a type overflows. */
static ir_type within_limit(const ir_module *m, specializer *s, ir_type type) {
    if (ir_type_count(m, type) > limit_elements) {
        s->ok = false;
        status_set(s->st, STATUS_INVALID,
                   "with these dimensions, a tensor has more than 2^%d elements",
                   LIMIT_ELEMENT_BITS);
    }
    return type;
}

static ir_type bind_type(ir_module *m, specializer *s, ir_type type) {
    ir_type_data d = *ir_type_get(m, type);
    if (d.kind != IR_TYPE_TENSOR)
        return type;
    for (int i = 0; i < d.rank; i++)
        d.dims[i] = bind_dim(m, s, d.dims[i]);
    return s->ok ? within_limit(m, s, ir_type_tensor(m, d.element, d.rank, d.dims)) : type;
}

static ir_attr bind_attr(ir_module *m, specializer *s, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    if (d->kind == IR_ATTR_DIM)
        return ir_attr_dim(m, bind_dim(m, s, d->integer));
    if (d->kind != IR_ATTR_ARRAY)
        return attr;
    ir_attr *items = base_malloc(sizeof *items * (d->count + 1));
    for (uint32_t i = 0; i < d->count; i++)
        items[i] = bind_attr(m, s, d->items[i]);
    ir_attr result = ir_attr_array(m, items, d->count);
    free(items);
    return result;
}

/* After binding, a shape may no longer fit (a slice beyond the end): the user's case is wrong then.
 */
static void check_op(ir_module *m, ir_op op, specializer *s) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    ir_type types[64];
    bool has_rule = class != GRAPH_CLASS_KERNEL && class != GRAPH_CLASS_RETURN &&
                    class != GRAPH_CLASS_TILES && class != GRAPH_CLASS_FOLD &&
                    d->opcode != GRAPH_NEXT && !control_has_blocks(d->opcode) &&
                    d->opcode != GRAPH_GIVE;
    if (!s->ok || !has_rule || d->operand_count > 64)
        return;
    for (uint32_t i = 0; i < d->operand_count; i++)
        types[i] = ir_value_get(m, d->operands[i])->type;
    graph_infer_query q = {.m = m,
                           .opcode = d->opcode,
                           .operands = types,
                           .operand_count = d->operand_count,
                           .attrs = d->attrs,
                           .attr_count = d->attr_count};
    if (!graph_infer(&q)) {
        s->ok = false;
        char line[24] = ""; /* IR text has none */
        if (d->location.line)
            snprintf(line, sizeof line, " (line %u)", d->location.line);
        status_set(s->st, STATUS_INVALID, "with these dimensions, '%s'%s: %s",
                   op_info_get(d->opcode)->name, line, q.error);
    }
}

/* A bound of a loop over blocks: one before the first block is there. */
static ir_attr bind_bound(ir_module *m, specializer *s, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    int64_t value = 0;
    const char *missing = NULL;
    return d->kind == IR_ATTR_DIM && ir_dim_count(m, d->integer, s->dims, &value, &missing)
               ? ir_attr_dim(m, value)
               : bind_attr(m, s, attr);
}

static void bind_op(ir_module *m, ir_op op, specializer *s) {
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->attr_count; i++)
        d->attrs[i].value =
            (d->opcode == GRAPH_FOR ? bind_bound : bind_attr)(m, s, d->attrs[i].value);
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_value_data *v = ir_value_get(m, d->results[i]);
        v->type = bind_type(m, s, v->type);
    }
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, r));
        for (uint32_t i = 0; i < b->argument_count; i++) {
            ir_value_data *v = ir_value_get(m, b->arguments[i]);
            v->type = bind_type(m, s, v->type);
        }
    }
    check_op(m, op, s);
}

/* Folds the extent of a dimension that was symbolic: a constant now. */
static control_rewritten fold_extent(ir_builder *b, ir_op op, ir_value *results, void *context) {
    (void)context;
    int64_t value = 0;
    if (ir_op_get(b->m, op)->opcode != GRAPH_EXTENT)
        return CONTROL_KEPT;
    ir_op_ints(b->m, op, "of", &value, 1);
    ir_named_attr attr = {"value", ir_attr_bits(b->m, DTYPE_I32, (uint32_t)value)};
    results[0] = ir_op_result(b->m, graph_build(b, GRAPH_CONSTANT, NULL, 0, &attr, 1), 0);
    return CONTROL_REPLACED;
}

bool graph_specialize(ir_module *m, ir_bindings dims, status *st) {
    specializer s = {dims, st, true};
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        bind_op(m, w.op, &s);
    if (s.ok)
        control_rewrite(m, fold_extent, NULL);
    return s.ok;
}
