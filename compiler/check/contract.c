/* contract.c - a kernel without a formula: its body is `...`. What is known of it are shapes, types
 * and cases, and the dimensions that @independent says are batches. And a kernel of whose formula
 * no code is made. */
#include <string.h>

#include "check/check.h"
#include "ops/orders.h"

bool contract_is_one(const ast_function *f) {
    return f->body_count == 1 && f->body[0]->kind == NODE_ELLIPSIS;
}

/* Is there an order="tree(...)" or that of a matrix unit in it? */
static bool has_interpreted_order(const node *n) {
    if (!n)
        return false;
    bool found = n->kind == NODE_KEYWORD && strcmp(n->text, "order") == 0 && n->left &&
                 n->left->kind == NODE_STRING && order_is_interpreted(order_find(n->left->text));
    found = found || has_interpreted_order(n->left) || has_interpreted_order(n->right) ||
            has_interpreted_order(n->third);
    for (uint32_t i = 0; i < n->count && !found; i++)
        found = has_interpreted_order(n->items[i]);
    return found;
}

/* The unit that every such order names; "": they name several, or are none of a unit's. */
static void find_unit(const node *n, const char **unit) {
    if (!n)
        return;
    bool order = n->kind == NODE_KEYWORD && strcmp(n->text, "order") == 0 && n->left &&
                 n->left->kind == NODE_STRING && order_is_interpreted(order_find(n->left->text));
    if (order) {
        order_id id = order_find(n->left->text);
        const char *name = id == ORDER_UNIT ? order_name(id, n->left->text) : "";
        *unit = !*unit || strcmp(*unit, name) == 0 ? name : "";
    }
    find_unit(n->left, unit);
    find_unit(n->right, unit);
    find_unit(n->third, unit);
    for (uint32_t i = 0; i < n->count; i++)
        find_unit(n->items[i], unit);
}

const char *contract_unit(const ast_function *f) {
    const char *unit = NULL;
    for (uint32_t i = 0; i < f->body_count; i++)
        find_unit(f->body[i], &unit);
    return unit && *unit ? unit : NULL;
}

bool contract_is_interpreted(const ast_function *f) {
    bool found = false;
    for (uint32_t i = 0; i < f->body_count && !found; i++)
        found = has_interpreted_order(f->body[i]);
    return found;
}

/* ---- @independent("M", "N") ---- */

static bool is_dimension(compiler_source *s, const kernel_interface *k, const node *n,
                         diagnostics *d) {
    const char **names = ARENA_NEW(&s->memory, const char *, k->symbol_count + 1);
    uint32_t count = 0;
    if (n->kind != NODE_STRING) {
        diagnose_error(d, ERROR_INDEPENDENT_ARGUMENT, n->at,
                       "@independent takes names of dimensions, in quotes");
        return false;
    }
    for (uint32_t i = 0; i < k->symbol_count; i++) {
        names[count++] = k->symbols[i].name;
        if (strcmp(k->symbols[i].name, n->text) == 0)
            return true;
    }
    diagnose_error(d, ERROR_INDEPENDENT_ARGUMENT, n->at, "the kernel has no dimension '%.60s'",
                   n->text);
    diagnose_nearest(d, n->text, names, count);
    return false;
}

void contract_independent_read(compiler_source *s, kernel_interface *k, const node *n,
                               diagnostics *d) {
    if (!k->contract) {
        diagnose_error(d, ERROR_CONTRACT_DECORATOR, n->at,
                       "@independent is for a kernel whose body is '...'");
        diagnose_help(d, "of a formula the dimensions that are batches are derived: leave it out");
        return;
    }
    if (n->kind != NODE_CALL || n->count == 0) {
        diagnose_error(d, ERROR_INDEPENDENT_ARGUMENT, n->at,
                       "@independent takes names of dimensions, in quotes");
        diagnose_help(d, "for example @independent(\"M\")");
        return;
    }
    const char **names = ARENA_NEW(&s->memory, const char *, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        if (k->broken || !is_dimension(s, k, n->items[i], d))
            return;
        names[i] = n->items[i]->text;
    }
    k->independent = names;
    k->independent_count = n->count;
}

void contract_refuse_decorator(const node *n, const char *name, diagnostics *d) {
    diagnose_error(d, ERROR_CONTRACT_DECORATOR, n->at,
                   "@%s has no effect on a kernel without a formula", name);
    diagnose_help(d, "its body is '...', so nothing of it is compiled");
}

/* ---- its graph ---- */

static bool has_no_policy(checker *c, const annotation *a) {
    for (int i = 0; i < POLICY_COUNT; i++) {
        if (a->policies.given[i]) {
            diagnose_error(c->report, ERROR_POLICY_EFFECT, a->policies.at[i],
                           "a policy has no effect on a result that has no formula");
            return false;
        }
    }
    return true;
}

static ir_value unspecified(checker *c, uint32_t number, const annotation *a) {
    const ir_block_data *body = ir_block_get(c->m, c->builder.block);
    uint32_t count = body->argument_count;
    ir_value *inputs = arena_copy(&c->memory, body->arguments, count * sizeof *inputs);
    ir_type type = has_no_policy(c, a) ? kernel_annotated_type(c, a) : 0;
    if (!type)
        return 0;
    ir_type_data t = *ir_type_get(c->m, type);
    const ir_named_attr attrs[] = {
        {"number", ir_attr_int(c->m, number)},
        {"shape", ir_attr_dim_array(c->m, t.dims, (uint32_t)t.rank)},
        {"to", ir_attr_type(c->m, ir_type_scalar(c->m, t.element))},
    };
    ir_op op = graph_build(&c->builder, GRAPH_UNSPECIFIED, inputs, count, attrs, 3);
    return ir_op_result(c->m, op, 0);
}

bool contract_outputs(checker *c, ir_value *out) {
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->result_count; i++) {
        out[i] = unspecified(c, i, &k->results[i]);
        if (!out[i])
            return false;
    }
    return true;
}

void contract_put_independent(checker *c, ir_op kernel) {
    const kernel_interface *k = c->kernel;
    ir_attr *names = ARENA_NEW(&c->memory, ir_attr, k->independent_count + 1);
    for (uint32_t i = 0; i < k->independent_count; i++)
        names[i] = ir_attr_string(c->m, k->independent[i]);
    if (k->independent_count) {
        ir_op_set_attr(c->m, kernel, "independent",
                       ir_attr_array(c->m, names, k->independent_count));
    }
}
