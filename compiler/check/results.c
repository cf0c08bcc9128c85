/* results.c - a kernel's results: the values that it returns, stores or promises, their names, and
 * the inputs whose memory they may have. */
#include <string.h>

#include "check/effects.h"

typedef struct outputs {
    entity *values;
    const char **names;
    int64_t *donors; /* by output: the input that it replaces, or -1 */
    uint32_t count;
} outputs;

/* Room for those that the interface names. */
static outputs new_outputs(checker *c, uint32_t count) {
    outputs o = {ARENA_NEW(&c->memory, entity, count + 1),
                 ARENA_NEW(&c->memory, const char *, count + 1),
                 ARENA_NEW(&c->memory, int64_t, count + 1), count};
    for (uint32_t i = 0; i < count; i++)
        o.donors[i] = -1;
    return o;
}

/* ---- names ---- */

/* A tensor of that name, or a part of what has that name. */
static bool is_of(const char *name, const char *whole) {
    size_t length = strlen(whole);
    return strncmp(name, whole, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool name_taken(const checker *c, const outputs *o, uint32_t index, const char *name) {
    for (uint32_t i = 0; i < c->kernel->function->parameter_count; i++)
        if (is_of(c->kernel->function->parameters[i].name, name))
            return true;
    for (uint32_t i = 0; i < index; i++)
        if (o->names[i] && is_of(o->names[i], name))
            return true;
    return false;
}

/* `count` values are returned, of which this is one; its first output has the number `index`. */
static const char *name_for(checker *c, const outputs *o, uint32_t index, uint32_t place,
                            uint32_t count, const node *n) {
    const char *name = n->kind == NODE_NAME ? n->text
                       : count == 1         ? "out"
                                            : arena_printf(&c->memory, "out%u", place);
    if (name_taken(c, o, index, name))
        name = arena_printf(&c->memory, "%s_out", name);
    while (name_taken(c, o, index, name))
        name = arena_printf(&c->memory, "%s%u", name, index);
    return name;
}

static void name_output(checker *c, outputs *o, uint32_t index, const node *n) {
    o->names[index] = c->kernel->store_count /* it is a parameter */
                          ? c->kernel->stores[index].name
                          : name_for(c, o, index, index, o->count, n);
}

/* ---- donated inputs ---- */

static int64_t input_named(const checker *c, const char *name) {
    const ast_function *f = c->kernel->function;
    for (uint32_t i = 0, input = 0; i < f->parameter_count; i++) {
        if (strcmp(f->parameters[i].name, name) == 0)
            return f->parameters[i].keyword_only ? -1 : (int64_t)input;
        input += !f->parameters[i].keyword_only;
    }
    return -1;
}

static bool is_donated(const outputs *o, int64_t input) {
    for (uint32_t i = 0; i < o->count; i++)
        if (input >= 0 && o->donors[i] == input)
            return true;
    return false;
}

static ir_type input_type(const checker *c, ir_block body, int64_t input) {
    return ir_value_get(c->m, ir_block_get(c->m, body)->arguments[input])->type;
}

/* The output replaces the input of this name; NULL: none. */
static bool donate(checker *c, outputs *o, uint32_t output, const char *name, span at) {
    int64_t input = name ? input_named(c, name) : -1;
    ir_type have = ir_value_get(c->m, o->values[output].value)->type,
            want = input < 0 ? have : input_type(c, c->builder.block, input);
    if (have != want) {
        diagnose_error(c->report, ERROR_DONATION, at, "'%s' is %s, and what replaces it is %s",
                       name, entity_type_text(c, want), entity_type_text(c, have));
        return false;
    }
    if (is_donated(o, input)) {
        diagnose_error(c->report, ERROR_STATE_LOST, at, "'%s' is returned twice", name);
        return false;
    }
    o->donors[output] = input;
    return true;
}

/* A state that has a method `invariant` is checked where it is returned. */
static bool check_invariant(checker *c, const entity *e, span at) {
    const callable *f = e->state && e->record ? record_method_named(e->record, "invariant") : NULL;
    if (!f)
        return true;
    node word = {.kind = NODE_NAME, .at = at, .text = "self", .depth = 1};
    node callee = {.kind = NODE_ATTRIBUTE, .at = at, .left = &word, .text = "invariant"};
    node call = {.kind = NODE_CALL, .at = at, .left = &callee};
    entity held = record_method(c, e, &call);
    return effects_check(c, &held, f->ast->summary ? f->ast->summary : "invariant", at);
}

/* States that the value holds replace the parameters that they began as. path: that a tensor here
 * replaces, inside of a state; else NULL. */
static bool donate_states(checker *c, outputs *o, const entity *e, const char *path,
                          uint32_t *output, span at) {
    bool good = check_invariant(c, e, at);
    if (e->state && e->state->root)
        path = e->state->root;
    if (e->kind == ENTITY_TENSOR)
        return donate(c, o, (*output)++, path, at) && good;
    for (uint32_t i = 0; i < e->count; i++) {
        const char *part = !path      ? NULL
                           : e->names ? arena_printf(&c->memory, "%s.%s", path, e->names[i])
                                      : arena_printf(&c->memory, "%s.%u", path, i);
        good &= donate_states(c, o, &e->items[i], part, output, at);
    }
    return good;
}

static bool is_returned(const checker *c, const outputs *o, const char *root) {
    const ast_function *f = c->kernel->function;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        if (is_of(f->parameters[i].name, root) &&
            is_donated(o, input_named(c, f->parameters[i].name)))
            return true;
    return false;
}

static bool all_states_returned(checker *c, const outputs *o) {
    bool good = true;
    for (size_t i = 0; i < c->written.count && good; i++) {
        good = is_returned(c, o, c->written.items[i].name);
        if (!good)
            diagnose_error(c->report, ERROR_STATE_LOST, c->written.items[i].at,
                           "'%s' is written here, and the kernel does not return it",
                           c->written.items[i].name);
    }
    return good;
}

/* Donates the parameter `name`, a string of @jit(donate=...), to the results that are returned by
 * its name. */
static bool donate_named(checker *c, outputs *o, const node *name, const char *const *returned) {
    const ast_function *f = c->kernel->function;
    bool any = false, good = true;
    for (uint32_t i = 0; i < o->count && good; i++) {
        if (!returned[i] || strcmp(returned[i], name->text) != 0)
            continue;
        const char *part = strchr(o->names[i], '.');
        good = donate(c, o, i, arena_printf(&c->memory, "%s%s", name->text, part ? part : ""),
                      name->at) &&
               o->donors[i] >= 0;
        any |= good;
    }
    if (any)
        return true;
    bool known = false;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        known |= is_of(f->parameters[i].name, name->text) && !f->parameters[i].keyword_only;
    if (good || !known)
        diagnose_error(c->report, ERROR_DONATION, name->at,
                       known ? "'%.60s' is donated, and nothing is returned by its name"
                             : "'%.60s' is no parameter, so nothing of it can be donated",
                       name->text);
    return false;
}

static bool donate_all(checker *c, outputs *o, const char *const *returned) {
    const node *list = c->kernel->returned.donate;
    bool good = true;
    if (list && list->kind == NODE_STRING)
        return donate_named(c, o, list, returned);
    for (uint32_t i = 0; list && i < list->count; i++)
        good &= donate_named(c, o, list->items[i], returned);
    return good;
}

static void put_donations(checker *c, const outputs *o, ir_op kernel) {
    const ast_function *f = c->kernel->function;
    ir_attr *list = ARENA_NEW(&c->memory, ir_attr, f->parameter_count + 1);
    uint32_t count = ir_block_get(c->m, ir_op_block(c->m, kernel, 0))->argument_count;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        list[i] = ir_attr_int(c->m, -1);
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->donors[i] >= 0)
            list[o->donors[i]] = ir_attr_int(c->m, i);
        any |= o->donors[i] >= 0;
    }
    if (any)
        ir_op_set_attr(c->m, kernel, "donated", ir_attr_array(c->m, list, count));
}

/* ---- the return ---- */

/* Makes a program instance's values what the kernel returns. */
static bool collect_tiles(checker *c, outputs *o) {
    ir_value *values = ARENA_NEW(&c->memory, ir_value, o->count + 1);
    if (!tiles_return(c, o->values, o->count, values))
        return false;
    for (uint32_t i = 0; i < o->count; i++)
        o->values[i].value = values[i];
    return true;
}

/* The tensors that a value is made of, where no annotation says them. */
static void infer_form(checker *c, const entity *e, result_form *f, name_list *suffixes) {
    static const value_type any = {.kind = VALUE_ANY};
    *f = (result_form){.first = (uint32_t)suffixes->count};
    tree_suffixes(c, e, "", suffixes);
    if (suffixes->count > f->first && e->kind != ENTITY_TENSOR)
        f->type = &any;
    else if (suffixes->count == f->first)
        vec_push(suffixes, ""); /* it will be told that it is no tensor */
    f->count = (uint32_t)suffixes->count - f->first;
}

static returned_values infer_forms(checker *c, entity *value) {
    const bool several = value->kind == ENTITY_TUPLE;
    returned_values r = {.count = several ? value->count : 1, .donate = c->kernel->returned.donate};
    name_list suffixes = {0};
    r.forms = ARENA_NEW(&c->memory, result_form, r.count + 1);
    for (uint32_t i = 0; i < r.count; i++)
        infer_form(c, several ? &value->items[i] : value, &r.forms[i], &suffixes);
    r.suffixes = suffixes.count ? arena_copy(&c->memory, suffixes.items,
                                             suffixes.count * sizeof *suffixes.items)
                                : NULL;
    vec_release(&suffixes);
    return r;
}

static uint32_t tensors_of(const returned_values *r) {
    return r->count ? r->forms[r->count - 1].first + r->forms[r->count - 1].count : 0;
}

static bool right_count(checker *c, const node *n, uint32_t found) {
    const kernel_interface *k = c->kernel;
    if (found == k->returned.count)
        return true;
    diagnose_error(c->report, ERROR_RESULT_COUNT, n->left->at,
                   "%u values are returned, but the annotation names %u", found, k->returned.count);
    if (k->function->returns)
        diagnose_note(c->report, k->function->returns->at, "annotated here");
    return false;
}

static bool few_enough(checker *c, const node *n, uint32_t tensors) {
    if (tensors > 0 && tensors <= COMPILER_MAX_PARAMETERS)
        return true;
    diagnose_error(c->report, ERROR_TENSOR_LIMIT, n->left->at,
                   "a kernel returns between 1 and %d tensors", COMPILER_MAX_PARAMETERS);
    return false;
}

/* One of the returned values, from the output `f->first` on. */
static bool take_form(checker *c, const returned_values *r, uint32_t index, entity *value,
                      const char *name, outputs *o) {
    const result_form *f = &r->forms[index];
    static const char what[] = "the returned value";
    entity_list tensors = {0};
    if (!f->type) {
        o->values[f->first] = *value;
        o->names[f->first] = name;
        return argument_tensor(c, &o->values[f->first], "a returned value") &&
               (c->tiles || c->kernel->returned.inferred ||
                kernel_type_matches(c, &o->values[f->first], &c->kernel->results[f->first], what));
    }
    bool good = value_type_fit(c, f->type, value, what) && tree_flatten(c, value, &tensors, what);
    if (good && tensors.count != f->count) {
        diagnose_error(c->report, ERROR_RESULT_COUNT, value->at,
                       "%s has %zu tensors, but its annotation names %u", what, tensors.count,
                       f->count);
        good = false;
    }
    for (uint32_t i = 0; good && i < tensors.count; i++) {
        o->values[f->first + i] = tensors.items[i];
        o->names[f->first + i] = arena_printf(&c->memory, "%s%s", name, r->suffixes[f->first + i]);
    }
    vec_release(&tensors);
    return good;
}

static bool collect_outputs(checker *c, const node *n, outputs *o) {
    const kernel_interface *k = c->kernel;
    entity value = check_expression(c, n->left);
    if (value.kind == ENTITY_BROKEN)
        return false;
    const returned_values r = k->returned.inferred ? infer_forms(c, &value) : k->returned;
    bool several =
        value.kind == ENTITY_TUPLE && (k->returned.inferred || r.count != 1 || !r.forms[0].type);
    uint32_t count = several ? value.count : 1, output = 0;
    if (k->returned.inferred ? !few_enough(c, n, tensors_of(&r)) : !right_count(c, n, count))
        return false;
    *o = new_outputs(c, k->returned.inferred ? tensors_of(&r) : k->result_count);
    const char **returned = ARENA_NEW(&c->memory, const char *, o->count + 1);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const node *one = several && n->left->kind == NODE_TUPLE ? n->left->items[i] : n->left;
        const node *named = several && one == n->left ? &(node){.kind = NODE_NONE} : one;
        const result_form *f = &r.forms[i];
        entity *item = several ? &value.items[i] : &value;
        bool taken = take_form(c, &r, i, item, name_for(c, o, f->first, i, count, named), o);
        for (uint32_t t = 0; t < f->count; t++)
            returned[f->first + t] = named->kind == NODE_NAME ? named->text : NULL;
        output = f->first;
        good &= taken && donate_states(c, o, item, NULL, &output, one->at);
    }
    if (!good || c->tiles)
        return good && collect_tiles(c, o);
    return donate_all(c, o, returned) && all_states_returned(c, o);
}

static const char *effect_name(checker *c, const outputs *o, uint32_t i) {
    const effect_kind kind = c->effects.items[i].kind;
    const char *word = effect_kind_name(kind == EFFECT_PRINT_MORE ? EFFECT_PRINT : kind);
    const char *name = arena_printf(&c->memory, "%s%u", word, i);
    return name_taken(c, o, o->count, name) ? arena_printf(&c->memory, "%s_effect", name) : name;
}

/* Puts the shardings of inputs and outputs; an output that replaces an input lies as that does. */
static void put_shardings(checker *c, const outputs *o, uint32_t effects, ir_op kernel) {
    const kernel_interface *k = c->kernel;
    const uint32_t inputs = ir_block_get(c->m, ir_op_block(c->m, kernel, 0))->argument_count,
                   count = inputs + o->count + effects;
    ir_attr *list = ARENA_NEW(&c->memory, ir_attr, count + 1);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t output = i - inputs;
        const char *words = i < inputs                 ? k->parameters[i].sharding
                            : output >= o->count       ? NULL
                            : o->donors[output] >= 0   ? k->parameters[o->donors[output]].sharding
                            : k->returned.inferred     ? NULL
                            : output < k->result_count ? k->results[output].sharding
                                                       : NULL;
        list[i] = ir_attr_string(c->m, words ? words : "");
        any |= words && *words;
    }
    if (any)
        ir_op_set_attr(c->m, kernel, "shardings", ir_attr_array(c->m, list, count));
}

static void build_return(checker *c, span at, const outputs *o, ir_op kernel) {
    const uint32_t effects = (uint32_t)c->effects.count, count = o->count + effects;
    ir_attr *names = ARENA_NEW(&c->memory, ir_attr, count + 1);
    ir_value *values = ARENA_NEW(&c->memory, ir_value, count + 1);
    for (uint32_t i = 0; i < o->count; i++) {
        names[i] = ir_attr_string(c->m, o->names[i]);
        values[i] = o->values[i].value;
    }
    for (uint32_t i = 0; i < effects; i++) {
        names[o->count + i] = ir_attr_string(c->m, effect_name(c, o, i));
        values[o->count + i] = c->observed.items[c->effects.items[i].observed].value;
    }
    c->builder.location = checker_location(c, at);
    ir_build(&c->builder,
             &(ir_op_spec){.opcode = GRAPH_RETURN, .operands = values, .operand_count = count});
    ir_op_set_attr(c->m, kernel, "outputs", ir_attr_array(c->m, names, count));
    if (effects)
        ir_op_set_attr(c->m, kernel, "effects", effects_attribute(c, o->count));
    put_donations(c, o, kernel);
    put_shardings(c, o, effects, kernel);
}

void results_returned(checker *c, const node *n, ir_op kernel) {
    outputs o;
    if (!n->left) {
        diagnose_error(c->report, ERROR_EMPTY_RETURN, n->at,
                       "a kernel returns at least one tensor");
    } else if (collect_outputs(c, n, &o)) {
        build_return(c, n->at, &o, kernel);
    }
}

void results_promised(checker *c, ir_op kernel) {
    const span at = c->kernel->function->body[0]->at;
    outputs o = new_outputs(c, c->kernel->result_count);
    ir_value *values = ARENA_NEW(&c->memory, ir_value, o.count + 1);
    c->builder.location = checker_location(c, at);
    if (!contract_outputs(c, values))
        return;
    for (uint32_t i = 0; i < o.count; i++) {
        o.values[i] = entity_tensor(values[i], at);
        name_output(c, &o, i, &(node){.kind = NODE_NONE});
    }
    contract_put_independent(c, kernel);
    build_return(c, at, &o, kernel);
}

void results_stored(checker *c, ir_op kernel) {
    const ast_function *f = c->kernel->function;
    uint32_t before = c->report->reported;
    outputs o = new_outputs(c, c->kernel->store_count);
    tiles_define_outputs(c);
    for (uint32_t i = 0; i < f->body_count; i++) {
        if (f->body[i]->kind == NODE_RETURN) {
            diagnose_error(c->report, ERROR_TILE_STORE, f->body[i]->at,
                           "a kernel gives its results by tile.store() or by its return");
            return;
        }
        check_statement(c, f->body[i]);
    }
    for (uint32_t i = 0; i < o.count; i++)
        name_output(c, &o, i, &(node){.kind = NODE_NONE});
    if (c->report->reported == before && tiles_stored(c, o.values) && collect_tiles(c, &o))
        build_return(c, f->at, &o, kernel);
}
