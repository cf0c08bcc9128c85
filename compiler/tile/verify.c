/* verify.c - each operation of Tile IR by itself: the kinds, shapes and types of its values. */
#include <string.h>

#include "tile/swizzle.h"
#include "tile/verify_parts.h"

#include "ops/predicates.h"

/* Beyond any memory or tile, and small enough that no sum of a few of them overflows. */
static const int64_t most_elements = INT64_C(1) << 48, most_columns = 1 << 20;

static const ir_type_data *operand(const ir_module *m, ir_op op, uint32_t i) {
    return ir_type_of(m, ir_op_get(m, op)->operands[i]);
}

static const ir_type_data *result(const ir_module *m, ir_op op) {
    return ir_type_of(m, ir_op_get(m, op)->results[0]);
}

static int parent_opcode(const ir_module *m, ir_op op) {
    ir_op parent = ir_block_parent(m, ir_op_get(m, op)->block);
    return ir_op_get(m, parent)->opcode;
}

static bool is_tile(const ir_type_data *t, int64_t rows, int64_t columns) {
    return t->dims[0] == rows && t->dims[1] == columns;
}

/* ---- kinds of values ---- */

/* Operands, then the result: i index, m memory, t tile; the last operand's letter stands for all
 * that follow. */
static const struct {
    int opcode;
    const char *operands, *result;
} signatures[] = {
    {TILE_PREPARED, "", "m"},
    {TILE_WORKSPACE, "i", "m"},
    {TILE_SCRATCH, "i", "m"},
    {TILE_INDEX, "", "i"},
    {TILE_AFFINE, "i", "i"},
    {TILE_INDEX_MIN, "i", "i"},
    {TILE_INDEX_MAX, "i", "i"},
    {TILE_INDEX_DIV, "i", "i"},
    {TILE_INDEX_REM, "i", "i"},
    {TILE_TO_INDEX, "t", "i"},
    {TILE_FROM_INDEX, "i", "t"},
    {TILE_LOAD, "mi", "t"},
    {TILE_GATHER, "miti", "t"},
    {TILE_LOAD_GROUP, "mi", "t"},
    {TILE_GROUP, "t", "t"},
    {TILE_GROUP_DOT, "t", "t"},
    {TILE_PREFETCH, "mi", ""},
    {TILE_STORE, "miti", ""},
    {TILE_SCATTER, "mitti", ""},
    {TILE_CONSTANT, "", "t"},
    {TILE_BROADCAST, "t", "t"},
    {TILE_IOTA, "i", "t"},
    {TILE_PAD, "t", "t"},
    {TILE_FOLD, "t", "t"},
    {TILE_DIM, "", "i"},
    {TILE_INDEX_MUL, "i", "i"},
    {TILE_INDEX_QUOTIENT, "i", "i"},
    {TILE_ROW, "t", "t"},
    {TILE_SCAN, "t", "t"},
    {TILE_BARRIER, "", ""},
    {TILE_MMA, "t", "t"},
    {TILE_COPY, "mimi", ""},
    {TILE_LOADER, "m", ""},
    {TILE_SLOT_CLAIM, "mi", ""},
    {TILE_FETCH, "mimimi", ""}, /* the last two: its slot */
    {TILE_SLOT_WAIT, "mi", ""},
    {TILE_SLOT_FREE, "mi", ""},
    {TILE_COPY_COMMIT, "", ""},
    {TILE_COPY_WAIT, "", ""},
    {TILE_MMA_WAIT, "t", ""},
    {TILE_COLUMNS, "t", "t"},
    {TILE_MMA_STAGE, "mitmi", "t"},
    {TILE_MMA_STAGE, "mitt", "t"},
};

static bool has_kind(const ir_type_data *t, char letter) {
    ir_type_kind kind = letter == 'i'   ? IR_TYPE_INDEX
                        : letter == 'm' ? IR_TYPE_MEMORY
                                        : IR_TYPE_TILE;
    return t->kind == kind &&
           (kind != IR_TYPE_TILE || (t->dims[0] > 0 && t->dims[1] > 0 &&
                                     t->dims[0] <= most_columns && t->dims[1] <= most_columns));
}

static bool verify_kinds(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const char *operands = "t", *results = "t"; /* element-wise */
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (signatures[i].opcode == d->opcode &&
            (d->opcode != TILE_MMA_STAGE || strlen(signatures[i].operands) == d->operand_count)) {
            operands = signatures[i].operands;
            results = signatures[i].result;
        }
    size_t last = *operands ? strlen(operands) - 1 : 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!has_kind(operand(m, op, i), operands[i < last ? i : last]))
            return status_set(st, STATUS_INTERNAL, "operand %u is of the wrong kind", i);
    return !*results || has_kind(result(m, op), *results) ||
           ir_broken(st, "the result is of the wrong kind");
}

/* ---- structure ---- */

static bool verify_kernel(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, op, 0));
    uint32_t names = ir_attr_get(m, ir_op_attr(m, op, "inputs"))->count +
                     ir_attr_get(m, ir_op_attr(m, op, "outputs"))->count;
    if (names != body->argument_count ||
        ir_attr_get(m, ir_op_attr(m, op, "shapes"))->count != names)
        return ir_broken(st, "needs a name and a shape for each argument");
    const ir_attr_data *shapes = ir_attr_get(m, ir_op_attr(m, op, "shapes"));
    for (uint32_t i = 0; i < body->argument_count; i++) {
        if (ir_type_of(m, body->arguments[i])->kind != IR_TYPE_MEMORY)
            return ir_broken(st, "its block takes memory");
        if (ir_attr_get(m, shapes->items[i])->kind != IR_ATTR_ARRAY)
            return ir_broken(st, "a shape is a list of dimensions");
    }
    for (ir_op i = body->first; i; i = ir_op_get(m, i)->next)
        if (ir_op_get(m, i)->opcode != TILE_WORKSPACE && ir_op_get(m, i)->opcode != TILE_PREPARED &&
            ir_op_get(m, i)->opcode != TILE_PHASE && ir_op_get(m, i)->opcode != TILE_FUNCTION)
            return ir_broken(st,
                             "its block holds functions, workspaces, prepared memory and phases");
    return tile_verify_shared(m, st) && tile_verify_launches(m, st);
}

static bool verify_phase(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    return (parent_opcode(m, op) == TILE_KERNEL && b->argument_count == 1 &&
            ir_type_of(m, b->arguments[0])->kind == IR_TYPE_INDEX) ||
           ir_broken(st, "stands in a kernel, and its block takes the number of the workgroup");
}

static bool verify_loop(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = b->last ? ir_op_get(m, b->last) : NULL;
    if (d->operand_count != d->result_count + 2 || b->argument_count != d->result_count + 1)
        return ir_broken(st, "needs a carried value for each result");
    if (!end || end->opcode != TILE_YIELD || end->operand_count != d->result_count)
        return ir_broken(st, "the block must yield each carried value");
    int64_t step = ir_op_int(m, op, "step", 0);
    if (step < 1 || step > most_elements)
        return ir_broken(st, "the step must be positive, and in range");
    if (operand(m, op, 0)->kind != IR_TYPE_INDEX || operand(m, op, 1)->kind != IR_TYPE_INDEX ||
        ir_type_of(m, b->arguments[0])->kind != IR_TYPE_INDEX)
        return ir_broken(st, "the bounds and the block's first argument are indices");
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_type type = ir_value_get(m, d->results[i])->type;
        if (type != ir_value_get(m, d->operands[2 + i])->type ||
            type != ir_value_get(m, b->arguments[1 + i])->type ||
            type != ir_value_get(m, end->operands[i])->type ||
            ir_type_get(m, type)->kind != IR_TYPE_TILE)
            return status_set(st, STATUS_INTERNAL, "carried value %u changes its type", i);
    }
    return true;
}

static bool verify_yield(const ir_module *m, ir_op op, status *st) {
    int parent = parent_opcode(m, op);
    return ((parent == TILE_FOR || parent == TILE_FUNCTION) && !ir_op_get(m, op)->next) ||
           ir_broken(st, "is not the last operation of a loop or a function");
}

static bool is_vector(const ir_type_data *t) {
    return t->kind == IR_TYPE_TILE && t->dims[0] == 1;
}

/* The value that a function yields; 0: it does not end as one. */
static ir_value yielded(const ir_module *m, ir_op function) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, function, 0));
    const ir_op_data *end = b->last ? ir_op_get(m, b->last) : NULL;
    return end && end->opcode == TILE_YIELD && end->operand_count == 1 ? end->operands[0] : 0;
}

static bool verify_function(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    ir_value result = yielded(m, op);
    int64_t number = ir_op_int(m, op, "number", -1);
    if (parent_opcode(m, op) != TILE_KERNEL || !result || b->argument_count == 0 ||
        b->argument_count > TILE_FUNCTION_OPERANDS || number < 0 || number >= TILE_FUNCTIONS)
        return ir_broken(st, "stands in a kernel, has a number, takes vectors and yields one");
    bool vectors = is_vector(ir_type_of(m, result));
    for (uint32_t i = 0; i < b->argument_count; i++)
        vectors &= is_vector(ir_type_of(m, b->arguments[i])) &&
                   ir_type_of(m, b->arguments[i])->dims[1] == ir_type_of(m, result)->dims[1];
    return vectors || ir_broken(st, "its arguments and what it yields are rows of one length");
}

/* ---- tiles ---- */

/* An operand fits a result where each dimension is the result's or 1. */
static bool fits(const ir_type_data *x, const ir_type_data *to) {
    return (x->dims[0] == to->dims[0] || x->dims[0] == 1) &&
           (x->dims[1] == to->dims[1] || x->dims[1] == 1);
}

/* The kernel's function of that number; 0: there is none. */
static ir_op function_numbered(const ir_module *m, int64_t number) {
    ir_op op = ir_kernel_body(m)->first;
    while (op &&
           (ir_op_get(m, op)->opcode != TILE_FUNCTION || ir_op_int(m, op, "number", -1) != number))
        op = ir_op_get(m, op)->next;
    return op;
}

static bool verify_call(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_op function = function_numbered(m, ir_op_int(m, op, "function", -1));
    if (!function)
        return ir_broken(st, "there is no such function");
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, function, 0));
    ir_value y = yielded(m, function);
    bool typed = y && d->operand_count == b->argument_count &&
                 result(m, op)->element == ir_type_of(m, y)->element;
    for (uint32_t i = 0; i < d->operand_count && typed; i++)
        typed = operand(m, op, i)->element == ir_type_of(m, b->arguments[i])->element &&
                fits(operand(m, op, i), result(m, op));
    return typed || ir_broken(st, "its values are not of the function's types, or of one shape");
}

static bool in_range(int64_t number) {
    return number >= -most_elements && number <= most_elements;
}

static bool verify_affine(const ir_module *m, ir_op op, status *st) {
    const ir_attr_data *list = ir_attr_get(m, ir_op_attr(m, op, "coefficients"));
    for (uint32_t i = 0; i < list->count; i++)
        if (!in_range(ir_attr_get(m, list->items[i])->integer))
            return ir_broken(st, "a coefficient is out of range");
    if (!in_range(ir_op_int(m, op, "constant", 0)))
        return ir_broken(st, "the constant is out of range");
    return list->count == ir_op_get(m, op)->operand_count ||
           ir_broken(st, "needs a coefficient for each index");
}

/* Are its rows, wherever they go, as long as their pattern says, and what goes beyond them whole
 * panels? */
static bool is_in_pattern(const ir_module *m, ir_op op, const ir_type_data *t) {
    const int64_t pattern = ir_op_int(m, op, "swizzle", 0), size = (int64_t)dtype_size(t->element),
                  strides[] = {ir_op_int(m, op, "row_stride", 0),
                               ir_op_int(m, op, "column_stride", 0)};
    bool fits = swizzle_of_row(pattern) == pattern;
    for (int i = 0; i < 2 && pattern; i++)
        fits &= strides[i] == 0 || strides[i] == 1 || swizzle_of_row(strides[i] * size) == pattern;
    if (!pattern || !tile_is_in_panels(m, op))
        return fits;
    return fits && strides[0] * size == pattern && swizzle_of_unit(pattern) && strides[1] == 1 &&
           t->dims[1] % strides[0] == 0 && t->dims[0] % SWIZZLE_ROWS == 0;
}

static bool verify_memory(const ir_module *m, ir_op op, status *st) {
    int opcode = ir_op_get(m, op)->opcode;
    bool stores = opcode == TILE_STORE || opcode == TILE_SCATTER;
    const ir_type_data *t = stores ? operand(m, op, 2) : result(m, op);
    if (!tile_more_fits(m, op))
        return ir_broken(st, "an index behind the offset has no name, or one that is not known");
    if (ir_op_attr(m, op, "ahead") && ir_op_int(m, op, "ahead", 0) <= 0)
        return ir_broken(st, "elements further on are a positive number of them");
    if (t->element != operand(m, op, 0)->element)
        return ir_broken(st, "the memory holds elements of another type");
    if (!is_in_pattern(m, op, t))
        return ir_broken(st, "what is swizzled is not in rows of its pattern, or whole panels");
    if (opcode != TILE_GATHER && opcode != TILE_SCATTER)
        return true;
    const ir_type_data *indices = operand(m, op, stores ? 3 : 2);
    return (indices->element == DTYPE_I32 && is_tile(indices, t->dims[0], t->dims[1])) ||
           ir_broken(st, "needs an i32 index for each element");
}

static bool holds_groups(const ir_type_data *t) {
    return t->element == DTYPE_I32;
}

/* Groups of 4 i8 or 2 bf16, in 32 bits. */
static bool verify_group(const ir_module *m, ir_op op, status *st) {
    const ir_type_data *to = result(m, op);
    int opcode = ir_op_get(m, op)->opcode;
    if (opcode == TILE_LOAD_GROUP)
        return (holds_groups(to) && tile_more_fits(m, op) &&
                dtype_size(operand(m, op, 0)->element) < 4) ||
               ir_broken(st, "loads groups of narrow elements");
    if (opcode == TILE_GROUP)
        return (holds_groups(to) && is_tile(to, 1, operand(m, op, 0)->dims[1]) &&
                operand(m, op, 0)->dims[0] * (int64_t)dtype_size(operand(m, op, 0)->element) ==
                    4) ||
               ir_broken(st, "makes 32 bits of each column");
    const ir_type_data *of = ir_type_get(m, ir_attr_get(m, ir_op_attr(m, op, "of"))->type);
    bool known = (of->element == DTYPE_I8 && to->element == DTYPE_I32) ||
                 (of->element == DTYPE_BF16 && to->element == DTYPE_F32);
    return (known && holds_groups(operand(m, op, 0)) && holds_groups(operand(m, op, 1)) &&
            fits(operand(m, op, 0), to) && fits(operand(m, op, 1), to) &&
            is_tile(operand(m, op, 2), to->dims[0], to->dims[1]) &&
            operand(m, op, 2)->element == to->element) ||
           ir_broken(st, "adds products of i8 into i32 or of bf16 into f32");
}

static bool verify_fold(const ir_module *m, ir_op op, status *st) {
    const ir_type_data *to = result(m, op);
    int64_t columns = 0;
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++) {
        const ir_type_data *part = operand(m, op, i);
        if (part->element != to->element || part->dims[0] != to->dims[0])
            return ir_broken(st, "its parts are not of the result's type");
        columns += part->dims[1];
    }
    const int64_t at = ir_op_int(m, op, "exchange", -1),
                  bytes = ir_op_int(m, ir_module_kernel(m), "scratch_bytes", 0);
    const ir_type_data *first = operand(m, op, 0);
    if (at >= 0 && first->dims[0] == 1 && first->dims[1] > 1 && at + TILE_FOLD_BYTES > bytes)
        return ir_broken(st, "exchanges lanes behind the end of the workgroup's memory");
    return (to->dims[1] == 1 && columns > 0 && (columns & (columns - 1)) == 0) ||
           ir_broken(st, "halves a power of two of columns until one is left");
}

static bool verify_row(const ir_module *m, ir_op op, status *st) {
    const ir_type_data *x = operand(m, op, 0), *to = result(m, op);
    int64_t number = ir_op_int(m, op, "number", -1);
    return (number >= 0 && number < x->dims[0] && is_tile(to, 1, x->dims[1]) &&
            x->element == to->element) ||
           ir_broken(st, "is one of the tile's rows");
}

static bool verify_columns(const ir_module *m, ir_op op, status *st) {
    const ir_type_data *x = operand(m, op, 0), *to = result(m, op);
    int64_t first = ir_op_int(m, op, "first", -1);
    return (first >= 0 && first <= x->dims[1] - to->dims[1] && to->dims[0] == x->dims[0] &&
            x->element == to->element) ||
           ir_broken(st, "is some of the tile's columns");
}

static bool verify_scan(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = operand(m, op, 0), *before = operand(m, op, 1);
    return (x->element == before->element && is_tile(before, 1, x->dims[0]) &&
            ir_value_get(m, d->results[0])->type == ir_value_get(m, d->operands[0])->type &&
            ir_value_get(m, d->results[1])->type == ir_value_get(m, d->operands[1])->type) ||
           ir_broken(st, "takes a column of sums for each row, and gives as many");
}

/* Shapes and types of operations that neither compute nor touch memory. */
static bool verify_shape(const ir_module *m, ir_op op, status *st) {
    int opcode = ir_op_get(m, op)->opcode;
    const ir_type_data *to = opcode == TILE_TO_INDEX ? operand(m, op, 0) : result(m, op);
    bool takes_tile = opcode == TILE_BROADCAST || opcode == TILE_PAD;
    const ir_type_data *x = takes_tile ? operand(m, op, 0) : to;
    bool typed = x->element == to->element;
    if (opcode == TILE_CONSTANT || opcode == TILE_PAD)
        typed &= ir_attr_get(m, ir_op_attr(m, op, "value"))->element == to->element;
    else if (opcode != TILE_BROADCAST)
        typed = to->element == DTYPE_I32;
    bool single = opcode == TILE_CONSTANT || opcode == TILE_TO_INDEX || opcode == TILE_FROM_INDEX;
    bool shaped = single               ? is_tile(to, 1, 1)
                  : opcode == TILE_PAD ? x->dims[0] == to->dims[0] && x->dims[1] <= to->dims[1]
                                       : fits(x, to);
    if (!typed)
        return ir_broken(st, "the element type does not fit");
    return shaped || ir_broken(st, "the shape does not fit");
}

/* ---- element-wise ---- */

static bool verify_predicate(const ir_module *m, ir_op op, status *st) {
    const char *name = ir_op_string(m, op, "predicate", "");
    return predicate_of(name) != PREDICATE_COUNT || strcmp(name, "uno") == 0 ||
           status_set(st, STATUS_INTERNAL, "unknown predicate '%s'", name);
}

/* The element type of a conversion's result; the attribute `to` and nothing else says it. */
static bool verify_conversion(const ir_module *m, ir_op op, status *st) {
    ir_attr attr = ir_op_attr(m, op, "to");
    const ir_type_data *to = attr ? ir_type_get(m, ir_attr_get(m, attr)->type) : NULL;
    if (!to || to->kind != IR_TYPE_SCALAR || to->element != result(m, op)->element)
        return ir_broken(st, "'to' is not the result's element type");
    if (ir_op_get(m, op)->opcode == TILE_CUT)
        return (to->element == DTYPE_BF16 && operand(m, op, 0)->element == DTYPE_F32) ||
               ir_broken(st, "is not of f32, as bf16");
    return ir_op_get(m, op)->opcode != TILE_BITCAST ||
           dtype_size(to->element) == dtype_size(operand(m, op, 0)->element) ||
           ir_broken(st, "a bitcast keeps the size of an element");
}

static bool verify_elementwise(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *to = result(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!fits(operand(m, op, i), to))
            return status_set(st, STATUS_INTERNAL,
                              "operand %u does not repeat to the result's shape", i);
    uint32_t first = d->opcode == TILE_SELECT; /* of the operands of one type */
    if (d->opcode == TILE_STOCHASTIC_ROUND)
        return (operand(m, op, 0)->element == DTYPE_F32 &&
                operand(m, op, 1)->element == DTYPE_I32 && ir_op_attr(m, op, "seed") &&
                ir_op_attr(m, op, "stream") && dtype_is_narrow(to->element) &&
                verify_conversion(m, op, st)) ||
               ir_broken(st, "rounds f32 at an i32 index, with a seed and a stream");
    if (d->opcode == TILE_RANDOM_BITS &&
        (to->element != DTYPE_I32 || !ir_op_attr(m, op, "seed") || !ir_op_attr(m, op, "site")))
        return ir_broken(st, "gives i32 for an index and a step, with a seed and a site");
    for (uint32_t i = first + 1; i < d->operand_count; i++)
        if (operand(m, op, i)->element != operand(m, op, first)->element)
            return status_set(st, STATUS_INTERNAL, "operand %u is of another element type", i);
    if (d->opcode == TILE_SELECT && operand(m, op, 0)->element != DTYPE_BOOL)
        return ir_broken(st, "the condition is not i1");
    if (d->opcode == TILE_CONVERT || d->opcode == TILE_BITCAST || d->opcode == TILE_CUT)
        return verify_conversion(m, op, st);
    if (d->opcode == TILE_COMPARE && !verify_predicate(m, op, st))
        return false;
    if (d->opcode == TILE_HARDWARE_EXP2 && (tile_is_strict(m) || to->element != DTYPE_F32))
        return ir_broken(st, "is of f32, and for profiles other than strict");
    dtype element = d->opcode == TILE_COMPARE ? DTYPE_BOOL : operand(m, op, first)->element;
    return to->element == element || ir_broken(st, "the result is of another element type");
}

bool tile_verify(const ir_module *m, ir_op op, status *st) {
    int opcode = ir_op_get(m, op)->opcode;
    switch (opcode) {
    case TILE_KERNEL:
        return verify_kernel(m, op, st);
    case TILE_PHASE:
        return verify_phase(m, op, st);
    case TILE_FOR:
        return verify_loop(m, op, st);
    case TILE_FUNCTION:
        return verify_function(m, op, st);
    case TILE_YIELD:
        return verify_yield(m, op, st);
    default:
        break;
    }
    if (!verify_kinds(m, op, st))
        return false;
    switch (opcode) {
    case TILE_INDEX:
        return in_range(ir_op_int(m, op, "value", 0)) || ir_broken(st, "the value is out of range");
    case TILE_AFFINE:
        return verify_affine(m, op, st);
    case TILE_INDEX_DIV:
    case TILE_INDEX_REM:
        return ir_op_int(m, op, "by", 0) > 0 || ir_broken(st, "divides by a positive number");
    case TILE_LOAD:
    case TILE_GATHER:
    case TILE_STORE:
    case TILE_SCATTER:
        return verify_memory(m, op, st);
    case TILE_PREFETCH:
        return (ir_op_int(m, op, "columns", 0) > 0 &&
                ir_op_int(m, op, "columns", 0) <= most_columns) ||
               ir_broken(st, "the number of columns is out of range");
    case TILE_LOAD_GROUP:
    case TILE_GROUP:
    case TILE_GROUP_DOT:
        return verify_group(m, op, st);
    case TILE_FOLD:
        return verify_fold(m, op, st);
    case TILE_ROW:
        return verify_row(m, op, st);
    case TILE_COLUMNS:
        return verify_columns(m, op, st);
    case TILE_SCAN:
        return verify_scan(m, op, st);
    case TILE_MMA:
        return verify_mma(m, op, st);
    case TILE_MMA_STAGE:
        return verify_mma_stage(m, op, st);
    case TILE_MMA_WAIT:
        return verify_mma_wait(m, op, st);
    case TILE_COPY:
        return verify_copy(m, op, st);
    case TILE_COPY_WAIT:
        return verify_copy_wait(m, op, st);
    case TILE_LOADER:
    case TILE_SLOT_CLAIM:
    case TILE_FETCH:
    case TILE_SLOT_WAIT:
    case TILE_SLOT_FREE:
        return verify_slots(m, op, st);
    case TILE_CALL:
        return verify_call(m, op, st);
    case TILE_TO_INDEX:
    case TILE_FROM_INDEX:
    case TILE_CONSTANT:
    case TILE_BROADCAST:
    case TILE_IOTA:
    case TILE_PAD:
        return verify_shape(m, op, st);
    default:
        return !tile_is_elementwise(opcode) || verify_elementwise(m, op, st);
    }
}
