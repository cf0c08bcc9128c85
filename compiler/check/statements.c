/* statements.c - assignments, conditions and loops of a kernel's body. */
#include <string.h>

#include "check/regions.h"
#include "check/settings.h"

void assign_name(checker *c, const node *target, entity value) {
    const local_name *old = scope_find(c, target->text);
    if (old && old->fixed) {
        diagnose_error(c->report, ERROR_FIXED_NAME, target->at,
                       "'%s' is %s and cannot be assigned to", target->text, old->fixed);
        diagnose_note(c->report, old->at, "declared here");
        return;
    }
    scope_define(c, target->text, value, target->at, NULL);
}

static void assign(checker *c, const node *target, entity value) {
    if (value.kind == ENTITY_FUNCTION && !value.transform) {
        diagnose_error(c->report, ERROR_FUNCTION_AS_VALUE, value.at,
                       "'%s' is a function: call it, or give it to one that takes functions",
                       value.text);
        value = entity_broken(value.at);
    }
    if (target->kind == NODE_NAME) {
        assign_name(c, target, value);
        return;
    }
    bool fits = value.kind == ENTITY_TUPLE && value.count == target->count;
    if (!fits && value.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_UNPACKING, target->at, "cannot unpack %s%s into %u names",
                       entity_describe(&value),
                       value.kind == ENTITY_TUPLE ? arena_printf(&c->memory, " of %u", value.count)
                                                  : "",
                       target->count);
    }
    for (uint32_t i = 0; i < target->count; i++)
        assign_name(c, target->items[i], fits ? value.items[i] : entity_broken(target->at));
}

static void check_annotated(checker *c, const node *n) {
    entity value = check_expression(c, n->left);
    declared_names symbols = {0}, variables = {0};
    annotation a;
    bool good = annotation_read(c->source, n->right, &a, &symbols, &variables, c->report);
    for (size_t i = 0; i < symbols.count; i++) {
        const local_name *known = scope_find(c, symbols.items[i].name);
        bool number = known && known->value.kind == ENTITY_NUMBER && known->value.is_integer;
        if (!number && (!known || known->value.kind != ENTITY_DIM)) {
            diagnose_error(c->report, ERROR_UNBOUND_DIMENSION, symbols.items[i].at,
                           "dimension '%s' is in no parameter and no result",
                           symbols.items[i].name);
            good = false;
        }
    }
    vec_release(&symbols);
    vec_release(&variables);
    if (good && value.kind != ENTITY_BROKEN && argument_tensor(c, &value, "an annotated value"))
        kernel_type_matches(c, &value, &a, n->items[0]->text);
    assign_name(c, n->items[0], value);
}

static void check_assignment(checker *c, const node *n) {
    if (n->kind == NODE_ANNOTATED) {
        check_annotated(c, n);
        return;
    }
    entity value = check_expression(c, n->left);
    if (n->kind == NODE_AUGMENTED) {
        entity old = scope_lookup(c, n->items[0]->text, n->items[0]->at);
        value = check_binary(c, n->symbol, &old, &value, n->at);
    }
    for (uint32_t i = 0; i < n->count; i++)
        assign(c, n->items[i], value);
}

/* ---- conditions ---- */

void check_block(checker *c, const node *block) {
    for (uint32_t i = 0; block && i < block->count; i++)
        check_statement(c, block->items[i]);
}

static bool is_true(const entity *e) {
    return e->kind == ENTITY_BOOL ? e->integer != 0 : number_value(e) != 0;
}

/* In a block, or in what stands in it; `block` may be the if of an elif, or NULL. */
static bool has_barrier(const node *block) {
    if (block && (block->kind == NODE_IF || block->kind == NODE_FOR || block->kind == NODE_WITH))
        return has_barrier(block->third) || (block->kind == NODE_IF && has_barrier(block->right));
    for (uint32_t i = 0; block && i < block->count; i++) {
        const node *n = block->items[i];
        bool calls = n->kind == NODE_CALL && strcmp(n->left->text, "barrier") == 0;
        bool deeper = n->kind == NODE_IF || n->kind == NODE_FOR || n->kind == NODE_WITH;
        if (calls || (deeper && has_barrier(n)))
            return true;
    }
    return false;
}

/* Instances that go different ways would wait for each other for ever, where there is anything to
 * wait for. */
static void refuse_condition(checker *c, const node *n, const entity *condition) {
    diagnose_error(c->report, ERROR_CONDITION, n->left->at, "a condition is a constant, not %s",
                   entity_describe(condition));
    diagnose_help(c->report, has_barrier(n->right) || has_barrier(n->third)
                                 ? "tile.barrier() is reached by all or by none: put it outside of "
                                   "the condition"
                                 : "choose between values with where(condition, a, b)");
}

/* Only the branch that is taken is looked at, so it may be what the other types do not allow. */
static void check_if(checker *c, const node *n) {
    entity condition = check_expression(c, n->left);
    if (condition.kind == ENTITY_BROKEN)
        return;
    if (control_is_condition(c, &condition)) {
        control_if(c, n, &condition);
        return;
    }
    if (condition.kind != ENTITY_BOOL && condition.kind != ENTITY_NUMBER) {
        refuse_condition(c, n, &condition);
        return;
    }
    const node *taken = is_true(&condition) ? n->right : n->third;
    if (taken && taken->kind == NODE_IF)
        check_if(c, taken);
    else
        check_block(c, taken);
}

/* tile.mask_causal(s, ...) on a line of its own: s is the masked one from there on. */
static void check_effect(checker *c, const node *n) {
    entity value = check_expression(c, n);
    const node *first = n->count ? n->items[0] : NULL;
    if (value.kind == ENTITY_TENSOR && first && first->kind == NODE_NAME &&
        strcmp(n->left->text, "mask_causal") == 0) {
        assign_name(c, first, value);
    } else if (value.kind != ENTITY_NONE && value.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_UNUSED_VALUE, n->at, "this value is not used");
        diagnose_help(c->report, "give it a name, or return it");
    }
}

/* A mistake was reported: no echo of it where names that have no value are read. */
static void break_unknown(checker *c, const node *n) {
    assigned_names names = {0};
    assigned_collect(n, &names);
    for (size_t i = 0; i < names.count; i++)
        if (!scope_find(c, names.items[i].name))
            scope_define(c, names.items[i].name, entity_broken(names.items[i].at),
                         names.items[i].at, NULL);
    vec_release(&names);
}

static void check_kind(checker *c, const node *n) {
    switch (n->kind) {
    case NODE_IF:
        check_if(c, n);
        return;
    case NODE_FOR:
        tiles_loop(c, n);
        return;
    case NODE_WHILE:
        control_while(c, n);
        return;
    case NODE_WITH:
        settings_with(c, n);
        return;
    case NODE_CALL:
        check_effect(c, n);
        return;
    case NODE_RETURN:
        diagnose_error(c->report, ERROR_UNREACHABLE, n->at,
                       "the return is the last statement of a kernel, outside of loops and "
                       "conditions");
        return;
    default:
        check_assignment(c, n);
    }
}

void check_statement(checker *c, const node *n) {
    const uint32_t before = c->report->reported;
    check_kind(c, n);
    if (c->report->reported != before && n->kind != NODE_ASSIGN)
        break_unknown(c, n);
}

/* A `with` around the last statements. */
static bool ends_in_return(const node *n) {
    while (n->kind == NODE_WITH && n->third->count)
        n = n->third->items[n->third->count - 1];
    return n->kind == NODE_RETURN;
}

const node *check_until_return(checker *c, const ast_function *f) {
    node *const *body = f->body;
    uint32_t count = f->body_count, i = 0;
    for (;;) {
        for (i = 0; i < count && !ends_in_return(body[i]); i++)
            check_statement(c, body[i]);
        if (i == count)
            break;
        if (i + 1 < count)
            diagnose_error(c->report, ERROR_UNREACHABLE, body[i + 1]->at,
                           "this statement comes after the return");
        if (body[i]->kind == NODE_RETURN)
            return body[i];
        settings_enter(c, body[i]);
        count = body[i]->third->count;
        body = body[i]->third->items;
    }
    diagnose_error(c->report, ERROR_NO_RETURN, f->at, "%s '%s' has no return statement",
                   c->calls ? "function" : "kernel", f->name);
    diagnose_help(c->report, "end it with: return x");
    return NULL;
}
