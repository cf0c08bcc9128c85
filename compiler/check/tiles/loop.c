/* loop.c - calls of `tile` and loops over blocks. */
#include <string.h>

#include "check/regions.h"
#include "check/tiles/tiles.h"
#include "ops/build.h"

/* ---- calls ---- */

/* Functions that give an f32 of a number or a dimension, so that a helper can divide by sqrt(d). */
static bool is_root(const char *name) {
    return strcmp(name, "sqrt") == 0 || strcmp(name, "rsqrt") == 0;
}

bool tiles_is_call(const checker *c, const node *n) {
    const node *callee = n->left;
    if (callee->kind == NODE_NAME)
        return c->tiles && (strcmp(callee->text, "float") == 0 || is_root(callee->text));
    return callee->kind == NODE_ATTRIBUTE && callee->left->kind == NODE_NAME &&
           strcmp(callee->left->text, "tile") == 0;
}

/* float(T.d): a number as it is, a dimension as an f32 scalar. */
static entity float_of(checker *c, const node *n) {
    entity e = n->count == 1 ? check_expression(c, n->items[0]) : entity_broken(n->at);
    if (e.kind == ENTITY_DIM) {
        entity number = tiles_dim_value(c, e.dim, n->at);
        return number.kind == ENTITY_BROKEN ? number
                                            : policy_convert(c, &number, DTYPE_F32, NULL, n->at);
    }
    if (e.kind == ENTITY_NUMBER)
        return e;
    if (n->count != 1 || e.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, n->at, "float() takes one number");
        diagnose_help(c->report, "tile.cast(x, f32) converts a tile");
    }
    return entity_broken(n->at);
}

entity tiles_call(checker *c, const node *n) {
    if (!c->tiles) {
        diagnose_error(c->report, ERROR_TILE_KERNEL, n->left->at,
                       "tile.%s() stands in a kernel of whole tensors", n->left->text);
        diagnose_help(c->report, "a kernel of tiles has a KTile[...] among its parameters");
        return entity_broken(n->at);
    }
    if (n->left->kind == NODE_NAME && !is_root(n->left->text))
        return float_of(c, n);
    for (size_t i = 0; i < tile_function_count; i++)
        if (strcmp(tile_functions[i].name, n->left->text) == 0)
            return call_special(c, &tile_functions[i], n);
    /* tile.exp is exp. */
    node name = *n->left, plain = *n;
    name.kind = NODE_NAME;
    name.left = NULL;
    plain.left = &name;
    return check_call(c, &plain);
}

/* ---- names that a loop changes ---- */

enum { CARRIED_MAX = LIMIT_OPERANDS };

typedef struct carried {
    const char *names[CARRIED_MAX];
    span at[CARRIED_MAX];
    entity before[CARRIED_MAX]; /* ENTITY_NONE: there was none */
    uint32_t count;
    bool full;
} carried;

static void note_name(checker *c, carried *l, const char *name, span at) {
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->names[i], name) == 0)
            return;
    l->full |= l->count == CARRIED_MAX;
    if (l->full)
        return;
    const local_name *old = scope_find(c, name);
    l->names[l->count] = name;
    l->at[l->count] = at;
    bool is_new = !old || old->value.kind == ENTITY_DIM; /* a dimension's name, used again */
    l->before[l->count++] = is_new ? (entity){.kind = ENTITY_NONE} : old->value;
}

static void note_assigned(checker *c, carried *l, const node *block) {
    assigned_names names = {0};
    assigned_collect(block, &names);
    for (size_t i = 0; i < names.count; i++)
        note_name(c, l, names.items[i].name, names.items[i].at);
    vec_release(&names);
}

static bool is_tensor(const entity *e) {
    return e->kind == ENTITY_TENSOR;
}

/* ---- loops that are written out ---- */

static bool is_constant_range(const node *n) {
    return n->kind == NODE_CALL && n->left->kind == NODE_NAME &&
           strcmp(n->left->text, "range") == 0;
}

enum { TURNS_MAX = 1024 };

static bool refuse_range(checker *c, span at, const char *what) {
    diagnose_error(c->report, ERROR_TILE_LOOP, at, "%s", what);
    diagnose_help(c->report,
                  "range(stop), range(start, stop) or range(start, stop, step) of numbers writes a "
                  "loop out; for b in tile.range(N, 64) runs over the blocks of a dimension");
    return false;
}

/* Start, stop and step; *dimension: one of them is one of which no number is known. */
static bool read_bounds(checker *c, const node *range, entity *bounds, bool *dimension) {
    const uint32_t count = range->count;
    *dimension = false;
    bounds[0] = bounds[1] = entity_integer(c, 0, range->at);
    bounds[2] = entity_integer(c, 1, range->at);
    if (count < 1 || count > 3)
        return refuse_range(c, range->at, "range takes one to three numbers");
    for (uint32_t i = 0; i < count; i++) {
        entity e = check_expression(c, range->items[i]);
        if (e.kind == ENTITY_BROKEN)
            return false;
        *dimension |= e.kind == ENTITY_DIM;
        bounds[count == 1 ? 1 : i] = e;
    }
    return true;
}

static bool read_numbers(checker *c, const node *range, const entity *bounds, int64_t *numbers) {
    for (uint32_t i = 0; i < 3; i++) {
        const entity *e = &bounds[i];
        if (e->kind != ENTITY_NUMBER || !e->is_integer)
            return refuse_range(c, e->at,
                                arena_printf(&c->memory, "the bounds of range are integers, not %s",
                                             entity_describe(e)));
        numbers[i] = e->integer;
    }
    return numbers[2] > 0 || refuse_range(c, range->at, "the step of a range is above 0");
}

static bool count_turns(checker *c, const node *range, const int64_t *bounds, uint64_t *turns) {
    uint64_t places = (uint64_t)bounds[1] - (uint64_t)bounds[0];
    *turns = bounds[0] < bounds[1] ? (places - 1) / (uint64_t)bounds[2] + 1 : 0;
    return *turns <= TURNS_MAX ||
           refuse_range(c, range->at,
                        arena_printf(&c->memory,
                                     "this loop has %llu turns; at most %d are "
                                     "written out",
                                     (unsigned long long)*turns, TURNS_MAX));
}

/* for block in blocks: a tuple or a list */
static void loop_over_items(checker *c, const node *n, const entity *items) {
    for (uint32_t i = 0; i < items->count; i++) {
        uint32_t before = c->report->reported;
        assign_name(c, n->right, items->items[i]);
        check_block(c, n->third);
        if (c->report->reported != before)
            return;
    }
}

static void unrolled_loop(checker *c, const node *n) {
    entity said[3];
    int64_t bounds[3];
    uint64_t turns;
    bool dimension;
    if (!read_bounds(c, n->left, said, &dimension))
        return;
    if (!c->tiles && dimension) {
        control_for(c, n, said);
        return;
    }
    if (!read_numbers(c, n->left, said, bounds) || !count_turns(c, n->left, bounds, &turns))
        return;
    for (uint64_t i = 0; i < turns; i++) {
        uint32_t before = c->report->reported;
        int64_t number = bounds[0] + (int64_t)i * bounds[2];
        assign_name(c, n->right, entity_integer(c, number, n->right->at));
        check_block(c, n->third);
        if (c->report->reported != before)
            return;
    }
}

/* ---- loops over blocks ---- */

static ir_op begin_loop(checker *c, carried *l, const char *index, const tile_block *b) {
    ir_value values[CARRIED_MAX];
    ir_type types[CARRIED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        if (is_tensor(&l->before[i])) {
            values[count] = l->before[i].value;
            types[count] = ir_value_get(c->m, values[count])->type;
            count++;
        }
    }
    ir_named_attr attrs[4] = {{"index", ir_attr_string(c->m, index)},
                              {"count", ir_attr_dim(c->m, tiles_block_count(c, b))}};
    uint32_t said = 2;
    if (b->starts)
        attrs[said++] = (ir_named_attr){"first", ir_attr_dim(c->m, tiles_block_first(c, b))};
    if (b->hints)
        attrs[said++] = (ir_named_attr){"hints", b->hints};
    ir_op op = ir_build(&c->builder, &(ir_op_spec){.opcode = GRAPH_FOR,
                                                   .operands = values,
                                                   .operand_count = count,
                                                   .results = types,
                                                   .result_count = count,
                                                   .attrs = attrs,
                                                   .attr_count = said,
                                                   .region_count = 1});
    c->builder.block = ir_op_block(c->m, op, 0);
    for (uint32_t i = 0, k = 0; i < l->count; i++) {
        if (is_tensor(&l->before[i])) {
            ir_value v = ir_block_add_argument(c->m, c->builder.block, types[k++], l->names[i]);
            scope_define(c, l->names[i], entity_tensor(v, l->before[i].at), l->at[i], NULL);
        }
    }
    return op;
}

static bool refuse_change(checker *c, const carried *l, uint32_t i, const entity *now) {
    diagnose_error(c->report, ERROR_TILE_CARRIED, l->at[i],
                   "'%s' is %s before the loop and %s in it", l->names[i],
                   is_tensor(&l->before[i])
                       ? entity_type_text(c, ir_value_get(c->m, l->before[i].value)->type)
                       : entity_describe(&l->before[i]),
                   is_tensor(now) ? entity_type_text(c, ir_value_get(c->m, now->value)->type)
                                  : entity_describe(now));
    diagnose_help(c->report, is_tensor(&l->before[i])
                                 ? "what a loop carries keeps its shape and its element type"
                                 : "give it another name: only tiles change from turn to turn");
    return false;
}

/* The next values, of the types of the first. */
static bool end_loop(checker *c, const carried *l) {
    ir_value next[CARRIED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const entity *now = &scope_find(c, l->names[i])->value, *before = &l->before[i];
        if (before->kind == ENTITY_NONE || before->kind == ENTITY_ENDED)
            continue;
        bool same = is_tensor(before) && is_tensor(now) &&
                    ir_value_get(c->m, before->value)->type == ir_value_get(c->m, now->value)->type;
        if (!same && now->kind != ENTITY_BROKEN)
            return refuse_change(c, l, i, now);
        next[count++] = now->value;
    }
    build_next(&c->builder, next, count);
    return true;
}

/* Behind the loop a name is what the last turn made of it, and those of the body are gone. */
static void after_loop(checker *c, const carried *l, ir_op op) {
    for (uint32_t i = 0, k = 0; i < l->count; i++) {
        entity e = {.kind = ENTITY_ENDED, .at = l->at[i]};
        if (is_tensor(&l->before[i]))
            e = entity_tensor(ir_op_result(c->m, op, k++), l->at[i]);
        if (scope_find(c, l->names[i]))
            scope_define(c, l->names[i], e, l->at[i], NULL);
    }
}

static void block_loop(checker *c, const node *n, const entity *range) {
    carried l = {.count = 0};
    tile_block b = *range->block;
    ir_block around = c->builder.block;
    uint32_t before = c->report->reported;
    note_assigned(c, &l, n->third);
    if (l.full) {
        diagnose_error(c->report, ERROR_OPERATION_LIMIT, n->at, "a loop changes at most %d names",
                       CARRIED_MAX);
        return;
    }
    const char *index = tiles_index_name(c);
    c->builder.location = checker_location(c, n->at);
    ir_op op = begin_loop(c, &l, index, &b);
    b.number = ir_dim_symbol(c->m, index);
    assign_name(c, n->right, tiles_block_entity(c, ENTITY_BLOCK, b, n->right->at));
    check_block(c, n->third);
    bool good = c->report->reported == before && end_loop(c, &l);
    c->builder.block = around;
    if (good) {
        after_loop(c, &l, op);
        scope_define(c, n->right->text, (entity){.kind = ENTITY_ENDED, .at = n->right->at},
                     n->right->at, NULL);
    }
}

void tiles_loop(checker *c, const node *n) {
    if (is_constant_range(n->left)) {
        unrolled_loop(c, n);
        return;
    }
    entity range = check_expression(c, n->left);
    if (range.kind == ENTITY_TUPLE) {
        loop_over_items(c, n, &range);
    } else if (!c->tiles && range.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_NOT_IN_LANGUAGE, n->at,
                       "a loop over a tensor is not part of the tile language");
        diagnose_help(c->report, "operations already act on whole tensors; for i in range(N) runs "
                                 "over places, scan(f, carry, x) over parts, and kernels with a "
                                 "KTile over blocks");
    } else if (range.kind == ENTITY_RANGE) {
        block_loop(c, n, &range);
    } else if (range.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_TILE_LOOP, n->left->at, "a loop cannot run over %s",
                       entity_describe(&range));
        diagnose_help(c->report, "write for b in tile.range(N, 64), or for i in range(3)");
    }
}
