/* import_dynamic.c - operations that take as operands what others have as attributes, where those
 * operands are constants: they are the other operation. */
#include <string.h>

#include "import/stablehlo/import.h"

/* Operands from `first` on are these attributes. */
static const struct twin {
    shlo_opcode opcode, as;
    uint32_t first, count;
    const char *names[3];
} twins[] = {
    {SHLO_OP_DYNAMIC_PAD,
     SHLO_OP_PAD,
     2,
     3,
     {"edge_padding_low", "edge_padding_high", "interior_padding"}},
    {SHLO_OP_DYNAMIC_GATHER, SHLO_OP_GATHER, 2, 1, {"slice_sizes"}},
    {SHLO_OP_DYNAMIC_CONV, SHLO_OP_CONVOLUTION, 2, 1, {"padding"}},
    {SHLO_OP_REAL_DYNAMIC_SLICE,
     SHLO_OP_SLICE,
     1,
     3,
     {"start_indices", "limit_indices", "strides"}},
};

static const struct twin *twin_of(const shlo_op *op) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (op->info && op->info->opcode == twins[i].opcode)
            return &twins[i];
    return NULL;
}

static const shlo_attr *constant_of(const shlo_value *v) {
    const shlo_op *op = v->op;
    const shlo_attr *a =
        op && op->info && op->info->opcode == SHLO_OP_CONSTANT ? shlo_op_attr(op, "value") : NULL;
    return a && a->kind == SHLO_ATTR_TENSOR && !shlo_element_is_float(a->type->element) ? a : NULL;
}

const shlo_op *import_static_form(importer *im, const shlo_op *op, shlo_op *room) {
    const struct twin *t = twin_of(op);
    if (!t)
        return op;
    if (op->operand_count != t->first + t->count) {
        import_refuse(im, op, "takes %u values, not %u", t->first + t->count, op->operand_count);
        return NULL;
    }
    shlo_named_attr *attrs =
        arena_alloc(&im->source->memory, ((size_t)op->attr_count + t->count) * sizeof *attrs);
    if (op->attr_count)
        memcpy(attrs, op->attrs, op->attr_count * sizeof *attrs);
    for (uint32_t i = 0; i < t->count; i++) {
        const shlo_attr *value = constant_of(op->operands[t->first + i]);
        if (!value) {
            import_refuse(im, op, "operand %u (%s) is no constant: refine the shapes first",
                          t->first + i, t->names[i]);
            return NULL;
        }
        attrs[op->attr_count + i] = (shlo_named_attr){t->names[i], value};
    }
    *room = *op;
    room->info = shlo_op_info_get(t->as);
    room->operand_count = t->first;
    room->attrs = attrs;
    room->attr_count = op->attr_count + t->count;
    return room;
}
