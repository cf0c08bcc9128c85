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
            if (op->regions[i])
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
            if (op->regions[i])
                note_outside(op->regions[i], r, out);
    }
}

void import_captures(importer *im, const shlo_op *op, value_refs *out) {
    (void)im;
    number_range r = {UINT32_MAX, 0};
    for (uint32_t i = 0; i < op->region_count; i++)
        if (op->regions[i])
            look_inside(op->regions[i], &r);
    for (uint32_t i = 0; i < op->region_count; i++)
        if (op->regions[i])
            note_outside(op->regions[i], &r, out);
}

/* A block of an operation of ours: its arguments are values of its own, then captured ones, which
 * stand for those of the outside in it. */
typedef struct inside {
    importer *im;
    ir_builder around;
    const value_refs *captured;
    ir_value *outer;
} inside;

static inside enter(importer *im, ir_block block, const value_refs *captured) {
    inside s = {im, im->b, captured, base_calloc(captured->count + 1, sizeof(ir_value))};
    im->b.block = block;
    im->b.before = 0;
    return s;
}

static void take_captured(inside *s) {
    importer *im = s->im;
    for (size_t i = 0; i < s->captured->count; i++) {
        const uint32_t number = s->captured->items[i]->number;
        s->outer[i] = im->made[number];
        ir_type t = ir_value_get(im->m, im->made[number])->type;
        im->made[number] = ir_block_add_argument(im->m, im->b.block, t, NULL);
    }
}

static void leave(inside *s) {
    for (size_t i = 0; i < s->captured->count; i++)
        if (s->outer[i])
            s->im->made[s->captured->items[i]->number] = s->outer[i];
    s->im->b = s->around;
    free(s->outer);
}

static bool has_values(importer *im, const shlo_op *op, const value_refs *captured) {
    for (size_t i = 0; i < captured->count; i++)
        if (!im->made[captured->items[i]->number])
            return import_refuse(im, op, "a token goes into it");
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!import_operand(im, op, i))
            return import_refuse(im, op, "a token goes into it");
    return true;
}

/* ---- branches ---- */

static bool result_types(importer *im, const shlo_op *op, ir_type *types) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!(types[i] = import_result_type(im, op, i)))
            return false;
    return true;
}

typedef struct branching {
    const shlo_op *op;
    const value_refs *captured;
    const ir_type *types;
    ir_value index; /* i32; of two branches a bool */
} branching;

static bool branch(importer *im, const branching *b, uint32_t from, ir_value index,
                   ir_value *results);

/* One region as a block of ours. */
static bool write_branch(importer *im, const branching *b, uint32_t region, ir_block block) {
    inside s = enter(im, block, b->captured);
    const shlo_block *body = b->op->regions[region];
    take_captured(&s);
    bool good = body && body->last && body->argument_count == 0 &&
                body->last->operand_count == b->op->result_count;
    good = good ? import_block(im, body) && import_block_end(im, body)
                : import_refuse(im, b->op, "a branch does not give what the others give");
    leave(&s);
    return good;
}

/* The branches from `from` on, which are not yet excluded, as a block that chooses among them. */
static bool write_rest(importer *im, const branching *b, uint32_t from, ir_block block) {
    inside s = enter(im, block, b->captured);
    ir_value index =
        ir_block_add_argument(im->m, block, ir_type_tensor(im->m, DTYPE_I32, 0, NULL), NULL);
    take_captured(&s);
    ir_value *results = base_calloc(b->op->result_count + 1, sizeof *results);
    const bool good = branch(im, b, from, index, results);
    if (good)
        ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_NEXT,
                                       .operands = results,
                                       .operand_count = b->op->result_count});
    free(results);
    leave(&s);
    return good;
}

/* Two branches have their condition; more are asked for one after the other, the last one is for
 * all that none before is for. */
static bool branch(importer *im, const branching *b, uint32_t from, ir_value index,
                   ir_value *results) {
    const uint32_t left = b->op->region_count - from;
    const bool truth = b->op->info->opcode == SHLO_OP_IF;
    const size_t n = b->captured->count;
    const bool nested = !truth && left > 2;
    ir_value *operands = base_calloc(n + 2, sizeof *operands);
    operands[0] =
        truth ? index : import_is(im, "eq", index, import_number(im, DTYPE_I32, (double)from));
    uint32_t count = 1;
    if (nested)
        operands[count++] = index;
    for (size_t i = 0; i < n; i++)
        operands[count++] = im->made[b->captured->items[i]->number];
    ir_op choice = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_IF,
                                                  .operands = operands,
                                                  .operand_count = count,
                                                  .results = b->types,
                                                  .result_count = b->op->result_count,
                                                  .region_count = 2});
    for (uint32_t i = 0; i < b->op->result_count; i++)
        results[i] = ir_op_result(im->m, choice, i);
    free(operands);
    const ir_block first = ir_op_block(im->m, choice, 0), second = ir_op_block(im->m, choice, 1);
    if (nested) /* both blocks take the index, the first one for nothing */
        ir_block_add_argument(im->m, first, ir_value_get(im->m, index)->type, NULL);
    return write_branch(im, b, from, first) &&
           (nested ? write_rest(im, b, from + 1, second) : write_branch(im, b, from + 1, second));
}

bool import_branches(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    value_refs captured = {0};
    if (op->operand_count != 1 || op->region_count == 0 || op->result_count == 0)
        return import_refuse(im, op, "needs an index, branches and a result");
    ir_type *types = base_calloc(op->result_count, sizeof *types);
    import_captures(im, op, &captured);
    bool good = has_values(im, op, &captured) && result_types(im, op, types);
    if (good && op->region_count == 1) { /* there is nothing to choose */
        good = op->regions[0] && import_block(im, op->regions[0]);
        for (uint32_t i = 0; i < op->result_count && good; i++)
            results[i] = import_operand(im, op->regions[0]->last, i);
    } else if (good) {
        const branching b = {op, &captured, types, 0};
        good = branch(im, &b, 0, import_operand(im, op, 0), results);
    }
    free(types);
    vec_release(&captured);
    return good;
}

/* ---- loops ---- */

static bool loop_block(importer *im, const shlo_op *op, uint32_t region, ir_block block,
                       const value_refs *captured) {
    const shlo_block *body = op->regions[region];
    if (!body || !body->last || body->argument_count != op->operand_count)
        return import_refuse(im, op, "a region does not take what the loop carries");
    inside s = enter(im, block, captured);
    for (uint32_t i = 0; i < op->operand_count; i++)
        im->made[body->arguments[i].number] = ir_block_add_argument(
            im->m, block, ir_value_get(im->m, import_operand(im, op, i))->type, NULL);
    take_captured(&s);
    bool good = import_block(im, body);
    if (good && region == 0) {
        good = import_block_end(im, body);
    } else if (good) { /* what is captured goes round as it is */
        const uint32_t carried = body->last->operand_count;
        ir_value *ends = base_calloc(carried + captured->count + 1, sizeof *ends);
        for (uint32_t i = 0; i < carried; i++)
            ends[i] = import_operand(im, body->last, i);
        for (size_t i = 0; i < captured->count; i++)
            ends[carried + i] = im->made[captured->items[i]->number];
        ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_NEXT,
                                       .operands = ends,
                                       .operand_count = carried + (uint32_t)captured->count});
        free(ends);
    }
    leave(&s);
    return good;
}

static bool general_loop(importer *im, const shlo_op *op, const value_refs *captured,
                         ir_value *results) {
    const uint32_t count = op->operand_count + (uint32_t)captured->count;
    ir_value *operands = base_calloc(count, sizeof *operands);
    ir_type *types = base_calloc(count, sizeof *types);
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = i < op->operand_count
                          ? import_operand(im, op, i)
                          : im->made[captured->items[i - op->operand_count]->number];
        types[i] = ir_value_get(im->m, operands[i])->type;
    }
    ir_op loop = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_WHILE,
                                                .operands = operands,
                                                .operand_count = count,
                                                .results = types,
                                                .result_count = count,
                                                .region_count = 2});
    for (uint32_t i = 0; i < op->result_count; i++)
        results[i] = ir_op_result(im->m, loop, i);
    free(operands);
    free(types);
    return loop_block(im, op, 0, ir_op_block(im->m, loop, 0), captured) &&
           loop_block(im, op, 1, ir_op_block(im->m, loop, 1), captured);
}

bool import_loop(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    value_refs captured = {0};
    if (op->operand_count == 0 || op->result_count != op->operand_count)
        return import_refuse(im, op, "carries nothing, or gives other values than it takes");
    import_captures(im, op, &captured);
    const bool good = has_values(im, op, &captured) && general_loop(im, op, &captured, results);
    vec_release(&captured);
    return good;
}

/* ---- calls ---- */

bool import_call_of(importer *im, const shlo_op *op, const char *name, ir_value *results) {
    const shlo_function *f = shlo_function_named(im->source, name);
    if (!f || f->type->inputs != op->operand_count ||
        f->type->count - f->type->inputs != op->result_count || op->result_count == 0)
        return import_refuse(im, op, "@%.100s takes or gives another number of values", name);
    ir_value *operands = base_calloc(op->operand_count + 1, sizeof *operands);
    ir_type *types = base_calloc(op->result_count + 1, sizeof *types);
    bool good = result_types(im, op, types);
    for (uint32_t i = 0; i < op->operand_count && good; i++) {
        operands[i] = import_operand(im, op, i);
        good = operands[i] ? shlo_type_equal(f->type->parts[i], op->operands[i]->type) ||
                                 import_refuse(im, op, "@%.100s takes another type", name)
                           : import_refuse(im, op, "a token goes into it");
    }
    if (good) {
        ir_named_attr attr = {"callee", ir_attr_string(im->m, name)};
        ir_op made = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_CALL,
                                                    .operands = operands,
                                                    .operand_count = op->operand_count,
                                                    .results = types,
                                                    .result_count = op->result_count,
                                                    .attrs = &attr,
                                                    .attr_count = 1});
        for (uint32_t i = 0; i < op->result_count; i++)
            results[i] = ir_op_result(im->m, made, i);
    }
    free(operands);
    free(types);
    return good;
}

bool import_call(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    return import_call_of(im, op, shlo_op_string(op, "callee", ""), results);
}

/* Marks of partitioners hand on what they take; other code than ours is not called. */
bool import_custom_call(importer *im, const shlo_op *op, int graph, ir_value *results) {
    static const char *const marks[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "annotate_device_placement", "xla.sdy.FuncResultSharding"};
    const char *name = shlo_op_string(op, "call_target_name", "");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(name, marks[i]) == 0)
            return import_same(im, op, graph, results);
    return import_refuse(im, op, "'@%.100s' is code that this program does not bring", name);
}

/* ---- one device, tuples and tokens ---- */

bool import_rank_id(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (op->result_count != 1 || !import_result_type(im, op, 0))
        return false;
    results[0] = import_number(im, DTYPE_U32, 0);
    return true;
}

/* Effects stay in the order of the program by themselves. */
bool import_token(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)im;
    (void)op;
    (void)graph;
    results[0] = 0;
    return true;
}

/* A tuple is no value: its parts are found where it is taken apart. */
bool import_tuple(importer *im, const shlo_op *op, int graph, ir_value *results) {
    return import_token(im, op, graph, results);
}

bool import_get_tuple_element(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const shlo_op *made = op->operand_count == 1 ? op->operands[0]->op : NULL;
    const int64_t index = shlo_op_int(op, "index", -1);
    if (!made || !made->info || made->info->opcode != SHLO_OP_TUPLE || index < 0 ||
        index >= made->operand_count)
        return import_refuse(im, op, "tuples are taken apart where they are made alone");
    results[0] = import_operand(im, made, (uint32_t)index);
    return true;
}
