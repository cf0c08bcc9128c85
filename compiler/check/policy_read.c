/* policy_read.c - the syntax of policies: their names, and one argument each or none. */
#include <string.h>

#include "check/policy.h"
#include "check/source.h"

static const struct policy_row {
    const char *name, *form, *argument; /* argument: what stands in the parentheses; NULL: none */
} rows[POLICY_COUNT] = {
    [POLICY_ACCUM] = {"accum", "accum(f32)", "an element type"},
    [POLICY_SATURATE] = {"saturate", "saturate", NULL},
    [POLICY_STOCHASTIC_ROUND] = {"stochastic_round", "stochastic_round(seed)",
                                 "a seed: an integer from 0 on"},
    [POLICY_LOSS_SCALE] = {"loss_scale", "loss_scale(1024)",
                           "a power of two from 2 on, such as 1024"},
};

const char *policy_form(policy_kind kind, const char **argument) {
    *argument = rows[kind].argument;
    return rows[kind].name;
}

static int find_policy(const node *n, diagnostics *d) {
    const node *name = n->kind == NODE_CALL ? n->left : n;
    const char *names[POLICY_COUNT], *word = name->kind == NODE_NAME ? name->text : "";
    for (int i = 0; i < POLICY_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, word) == 0)
            return i;
    }
    if (!word[0])
        diagnose_error(d, ERROR_UNKNOWN_POLICY, name->at, "expected a policy of the type");
    else
        diagnose_error(d, ERROR_UNKNOWN_POLICY, name->at, "'%.60s' is not a policy", word);
    if (!word[0] || !diagnose_nearest(d, word, names, POLICY_COUNT))
        diagnose_help(d, "accum(type), saturate, stochastic_round(seed) or loss_scale(k)");
    return -1;
}

static bool read_scale(const node *value, policy_set *set) {
    uint64_t k = value->kind == NODE_INT ? (uint64_t)value->integer : 0;
    if (value->kind == NODE_INT && value->integer >= 2 && (k & (k - 1)) == 0) {
        set->scale_log2 = __builtin_ctzll(k);
        return true;
    }
    return false;
}

static bool read_argument(policy_kind kind, const node *value, policy_set *set, diagnostics *d) {
    if (kind == POLICY_ACCUM && value->kind == NODE_NAME) {
        set->accum = type_named(value->text, value->at, d);
        return set->accum != DTYPE_NONE;
    }
    if (kind == POLICY_STOCHASTIC_ROUND && value->kind == NODE_INT && value->integer >= 0) {
        set->seed = value->integer;
        return true;
    }
    if (kind == POLICY_LOSS_SCALE && read_scale(value, set))
        return true;
    diagnose_error(d, ERROR_POLICY_ARGUMENT, value->at, "%s takes %s", rows[kind].name,
                   rows[kind].argument);
    return false;
}

bool policy_read(const node *n, policy_set *set, diagnostics *d) {
    int found = find_policy(n, d);
    if (found < 0)
        return false;
    policy_kind kind = (policy_kind)found;
    const struct policy_row *row = &rows[kind];
    bool called = n->kind == NODE_CALL;
    if (set->given[kind]) {
        diagnose_error(d, ERROR_DUPLICATE_POLICY, n->at, "%s is given twice", row->name);
        diagnose_note(d, set->at[kind], "first here");
        return false;
    }
    if (called != (row->argument != NULL) || (called && n->count != 1)) {
        diagnose_error(d, ERROR_POLICY_ARGUMENT, n->at,
                       row->argument ? "%s takes one argument" : "%s takes no argument", row->name);
        diagnose_help(d, "write %s", row->form);
        return false;
    }
    set->given[kind] = true;
    set->at[kind] = n->at;
    return !called || read_argument(kind, n->items[0], set, d);
}

const node *policies_strip(const node *n, policy_set *set, diagnostics *d) {
    if (n->kind != NODE_BINARY || n->symbol != SYMBOL1('@'))
        return n;
    const node *base = policies_strip(n->left, set, d);
    return base && policy_read(n->right, set, d) ? base : NULL;
}

bool policy_converts(const policy_set *set) {
    return set->given[POLICY_SATURATE] || set->given[POLICY_STOCHASTIC_ROUND] ||
           set->given[POLICY_LOSS_SCALE];
}
