/* operation.c - calls that are operations: operands, then attributes, both as the operation's line
 * in the table says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "chip/matrix_unit.h"
#include "ops/tree_order.h"

enum { MAX_OPERANDS = 8, MAX_ATTRS = 12 };

typedef struct bound_operation {
    int opcode;
    op_operand_info operands[MAX_OPERANDS];
    int operand_count;
    op_attr_info attrs[MAX_ATTRS];
    int attr_count;
    call_arguments arguments; /* operands first, then attributes */
    ir_named_attr built[MAX_ATTRS];
    uint32_t built_count;
} bound_operation;

/* Operations with another face in the language: sum() for reduce, where() for select, x[...] for
 * slice... */
bool operation_is_function(int opcode) {
    switch (opcode) {
    case GRAPH_KERNEL:
    case GRAPH_RETURN:
    case GRAPH_CONSTANT:
    case GRAPH_DENSE:
    case GRAPH_EXTENT:
    case GRAPH_BROADCAST:
    case GRAPH_SLICE:
    case GRAPH_REDUCE:
    case GRAPH_CUMSUM:
    case GRAPH_ARGSORT:
    case GRAPH_COMPARE:
    case GRAPH_SELECT:
    case GRAPH_CONVERT:
    case GRAPH_BITCAST:
    case GRAPH_STOCHASTIC_ROUND:
    case GRAPH_RANDOM_BITS:
    case GRAPH_CONVOLVE:
    case GRAPH_UNSPECIFIED:
    case GRAPH_FOLD:
    case GRAPH_TILES:
    case GRAPH_FOR:
    case GRAPH_LOAD:
    case GRAPH_NEXT:
    case GRAPH_GIVE:
    case GRAPH_FUNCTION:
    case GRAPH_CALL:
    case GRAPH_IF:
    case GRAPH_WHILE:
    case GRAPH_LOOP:
    case GRAPH_REDUCE_WITH:
    case GRAPH_SORT:
    case GRAPH_SCATTER:
    case GRAPH_JVP:
    case GRAPH_VJP:
    case GRAPH_VMAP:
    case GRAPH_SHARD:
    case GRAPH_ALL_REDUCE:
    case GRAPH_ALL_GATHER:
    case GRAPH_REDUCE_SCATTER:
    case GRAPH_SHARD_SLICE:
    case GRAPH_ALL_TO_ALL:
    case GRAPH_PERMUTE:
    case GRAPH_SHARD_INDEX:
    case GRAPH_COTANGENT:
    case GRAPH_VARY:
    case GRAPH_EXCHANGE:
    case GRAPH_CHECKPOINT:
    case GRAPH_CUSTOM_VJP:
    case GRAPH_CUSTOM_JVP:
    case GRAPH_NOT:
    case GRAPH_AND:
    case GRAPH_OR:
        return false;
    default:
        return opcode >= 0 && opcode < GRAPH_OP_COUNT;
    }
}

/* ---- the table's columns ---- */

static bool attr_required(const op_attr_info *a) {
    return !a->optional && a->fallback[0] == 0;
}

static void describe_argument(text *out, const bound_operation *b, int index) {
    if (index < b->operand_count) {
        const op_operand_info *operand = &b->operands[index];
        text_printf(out, "%s%s", operand->name, operand->optional ? "=None" : "");
        return;
    }
    const op_attr_info *a = &b->attrs[index - b->operand_count];
    const char *quote = strcmp(a->kind, "string") == 0 && a->fallback[0] ? "\"" : "";
    const char *value = a->fallback[0] ? a->fallback : a->optional ? "None" : NULL;
    text_append(out, a->name);
    if (value)
        text_printf(out, "=%s%s%s", quote, value, quote);
}

/* As Python would write it: what only a keyword can give stands behind a star. */
static void describe_signature(checker *c, bound_operation *b) {
    const call_arguments *a = &b->arguments;
    text out;
    text_init(&out);
    for (int keywords = 0; keywords < 2; keywords++) {
        bool first = true;
        for (int i = 0; i < a->count; i++) {
            if (a->keyword_only[i] != keywords)
                continue;
            text_append(&out, out.length ? ", " : "");
            text_append(&out, keywords && first ? "*, " : "");
            first = false;
            describe_argument(&out, b, i);
        }
    }
    b->arguments.signature = arena_strdup(&c->memory, out.data);
    text_release(&out);
}

static bound_operation *describe(checker *c, int opcode, const char *function, span at) {
    bound_operation *b = ARENA_NEW(&c->memory, bound_operation, 1);
    const op_info *info = op_info_get(opcode);
    const char *cursor = info->operands;
    bool needed = false;
    b->opcode = opcode;
    b->arguments.function = function;
    b->arguments.at = at;
    while (b->operand_count < MAX_OPERANDS &&
           op_next_operand(&cursor, &b->operands[b->operand_count]))
        b->operand_count++;
    cursor = info->attrs;
    while (b->attr_count < MAX_ATTRS && op_next_attr(&cursor, &b->attrs[b->attr_count]))
        b->attr_count += graph_attr_is_argument(b->attrs[b->attr_count].name);
    call_arguments *a = &b->arguments;
    for (int i = 0; i < b->operand_count; i++) {
        memcpy(a->names[a->count], b->operands[i].name, sizeof(a->names[0]));
        a->required[a->count++] = !b->operands[i].optional;
    }
    for (int i = 0; i < b->attr_count; i++) {
        memcpy(a->names[a->count], b->attrs[i].name, sizeof(a->names[0]));
        a->required[a->count++] = attr_required(&b->attrs[i]);
        needed |= attr_required(&b->attrs[i]);
    }
    for (int i = 0; i < b->operand_count; i++)
        a->keyword_only[i] = needed && b->operands[i].optional;
    describe_signature(c, b);
    return b;
}

void operation_signature(int opcode, text *out) {
    checker c = {.source = NULL};
    arena_init(&c.memory);
    text_append(out,
                describe(&c, opcode, op_info_get(opcode)->name, (span){0})->arguments.signature);
    arena_release(&c.memory);
}

/* ---- attributes ---- */

enum { ATTR_CHOICES = 16 };

typedef struct attr_choice {
    const char *attr;
    int opcode; /* -1: every operation */
    const char *choices[ATTR_CHOICES];
} attr_choice;

static const attr_choice attr_choices[] = {
#define ORDER(ENUM, name, of, ...) ORDER_WORD_##of(name)
#define ORDER_WORD_DOT(name) #name,
#define ORDER_WORD_SUM(name)
#define ORDER_WORD_FREE(name)
#define ORDER_WORD_TREE(name)
#define ORDER_WORD_UNIT(name)
    {"order",
     -1,
     {
#include "ops/orders.def"
     }},
    {"approximate", GRAPH_GELU, {"tanh", "none"}},
    {"activation", GRAPH_LINEAR, {"none", "relu", "gelu", "gelu_erf", "silu"}},
};

/* The matrix unit whose name is almost that. */
static void suggest_unit(checker *c, const entity *e) {
    const char **names = ARENA_NEW(&c->memory, const char *, matrix_unit_count);
    for (size_t i = 0; i < matrix_unit_count; i++)
        names[i] = matrix_units[i].name;
    diagnose_nearest(c->report, e->text, names, matrix_unit_count);
}

static bool choice_known(checker *c, const bound_operation *b, const char *attr, const entity *e) {
    for (size_t i = 0; i < sizeof(attr_choices) / sizeof(attr_choices[0]); i++) {
        const attr_choice *row = &attr_choices[i];
        if (strcmp(row->attr, attr) != 0 || (row->opcode >= 0 && row->opcode != b->opcode))
            continue;
        size_t count = 0;
        for (; count < ATTR_CHOICES && row->choices[count]; count++)
            if (strcmp(row->choices[count], e->text) == 0)
                return true;
        text list;
        text_init(&list);
        for (size_t k = 0; k < count; k++)
            text_printf(&list, "%s\"%s\"", k ? ", " : "", row->choices[k]);
        diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, e->at, "unknown %s \"%.40s\"", attr,
                       e->text);
        bool order = strcmp(attr, "order") == 0;
        diagnose_help(c->report, "one of %s%s", list.data,
                      order ? ", a tree that is written out, or a matrix unit such as "
                              "\"mma.sm90.bf16\""
                            : "");
        if (order)
            suggest_unit(c, e);
        text_release(&list);
        return false;
    }
    return true;
}

static int rank_for(checker *c, const bound_operation *b, const char *attr) {
    int operand = strncmp(attr, "y_", 2) == 0 ? 1 : 0;
    const entity *e = &b->arguments.values[operand];
    return operand < b->operand_count && e->kind == ENTITY_TENSOR ? tensor_type(c, e)->rank
                                                                  : IR_MAX_RANK;
}

static ir_attr int_attr(checker *c, const bound_operation *b, const op_attr_info *a,
                        const entity *e) {
    int64_t value = 0;
    bool axis = strcmp(a->name, "axis") == 0;
    bool good = axis ? argument_axis(c, e, rank_for(c, b, a->name), &value)
                     : argument_int(c, e, a->name, &value);
    return good ? ir_attr_int(c->m, value) : 0;
}

static ir_attr ints_attr(checker *c, const bound_operation *b, const op_attr_info *a,
                         const entity *e) {
    int64_t values[IR_MAX_RANK];
    int count = 0;
    if (e->kind == ENTITY_NONE || !argument_axes(c, e, rank_for(c, b, a->name), values, &count)) {
        if (e->kind == ENTITY_NONE) {
            diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                           "expected %s: axes such as (0, 1)", a->name);
        }
        return 0;
    }
    return ir_attr_int_array(c->m, values, (uint32_t)count);
}

ir_attr operation_tree_order(checker *c, const entity *e) {
    tree_order tree;
    status st = STATUS_INIT;
    text canonical;
    bool good = tree_order_parse(e->text, &tree, &st);
    tree_order_release(&tree);
    if (!good) {
        diagnose_error(c->report, ERROR_ORDER_TREE, e->at, "%s", st.message);
        diagnose_help(c->report,
                      "for example \"tree(0:8:2+(1:8:2))\": a chain of elements 0, 2, 4, 6, then "
                      "the result of another of 1, 3, 5, 7");
        return 0;
    }
    text_init(&canonical);
    tree_order_canonical(e->text, &canonical);
    ir_attr attr = ir_attr_string(c->m, canonical.data);
    text_release(&canonical);
    return attr;
}

static ir_attr string_attr(checker *c, const bound_operation *b, const op_attr_info *a,
                           const entity *e) {
    if (e->kind != ENTITY_STRING) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "expected %s: a string, not %s",
                       a->name, entity_describe(e));
        return 0;
    }
    if (strcmp(a->name, "order") == 0 && tree_order_is(e->text))
        return operation_tree_order(c, e);
    if (strcmp(a->name, "order") == 0 && matrix_unit_find(e->text))
        return ir_attr_string(c->m, e->text);
    return choice_known(c, b, a->name, e) ? ir_attr_string(c->m, e->text) : 0;
}

static ir_attr shape_attr(checker *c, const entity *e) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    return argument_shape(c, e, dims, &rank) ? ir_attr_dim_array(c->m, dims, (uint32_t)rank) : 0;
}

static ir_attr number_attr(checker *c, const op_attr_info *a, const entity *e) {
    if (e->kind != ENTITY_NUMBER) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "expected %s: a number, not %s",
                       a->name, entity_describe(e));
        return 0;
    }
    return ir_attr_bits(c->m, DTYPE_F64, f64_bits(number_value(e)));
}

/* 0 when reported. */
static ir_attr convert_attr(checker *c, const bound_operation *b, const op_attr_info *a,
                            const entity *e) {
    ir_dim dim;
    dtype type;
    bool truth;
    static const char *const kinds[] = {"int",    "ints", "dim",  "dims",
                                        "string", "bool", "type", "number"};
    size_t kind = 0;
    while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind], a->kind) != 0)
        kind++;
    switch (kind) {
    case 0:
        return int_attr(c, b, a, e);
    case 1:
        return ints_attr(c, b, a, e);
    case 2:
        return argument_dim(c, e, &dim) ? ir_attr_dim(c->m, dim) : 0;
    case 3:
        return shape_attr(c, e);
    case 4:
        return string_attr(c, b, a, e);
    case 5:
        return argument_bool(c, e, a->name, &truth) ? ir_attr_bool(c->m, truth) : 0;
    case 6:
        return argument_type(c, e, &type) ? ir_attr_type(c->m, ir_type_scalar(c->m, type)) : 0;
    case 7:
        return number_attr(c, a, e);
    default:
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "'%s' cannot be given here", a->name);
        return 0;
    }
}

/* The default, as if it had been written. */
static entity fallback_entity(checker *c, const op_attr_info *a, span at) {
    const char *s = arena_strdup(&c->memory, a->fallback);
    if (strcmp(a->kind, "string") == 0)
        return (entity){.kind = ENTITY_STRING, .at = at, .text = s};
    if (strcmp(a->kind, "bool") == 0)
        return (entity){.kind = ENTITY_BOOL, .at = at, .integer = strcmp(s, "True") == 0};
    if (strcmp(a->kind, "number") == 0)
        return (entity){.kind = ENTITY_NUMBER, .at = at, .text = s};
    if (strcmp(s, "()") == 0)
        return entity_tuple(c, 0, at);
    return entity_integer(c, strtoll(s, NULL, 10), at);
}

static bool build_attrs(checker *c, bound_operation *b) {
    for (int i = 0; i < b->attr_count; i++) {
        const op_attr_info *a = &b->attrs[i];
        int at = b->operand_count + i;
        entity e = b->arguments.values[at];
        if (!b->arguments.given[at] || (e.kind == ENTITY_NONE && a->optional)) {
            if (a->fallback[0] == 0)
                continue;
            e = fallback_entity(c, a, b->arguments.at);
        }
        ir_attr value = convert_attr(c, b, a, &e);
        if (!value)
            return false;
        b->built[b->built_count++] = (ir_named_attr){a->name, value};
    }
    return true;
}

/* ---- operands ---- */

static dtype literal_type(checker *c, const bound_operation *b) {
    for (int i = 0; i < b->operand_count; i++)
        if (b->arguments.values[i].kind == ENTITY_TENSOR)
            return tensor_type(c, &b->arguments.values[i])->element;
    return DTYPE_NONE;
}

/* Literals become scalar tensors of the first tensor's type, and those of indices i32. False when
 * reported. */
static bool settle_operands(checker *c, bound_operation *b, entity *out, uint32_t *count) {
    for (int i = 0; i < b->operand_count; i++) {
        entity e = b->arguments.values[i];
        if (e.kind == ENTITY_NONE && b->operands[i].optional)
            continue;
        dtype type = literal_type(c, b);
        if (type != DTYPE_NONE &&
            (e.kind == ENTITY_NUMBER || e.kind == ENTITY_BOOL || e.kind == ENTITY_DIM))
            e = emit_constant(c, &e, strcmp(b->operands[i].name, "indices") == 0 ? DTYPE_I32 : type,
                              e.at);
        if (!argument_tensor(c, &e, b->operands[i].name))
            return false;
        b->arguments.values[i] = e;
        out[(*count)++] = e;
    }
    return true;
}

static entity results_of(checker *c, ir_op op, span at) {
    if (!op)
        return entity_broken(at);
    uint32_t count = ir_op_get(c->m, op)->result_count;
    if (count == 1)
        return entity_tensor(ir_op_result(c->m, op, 0), at);
    entity out = entity_tuple(c, count, at);
    for (uint32_t i = 0; i < count; i++)
        out.items[i] = entity_tensor(ir_op_result(c->m, op, i), at);
    return out;
}

/* ---- matrix @ vector ---- */

/* A vector as a matrix of one row (left) or one column (right). */
static entity as_matrix(checker *c, const entity *x, bool left) {
    ir_dim length = tensor_type(c, x)->dims[0], row[] = {1, length}, column[] = {length, 1};
    return emit_reshape(c, x, 2, left ? row : column, x->at);
}

static bool inner_dims_fit(checker *c, const entity *operands, span at) {
    const ir_type_data *x = tensor_type(c, &operands[0]), *y = tensor_type(c, &operands[1]);
    if (x->dims[x->rank - 1] == y->dims[y->rank == 1 ? 0 : y->rank - 2])
        return true;
    diagnose_error(c->report, ERROR_OPERATION_SHAPES, at,
                   "matmul: inner dimensions differ: %s @ %s",
                   entity_type_text(c, ir_value_get(c->m, operands[0].value)->type),
                   entity_type_text(c, ir_value_get(c->m, operands[1].value)->type));
    note_tensor(c, &operands[0]);
    note_tensor(c, &operands[1]);
    return false;
}

/* As in NumPy: a vector on the left is one row, on the right one column, and that axis is none of
 * the result's. */
static entity multiply(checker *c, const bound_operation *b, const entity *operands, span at) {
    bool left = tensor_type(c, &operands[0])->rank == 1,
         right = tensor_type(c, &operands[1])->rank == 1;
    bool scalar =
        tensor_type(c, &operands[0])->rank == 0 || tensor_type(c, &operands[1])->rank == 0;
    if (scalar || (!left && !right))
        return emit_one(c, GRAPH_MATMUL, operands, 2, b->built, b->built_count, at);
    if (!inner_dims_fit(c, operands, at))
        return entity_broken(at);
    entity both[] = {left ? as_matrix(c, &operands[0], true) : operands[0],
                     right ? as_matrix(c, &operands[1], false) : operands[1]};
    entity out = emit_one(c, GRAPH_MATMUL, both, 2, b->built, b->built_count, at);
    if (out.kind == ENTITY_BROKEN)
        return out;
    const ir_type_data *full = tensor_type(c, &out);
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < full->rank; i++)
        if (!(left && i == full->rank - 2) && !(right && i == full->rank - 1))
            dims[rank++] = full->dims[i];
    return emit_reshape(c, &out, rank, dims, at);
}

static entity finish(checker *c, bound_operation *b) {
    entity operands[MAX_OPERANDS];
    uint32_t count = 0;
    span at = b->arguments.at;
    if (graph_op_class(b->opcode) == GRAPH_CLASS_ELEMENTWISE) {
        for (int i = 0; i < b->operand_count; i++)
            operands[i] = b->arguments.values[i];
        return emit_elementwise(c, b->opcode, operands, (uint32_t)b->operand_count, NULL, 0, at);
    }
    if (!settle_operands(c, b, operands, &count) || !build_attrs(c, b))
        return entity_broken(at);
    if (b->opcode == GRAPH_MATMUL)
        return multiply(c, b, operands, at);
    return results_of(c, emit_op(c, b->opcode, operands, count, b->built, b->built_count, at), at);
}

entity call_operation(checker *c, int opcode, const char *function, const node *call) {
    bound_operation *b = describe(c, opcode, function, call->at);
    return bind_arguments(c, call, &b->arguments) ? finish(c, b) : entity_broken(call->at);
}

entity call_operator(checker *c, int opcode, const entity *operands, uint32_t count, span at) {
    bound_operation *b = describe(c, opcode, op_info_get(opcode)->name + strlen("tessera."), at);
    for (int i = 0; i < b->arguments.count; i++)
        b->arguments.values[i] = (entity){.kind = ENTITY_NONE, .at = at};
    for (uint32_t i = 0; i < count; i++) {
        b->arguments.values[i] = operands[i];
        b->arguments.given[i] = true;
    }
    return finish(c, b);
}
