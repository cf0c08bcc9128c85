/* emit.c - operations from entities: inference, broadcasting, literals; what does not fit is
 * explained here. */
#include <string.h>

#include "check/check.h"

static void report_mismatch(checker *c, const graph_infer_query *q, const entity *operands,
                            uint32_t count, span at) {
    const char *name =
        q->opcode == GRAPH_SELECT ? "where" : op_info_get(q->opcode)->name + strlen("tessera.");
    static const diagnostic_id ids[MISFIT_COUNT] = {[MISFIT_ARGUMENT] = ERROR_OPERATION_ARGUMENT,
                                                    [MISFIT_AXIS] = ERROR_AXIS_RANGE,
                                                    [MISFIT_ELEMENT] = ERROR_OPERATION_ELEMENTS,
                                                    [MISFIT_TYPES] = ERROR_ELEMENT_TYPES_DIFFER,
                                                    [MISFIT_ACCUMULATOR] = ERROR_ACCUMULATOR_TYPE,
                                                    [MISFIT_ORDER] = ERROR_ORDER_TYPE,
                                                    [MISFIT_UNIT] = ERROR_ORDER_UNIT,
                                                    [MISFIT_SHAPE] = ERROR_OPERATION_SHAPES,
                                                    [MISFIT_RANK] = ERROR_RANK_LIMIT,
                                                    [MISFIT_DIMENSION] = ERROR_DIMENSION_RANGE,
                                                    [MISFIT_SIZE] = ERROR_ELEMENT_LIMIT};
    diagnose_error(c->report, ids[q->misfit], at, "%s: %s", name, q->error);
    for (int i = 0; i < 2; i++)
        if (q->blamed[i] >= 0 && (uint32_t)q->blamed[i] < count)
            note_tensor(c, &operands[q->blamed[i]]);
}

/* Counts one more; the first beyond the limit is reported. */
bool emit_count(checker *c, span at) {
    if (c->operations++ == LIMIT_OPERATIONS) {
        diagnose_error(c->report, ERROR_OPERATION_LIMIT, at,
                       "this kernel has more than %d operations", LIMIT_OPERATIONS);
        diagnose_help(c->report, "split it into kernels that take each other's results");
    }
    return c->operations <= LIMIT_OPERATIONS;
}

/* Under @math("correct") every specified function has to be one that can be tried at all inputs. */
static bool has_math(checker *c, int opcode, const entity *operands, uint32_t count, span at) {
    if (!c->kernel || !c->kernel->math || !graph_op_is_specified(opcode))
        return true;
    bool wide = ir_type_of(c->m, operands[0].value)->element == DTYPE_F64;
    if (count < 2 && !wide)
        return true;
    diagnose_error(c->report, ERROR_MATH_LACKING, at,
                   "'%s'%s has no correctly rounded version, which @math(\"correct\") asks for",
                   op_info_get(opcode)->name + strlen("tessera."), wide ? " of f64" : "");
    diagnose_help(c->report, "take @math away, or compute this in a kernel of its own");
    return false;
}

/* Parameters: what the operation will be made of, two lists with their counts, and its place in the
 * source. */
ir_op emit_op(checker *c, int opcode, const entity *operands, uint32_t count,
              const ir_named_attr *attrs, uint32_t attr_count, span at) {
    if (!emit_count(c, at) || !has_math(c, opcode, operands, count, at))
        return 0;
    ir_value *values = ARENA_NEW(&c->memory, ir_value, count + 1);
    ir_type *types = ARENA_NEW(&c->memory, ir_type, count + 1);
    ir_named_attr *all = ARENA_NEW(&c->memory, ir_named_attr, attr_count + 1);
    dtype accumulate;
    if (!policy_operands(c, opcode, operands, count, attrs, attr_count, &accumulate, at))
        return 0;
    if (accumulate != DTYPE_NONE) {
        ir_attr type = ir_attr_type(c->m, ir_type_scalar(c->m, accumulate));
        if (attr_count)
            memcpy(all, attrs, sizeof *all * attr_count);
        all[attr_count++] = (ir_named_attr){"accumulate", type};
        attrs = all;
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = operands[i].value;
        types[i] = ir_value_get(c->m, values[i])->type;
    }
    graph_infer_query q = {.m = c->m,
                           .opcode = opcode,
                           .operands = types,
                           .operand_count = count,
                           .attrs = attrs,
                           .attr_count = attr_count};
    if (!graph_infer(&q)) {
        report_mismatch(c, &q, operands, count, at);
        return 0;
    }
    c->builder.location = checker_location(c, at);
    ir_op_spec spec = {.opcode = opcode,
                       .operands = values,
                       .operand_count = count,
                       .results = q.results,
                       .result_count = q.result_count,
                       .attrs = attrs,
                       .attr_count = attr_count};
    return ir_build(&c->builder, &spec);
}

/* Parameters: as emit_op. */
entity emit_one(checker *c, int opcode, const entity *operands, uint32_t count,
                const ir_named_attr *attrs, uint32_t attr_count, span at) {
    ir_op op = emit_op(c, opcode, operands, count, attrs, attr_count, at);
    return op ? entity_tensor(ir_op_result(c->m, op, 0), at) : entity_broken(at);
}

/* ---- moving axes ---- */

static bool same_shape(const ir_type_data *type, int rank, const ir_dim *dims) {
    return type->rank == rank &&
           (rank == 0 || memcmp(type->dims, dims, sizeof(ir_dim) * (size_t)rank) == 0);
}

/* A reshape of a reshape is one reshape, or none. */
static entity before_reshape(checker *c, const entity *x) {
    ir_op op = ir_value_get(c->m, x->value)->op;
    if (!op || ir_op_get(c->m, op)->opcode != GRAPH_RESHAPE)
        return *x;
    return entity_tensor(ir_op_get(c->m, op)->operands[0], x->at);
}

entity emit_reshape(checker *c, const entity *x, int rank, const ir_dim *dims, span at) {
    entity from = before_reshape(c, x);
    if (same_shape(tensor_type(c, &from), rank, dims))
        return entity_tensor(from.value, at);
    ir_named_attr shape = {"shape", ir_attr_dim_array(c->m, dims, (uint32_t)rank)};
    return emit_one(c, GRAPH_RESHAPE, &from, 1, &shape, 1, at);
}

entity emit_broadcast(checker *c, const entity *x, int rank, const ir_dim *dims, span at) {
    const ir_type_data *type = tensor_type(c, x);
    if (same_shape(type, rank, dims))
        return *x;
    ir_dim kept[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    int count = 0;
    for (int i = 0; i < type->rank; i++) {
        int axis = rank - type->rank + i;
        if (type->dims[i] == dims[axis]) {
            kept[count] = type->dims[i];
            axes[count++] = axis;
        }
    }
    entity from = emit_reshape(c, x, count, kept, at);
    if (from.kind == ENTITY_BROKEN)
        return from;
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(c->m, dims, (uint32_t)rank)},
                             {"axes", ir_attr_int_array(c->m, axes, (uint32_t)count)}};
    return emit_one(c, GRAPH_BROADCAST, &from, 1, attrs, 2, at);
}

entity emit_element_index(checker *c, const entity *x, span at) {
    const ir_type_data *t = tensor_type(c, x);
    ir_dim dims[IR_MAX_RANK] = {0}, count = 1;
    int rank = t->rank;
    for (int i = 0; i < rank; i++) {
        dims[i] = t->dims[i];
        count = ir_dim_mul(c->m, count, dims[i]);
    }
    ir_named_attr attrs[] = {{"shape", ir_attr_dim_array(c->m, &count, 1)},
                             {"axis", ir_attr_int(c->m, 0)}};
    entity flat = emit_one(c, GRAPH_IOTA, NULL, 0, attrs, 2, at);
    return flat.kind == ENTITY_BROKEN ? flat : emit_reshape(c, &flat, rank, dims, at);
}

entity emit_constant(checker *c, const entity *literal, dtype type, span at) {
    uint64_t bits = 0;
    if (literal->kind == ENTITY_DIM) {
        diagnose_error(c->report, ERROR_DIMENSION_AS_VALUE, literal->at,
                       "a dimension cannot take part in tensor arithmetic");
        diagnose_help(c->report,
                      "dimensions are for shapes and slices; divide by a length with mean()");
        return entity_broken(at);
    }
    if (!number_bits(c, literal, type, &bits))
        return entity_broken(at);
    ir_named_attr value = {"value", ir_attr_bits(c->m, type, bits)};
    return emit_one(c, GRAPH_CONSTANT, NULL, 0, &value, 1, literal->at);
}

/* ---- element-wise ---- */

/* Adds x's shape to the common one, right-aligned; false where they do not fit. */
static bool join_shape(const ir_type_data *x, int *rank, ir_dim *dims) {
    int wider = x->rank > *rank ? x->rank : *rank;
    ir_dim joined[IR_MAX_RANK];
    for (int i = 0; i < wider; i++) {
        int a = i - (wider - *rank), b = i - (wider - x->rank);
        ir_dim da = a < 0 ? 1 : dims[a], db = b < 0 ? 1 : x->dims[b];
        if (da != db && da != 1 && db != 1)
            return false;
        joined[i] = da == 1 ? db : da;
    }
    memcpy(dims, joined, sizeof(ir_dim) * (size_t)wider);
    *rank = wider;
    return true;
}

bool broadcast_all(checker *c, entity *operands, uint32_t count, span at) {
    ir_dim dims[IR_MAX_RANK] = {0};
    int rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!join_shape(tensor_type(c, &operands[i]), &rank, dims)) {
            diagnose_error(c->report, ERROR_BROADCAST, at, "shapes do not broadcast: %s and %s",
                           entity_type_text(c, ir_value_get(c->m, operands[0].value)->type),
                           entity_type_text(c, ir_value_get(c->m, operands[i].value)->type));
            note_tensor(c, &operands[0]);
            note_tensor(c, &operands[i]);
            return false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = emit_broadcast(c, &operands[i], rank, dims, at);
        if (operands[i].kind == ENTITY_BROKEN)
            return false;
    }
    return true;
}

static const entity *first_tensor(const entity *operands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].kind == ENTITY_TENSOR)
            return &operands[i];
    return NULL;
}

static bool is_literal(const entity *e) {
    return e->kind == ENTITY_NUMBER || e->kind == ENTITY_BOOL || e->kind == ENTITY_DIM;
}

static bool same_elements(checker *c, const entity *first, const entity *other, span at) {
    dtype a = tensor_type(c, first)->element, b = tensor_type(c, other)->element;
    if (a == b)
        return true;
    diagnose_error(c->report, ERROR_ELEMENT_TYPES_DIFFER, at, "element types differ: %s and %s",
                   entity_type_text(c, ir_value_get(c->m, first->value)->type),
                   entity_type_text(c, ir_value_get(c->m, other->value)->type));
    note_tensor(c, first);
    note_tensor(c, other);
    diagnose_help(c->report,
                  "there are no implicit conversions: write cast(..., %s) or cast(..., %s)",
                  dtype_name(a), dtype_name(b));
    return false;
}

/* Literals become constants of the tensors' type, and all tensors have that type. */
static bool settle_types(checker *c, entity *operands, uint32_t count, span at) {
    const entity *leader = first_tensor(operands, count);
    if (!leader) {
        diagnose_error(c->report, ERROR_NO_TENSOR, at, "at least one operand must be a tensor");
        diagnose_help(c->report, "full((), value, f32) makes a scalar tensor");
        return false;
    }
    entity first = *leader;
    for (uint32_t i = 0; i < count; i++) {
        if (is_literal(&operands[i]))
            operands[i] = emit_constant(c, &operands[i], tensor_type(c, &first)->element, at);
        else if (!argument_tensor(c, &operands[i], "an operand"))
            return false;
        if (operands[i].kind == ENTITY_BROKEN || !same_elements(c, &first, &operands[i], at))
            return false;
    }
    return true;
}

/* Parameters: as emit_op. */
entity emit_elementwise(checker *c, int opcode, entity *operands, uint32_t count,
                        const ir_named_attr *attrs, uint32_t attr_count, span at) {
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].kind == ENTITY_BROKEN)
            return entity_broken(at);
    uint32_t skip = opcode == GRAPH_SELECT ? 1 : 0;
    if ((skip && !argument_tensor(c, &operands[0], "the condition")) ||
        !settle_types(c, operands + skip, count - skip, at) ||
        !broadcast_all(c, operands, count, at))
        return entity_broken(at);
    return emit_one(c, opcode, operands, count, attrs, attr_count, at);
}

entity emit_compare(checker *c, const char *predicate, const entity *x, const entity *y, span at) {
    entity operands[] = {*x, *y};
    ir_named_attr attr = {"predicate", ir_attr_string(c->m, predicate)};
    return emit_elementwise(c, GRAPH_COMPARE, operands, 2, &attr, 1, at);
}
