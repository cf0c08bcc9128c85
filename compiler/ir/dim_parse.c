/* dim_parse.c - polynomials from text. */
#include <ctype.h>
#include <string.h>

#include "ir/dim_poly.h"
#include "ir/internal.h"

typedef struct dim_parser {
    ir_module *m;
    const char *p;
    bool bad;
    int depth;
} dim_parser;

static dim_poly parse_sum(dim_parser *s);

static bool dim_take(dim_parser *s, const char *token) {
    while (*s->p == ' ')
        s->p++;
    if (strncmp(s->p, token, strlen(token)) != 0)
        return false;
    s->p += strlen(token);
    return true;
}

static dim_poly parse_two(dim_parser *s,
                          dim_poly (*make)(ir_module *m, const dim_poly *a, const dim_poly *b)) {
    dim_poly a = parse_sum(s);
    s->bad |= !dim_take(s, ",");
    dim_poly b = parse_sum(s);
    s->bad |= !dim_take(s, ")");
    return s->bad ? a : make(s->m, &a, &b);
}

static dim_poly parse_atom(dim_parser *s) {
    dim_poly result = {0};
    if (++s->depth > DIM_DEPTH_MAX) {
        s->bad = true;
    } else if (dim_take(s, "(")) {
        result = parse_sum(s);
        s->bad |= !dim_take(s, ")");
    } else if (dim_take(s, "floordiv(")) {
        result = parse_two(s, dim_poly_floordiv);
    } else if (dim_take(s, "min(")) {
        result = parse_two(s, dim_poly_least);
    } else if (isdigit((unsigned char)*s->p)) {
        char *end;
        long long value = strtoll(s->p, &end, 10);
        s->bad |= end - s->p > 18;
        s->p = end;
        result = dim_poly_constant(value);
    } else if (isalpha((unsigned char)*s->p) || *s->p == '_') {
        const char *name = s->p;
        while (isalnum((unsigned char)*s->p) || *s->p == '_')
            s->p++;
        result = dim_poly_symbol(s->m, arena_strndup(&s->m->memory, name, (size_t)(s->p - name)));
    } else {
        s->bad = true;
    }
    s->depth--;
    return result;
}

static dim_poly parse_product(dim_parser *s) {
    dim_poly a = parse_atom(s);
    while (!s->bad) {
        bool divide = dim_take(s, "//");
        if (!divide && !dim_take(s, "*"))
            break;
        dim_poly b = parse_atom(s);
        a = divide ? dim_poly_floordiv(s->m, &a, &b) : dim_poly_multiply(&a, &b);
    }
    return a;
}

static dim_poly parse_sum(dim_parser *s) {
    dim_poly a = {0};
    int64_t sign = dim_take(s, "-") ? -1 : 1;
    dim_poly first = parse_product(s);
    dim_poly_add(&a, &first, sign);
    while (!s->bad) {
        sign = dim_take(s, "+") ? 1 : dim_take(s, "-") ? -1 : 0;
        if (!sign)
            break;
        dim_poly b = parse_product(s);
        dim_poly_add(&a, &b, sign);
    }
    return a;
}

bool dim_poly_parse(ir_module *m, const char *source, dim_poly *out) {
    dim_parser s = {.m = m, .p = source};
    *out = parse_sum(&s);
    dim_take(&s, "");
    return !s.bad && !*s.p && !out->bad;
}
