/* expression.c - expressions other than calls and subscripts: names, literals, operators,
 * attributes. */
#include <string.h>

#include "check/check.h"

typedef struct operator_row {
    uint32_t symbol;
    int opcode;
    const char *predicate;
} operator_row;

static const operator_row operators[] = {
    {SYMBOL1('+'), GRAPH_ADD, NULL},
    {SYMBOL1('-'), GRAPH_SUB, NULL},
    {SYMBOL1('*'), GRAPH_MUL, NULL},
    {SYMBOL1('/'), GRAPH_DIV, NULL},
    {SYMBOL1('&'), GRAPH_AND, NULL},
    {SYMBOL1('|'), GRAPH_OR, NULL},
    {SYMBOL1('^'), GRAPH_XOR, NULL},
    {SYMBOL2('=', '='), GRAPH_COMPARE, "eq"},
    {SYMBOL2('!', '='), GRAPH_COMPARE, "ne"},
    {SYMBOL1('<'), GRAPH_COMPARE, "lt"},
    {SYMBOL2('<', '='), GRAPH_COMPARE, "le"},
    {SYMBOL1('>'), GRAPH_COMPARE, "gt"},
    {SYMBOL2('>', '='), GRAPH_COMPARE, "ge"},
    {SYMBOL2('<', '<'), GRAPH_LEFT_SHIFT, NULL},
    {SYMBOL2('>', '>'), GRAPH_RIGHT_SHIFT, NULL},
};

static const operator_row *operator_of(uint32_t symbol) {
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (operators[i].symbol == symbol)
            return &operators[i];
    return NULL;
}

static bool is_arithmetic(uint32_t symbol) {
    return symbol == SYMBOL1('+') || symbol == SYMBOL1('-') || symbol == SYMBOL1('*') ||
           symbol == SYMBOL1('/') || symbol == SYMBOL2('/', '/');
}

/* ---- dimensions ---- */

static bool as_dim(const entity *e, ir_dim *out) {
    *out = e->kind == ENTITY_DIM ? e->dim : e->integer;
    return e->kind == ENTITY_DIM || (e->kind == ENTITY_NUMBER && e->is_integer && e->integer >= 0);
}

static entity combine_dims(checker *c, uint32_t symbol, const entity *a, const entity *b, span at) {
    ir_dim x, y, out = IR_DIM_INVALID;
    if (operator_of(symbol) && operator_of(symbol)->predicate) {
        diagnose_error(c->report, ERROR_CONDITION, at, "a comparison of dimensions is no constant");
        diagnose_help(c->report, "a kernel is checked for all dimensions at once; choose between "
                                 "values with where(condition, a, b), by places where it matters");
        return entity_broken(at);
    }
    if (!as_dim(a, &x) || !as_dim(b, &y) || !is_arithmetic(symbol) || symbol == SYMBOL1('/')) {
        diagnose_error(c->report, ERROR_DIMENSION_OPERANDS, at,
                       "dimensions combine with dimensions and integers, by + - * and //");
        return entity_broken(at);
    }
    if (symbol == SYMBOL2('/', '/') && y == 0) {
        diagnose_error(c->report, ERROR_DIVISION_BY_ZERO, at, "division by zero");
        return entity_broken(at);
    }
    switch (symbol) {
    case SYMBOL1('+'):
        out = ir_dim_add(c->m, x, y);
        break;
    case SYMBOL1('-'):
        out = ir_dim_sub(c->m, x, y);
        break;
    case SYMBOL1('*'):
        out = ir_dim_mul(c->m, x, y);
        break;
    default:
        out = ir_dim_floordiv(c->m, x, y);
        break;
    }
    if (out == IR_DIM_INVALID) {
        diagnose_error(c->report, ERROR_DIMENSION_RANGE, at,
                       "this dimension would be negative or too large");
        return entity_broken(at);
    }
    return entity_dim(c, out, at);
}

/* ---- binary operators ---- */

/* x ** 2 is x * x, of every type that has products; any other power is pow's. */
static entity raise_to(checker *c, entity *operands, span at) {
    const entity *exponent = &operands[1];
    if (exponent->kind == ENTITY_NUMBER && exponent->is_integer && exponent->integer == 2) {
        operands[1] = operands[0];
        return emit_elementwise(c, GRAPH_MUL, operands, 2, NULL, 0, at);
    }
    return emit_elementwise(c, GRAPH_POW, operands, 2, NULL, 0, at);
}

static entity combine_tensors(checker *c, uint32_t symbol, const entity *a, const entity *b,
                              span at) {
    entity operands[2] = {*a, *b};
    if (symbol == SYMBOL1('@'))
        return call_operator(c, GRAPH_MATMUL, operands, 2, at);
    if (symbol == SYMBOL2('*', '*'))
        return raise_to(c, operands, at);
    if (symbol == SYMBOL2('/', '/') || symbol == SYMBOL1('%'))
        return integer_division(c, symbol == SYMBOL1('%'), a, b, at);
    const operator_row *row = operator_of(symbol);
    if (row->predicate)
        return emit_compare(c, row->predicate, a, b, at);
    return emit_elementwise(c, row->opcode, operands, 2, NULL, 0, at);
}

/* Compares constants, for `if`. */
static entity compare_numbers(const char *predicate, double a, double b, span at) {
    bool equal = a == b, less = a < b, negated = predicate[0] == 'n' || predicate[0] == 'g';
    bool holds = predicate[1] == 'q' || predicate[0] == 'n'                     ? equal
                 : strcmp(predicate, "lt") == 0 || strcmp(predicate, "ge") == 0 ? less
                                                                                : less || equal;
    return (entity){.kind = ENTITY_BOOL, .at = at, .integer = holds != negated};
}

/* Constants that are the same or not: bools, strings, types, and whether a value was left out. */
static bool is_same(const entity *a, const entity *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ENTITY_BOOL:
        return (a->integer != 0) == (b->integer != 0);
    case ENTITY_STRING:
        return strcmp(a->text, b->text) == 0;
    case ENTITY_TYPE:
        return a->type == b->type;
    default:
        return a->kind == ENTITY_NONE;
    }
}

static bool has_identity(const entity *a, const entity *b) {
    static const entity_kind kinds[] = {ENTITY_BOOL, ENTITY_STRING, ENTITY_TYPE};
    bool same_kind = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        same_kind |= a->kind == kinds[i] && b->kind == kinds[i];
    return same_kind || a->kind == ENTITY_NONE || b->kind == ENTITY_NONE;
}

/* `and` and `or`, or & and |, of constants. */
static entity connect(checker *c, bool conjunction, const entity *a, const entity *b, span at) {
    const entity *wrong = a->kind != ENTITY_BOOL ? a : b;
    if (wrong->kind == ENTITY_BOOL)
        return (entity){.kind = ENTITY_BOOL,
                        .at = at,
                        .integer =
                            conjunction ? a->integer && b->integer : a->integer || b->integer};
    diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at,
                   "'%s' is between constants that are True or False, not %s",
                   conjunction ? "and" : "or", entity_describe(wrong));
    diagnose_help(c->report, "write & and | between conditions, each in parentheses");
    return entity_broken(at);
}

/* Operators between numbers, which the compiler computes. */
static bool combines_numbers(uint32_t symbol) {
    return is_arithmetic(symbol) || symbol == SYMBOL1('%') || symbol == SYMBOL2('*', '*') ||
           symbol == SYMBOL2('<', '<') || symbol == SYMBOL2('>', '>');
}

entity check_binary(checker *c, uint32_t symbol, entity *a, entity *b, span at) {
    bool equal = symbol == SYMBOL2('=', '='), unequal = symbol == SYMBOL2('!', '=');
    if (a->kind == ENTITY_BROKEN || b->kind == ENTITY_BROKEN)
        return entity_broken(at);
    bool both = a->kind == ENTITY_BOOL && b->kind == ENTITY_BOOL;
    if (symbol == SYMBOL3('a', 'n', 'd') || (both && symbol == SYMBOL1('&')))
        return connect(c, true, a, b, at);
    if (symbol == SYMBOL2('o', 'r') || (both && symbol == SYMBOL1('|')))
        return connect(c, false, a, b, at);
    if ((equal || unequal) && has_identity(a, b))
        return (entity){.kind = ENTITY_BOOL, .at = at, .integer = is_same(a, b) == equal};
    if (a->kind == ENTITY_TENSOR || b->kind == ENTITY_TENSOR)
        return combine_tensors(c, symbol, a, b, at);
    if (a->kind == ENTITY_DIM || b->kind == ENTITY_DIM)
        return combine_dims(c, symbol, a, b, at);
    if (a->kind == ENTITY_NUMBER && b->kind == ENTITY_NUMBER && combines_numbers(symbol))
        return number_combine(c, symbol, a, b, at);
    const operator_row *row = operator_of(symbol);
    if (row && row->predicate && a->kind == ENTITY_NUMBER && b->kind == ENTITY_NUMBER)
        return compare_numbers(row->predicate, number_value(a), number_value(b), at);
    diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at,
                   "this operator does not act on %s and %s", entity_describe(a),
                   entity_describe(b));
    return entity_broken(at);
}

/* ---- unary operators ---- */

static entity negate(checker *c, uint32_t symbol, entity *e, span at) {
    bool literal = e->kind == ENTITY_NUMBER && symbol != SYMBOL1('~') && symbol != 0;
    if (literal) {
        entity out = symbol == SYMBOL1('-') ? number_negate(c, e) : *e;
        out.at = at;
        return out;
    }
    if (e->kind == ENTITY_BOOL && symbol == 0) {
        e->integer = !e->integer;
        return *e;
    }
    if (e->kind == ENTITY_DIM && symbol == SYMBOL1('-')) {
        diagnose_error(c->report, ERROR_DIMENSION_RANGE, at, "a dimension cannot be negative");
        diagnose_help(c->report, "a difference of dimensions can be written: M - N");
        return entity_broken(at);
    }
    if (!argument_tensor(c, e, "the operand"))
        return entity_broken(at);
    if (symbol == SYMBOL1('+'))
        return *e;
    dtype type = tensor_type(c, e)->element;
    if (symbol != SYMBOL1('-') && (dtype_is_float(type) || (symbol == 0 && type != DTYPE_BOOL))) {
        diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at, "'%s' does not act on %s elements",
                       symbol ? "~" : "not", dtype_name(type));
        diagnose_help(c->report, "compare first: x == 0");
        return entity_broken(at);
    }
    if (symbol == SYMBOL1('-') && type == DTYPE_BOOL) {
        diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at, "'-' does not act on bool elements");
        diagnose_help(c->report, "~ is the logical not");
        return entity_broken(at);
    }
    return emit_one(c, symbol == SYMBOL1('-') ? GRAPH_NEG : GRAPH_NOT, e, 1, NULL, 0, at);
}

/* ---- attributes ---- */

static entity shape_of(checker *c, const entity *x, span at) {
    const ir_type_data *type = tensor_type(c, x);
    entity out = entity_tuple(c, (uint32_t)type->rank, at);
    for (int i = 0; i < type->rank; i++)
        out.items[i] = entity_dim(c, type->dims[i], at);
    return out;
}

static entity check_attribute(checker *c, const node *n) {
    entity base = check_expression(c, n->left);
    if (base.kind == ENTITY_BROKEN)
        return base;
    bool shaped =
        base.kind == ENTITY_TENSOR || base.kind == ENTITY_MEMORY || base.kind == ENTITY_OUTPUT;
    if (shaped && strcmp(n->text, "shape") == 0)
        return shape_of(c, &base, n->at);
    if (tiles_has_attributes(&base))
        return tiles_attribute(c, &base, n);
    if (base.kind == ENTITY_TENSOR && strcmp(n->text, "T") == 0)
        return swap_last_axes(c, &base, n->at);
    if (shaped && strcmp(n->text, "dtype") == 0)
        return (entity){.kind = ENTITY_TYPE, .at = n->at, .type = tensor_type(c, &base)->element};
    if (shaped && strcmp(n->text, "ndim") == 0)
        return entity_integer(c, tensor_type(c, &base)->rank, n->at);
    static const char *const known[] = {"T", "shape", "dtype", "ndim"};
    const uint32_t others = base.kind == ENTITY_TENSOR ? 0 : 1; /* behind T, which tensors have */
    diagnose_error(c->report, ERROR_UNKNOWN_ATTRIBUTE, n->symbol_at, "%s has no '%.60s'",
                   entity_describe(&base), n->text);
    if (!diagnose_nearest(c->report, n->text, known + others, 4 - others)) {
        diagnose_help(
            c->report,
            "tensors have .T, .shape, .dtype and .ndim; everything else is a function: f(x)");
    }
    return entity_broken(n->at);
}

/* ---- all of them ---- */

static entity check_items(checker *c, const node *n) {
    entity out = entity_tuple(c, n->count, n->at);
    for (uint32_t i = 0; i < n->count; i++) {
        out.items[i] = check_expression(c, n->items[i]);
        if (out.items[i].kind == ENTITY_BROKEN)
            out.kind = ENTITY_BROKEN;
    }
    return out;
}

/* bf16 @ accum(f32): the same type, with one policy more. */
static entity with_policy(checker *c, const entity *type, const node *policy, span at) {
    policy_set *set = ARENA_NEW(&c->memory, policy_set, 1);
    if (type->policies)
        *set = *type->policies;
    entity out = *type;
    out.at = at;
    out.policies = set;
    return policy_read(policy, set, c->report) ? out : entity_broken(at);
}

static entity check_operator(checker *c, const node *n) {
    entity left = check_expression(c, n->left);
    if (n->kind == NODE_UNARY)
        return left.kind == ENTITY_BROKEN ? left : negate(c, n->symbol, &left, n->at);
    if (left.kind == ENTITY_TYPE && n->symbol == SYMBOL1('@'))
        return with_policy(c, &left, n->right, n->at);
    entity right = check_expression(c, n->right);
    return check_binary(c, n->symbol, &left, &right, n->at);
}

static entity refuse_here(checker *c, const node *n) {
    diagnose_error(c->report, ERROR_CONSTANT_EXPRESSION, n->at,
                   "a constant cannot be computed from this");
    return entity_broken(n->at);
}

/* A mesh and what is said by its axes: no operation comes of them. */
static const special_function *constant_function(const node *n) {
    static const char *const names[] = {"mesh", "PartitionSpec", "sharding"};
    for (size_t i = 0; n->left->kind == NODE_NAME && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(n->left->text, names[i]) == 0)
            return special_function_named(names[i]);
    return NULL;
}

/* Schedules and meshes are the only calls among constants. */
static entity check_constant_call(checker *c, const node *n) {
    if (tile_schedule_is(c->source, n)) {
        tile_space *space = ARENA_NEW(&c->memory, tile_space, 1);
        bool good = tile_schedule_read(c->source, n, space, c->report);
        return good ? (entity){.kind = ENTITY_TILE_SCHEDULE, .at = n->at} : entity_broken(n->at);
    }
    const special_function *f = constant_function(n);
    return f                     ? call_special(c, f, n)
           : schedule_is_call(n) ? schedule_read(c, n)
                                 : refuse_here(c, n);
}

entity check_expression(checker *c, const node *n) {
    switch (n->kind) {
    case NODE_NAME:
        return scope_lookup(c, n->text, n->at);
    case NODE_INT:
        return number_from_node(c, n, true);
    case NODE_WIDE:
        return number_wide(c, n);
    case NODE_FLOAT:
        return number_from_node(c, n, false);
    case NODE_BOOL:
        return (entity){.kind = ENTITY_BOOL, .at = n->at, .integer = n->integer};
    case NODE_NONE:
        return (entity){.kind = ENTITY_NONE, .at = n->at};
    case NODE_STRING:
        return (entity){.kind = ENTITY_STRING, .at = n->at, .text = n->text};
    case NODE_UNARY:
    case NODE_BINARY:
    case NODE_COMPARE:
        return check_operator(c, n);
    case NODE_TUPLE:
    case NODE_LIST:
        return check_items(c, n);
    case NODE_CALL:
        return c->constants_only ? check_constant_call(c, n) : check_call(c, n);
    case NODE_SUBSCRIPT:
        return c->constants_only ? refuse_here(c, n) : check_subscript(c, n);
    case NODE_ATTRIBUTE:
        return c->constants_only ? refuse_here(c, n) : check_attribute(c, n);
    default:
        diagnose_error(c->report, ERROR_MISPLACED, n->at, "this expression has no meaning here");
        return entity_broken(n->at);
    }
}
