/* control.c - statements whose turns or sides depend on values: `if` of a bool tensor, `while`, and
 * `for` over a dimension. Each becomes an operation of Graph IR with blocks (ops/control.h). */
#include <string.h>

#include "check/effects.h"

/* ---- names that go in and out ---- */

typedef struct carried_name {
    const char *name;
    span at;
    entity before; /* ENTITY_NONE: there was none */
} carried_name;

typedef struct control {
    checker *c;
    const node *n;
    region_draft draft;
    VEC(carried_name) names;
    type_list types;    /* of the tensors of all names, in order */
    value_list first;   /* these tensors before */
    value_list next[2]; /* by block: what it makes */
} control;

static void release(control *k) {
    vec_release(&k->names);
    vec_release(&k->types);
    vec_release(&k->first);
    for (int i = 0; i < 2; i++)
        vec_release(&k->next[i]);
}

static bool is_known(const entity *e) {
    return e->kind != ENTITY_NONE && e->kind != ENTITY_ENDED && e->kind != ENTITY_DIM;
}

/* Names that the blocks assign to, with their values before. */
static void find_names(control *k, const node *block, const node *other) {
    assigned_names assigned = {0};
    assigned_collect(block, &assigned);
    assigned_collect(other, &assigned);
    for (size_t i = 0; i < assigned.count; i++) {
        const local_name *old = scope_find(k->c, assigned.items[i].name);
        carried_name one = {assigned.items[i].name, assigned.items[i].at, {.kind = ENTITY_NONE}};
        if (old && is_known(&old->value))
            one.before = tree_promote(k->c, &old->value);
        vec_push(&k->names, one);
    }
    vec_release(&assigned);
}

static bool flatten_before(control *k) {
    entity_list tensors = {0};
    bool good = true;
    for (size_t i = 0; i < k->names.count && good; i++) {
        const carried_name *one = &k->names.items[i];
        good = tree_flatten(k->c, &one->before, &tensors,
                            arena_printf(&k->c->memory, "'%s', which this changes,", one->name));
    }
    for (size_t i = 0; i < tensors.count; i++) {
        vec_push(&k->first, tensors.items[i].value);
        vec_push(&k->types, ir_value_get(k->c->m, tensors.items[i].value)->type);
    }
    vec_release(&tensors);
    return good;
}

/* Names stand for these values, in the form that they had before. */
static void define_names(control *k, const ir_value *values) {
    for (size_t i = 0; i < k->names.count; i++) {
        const carried_name *one = &k->names.items[i];
        if (one->before.kind != ENTITY_NONE)
            scope_define(k->c, one->name, tree_rebuild(k->c, &one->before, &values, one->at),
                         one->at, NULL);
    }
}

/* Arguments of a block for all of them. */
static void take_names(control *k, uint32_t block) {
    value_list values = {0};
    for (size_t i = 0; i < k->types.count; i++)
        vec_push(&values, region_argument(k->c, &k->draft, block, k->types.items[i]));
    define_names(k, values.items);
    vec_release(&values);
}

static const char *describe(checker *c, const entity *e) {
    return e->kind == ENTITY_TENSOR ? entity_type_text(c, ir_value_get(c->m, e->value)->type)
                                    : entity_describe(e);
}

static bool refuse_change(control *k, const carried_name *one, const entity *before,
                          const entity *now) {
    checker *c = k->c;
    if (now->kind == ENTITY_BROKEN)
        return false;
    const bool sides = k->n->kind == NODE_IF;
    diagnose_error(c->report, ERROR_CARRIED, one->at,
                   sides ? "'%s' is %s on the one side and %s on the other"
                         : "'%s' is %s before and %s after",
                   one->name, describe(c, before), describe(c, now));
    if (sides)
        diagnose_note(c->report, now->at, "on the other side it is from here");
    diagnose_help(c->report, "what goes from turn to turn, or comes out of both sides, keeps its "
                             "shape and its element type");
    return false;
}

/* Adds the tensors that the block has made of the names. */
static bool give_names(control *k, value_list *out) {
    entity_list tensors = {0};
    bool good = true;
    for (size_t i = 0; i < k->names.count && good; i++) {
        const carried_name *one = &k->names.items[i];
        const local_name *local = scope_find(k->c, one->name);
        if (one->before.kind == ENTITY_NONE || !local)
            continue;
        entity now = tree_alike(k->c, &one->before, &local->value);
        good = tree_is_like(k->c, &one->before, &now) || refuse_change(k, one, &one->before, &now);
        good = good && tree_flatten(k->c, &now, &tensors, NULL);
    }
    for (size_t i = 0; i < tensors.count; i++)
        vec_push(out, tensors.items[i].value);
    vec_release(&tensors);
    return good;
}

/* Names of the block alone are gone behind it. */
static void end_names(control *k) {
    for (size_t i = 0; i < k->names.count; i++) {
        const carried_name *one = &k->names.items[i];
        if (one->before.kind == ENTITY_NONE && scope_find(k->c, one->name))
            scope_define(k->c, one->name, (entity){.kind = ENTITY_ENDED, .at = one->at}, one->at,
                         NULL);
    }
}

/* A mistake was reported: no echo of it behind the statement. */
static void break_names(control *k) {
    for (size_t i = 0; i < k->names.count; i++)
        scope_define(k->c, k->names.items[i].name, entity_broken(k->names.items[i].at),
                     k->names.items[i].at, NULL);
}

/* The results, behind those of other things, are the names' values from here on. */
static void after(control *k, ir_op op, uint32_t first) {
    value_list results = {0};
    for (uint32_t i = 0; i < k->types.count; i++)
        vec_push(&results, ir_op_result(k->c->m, op, first + i));
    define_names(k, results.items);
    end_names(k);
    vec_release(&results);
}

static bool changes_something(control *k) {
    if (k->types.count)
        return true;
    diagnose_error(k->c->report, ERROR_CARRIED, k->n->at,
                   "this changes nothing that is read behind it");
    diagnose_help(k->c->report, "give a name a value before it, and another one in it");
    return false;
}

/* ---- scalars ---- */

static entity scalar(checker *c, const entity *e, span at) {
    if (e->kind == ENTITY_DIM)
        return tiles_dim_value(c, e->dim, at);
    return e->kind == ENTITY_NUMBER ? emit_constant(c, e, DTYPE_I32, at) : *e;
}

static bool is_flag(const checker *c, const entity *e) {
    return e->kind == ENTITY_TENSOR && tensor_type(c, e)->rank == 0 &&
           tensor_type(c, e)->element == DTYPE_BOOL;
}

static bool refuse_flag(checker *c, const entity *e) {
    if (e->kind == ENTITY_BROKEN)
        return false;
    diagnose_error(c->report, ERROR_CONDITION, e->at, "a condition is one bool, and this is %s",
                   describe(c, e));
    diagnose_help(c->report,
                  "of all elements: min(cast(x > 0, i32)) > 0; by element: where(condition, "
                  "a, b)");
    return false;
}

/* ---- for i in range(N) ---- */

typedef struct turns {
    entity start, step; /* numbers or dimensions */
    ir_dim count;
} turns;

static ir_dim dim_of(const entity *e) {
    return e->kind == ENTITY_DIM ? e->dim : e->integer;
}

static bool count_turns(checker *c, const node *range, const entity *bounds, turns *out) {
    ir_dim dim;
    if (bounds[2].kind == ENTITY_NUMBER && bounds[2].is_integer && bounds[2].integer < 0) {
        diagnose_error(c->report, ERROR_DIMENSION_RANGE, bounds[2].at,
                       "the step of a range over a dimension is at least 1");
        diagnose_help(c->report,
                      "from the last place back: take(x, N - 1 - i), or scan(f, carry, xs, "
                      "reverse=True)");
        return false;
    }
    for (uint32_t i = 0; i < 3; i++)
        if (!argument_dim(c, &bounds[i], &dim))
            return false;
    ir_dim step = dim_of(&bounds[2]), start = dim_of(&bounds[0]);
    out->start = bounds[0];
    out->step = bounds[2];
    out->count = ir_dim_sub(c->m, dim_of(&bounds[1]), start);
    if (step != 1 && out->count != IR_DIM_INVALID && step != 0)
        out->count =
            ir_dim_floordiv(c->m, ir_dim_add(c->m, out->count, ir_dim_sub(c->m, step, 1)), step);
    if (step != 0 && out->count != IR_DIM_INVALID)
        return true;
    diagnose_error(c->report, ERROR_DIMENSION_RANGE, range->at,
                   "this range would have a step of 0, or fewer turns than none");
    return false;
}

/* start + turn * step */
static entity place_of(checker *c, const turns *t, ir_value turn, span at) {
    entity e[2] = {entity_tensor(turn, at), scalar(c, &t->step, at)};
    if (dim_of(&t->step) != 1)
        e[0] = emit_elementwise(c, GRAPH_MUL, e, 2, NULL, 0, at);
    e[1] = scalar(c, &t->start, at);
    return dim_of(&t->start) == 0 ? e[0] : emit_elementwise(c, GRAPH_ADD, e, 2, NULL, 0, at);
}

static void build_for(control *k, const turns *t, const type_list *results) {
    checker *c = k->c;
    const node *n = k->n;
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(c->m, (int64_t)k->types.count)},
                                   {"sliced", ir_attr_int(c->m, 0)},
                                   {"count", ir_attr_dim(c->m, t->count)}};
    const region_request q = {.opcode = GRAPH_LOOP,
                              .operands = &k->first,
                              .next = k->next,
                              .results = results->items,
                              .result_count = (uint32_t)results->count,
                              .attrs = attrs,
                              .attr_count = 3};
    ir_op op = region_build(c, &k->draft, &q);
    after(k, op, 0);
    observed_take(c, op, k->types.count);
    scope_define(c, n->right->text, (entity){.kind = ENTITY_ENDED, .at = n->right->at},
                 n->right->at, NULL);
}

static void write_for(control *k, const turns *t) {
    checker *c = k->c;
    const node *n = k->n;
    uint32_t before = c->report->reported;
    k->draft = region_begin_turns(c, 1, n->at);
    region_enter(c, &k->draft, 0);
    ir_value turn = region_argument(c, &k->draft, 0, ir_type_tensor(c->m, DTYPE_I32, 0, NULL));
    take_names(k, 0);
    assign_name(c, n->right, place_of(c, t, turn, n->right->at));
    check_block(c, n->third);
    bool good = c->report->reported == before && give_names(k, &k->next[0]);
    type_list results = {0};
    for (size_t i = 0; i < k->types.count; i++)
        vec_push(&results, k->types.items[i]);
    observed_stack(c, &k->draft, t->count, &k->next[0], &results);
    region_leave(c, &k->draft);
    good = good && (results.count || changes_something(k)) && c->report->reported == before;
    if (good)
        build_for(k, t, &results);
    else
        break_names(k);
    vec_release(&results);
}

void control_for(checker *c, const node *n, const entity *bounds) {
    control k = {.c = c, .n = n};
    turns t;
    if (!count_turns(c, n->left, bounds, &t))
        return;
    find_names(&k, n->third, NULL);
    if (flatten_before(&k))
        write_for(&k, &t);
    release(&k);
}

/* ---- while bounded(condition, N) ---- */

static bool is_bounded(const node *n) {
    return n->kind == NODE_CALL && n->left->kind == NODE_NAME &&
           strcmp(n->left->text, "bounded") == 0 && n->count == 2;
}

/* The first block: are there turns left, and does the condition hold? */
static bool write_condition(control *k, ir_value turn, ir_dim *bound) {
    checker *c = k->c;
    entity condition = check_expression(c, k->n->left->items[0]);
    entity most = check_expression(c, k->n->left->items[1]);
    if (condition.kind == ENTITY_BOOL && condition.integer)
        condition = (entity){.kind = ENTITY_NONE};
    else if (!is_flag(c, &condition))
        return refuse_flag(c, &condition);
    if (!argument_dim(c, &most, bound))
        return false;
    entity left[2] = {entity_tensor(turn, most.at), scalar(c, &most, most.at)};
    left[1] = emit_compare(c, "lt", &left[0], &left[1], most.at);
    left[0] = condition;
    if (condition.kind != ENTITY_NONE)
        left[1] = emit_elementwise(c, GRAPH_AND, left, 2, NULL, 0, most.at);
    vec_push(&k->next[0], left[1].value);
    return left[1].kind != ENTITY_BROKEN;
}

static bool write_turn(control *k, ir_value turn) {
    checker *c = k->c;
    uint32_t before = c->report->reported;
    check_block(c, k->n->third);
    entity one = entity_integer(c, 1, k->n->at),
           sum[2] = {entity_tensor(turn, k->n->at), scalar(c, &one, k->n->at)};
    sum[0] = emit_elementwise(c, GRAPH_ADD, sum, 2, NULL, 0, k->n->at);
    vec_push(&k->next[1], sum[0].value);
    return c->report->reported == before && give_names(k, &k->next[1]);
}

static void write_while(control *k) {
    checker *c = k->c;
    const uint32_t before = c->report->reported;
    const ir_type number = ir_type_tensor(c->m, DTYPE_I32, 0, NULL);
    entity zero = entity_integer(c, 0, k->n->at);
    value_list operands = {0};
    type_list results = {0};
    vec_push(&operands, scalar(c, &zero, k->n->at).value);
    vec_push(&results, number);
    for (size_t i = 0; i < k->first.count; i++) {
        vec_push(&operands, k->first.items[i]);
        vec_push(&results, k->types.items[i]);
    }
    bool good = true;
    observed_turns at = {0};
    k->draft = region_begin_turns(c, 2, k->n->at);
    const size_t mark = effects_mark(c);
    for (uint32_t block = 0; block < 2 && good; block++) {
        region_enter(c, &k->draft, block);
        at.turn = region_argument(c, &k->draft, block, number);
        take_names(k, block);
        good = block == 0 ? write_condition(k, at.turn, &at.most) : write_turn(k, at.turn);
        if (block == 0)
            effects_refuse(c, mark, "a condition");
    }
    region_leave(c, &k->draft);
    const size_t names = k->types.count;
    if (good && c->report->reported == before)
        observed_carry(c, &k->draft, &at, &operands, &k->next[1], &results);
    good = good && c->report->reported == before;
    const region_request q = {.opcode = GRAPH_WHILE,
                              .operands = &operands,
                              .next = k->next,
                              .results = results.items,
                              .result_count = (uint32_t)results.count,
                              .hands_on = true};
    if (good) {
        ir_op op = region_build(c, &k->draft, &q);
        const entity count = entity_tensor(ir_op_result(c->m, op, 0), k->n->at);
        after(k, op, 1);
        observed_take(c, op, 1 + names);
        if (effects_print_in(c, mark, &k->draft.blocks[1]))
            effects_turns(c, &k->draft.blocks[1], &count);
    } else {
        break_names(k);
    }
    vec_release(&operands);
    vec_release(&results);
}

/* As a loop over a range whose last turns change nothing, out of which values of turns can go. */
static void write_as_range(checker *c, const node *n) {
    const entity bounds[] = {entity_integer(c, 0, n->at), check_expression(c, n->left->items[1]),
                             entity_integer(c, 1, n->at)};
    node turn = {.kind = NODE_NAME, .at = n->at, .text = "(turn)"},
         branch = {.kind = NODE_IF, .at = n->at, .left = n->left->items[0], .right = n->third},
         *items[] = {&branch}, body = {.kind = NODE_BLOCK, .at = n->at, .items = items, .count = 1};
    const node loop = {
        .kind = NODE_FOR, .at = n->at, .left = n->left, .right = &turn, .third = &body};
    control_for(c, &loop, bounds);
}

void control_while(checker *c, const node *n) {
    control k = {.c = c, .n = n};
    if (c->tiles || !is_bounded(n->left)) {
        diagnose_error(c->report, ERROR_UNBOUNDED, n->left->at,
                       c->tiles ? "a kernel of tiles has no loop whose turns depend on values"
                                : "this loop has no bound, and might never end");
        diagnose_help(c->report, c->tiles ? "for b in tile.range(N, 64) runs over blocks"
                                          : "write while bounded(condition, 1000): at most so many "
                                            "turns");
        return;
    }
    if (c->promises) {
        write_as_range(c, n);
        return;
    }
    find_names(&k, n->third, NULL);
    if (flatten_before(&k) && changes_something(&k))
        write_while(&k);
    release(&k);
}

/* ---- if ---- */

typedef struct side {
    entity *made; /* by name: its value behind the side; ENTITY_NONE: it has none */
} side;

static void restore_names(control *k) {
    for (size_t i = 0; i < k->names.count; i++) {
        const carried_name *one = &k->names.items[i];
        if (one->before.kind != ENTITY_NONE)
            scope_define(k->c, one->name, tree_again(k->c, &one->before), one->at, NULL);
    }
    end_names(k);
}

static side write_branch(control *k, uint32_t block, const node *statements) {
    checker *c = k->c;
    side s = {ARENA_NEW(&c->memory, entity, k->names.count + 1)};
    region_enter(c, &k->draft, block);
    restore_names(k);
    if (statements && statements->kind == NODE_IF)
        check_statement(c, statements);
    else
        check_block(c, statements);
    for (size_t i = 0; i < k->names.count; i++) {
        const local_name *local = scope_find(c, k->names.items[i].name);
        bool known = local && is_known(&local->value);
        s.made[i] = known ? tree_promote(c, &local->value) : (entity){.kind = ENTITY_NONE};
    }
    return s;
}

/* The values of one name, where both sides have one. */
static bool join_sides(control *k, size_t i, const side *sides) {
    checker *c = k->c;
    const carried_name *one = &k->names.items[i];
    entity_list tensors[2] = {{0}, {0}};
    region_enter(c, &k->draft, 1);
    entity other = tree_alike(c, &sides[0].made[i], &sides[1].made[i]);
    bool good = tree_is_like(c, &sides[0].made[i], &other) ||
                refuse_change(k, one, &sides[0].made[i], &other);
    const char *what = arena_printf(&c->memory, "'%s', which this changes,", one->name);
    good = good && tree_flatten(c, &sides[0].made[i], &tensors[0], what) &&
           tree_flatten(c, &other, &tensors[1], what);
    for (int s = 0; s < 2 && good; s++)
        for (size_t t = 0; t < tensors[s].count; t++) {
            ir_value v = tensors[s].items[t].value;
            vec_push(&k->next[s], v);
            if (s == 0)
                vec_push(&k->types, ir_value_get(c->m, v)->type);
        }
    vec_release(&tensors[0]);
    vec_release(&tensors[1]);
    return good;
}

static void write_if(control *k, const entity *condition) {
    checker *c = k->c;
    uint32_t before = c->report->reported;
    value_list operands = {0};
    k->draft = region_begin(c, 2, k->n->at);
    const size_t mark = effects_mark(c);
    side sides[2];
    sides[0] = write_branch(k, 0, k->n->right);
    sides[1] = write_branch(k, 1, k->n->third);
    bool good = c->report->reported == before;
    for (size_t i = 0; i < k->names.count && good; i++) {
        bool both = sides[0].made[i].kind != ENTITY_NONE && sides[1].made[i].kind != ENTITY_NONE;
        k->names.items[i].before = both ? sides[0].made[i] : (entity){.kind = ENTITY_NONE};
        good = !both || join_sides(k, i, sides);
    }
    const size_t names = k->types.count;
    observed_join(c, &k->draft, k->next, &k->types);
    region_leave(c, &k->draft);
    vec_push(&operands, condition->value);
    const region_request q = {.opcode = GRAPH_IF,
                              .operands = &operands,
                              .next = k->next,
                              .results = k->types.items,
                              .result_count = (uint32_t)k->types.count};
    if (good && changes_something(k) && c->report->reported == before) {
        ir_op op = region_build(c, &k->draft, &q);
        k->types.count = names;
        after(k, op, 0);
        observed_take(c, op, names);
        for (int s = 0; s < 2; s++)
            if (effects_print_in(c, mark, &k->draft.blocks[s])) {
                const entity taken =
                    s ? emit_one(c, GRAPH_NOT, condition, 1, NULL, 0, k->n->at) : *condition;
                effects_turns(c, &k->draft.blocks[s], &taken);
            }
    } else {
        break_names(k);
    }
    vec_release(&operands);
}

bool control_is_condition(const checker *c, const entity *condition) {
    return !c->tiles && condition->kind == ENTITY_TENSOR;
}

void control_if(checker *c, const node *n, const entity *condition) {
    control k = {.c = c, .n = n};
    if (!is_flag(c, condition)) {
        refuse_flag(c, condition);
        return;
    }
    find_names(&k, n->right, n->third);
    write_if(&k, condition);
    release(&k);
}
