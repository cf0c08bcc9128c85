/* import_control.c - calls, branches and loops, tuples and tokens. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"

/* ---- values of the outside ---- */

typedef struct number_range {
    uint32_t low, high; /* of the values that an operation's regions make */
} number_range;

static void look_inside(const shlo_block *block, number_range *r) {
    for (uint32_t i = 0; i < block->argument_count; i++) {
        const uint32_t n = block->arguments[i].number;
        r->low = n < r->low ? n : r->low;
        r->high = n > r->high ? n : r->high;
    }
    for (const shlo_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            const uint32_t n = op->results[i].number;
            r->low = n < r->low ? n : r->low;
            r->high = n > r->high ? n : r->high;
        }
        for (uint32_t i = 0; i < op->region_count; i++)
            look_inside(op->regions[i], r);
    }
}

static void note_outside(const shlo_block *block, const number_range *r, value_refs *out) {
    for (const shlo_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const shlo_value *v = op->operands[i];
            bool known = v->number >= r->low && v->number <= r->high;
            for (size_t k = 0; k < out->count && !known; k++)
                known = out->items[k] == v;
            if (!known)
                vec_push(out, v);
        }
        for (uint32_t i = 0; i < op->region_count; i++)
            note_outside(op->regions[i], r, out);
    }
}

void import_captures(const shlo_op *op, value_refs *out) {
    number_range r = {UINT32_MAX, 0};
    for (uint32_t i = 0; i < op->region_count; i++)
        look_inside(op->regions[i], &r);
    for (uint32_t i = 0; i < op->region_count; i++)
        note_outside(op->regions[i], &r, out);
}

/* A block of an operation of ours: its arguments are values of its own, then captured ones, which
 * stand for those of the outside in it. */
typedef struct inside {
    importer *im;
    ir_builder around;
    const value_refs *captured;
    import_values outer;
} inside;

static inside enter(importer *im, ir_block block, const value_refs *captured) {
    inside s = {im, im->b, captured, {0}};
    im->b.block = block;
    im->b.before = 0;
    return s;
}

/* Gives a value an argument of the block, or two, of the types that it has now. */
static void take(importer *im, const shlo_value *v, const shlo_value *like) {
    import_values now = {0}, arguments = {0};
    import_push(im, like, &now);
    for (size_t i = 0; i < now.count; i++)
        vec_push(&arguments, ir_block_add_argument(im->m, im->b.block,
                                                   ir_value_get(im->m, now.items[i])->type, NULL));
    const ir_value *from = arguments.items;
    import_pull(im, v, &from);
    vec_release(&now);
    vec_release(&arguments);
}

static void take_captured(inside *s) {
    for (size_t i = 0; i < s->captured->count; i++)
        import_push(s->im, s->captured->items[i], &s->outer);
    for (size_t i = 0; i < s->captured->count; i++)
        take(s->im, s->captured->items[i], s->captured->items[i]);
}

static void leave(inside *s) {
    const ir_value *from = s->outer.items;
    for (size_t i = 0; i < s->captured->count && s->outer.count; i++)
        import_pull(s->im, s->captured->items[i], &from);
    s->im->b = s->around;
    vec_release(&s->outer);
}

/* Operands in a row. */
static void push_operands(const importer *im, const shlo_op *op, import_values *out) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        import_push(im, op->operands[i], out);
}

static bool has_values(importer *im, const shlo_op *op, const value_refs *captured) {
    for (size_t i = 0; i < captured->count; i++)
        if (!im->made[captured->items[i]->number])
            return import_refuse(im, op, "a tuple goes into it");
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!import_operand(im, op, i))
            return import_refuse(im, op, "a tuple goes into it");
    return true;
}

/* ---- branches ---- */

static bool result_types(importer *im, const shlo_op *op, import_types *types) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!import_push_type(im, op, op->results[i].type, types))
            return false;
    return true;
}

/* Does the block end in values of the types of the operation's results? */
static bool gives_like(const shlo_block *body, const shlo_op *op) {
    const shlo_op *end = body->last;
    if (!end || !end->info || end->info->opcode != SHLO_OP_RETURN ||
        end->operand_count != op->result_count)
        return false;
    for (uint32_t i = 0; i < end->operand_count; i++)
        if (!shlo_type_equal(end->operands[i]->type, op->results[i].type))
            return false;
    return true;
}

typedef struct branching {
    const shlo_op *op;
    const value_refs *captured;
    const import_types *types;
} branching;

static bool branch(importer *im, const branching *b, uint32_t from, ir_value index,
                   import_values *out);

/* One region as a block of ours. */
static bool write_branch(importer *im, const branching *b, uint32_t region, ir_block block) {
    inside s = enter(im, block, b->captured);
    const shlo_block *body = b->op->regions[region];
    take_captured(&s);
    bool good = body->last && body->argument_count == 0 && gives_like(body, b->op);
    good = good ? import_block(im, body) && import_end_block(im, body)
                : import_refuse(im, b->op, "a branch does not give what the others give");
    leave(&s);
    return good;
}

/* The branches from `from` on, which are not yet excluded, as a block that chooses among them. */
static bool write_rest(importer *im, const branching *b, uint32_t from, ir_block block) {
    inside s = enter(im, block, b->captured);
    import_values results = {0};
    ir_value index =
        ir_block_add_argument(im->m, block, ir_type_tensor(im->m, DTYPE_I32, 0, NULL), NULL);
    take_captured(&s);
    const bool good = branch(im, b, from, index, &results);
    if (good)
        build_next(&im->b, results.items, (uint32_t)results.count);
    vec_release(&results);
    leave(&s);
    return good;
}

/* Two branches have their condition; more are asked for one after the other, the last one is for
 * all that none before is for. */
static bool branch(importer *im, const branching *b, uint32_t from, ir_value index,
                   import_values *out) {
    const uint32_t left = b->op->region_count - from;
    const bool truth = b->op->info->opcode == SHLO_OP_IF, nested = !truth && left > 2;
    import_values operands = {0};
    vec_push(&operands,
             truth ? index
                   : import_is(im, "eq", index, import_number(im, DTYPE_I32, (double)from)));
    if (nested)
        vec_push(&operands, index);
    for (size_t i = 0; i < b->captured->count; i++)
        import_push(im, b->captured->items[i], &operands);
    ir_op choice = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_IF,
                                                  .operands = operands.items,
                                                  .operand_count = (uint32_t)operands.count,
                                                  .results = b->types->items,
                                                  .result_count = (uint32_t)b->types->count,
                                                  .region_count = 2});
    for (uint32_t i = 0; i < b->types->count; i++)
        vec_push(out, ir_op_result(im->m, choice, i));
    vec_release(&operands);
    const ir_block first = ir_op_block(im->m, choice, 0), second = ir_op_block(im->m, choice, 1);
    if (nested) /* both blocks take the index, the first one for nothing */
        ir_block_add_argument(im->m, first, ir_value_get(im->m, index)->type, NULL);
    return write_branch(im, b, from, first) &&
           (nested ? write_rest(im, b, from + 1, second) : write_branch(im, b, from + 1, second));
}

static bool chosen(importer *im, const shlo_op *op, const value_refs *captured, ir_value *results) {
    import_types types = {0};
    import_values values = {0};
    const branching b = {op, captured, &types};
    const shlo_block *only = op->region_count == 1 ? op->regions[0] : NULL;
    bool good = has_values(im, op, captured) && result_types(im, op, &types);
    if (good && only && (!only->last || only->argument_count || !gives_like(only, op)))
        good = import_refuse(im, op, "its branch does not give what it gives");
    if (good && only) { /* there is nothing to choose */
        good = import_block(im, only);
        for (uint32_t i = 0; i < op->result_count && good; i++)
            import_push(im, only->last->operands[i], &values);
    } else if (good) {
        good = branch(im, &b, 0, import_operand(im, op, 0), &values);
    }
    if (good)
        import_take_results(op, values.items, results);
    vec_release(&types);
    vec_release(&values);
    return good;
}

/* Each branch stands in the one before it, as deep as IR's text may be. */
enum { BRANCHES_MAX = 48 };

bool import_branches(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    value_refs captured = {0};
    if (op->operand_count != 1 || op->region_count == 0)
        return import_refuse(im, op, "needs an index and branches");
    if (op->result_count == 0) /* branches have no effects */
        return true;
    if (op->region_count > BRANCHES_MAX)
        return import_refuse(im, op, "has more than %d branches", BRANCHES_MAX);
    import_captures(op, &captured);
    const bool good = chosen(im, op, &captured, results);
    vec_release(&captured);
    return good;
}

/* ---- loops ---- */

static bool takes_like(const shlo_block *body, const shlo_op *op) {
    if (body->argument_count != op->operand_count)
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!shlo_type_equal(body->arguments[i].type, op->operands[i]->type) ||
            !shlo_type_equal(op->results[i].type, op->operands[i]->type))
            return false;
    return true;
}

static bool loop_block(importer *im, const shlo_op *op, uint32_t region, ir_block block,
                       const value_refs *captured) {
    const shlo_block *body = op->regions[region];
    if (!body->last || !takes_like(body, op) ||
        (region == 0 ? body->last->operand_count != 1 : !gives_like(body, op)))
        return import_refuse(im, op, "a region does not take or give what the loop carries");
    inside s = enter(im, block, captured);
    for (uint32_t i = 0; i < op->operand_count; i++)
        take(im, &body->arguments[i], op->operands[i]);
    take_captured(&s);
    bool good = import_block(im, body);
    if (good && region == 0) {
        good = import_end_block(im, body);
    } else if (good) { /* what is captured goes round as it is */
        import_values ends = {0};
        push_operands(im, body->last, &ends);
        for (size_t i = 0; i < captured->count; i++)
            import_push(im, captured->items[i], &ends);
        build_next(&im->b, ends.items, (uint32_t)ends.count);
        vec_release(&ends);
    }
    leave(&s);
    return good;
}

static bool general_loop(importer *im, const shlo_op *op, const value_refs *captured,
                         ir_value *results) {
    import_values operands = {0}, made = {0};
    import_types types = {0};
    push_operands(im, op, &operands);
    for (size_t i = 0; i < captured->count; i++)
        import_push(im, captured->items[i], &operands);
    for (size_t i = 0; i < operands.count; i++)
        vec_push(&types, ir_value_get(im->m, operands.items[i])->type);
    ir_op loop = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_WHILE,
                                                .operands = operands.items,
                                                .operand_count = (uint32_t)operands.count,
                                                .results = types.items,
                                                .result_count = (uint32_t)types.count,
                                                .region_count = 2});
    for (uint32_t i = 0; i < types.count; i++)
        vec_push(&made, ir_op_result(im->m, loop, i));
    import_take_results(op, made.items, results);
    vec_release(&operands);
    vec_release(&types);
    vec_release(&made);
    return loop_block(im, op, 0, ir_op_block(im->m, loop, 0), captured) &&
           loop_block(im, op, 1, ir_op_block(im->m, loop, 1), captured);
}

bool import_loop(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    value_refs captured = {0};
    if (op->operand_count == 0 || op->result_count != op->operand_count)
        return import_refuse(im, op, "carries nothing, or gives other values than it takes");
    import_captures(op, &captured);
    const bool good = has_values(im, op, &captured) && general_loop(im, op, &captured, results);
    vec_release(&captured);
    return good;
}

/* ---- calls ---- */

/* Bodies of combiners call nothing, and collectives are of the shards around them: the function's
 * operations stand in the place of the call. */
static bool written_out(importer *im, const shlo_op *op, const shlo_function *f,
                        ir_value *results) {
    enum { CALLS = LIMIT_CALLS };
    if (!f->body || f->body->argument_count != op->operand_count || !gives_like(f->body, op) ||
        im->calls >= CALLS)
        return import_refuse(im, op,
                             "what it calls gives other values, or functions call in a circle");
    if ((im->written += im->source->operation_count / 64 + 1) > SHLO_OPERATIONS_MAX / 64)
        return import_refuse(im, op, "functions in bodies would be too many operations");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        im->made[f->body->arguments[i].number] = im->made[op->operands[i]->number];
        im->imaginary[f->body->arguments[i].number] = im->imaginary[op->operands[i]->number];
    }
    im->calls++;
    const bool good = import_block(im, f->body);
    im->calls--;
    for (uint32_t i = 0; i < op->result_count && good; i++) {
        results[i] = im->made[f->body->last->operands[i]->number];
        results[op->result_count + i] = im->imaginary[f->body->last->operands[i]->number];
    }
    return good;
}

bool import_call_of(importer *im, const shlo_op *op, const char *name, ir_value *results) {
    const shlo_function *f = shlo_function_named(im->source, name);
    if (!f || f->type->inputs != op->operand_count ||
        f->type->count - f->type->inputs != op->result_count)
        return import_refuse(im, op, "@%.100s takes or gives another number of values", name);
    if (op->result_count == 0) /* functions have no effects */
        return true;
    if (im->in_combiner || import_is_collective(im, f))
        return written_out(im, op, f, results);
    import_types types = {0};
    import_values operands = {0}, made = {0};
    bool good = result_types(im, op, &types);
    for (uint32_t i = 0; i < op->operand_count && good; i++)
        good = im->made[op->operands[i]->number]
                   ? shlo_type_equal(f->type->parts[i], op->operands[i]->type) ||
                         import_refuse(im, op, "@%.100s takes another type", name)
                   : import_refuse(im, op, "a tuple goes into it");
    if (good) {
        push_operands(im, op, &operands);
        ir_named_attr attr = {"callee", ir_attr_string(im->m, name)};
        ir_op call = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_CALL,
                                                    .operands = operands.items,
                                                    .operand_count = (uint32_t)operands.count,
                                                    .results = types.items,
                                                    .result_count = (uint32_t)types.count,
                                                    .attrs = &attr,
                                                    .attr_count = 1});
        for (uint32_t i = 0; i < types.count; i++)
            vec_push(&made, ir_op_result(im->m, call, i));
        import_take_results(op, made.items, results);
    }
    vec_release(&operands);
    vec_release(&types);
    vec_release(&made);
    return good;
}

bool import_call(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    return import_call_of(im, op, shlo_op_string(op, "callee", ""), results);
}

/* Is its result a part of its operand, or the other way round? */
static bool cuts(const shlo_op *op) {
    return op->operand_count == 1 && op->result_count == 1 &&
           !shlo_type_equal(op->operands[0]->type, op->results[0].type);
}

/* Some names that XLA gives to functions are ours. */
static const struct known_call {
    const char *name;
    bool (*make)(importer *im, const shlo_op *op, ir_value *results);
} known_calls[] = {{"Eigh", import_eigh},
                   {"Qr", import_qr},
                   {"ProductOfElementaryHouseholderReflectors", import_reflectors}};

static const struct known_call *known_call(const shlo_op *op) {
    const char *name = shlo_op_string(op, "call_target_name", "");
    for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++)
        if (strcmp(name, known_calls[i].name) == 0)
            return &known_calls[i];
    return NULL;
}

bool import_is_factor(const shlo_op *op) {
    const shlo_opcode opcode = op->info->opcode;
    return opcode == SHLO_OP_TRIANGULAR_SOLVE || opcode == SHLO_OP_CHOLESKY ||
           (opcode == SHLO_OP_CUSTOM_CALL && known_call(op));
}

/* Marks of partitioners hand on what they take; other code is not called. */
bool import_custom_call(importer *im, const shlo_op *op, int graph, ir_value *results) {
    static const char *const marks[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "annotate_device_placement", "xla.sdy.FuncResultSharding"};
    const char *name = shlo_op_string(op, "call_target_name", "");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(name, marks[i]) == 0)
            return cuts(op) ? import_refuse(im, op,
                                            "'@%s' that cuts a value is not supported: write the "
                                            "program for Shardy (jax_use_shardy_partitioner)",
                                            name)
                            : import_same(im, op, graph, results);
    const struct known_call *known = known_call(op);
    return known
               ? known->make(im, op, results)
               : import_refuse(im, op, "'@%.100s' is code that this program does not bring", name);
}

/* ---- tuples and tokens ---- */

/* Effects stay in the order of the program by themselves. */
bool import_token(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const ir_type t = op->result_count == 1 ? import_result_type(im, op, 0) : 0;
    if (t)
        results[0] =
            import_spread(im, import_number(im, DTYPE_BOOL, 0), 1, ir_type_get(im->m, t)->dims);
    return t != 0;
}

/* A tuple is no value: its parts are found where it is taken apart. */
bool import_tuple(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)im;
    (void)op;
    (void)graph;
    results[0] = 0;
    return true;
}

/* The tuple that a value is, where it is made, which may have been a part of another; NULL: it
 * comes from elsewhere. */
static const shlo_op *tuple_of(const shlo_value *v, int depth) {
    const shlo_op *op = v->op;
    if (!op || !op->info || depth == 0)
        return NULL;
    if (op->info->opcode == SHLO_OP_TUPLE)
        return op;
    if (op->info->opcode != SHLO_OP_GET_TUPLE_ELEMENT || op->operand_count != 1)
        return NULL;
    const shlo_op *around = tuple_of(op->operands[0], depth - 1);
    const int64_t index = shlo_op_int(op, "index", -1);
    return around && index >= 0 && index < around->operand_count
               ? tuple_of(around->operands[index], depth - 1)
               : NULL;
}

bool import_get_tuple_element(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const shlo_op *made = op->operand_count == 1 ? tuple_of(op->operands[0], SHLO_DEPTH_MAX) : NULL;
    const int64_t index = shlo_op_int(op, "index", -1);
    if (!made || index < 0 || index >= made->operand_count)
        return import_refuse(im, op, "tuples are taken apart where they are made alone");
    if (op->results[0].type->kind == SHLO_TYPE_TUPLE)
        return import_tuple(im, op, graph, results);
    results[0] = import_operand(im, made, (uint32_t)index);
    if (import_is_complex(&op->results[0]))
        results[1] = im->imaginary[made->operands[index]->number];
    return true;
}
