/* import_combine.c - operations whose body is given: reductions, sorts, maps. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"
#include "ops/orders.h"
#include "ops/reductions.h"

/* ---- bodies ---- */

const char *import_kind_of(const shlo_block *body) {
    static const struct kind {
        shlo_opcode opcode;
        const char *name;
    } kinds[] = {{SHLO_OP_ADD, "sum"},     {SHLO_OP_MULTIPLY, "prod"}, {SHLO_OP_MAXIMUM, "max"},
                 {SHLO_OP_MINIMUM, "min"}, {SHLO_OP_AND, "and"},       {SHLO_OP_OR, "or"}};
    const shlo_op *op = body->first;
    if (body->argument_count != 2 || !op || op->next != body->last || !op->info ||
        op->operand_count != 2 || body->last->operand_count != 1 ||
        body->last->operands[0] != &op->results[0])
        return NULL;
    const shlo_value *a = &body->arguments[0], *b = &body->arguments[1];
    if (!((op->operands[0] == a && op->operands[1] == b) ||
          (op->operands[0] == b && op->operands[1] == a)))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].opcode == op->info->opcode)
            return kinds[i].name;
    return NULL;
}

bool import_repeat_constants(importer *im, const shlo_op *op, const value_refs *outside,
                             import_values *outer) {
    for (size_t i = 0; i < outside->count; i++) {
        const shlo_value *v = outside->items[i];
        const shlo_op *made = v->op;
        ir_value again[2] = {0};
        import_push(im, v, outer);
        if (!made || !made->info || made->info->opcode != SHLO_OP_CONSTANT || v->type->rank != 0)
            return import_refuse(im, op,
                                 "its body reads a value of the outside that is no constant");
        for (int part = 0; part < 1 + import_is_complex(v); part++) {
            im->part = part;
            const bool good = import_constant(im, made, 0, &again[part]);
            im->part = 0;
            if (!good)
                return false;
        }
        const ir_value *from = again;
        import_pull(im, v, &from);
    }
    return true;
}

/* Arguments in a row: those of one place, then those of the other. Of a sort the source has them in
 * pairs. */
static bool take_scalars(importer *im, const shlo_op *op, const shlo_block *body, bool pairs) {
    const uint32_t count = body->argument_count / 2;
    for (uint32_t i = 0; i < 2 * count; i++) {
        const shlo_value *v = &body->arguments[!pairs      ? i
                                               : i < count ? 2 * i
                                                           : 2 * (i - count) + 1];
        ir_type t = import_type(im, op, v->type);
        ir_value made[2] = {0};
        if (!t)
            return false;
        for (int part = 0; part < 1 + import_is_complex(v); part++)
            made[part] = ir_block_add_argument(im->m, im->b.block, t, NULL);
        const ir_value *from = made;
        import_pull(im, v, &from);
    }
    return true;
}

bool import_end_block(importer *im, const shlo_block *body) {
    import_values ends = {0};
    for (uint32_t i = 0; i < body->last->operand_count; i++) {
        if (!im->made[body->last->operands[i]->number])
            break;
        import_push(im, body->last->operands[i], &ends);
    }
    const bool whole = ends.count >= body->last->operand_count;
    if (whole)
        build_next(&im->b, ends.items, (uint32_t)ends.count);
    vec_release(&ends);
    return whole || import_refuse(im, body->last, "it ends in a value that is no tensor");
}

bool import_combiner_block(importer *im, const shlo_op *op, ir_block block, const shlo_block *body,
                           uint32_t count, bool pairs) {
    const ir_builder around = im->b;
    const bool inside = im->in_combiner;
    value_refs outside = {0};
    import_values outer = {0};
    if (!body || body->argument_count != 2 * count || !body->last || !body->last->info ||
        body->last->info->opcode != SHLO_OP_RETURN)
        return import_refuse(im, op, "its body does not take two scalars for each tensor");
    import_captures(op, &outside);
    im->b.block = block;
    im->b.before = 0;
    im->in_combiner = true;
    const bool good = take_scalars(im, op, body, pairs) &&
                      import_repeat_constants(im, op, &outside, &outer) && import_block(im, body) &&
                      import_end_block(im, body);
    const ir_value *from = outer.items;
    for (size_t i = 0; i < outside.count && from < outer.items + outer.count; i++)
        import_pull(im, outside.items[i], &from);
    vec_release(&outside);
    vec_release(&outer);
    im->in_combiner = inside;
    im->b = around;
    return good;
}

static bool same_element(const shlo_type *a, const shlo_type *b) {
    return a->kind == SHLO_TYPE_TENSOR && b->kind == SHLO_TYPE_TENSOR && a->element == b->element;
}

static bool same_shape(const shlo_type *a, const shlo_type *b) {
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

bool import_alike(importer *im, const shlo_op *op, uint32_t count, uint32_t begin) {
    const shlo_block *body = op->region_count ? op->regions[op->region_count - 1] : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const shlo_type *t = op->operands[i]->type, *first = op->operands[0]->type;
        if (!same_shape(t, first) || !same_element(t, op->results[i].type))
            return import_refuse(im, op, "tensor %u is not like the first, or like its result", i);
        if (begin && !same_element(t, op->operands[begin + i]->type))
            return import_refuse(im, op, "operand %u has other elements than its tensor",
                                 begin + i);
        for (uint32_t k = i; body && body->argument_count == 2 * count && k < 2 * count; k += count)
            if (begin && !same_element(t, body->arguments[k].type))
                return import_refuse(im, op, "its body takes other elements than its tensors have");
    }
    return true;
}

/* ---- reductions ---- */

/* The axes that go, in ascending order, behind the others. */
static void put_last(const int64_t *axes, uint32_t count, int rank, int64_t *order) {
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (!ir_ints_hold(axes, count, i))
            order[n++] = i;
    for (int i = 0; i < rank; i++)
        if (ir_ints_hold(axes, count, i))
            order[n++] = i;
}

/* ... and one of them all. */
static ir_value joined_last(importer *im, ir_value x, const int64_t *axes, uint32_t count) {
    const ir_type_data t = *import_type_of(im, x);
    int64_t order[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK + 1], all = 1;
    bool same = true;
    put_last(axes, count, t.rank, order);
    for (int i = 0; i < t.rank; i++) {
        same &= order[i] == i;
        if (i < t.rank - (int)count)
            dims[i] = t.dims[order[i]];
        else
            all *= t.dims[order[i]];
    }
    dims[t.rank - (int)count] = all;
    if (!same)
        x = build_transpose(&im->b, x, order);
    return import_shaped(im, x, t.rank - (int)count + 1, dims);
}

/* Sums, products and extremes of numbers over axes; and, or of truth values. */
ir_value import_known_reduction(importer *im, const shlo_op *op, const char *kind, ir_value x,
                                const int64_t *axes, uint32_t count) {
    const dtype t = import_type_of(im, x)->element;
    if (t == DTYPE_BOOL) {
        const bool all =
            strcmp(kind, "and") == 0 || strcmp(kind, "prod") == 0 || strcmp(kind, "min") == 0;
        kind = all ? "min" : "max";
        x = build_convert(&im->b, x, DTYPE_I32);
    }
    const bool ordered = reduction_rounds(kind) && dtype_is_float(t);
    ir_named_attr attrs[] = {{"kind", ir_attr_string(im->m, kind)},
                             {"axes", ir_attr_int_array(im->m, axes, count)},
                             {"order", ir_attr_string(im->m, order_info_of(ORDER_LANES64)->name)}};
    x = import_build(im, op, GRAPH_REDUCE, &x, 1, attrs, ordered ? 3 : 2);
    if (x && t == DTYPE_BOOL) /* the greatest of none is below 0 */
        return import_is(im, "gt", x, import_like(im, x, 0));
    return x;
}

/* Is it the value from which the kind begins, so that nothing has to be combined with it? Sums may
 * begin with any zero: theirs is made by the order. */
static bool is_identity(const shlo_value *init, const char *kind) {
    const shlo_attr *a = init->op && init->op->info && init->op->info->opcode == SHLO_OP_CONSTANT
                             ? shlo_op_attr(init->op, "value")
                             : NULL;
    const dtype t =
        a && a->kind == SHLO_ATTR_TENSOR ? shlo_element_get(a->type->element)->type : DTYPE_NONE;
    if (t == DTYPE_NONE || a->size < dtype_size(t))
        return false;
    const double value = dtype_load(t, a->bytes, 0);
    const bool is_float = dtype_is_float(t);
    if (strcmp(kind, "sum") == 0 || strcmp(kind, "or") == 0)
        return value == 0;
    if (strcmp(kind, "prod") == 0 || (strcmp(kind, "and") == 0 && t == DTYPE_BOOL))
        return value == 1;
    const dtype_format *f = dtype_format_of(t);
    const uint64_t bits = dtype_load_bits(t, a->bytes, 0);
    const uint64_t sign = (uint64_t)1 << (8 * dtype_size(t) - 1);
    if (is_float && f->infinity)
        return bits == (strcmp(kind, "max") == 0 ? f->infinity | sign : f->infinity);
    if (is_float || t == DTYPE_BOOL)
        return false;
    const int64_t end = strcmp(kind, "max") == 0 ? dtype_lowest(t) : dtype_highest(t);
    return dtype_integer(t, bits) == end;
}

ir_value import_combined(importer *im, const char *kind, ir_value init, ir_value x) {
    const int known = reduction_graph_opcode(kind), opcode = known >= 0                 ? known
                                                             : strcmp(kind, "and") == 0 ? GRAPH_AND
                                                                                        : GRAPH_OR;
    const ir_type_data t = *import_type_of(im, x);
    const bool truth = t.element == DTYPE_BOOL;
    const int of_truth = opcode == GRAPH_ADD || opcode == GRAPH_MAXIMUM   ? GRAPH_OR
                         : opcode == GRAPH_MUL || opcode == GRAPH_MINIMUM ? GRAPH_AND
                                                                          : opcode;
    return import_binary(im, truth ? of_truth : opcode, import_spread(im, init, t.rank, t.dims), x);
}

bool import_reduce_last(importer *im, const shlo_op *op, const shlo_block *body,
                        const import_values *tensors, const import_values *inits,
                        ir_value *results) {
    const uint32_t count = (uint32_t)tensors->count;
    const ir_type_data first = *import_type_of(im, tensors->items[0]);
    import_values operands = {0}, made = {0};
    import_types types = {0};
    for (uint32_t i = 0; i < count; i++) {
        vec_push(&operands, tensors->items[i]);
        vec_push(&types, ir_type_tensor(im->m, import_type_of(im, tensors->items[i])->element,
                                        first.rank - 1, first.dims));
    }
    for (uint32_t i = 0; i < count; i++)
        vec_push(&operands, inits->items[i]);
    ir_op reduce = build_along(&im->b, GRAPH_REDUCE_WITH, first.rank - 1, operands.items, 2 * count,
                               types.items, count);
    for (uint32_t i = 0; i < count; i++)
        vec_push(&made, ir_op_result(im->m, reduce, i));
    import_take_results(op, made.items, results);
    vec_release(&operands);
    vec_release(&types);
    vec_release(&made);
    return import_combiner_block(im, op, ir_op_block(im->m, reduce, 0), body, op->result_count,
                                 false);
}

/* A kind that tessera.reduce has for this element; NULL: the body is run as it is. */
const char *import_reducible(const importer *im, const char *kind, ir_value x) {
    const bool truth = import_type_of(im, x)->element == DTYPE_BOOL;
    if (!kind || truth)
        return kind;
    return strcmp(kind, "and") == 0 || strcmp(kind, "or") == 0 ? NULL : kind;
}

/* Each part of complex numbers. */
static bool by_kind(importer *im, const shlo_op *op, const char *kind, const int64_t *axes,
                    uint32_t count, ir_value *results) {
    for (int part = 0; part < 1 + import_has_complex(op); part++) {
        im->part = part;
        ir_value x = import_operand(im, op, 0);
        if (count)
            x = import_known_reduction(im, op, kind, x, axes, count);
        if (x && !is_identity(op->operands[1], kind))
            x = import_combined(im, kind, import_operand(im, op, 1), x);
        results[part] = x;
    }
    im->part = 0;
    return results[0] != 0;
}

bool import_reduce(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t axes[IR_MAX_RANK];
    const uint32_t count = op->operand_count / 2;
    const uint32_t reduced = shlo_op_ints(op, "dimensions", axes, IR_MAX_RANK);
    if (count == 0 || op->operand_count % 2 || op->result_count != count)
        return import_refuse(im, op, "needs tensors, and a value to begin with for each");
    if (!import_alike(im, op, count, count))
        return false;
    ir_value x = import_operand(im, op, 0);
    const int rank = import_type_of(im, x)->rank;
    for (uint32_t i = 0; i < reduced; i++)
        if (reduced > (uint32_t)rank || axes[i] < 0 || axes[i] >= rank)
            return import_refuse(im, op, "its axes are not the operand's");
    const bool of_one = count == 1 && !shlo_op_attr(op, SHLO_ASCENDING);
    const char *kind = of_one ? import_reducible(im, import_kind_of(op->regions[0]), x) : NULL;
    if (kind && import_has_complex(op) && strcmp(kind, "sum") != 0)
        kind = NULL; /* no part by itself */
    if (kind) {
        int64_t ascending[IR_MAX_RANK];
        uint32_t n = 0;
        for (int i = 0; i < rank; i++)
            if (ir_ints_hold(axes, reduced, i))
                ascending[n++] = i;
        return by_kind(im, op, kind, ascending, n, results);
    }
    import_values tensors = {0}, inits = {0};
    for (uint32_t i = 0; i < count; i++) {
        import_push(im, op->operands[i], &tensors);
        import_push(im, op->operands[count + i], &inits);
    }
    for (size_t i = 0; i < tensors.count; i++)
        tensors.items[i] = joined_last(im, tensors.items[i], axes, reduced);
    const bool good = import_reduce_last(im, op, op->regions[0], &tensors, &inits, results);
    vec_release(&tensors);
    vec_release(&inits);
    return good;
}

/* ---- sorts and maps ---- */

bool import_sort(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const uint32_t count = op->operand_count;
    int64_t axis = shlo_op_int(op, "dimension", -1);
    if (count == 0 || op->result_count != count)
        return import_refuse(im, op, "needs a tensor");
    if (!import_alike(im, op, count, 0))
        return false;
    const int rank = import_type_of(im, import_operand(im, op, 0))->rank;
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= rank)
        return import_refuse(im, op, "its axis is none of the operand's");
    import_values operands = {0}, made = {0};
    import_types types = {0};
    for (uint32_t i = 0; i < count; i++)
        import_push(im, op->operands[i], &operands);
    for (size_t i = 0; i < operands.count; i++)
        vec_push(&types, ir_value_get(im->m, operands.items[i])->type);
    ir_op sort = build_along(&im->b, GRAPH_SORT, (int)axis, operands.items,
                             (uint32_t)operands.count, types.items, (uint32_t)types.count);
    for (uint32_t i = 0; i < types.count; i++)
        vec_push(&made, ir_op_result(im->m, sort, i));
    import_take_results(op, made.items, results);
    vec_release(&operands);
    vec_release(&types);
    vec_release(&made);
    return import_combiner_block(im, op, ir_op_block(im->m, sort, 0), op->regions[0], count, true);
}

ir_value import_body_of(importer *im, const shlo_op *op, const shlo_block *body,
                        const ir_value *values, uint32_t count) {
    const int outer = im->lifted;
    if (!body || body->argument_count != count || !body->last || body->last->operand_count != 1) {
        import_refuse(im, op, "its body does not take a scalar for each tensor");
        return 0;
    }
    if (outer >= 0) {
        import_refuse(im, op, "a map in a map is not supported");
        return 0;
    }
    const ir_type_data t = *import_type_of(im, values[0]);
    for (uint32_t i = 0; i < count; i++)
        im->made[body->arguments[i].number] = values[i];
    im->lifted = t.rank;
    memcpy(im->shape, t.dims, sizeof im->shape);
    value_refs outside = {0};
    import_values kept = {0};
    import_captures(op, &outside);
    for (size_t i = 0; i < outside.count; i++) {
        ir_value *made = &im->made[outside.items[i]->number];
        vec_push(&kept, *made);
        if (*made && import_type_of(im, *made)->rank == 0)
            *made = import_spread(im, *made, t.rank, t.dims);
    }
    const bool good = import_block(im, body);
    for (size_t i = 0; i < outside.count; i++)
        im->made[outside.items[i]->number] = kept.items[i];
    vec_release(&outside);
    vec_release(&kept);
    im->lifted = outer;
    return good ? import_operand(im, body->last, 0) : 0;
}

/* The body by element is the body on whole tensors, whose constants have their shape. */
bool import_map(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    import_values operands = {0};
    for (uint32_t i = 0; i < op->operand_count; i++)
        vec_push(&operands, import_operand(im, op, i));
    if (op->operand_count == 0)
        return import_refuse(im, op, "its body does not take a scalar for each tensor");
    results[0] = import_body_of(im, op, op->regions[0], operands.items, op->operand_count);
    vec_release(&operands);
    return results[0] != 0;
}
