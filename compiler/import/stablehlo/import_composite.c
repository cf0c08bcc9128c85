/* import_composite.c - composites: one that is named like a function of CHLO or an operation of
 * Graph IR is that, and any other is the function that it is made of.
 *
 * "tessera.softmax" with its attributes is what target/stablehlo writes. Its attributes come from a
 * file, so each is checked before it is one of ours. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"

/* ---- CHLO ---- */

/* One of complex numbers is its decomposition. */
static const shlo_op_info *chlo_of(const shlo_op *op) {
    const char *name = shlo_op_string(op, "name", "");
    const shlo_op_info *info = shlo_op_named(name, strlen(name));
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (import_is_complex(op->operands[i]))
            return NULL;
    return strncmp(name, "chlo.", strlen("chlo.")) == 0 ? info : NULL;
}

static bool import_chlo(importer *im, const shlo_op *op, const shlo_op_info *own,
                        ir_value *results) {
    const shlo_attr *attrs = shlo_op_attr(op, "composite_attributes");
    shlo_op same = *op;
    if (attrs && attrs->kind != SHLO_ATTR_DICT)
        return import_refuse(im, op, "'composite_attributes' is no dictionary");
    shlo_named_attr *list = base_calloc(attrs ? attrs->count + 1 : 1, sizeof *list);
    for (uint32_t i = 0; attrs && i < attrs->count; i++)
        list[i] = (shlo_named_attr){attrs->keys[i], attrs->items[i]};
    same.name = shlo_op_string(op, "name", "");
    same.info = own;
    same.attrs = list;
    same.attr_count = attrs ? attrs->count : 0;
    same.region_count = 0;
    const bool good = import_handled(im, &same, results);
    free(list);
    return good;
}

/* ---- operations of Graph IR ---- */

/* Operations that compute a value of their operands, by their attributes alone. */
static int graph_of(const shlo_op *op) {
    const char *name = shlo_op_string(op, "name", "");
    const int opcode =
        strncmp(name, "tessera.", strlen("tessera.")) == 0 ? op_from_name(name) : GRAPH_NONE;
    if (opcode < 0 || opcode >= GRAPH_OP_COUNT)
        return GRAPH_NONE;
    switch (graph_op_class(opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
    case GRAPH_CLASS_REDUCE:
    case GRAPH_CLASS_DOT:
    case GRAPH_CLASS_SCAN:
    case GRAPH_CLASS_COMPOSITE:
        return opcode;
    default:
        return GRAPH_NONE;
    }
}

static const shlo_attr *entry(const shlo_op *op, const char *name) {
    const shlo_attr *all = shlo_op_attr(op, "composite_attributes");
    for (uint32_t i = 0; all && all->kind == SHLO_ATTR_DICT && i < all->count; i++)
        if (strcmp(all->keys[i], name) == 0)
            return all->items[i];
    return NULL;
}

static ir_attr numbers(importer *im, const shlo_attr *a) {
    int64_t values[IR_MAX_RANK];
    const bool listed = a->kind == SHLO_ATTR_TENSOR || a->kind == SHLO_ATTR_ARRAY;
    const uint32_t count = shlo_ints(a, values, IR_MAX_RANK);
    for (uint32_t i = 0; i < count && i < IR_MAX_RANK; i++)
        if (values[i] < 0 || values[i] > INT32_MAX)
            return 0;
    return listed && count <= IR_MAX_RANK ? ir_attr_int_array(im->m, values, count) : 0;
}

/* The attribute as one of a kind of graph.def; 0: it is none such. */
static ir_attr attr_of(importer *im, const shlo_attr *a, const char *kind) {
    const bool number = a->kind == SHLO_ATTR_FLOAT && a->type->element == SHLO_F64;
    if (strcmp(kind, "int") == 0)
        return a->kind == SHLO_ATTR_INTEGER ? ir_attr_int(im->m, a->integer) : 0;
    if (strcmp(kind, "bool") == 0)
        return a->kind == SHLO_ATTR_BOOL ? ir_attr_bool(im->m, a->integer != 0) : 0;
    if (strcmp(kind, "string") == 0)
        return a->kind == SHLO_ATTR_STRING ? ir_attr_string(im->m, a->string) : 0;
    if (strcmp(kind, "number") == 0)
        return number ? ir_attr_bits(im->m, DTYPE_F64, a->bits) : 0;
    if (strcmp(kind, "ints") == 0 || strcmp(kind, "dims") == 0)
        return numbers(im, a);
    const dtype t = strcmp(kind, "type") == 0 && a->kind == SHLO_ATTR_TYPE
                        ? shlo_element_get(a->type->element)->type
                        : DTYPE_NONE;
    return t == DTYPE_NONE ? 0 : ir_attr_type(im->m, ir_type_scalar(im->m, t));
}

enum { ATTRS_MAX = 16 };

static bool attrs_of(importer *im, const shlo_op *op, const op_info *info, ir_named_attr *out,
                     uint32_t *count) {
    const char *cursor = info->attrs;
    op_attr_info one;
    *count = 0;
    while (op_next_attr(&cursor, &one)) {
        const shlo_attr *a = entry(op, one.name);
        if (!a && (one.optional || strcmp(one.name, "id") == 0))
            continue;
        if (!a)
            return import_refuse(im, op, "%s lacks the attribute '%s'", info->name, one.name);
        const ir_attr value = attr_of(im, a, one.kind);
        if (!value || *count == ATTRS_MAX)
            return import_refuse(im, op, "the attribute '%s' of %s is not of the kind %s", one.name,
                                 info->name, one.kind);
        out[(*count)++] = (ir_named_attr){arena_strdup(ir_module_arena(im->m), one.name), value};
    }
    return true;
}

static bool operands_fit(importer *im, const shlo_op *op, const op_info *info) {
    const char *cursor = info->operands;
    op_operand_info one;
    uint32_t least = 0, most = 0;
    while (op_next_operand(&cursor, &one)) {
        least += !one.optional;
        most++;
    }
    return (op->operand_count >= least && op->operand_count <= most &&
            op->result_count == (uint32_t)info->results) ||
           import_refuse(im, op, "%s takes or gives another number of values", info->name);
}

/* Operands, with the type that they have in Graph IR; tf32 keeps all bits of an f32. */
static bool own_operands(importer *im, const shlo_op *op, ir_value *operands) {
    int64_t which[LIMIT_OPERANDS];
    const shlo_attr *tf32 = entry(op, SHLO_TF32_OPERANDS);
    const uint32_t count = shlo_ints(tf32, which, LIMIT_OPERANDS);
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!(operands[i] = import_operand(im, op, i)))
            return import_refuse(im, op, "a tuple goes into it");
    for (uint32_t i = 0; i < count && i < LIMIT_OPERANDS; i++) {
        if (which[i] < 0 || which[i] >= op->operand_count ||
            import_type_of(im, operands[which[i]])->element != DTYPE_F32)
            return import_refuse(im, op, "'" SHLO_TF32_OPERANDS "' names no operand of f32");
        operands[which[i]] = build_convert(&im->b, operands[which[i]], DTYPE_TF32);
    }
    return true;
}

static ir_value stored(importer *im, ir_value x) {
    return x ? build_convert(&im->b, x, dtype_stored_as(import_type_of(im, x)->element)) : 0;
}

static bool import_own(importer *im, const shlo_op *op, int opcode, ir_value *results) {
    const op_info *info = op_info_get(opcode);
    ir_named_attr attrs[ATTRS_MAX];
    ir_value operands[LIMIT_OPERANDS];
    uint32_t count;
    if (import_has_complex(op))
        return import_refuse(im, op, "%s of complex numbers", info->name);
    if (!operands_fit(im, op, info) || !attrs_of(im, op, info, attrs, &count))
        return false;
    if (!own_operands(im, op, operands))
        return false;
    ir_value first = import_build(im, op, opcode, operands, op->operand_count, attrs, count);
    for (uint32_t i = 0; first && i < op->result_count; i++)
        results[i] = stored(im, ir_op_result(im->m, ir_value_get(im->m, first)->op, i));
    return first != 0;
}

/* ---- composites ---- */

bool import_composite_is_own(const shlo_op *op) {
    return chlo_of(op) != NULL || graph_of(op) != GRAPH_NONE;
}

bool import_composite(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const shlo_op_info *chlo = chlo_of(op);
    const int opcode = graph_of(op);
    if (chlo)
        return import_chlo(im, op, chlo, results);
    return opcode != GRAPH_NONE
               ? import_own(im, op, opcode, results)
               : import_call_of(im, op, shlo_op_string(op, "decomposition", ""), results);
}
