/* verify_numerics.c - @verify.numerics(...): what a kernel promises of the numbers that it gives;
 * @verify.steps(...): what it promises of its states. */
#include <string.h>

#include "check/check.h"

static bool is_promise(const node *n, const char *name) {
    const node *word = n->kind == NODE_CALL ? n->left : n;
    return word->kind == NODE_ATTRIBUTE && word->left->kind == NODE_NAME &&
           strcmp(word->left->text, "verify") == 0 && strcmp(word->text, name) == 0;
}

bool numerics_is_one(const node *n) {
    return is_promise(n, "numerics");
}

bool verify_steps_is_one(const node *n) {
    return is_promise(n, "steps");
}

static bool refuse(checker *c, span at, const char *what) {
    diagnose_error(c->report, ERROR_VERIFY_NUMERICS, at, "%s", what);
    diagnose_help(c->report, "write @verify.numerics(stable=True, bounded=[-100, 100])");
    return false;
}

static bool read_bound(checker *c, const node *n, double *out) {
    entity e = check_expression(c, n);
    if (e.kind != ENTITY_NUMBER)
        return e.kind != ENTITY_BROKEN && refuse(c, n->at, "a bound is a number");
    *out = number_value(&e);
    return true;
}

static bool read_bounded(checker *c, const node *n, compiler_numerics *out) {
    if ((n->kind != NODE_LIST && n->kind != NODE_TUPLE) || n->count != 2)
        return refuse(c, n->at, "bounded takes the least and the greatest number that is given");
    out->bounded = true;
    return read_bound(c, n->items[0], &out->low) && read_bound(c, n->items[1], &out->high) &&
           (out->low <= out->high ||
            refuse(c, n->at, "the least number comes first, and neither is a NaN"));
}

static bool read_stable(checker *c, const node *n, compiler_numerics *out) {
    if (n->kind != NODE_BOOL)
        return refuse(c, n->at, "stable is True or False");
    out->stable = n->integer != 0;
    return true;
}

bool numerics_read(checker *c, const node *n, bool contract, compiler_numerics *out) {
    bool good = n->kind == NODE_CALL;
    *out = (compiler_numerics){.stable = false};
    for (uint32_t i = 0; good && i < n->count; i++) {
        const node *word = n->items[i];
        bool named = word->kind == NODE_KEYWORD;
        if (named && strcmp(word->text, "bounded") == 0)
            good = read_bounded(c, word->left, out);
        else if (named && strcmp(word->text, "stable") == 0)
            good = read_stable(c, word->left, out);
        else
            good = refuse(c, word->at, "@verify.numerics takes stable=... and bounded=...");
    }
    if (good && out->stable && contract)
        return refuse(c, n->at, "stable compares with the formula, and this kernel has none");
    return good ? out->stable || out->bounded ||
                      refuse(c, n->at, "@verify.numerics says nothing of the numbers")
           : n->kind == NODE_CALL ? false
                                  : refuse(c, n->at, "@verify.numerics needs arguments");
}

const char *verify_steps_read(checker *c, const node *n, const kernel_interface *k) {
    const node *name = n->kind == NODE_CALL && n->count == 1 ? n->items[0] : NULL;
    for (uint32_t i = 0; name && name->kind == NODE_STRING && i < k->symbol_count; i++)
        if (strcmp(k->symbols[i].name, name->text) == 0)
            return k->symbols[i].name;
    diagnose_error(c->report, ERROR_VERIFY_STEPS, name ? name->at : n->at,
                   "@verify.steps takes the name of a dimension of the kernel");
    diagnose_help(c->report,
                  "write @verify.steps(\"N\"), where the inputs of a launch have N steps");
    return NULL;
}
