/* tree_order.c - reading a written tree: one letter after the other, chains on a counter. */
#include "ops/tree_order.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "tree(", prefix[] = "rounded:";
static const int64_t element_max = INT64_C(0x7FFFFFFF);

typedef struct reader {
    const char *text, *at;
    tree_order *out;
    int open; /* chains inside of the outermost one */
    status *st;
} reader;

static const char *behind_spaces(const char *s) {
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

bool tree_order_is(const char *order) {
    return strncmp(behind_spaces(order), word, sizeof word - 1) == 0;
}

static bool refuse(const reader *r, const char *why) {
    return status_set(r->st, STATUS_INVALID, "%s, at letter %zu: '%.12s'", why,
                      (size_t)(r->at - r->text) + 1, r->at);
}

static void skip_spaces(reader *r) {
    r->at = behind_spaces(r->at);
}

static bool take(reader *r, char c) {
    skip_spaces(r);
    bool there = *r->at == c;
    r->at += there;
    return there;
}

static bool read_number(reader *r, bool may_be_negative, int64_t *value) {
    bool negative = may_be_negative && take(r, '-');
    skip_spaces(r);
    if (!isdigit((unsigned char)*r->at))
        return refuse(r, "expected the number of an element, or '('");
    for (*value = 0; isdigit((unsigned char)*r->at) && *value <= element_max; r->at++)
        *value = *value * 10 + (*r->at - '0');
    if (*value > element_max)
        return refuse(r, "a number beyond 2^31 - 1");
    *value = negative ? -*value : *value;
    return true;
}

/* FIRST [: STOP [: STEP]] */
static bool read_range(reader *r) {
    tree_step s = {TREE_TAKE, 0, 1, 1};
    int64_t stop = 0;
    if (!read_number(r, false, &s.first))
        return false;
    if (take(r, ':')) {
        if (!read_number(r, true, &stop) || (take(r, ':') && !read_number(r, true, &s.step)))
            return false;
        int64_t sign = s.step < 0 ? -1 : 1, way = (stop - s.first) * sign, stride = s.step * sign;
        if (stride == 0 || way <= 0)
            return refuse(r, "a range without an element");
        if (stop < -1)
            return refuse(r, "a range that ends below element 0");
        s.count = (way + stride - 1) / stride;
    }
    vec_push(&r->out->steps, s);
    return true;
}

static void push(reader *r, tree_step_kind kind) {
    tree_step s = {kind, 0, 0, 0};
    vec_push(&r->out->steps, s);
}

/* Reads what stands before a term: parentheses that open. */
static bool open_chains(reader *r) {
    while (take(r, '(')) {
        if (++r->open > LIMIT_ORDER_DEPTH)
            return refuse(r, "parentheses nested too deep");
        if (r->open + 1 > r->out->depth)
            r->out->depth = r->open + 1;
        push(r, TREE_BEGIN);
    }
    return true;
}

/* Reads what stands behind it: those that close, down to the one of `tree(`. */
static bool close_chains(reader *r) {
    while (r->open >= 0 && take(r, ')'))
        if (r->open-- > 0)
            push(r, TREE_END);
    return true;
}

bool tree_order_parse(const char *order, tree_order *out, status *st) {
    reader r = {.text = order, .out = out, .st = st};
    *out = (tree_order){.depth = 1};
    if (!tree_order_is(order))
        return status_set(st, STATUS_INVALID, "a written order begins with 'tree('");
    if (strlen(order) > LIMIT_ORDER_BYTES)
        return status_set(st, STATUS_INVALID, "the tree takes more than %d letters",
                          (int)LIMIT_ORDER_BYTES);
    r.at = behind_spaces(order) + sizeof word - 1;
    skip_spaces(&r);
    out->rounded = strncmp(r.at, prefix, sizeof prefix - 1) == 0;
    r.at += out->rounded ? sizeof prefix - 1 : 0;
    do {
        if (!open_chains(&r) || !read_range(&r) || !close_chains(&r))
            return false;
    } while (r.open >= 0 && take(&r, '+'));
    if (r.open >= 0)
        return refuse(&r, "expected '+' or ')'");
    skip_spaces(&r);
    return !*r.at || refuse(&r, "something behind the end of the tree");
}

void tree_order_release(tree_order *t) {
    vec_release(&t->steps);
}

static bool take_once(unsigned char *taken, const tree_step *s, int64_t n, status *st) {
    for (int64_t i = 0, e = s->first; i < s->count; i++, e += s->step) {
        if (e >= n)
            return status_set(st, STATUS_INVALID,
                              "the written order takes element %lld, and there are %lld",
                              (long long)e, (long long)n);
        if (taken[e]++)
            return status_set(st, STATUS_INVALID, "the written order takes element %lld twice",
                              (long long)e);
    }
    return true;
}

bool tree_order_covers(const tree_order *t, int64_t n, status *st) {
    unsigned char *taken = base_calloc((size_t)n + 1, 1);
    bool ok = true;
    for (size_t i = 0; i < t->steps.count && ok; i++)
        ok = t->steps.items[i].kind != TREE_TAKE || take_once(taken, &t->steps.items[i], n, st);
    for (int64_t e = 0; e < n && ok; e++)
        ok = taken[e] ||
             status_set(st, STATUS_INVALID, "the written order leaves out element %lld of %lld",
                        (long long)e, (long long)n);
    free(taken);
    return ok;
}

void tree_order_canonical(const char *order, text *out) {
    for (; *order; order++)
        if (!isspace((unsigned char)*order))
            text_append_char(out, *order);
}
