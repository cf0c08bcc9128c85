/* same_as.c - @same_as("kernel"): the kernel of the file whose formula the results are held to. It
 * is no part of what is computed, and in no hash of the graph. */
#include <string.h>

#include "check/check.h"

void same_as_read(kernel_interface *k, const node *n, diagnostics *d) {
    if (k->same_as) {
        diagnose_error(d, ERROR_DUPLICATE_DECORATOR, n->at, "@same_as appears twice");
        diagnose_note(d, k->same_as->at, "first here");
    } else if (n->kind != NODE_CALL || n->count != 1 || n->items[0]->kind != NODE_STRING) {
        diagnose_error(d, ERROR_SAME_AS, n->at, "@same_as takes the name of a kernel, in quotes");
        diagnose_help(d, "for example @same_as(\"softmax_rows\")");
    } else if (k->contract) {
        contract_refuse_decorator(n, "same_as", d);
    } else {
        k->same_as = n;
    }
}

/* ---- is it the same signature? ---- */

static bool same_dim(const node *a, const node *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case NODE_INT:
        return a->integer == b->integer;
    case NODE_NAME:
        return strcmp(a->text, b->text) == 0;
    default:
        return a->symbol == b->symbol && same_dim(a->left, b->left) && same_dim(a->right, b->right);
    }
}

/* Policies are of how it is computed. */
static bool same_annotation(const annotation *a, const annotation *b) {
    bool same = a->rank == b->rank && a->type == b->type && !a->variable == !b->variable &&
                (!a->variable || strcmp(a->variable, b->variable) == 0);
    for (int i = 0; same && i < a->rank; i++)
        same = same_dim(a->dims[i], b->dims[i]);
    return same;
}

/* The next parameter from `at` on that is a constant, or is none; NULL: there is no other. */
static const ast_parameter *next_parameter(const kernel_interface *k, uint32_t *at, bool constant) {
    const ast_function *f = k->function;
    while (*at < f->parameter_count && f->parameters[*at].keyword_only != constant)
        ++*at;
    return *at < f->parameter_count ? &f->parameters[(*at)++] : NULL;
}

static bool same_names(const kernel_interface *a, const kernel_interface *b, bool constants) {
    uint32_t i = 0, k = 0;
    for (;;) {
        const ast_parameter *x = next_parameter(a, &i, constants);
        const ast_parameter *y = next_parameter(b, &k, constants);
        if (!x || !y)
            return !x && !y;
        if (strcmp(x->name, y->name) != 0)
            return false;
    }
}

/* In what they differ; NULL: in nothing. */
static const char *difference(const kernel_interface *a, const kernel_interface *b) {
    if (!same_names(a, b, false))
        return "its parameters are others";
    if (!same_names(a, b, true))
        return "its constants are others";
    for (uint32_t i = 0; i < a->parameter_count; i++)
        if (!same_annotation(&a->parameters[i], &b->parameters[i]))
            return "a parameter has another type or shape";
    if (a->returned.inferred || b->returned.inferred)
        return "no annotation says both results";
    bool same = a->result_count == b->result_count;
    for (uint32_t i = 0; same && i < a->result_count; i++)
        same = same_annotation(&a->results[i], &b->results[i]);
    return same ? NULL : "its results are others";
}

/* ---- which kernel is named ---- */

static int64_t find_kernel(const compiler_source *s, const char *name) {
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (strcmp(s->kernels[i].name, name) == 0)
            return i;
    return -1;
}

static void refuse_unknown(const compiler_source *s, const node *name, diagnostics *d) {
    enum { SHOWN = 64 };
    const char *names[SHOWN];
    uint32_t count = 0;
    for (; count < s->kernel_count && count < SHOWN; count++)
        names[count] = s->kernels[count].name;
    diagnose_error(d, ERROR_SAME_AS_UNKNOWN, name->at, "there is no kernel '%.60s' in this file",
                   name->text);
    diagnose_nearest(d, name->text, names, count);
}

/* Checks that the named kernel has a formula that results can be held to. */
static bool fits(const compiler_source *s, uint32_t from, uint32_t to, diagnostics *d) {
    const kernel_interface *own = &s->interfaces[from], *other = &s->interfaces[to];
    const node *name = own->same_as->items[0];
    if (own->broken || other->broken)
        return false;
    const char *what = other->contract ? "it has no formula" : difference(own, other);
    if (what) {
        diagnose_error(d, ERROR_SAME_AS_SIGNATURE, name->at, "'%.60s' cannot say what is right: %s",
                       name->text, what);
        diagnose_note(d, other->function->at, "it is here");
    }
    return !what;
}

static void resolve(compiler_source *s, uint32_t index, diagnostics *d) {
    const node *name = s->interfaces[index].same_as->items[0];
    const int64_t found = find_kernel(s, name->text);
    if (found < 0) {
        refuse_unknown(s, name, d);
    } else if (found == index) {
        diagnose_error(d, ERROR_SAME_AS_ITSELF, name->at, "a kernel is the same as itself");
        diagnose_help(d, "name the kernel that says what was meant");
    } else if (fits(s, index, (uint32_t)found, d)) {
        s->kernels[index].same_as = &s->kernels[found];
    }
}

/* Somebody has to say what is right. A circle is reported where the first of its kernels stands, so
 * it is followed over later ones. */
static void check_circle(compiler_source *s, uint32_t index, diagnostics *d) {
    const compiler_kernel *own = &s->kernels[index], *at = own->same_as;
    for (uint32_t steps = 0; at && at != own && steps < s->kernel_count; steps++)
        at = at > own ? at->same_as : NULL;
    if (own->same_as && at == own) {
        const node *n = s->interfaces[index].same_as;
        diagnose_error(d, ERROR_SAME_AS_CIRCLE, n->at,
                       "'%.60s' is held to '%.60s', and that again to '%.60s'", own->name,
                       own->same_as->name, own->name);
        s->kernels[index].same_as = NULL;
    }
}

void same_as_resolve(compiler_source *s, diagnostics *d) {
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (s->interfaces[i].same_as)
            resolve(s, i, d);
    for (uint32_t i = 0; i < s->kernel_count; i++)
        check_circle(s, i, d);
}
