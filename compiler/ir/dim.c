/* dim.c - symbolic dimensions as polynomials; the canonical text is the identity.
 *
 * A polynomial is a list of terms, each a coefficient and a sorted product of atoms; an atom is a
 * name or "floordiv(a, b)" with canonical a and b. Terms are sorted by degree, highest first, then
 * by their atoms. */
#include "ir/dim.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/internal.h"

enum { MAX_TERMS = 16, MAX_ATOMS = 6, MAX_DEPTH = 16, MAX_TEXT = 2000 };

typedef struct term {
    int64_t coefficient;
    int atom_count;
    const char *atoms[MAX_ATOMS]; /* interned in the module */
} term;

typedef struct poly {
    int count;
    bool bad; /* overflow of a limit or of 64 bits */
    term terms[MAX_TERMS];
} poly;

bool ir_dim_is_static(ir_dim d) {
    return d >= IR_DIM_SYMBOLS;
}

ir_dim ir_dim_intern(ir_module *m, const char *canonical) {
    intptr_t found;
    if (map_get(&m->dim_index, canonical, &found))
        return IR_DIM_SYMBOLS - (ir_dim)found;
    vec_push(&m->dims, arena_strdup(&m->memory, canonical));
    map_put(&m->dim_index, canonical, (intptr_t)m->dims.count);
    return IR_DIM_SYMBOLS - (ir_dim)m->dims.count;
}

static const char *dim_source(const ir_module *m, ir_dim d) {
    return m->dims.items[IR_DIM_SYMBOLS - d - 1];
}

/* Neither a number nor the name of an expression of this module: what somebody computed wrongly. */
static bool names_nothing(const ir_module *m, ir_dim d) {
    return d < IR_DIM_SYMBOLS && (uint64_t)(IR_DIM_SYMBOLS - d) > m->dims.count;
}

const char *ir_dim_text(ir_module *m, ir_dim d) {
    if (names_nothing(m, d))
        return "?";
    return ir_dim_is_static(d) ? arena_printf(&m->memory, "%" PRId64, d) : dim_source(m, d);
}

/* ---- polynomials ---- */

static int compare_terms(const term *a, const term *b) {
    if (a->atom_count != b->atom_count)
        return b->atom_count - a->atom_count;
    for (int i = 0; i < a->atom_count; i++) {
        int order = strcmp(a->atoms[i], b->atoms[i]);
        if (order)
            return order;
    }
    return 0;
}

static void poly_add_term(poly *p, const term *t) {
    int at = 0;
    while (at < p->count && compare_terms(&p->terms[at], t) < 0)
        at++;
    if (at < p->count && compare_terms(&p->terms[at], t) == 0) {
        p->bad |= __builtin_add_overflow(p->terms[at].coefficient, t->coefficient,
                                         &p->terms[at].coefficient);
        if (p->terms[at].coefficient == 0)
            memmove(&p->terms[at], &p->terms[at + 1], sizeof(term) * (size_t)(--p->count - at));
        return;
    }
    if (t->coefficient == 0)
        return;
    if (p->count == MAX_TERMS) {
        p->bad = true;
        return;
    }
    memmove(&p->terms[at + 1], &p->terms[at], sizeof(term) * (size_t)(p->count++ - at));
    p->terms[at] = *t;
}

static poly poly_constant(int64_t value) {
    poly p = {0};
    poly_add_term(&p, &(term){.coefficient = value});
    return p;
}

static poly poly_atom(ir_module *m, const char *name) {
    poly p = {0};
    poly_add_term(&p,
                  &(term){.coefficient = 1, .atom_count = 1, .atoms = {ir_intern_name(m, name)}});
    return p;
}

static void poly_add(poly *a, const poly *b, int64_t sign) {
    a->bad |= b->bad;
    for (int i = 0; i < b->count; i++) {
        term t = b->terms[i];
        a->bad |= __builtin_mul_overflow(t.coefficient, sign, &t.coefficient);
        poly_add_term(a, &t);
    }
}

static bool term_multiply(const term *a, const term *b, term *out) {
    *out = *a;
    if (a->atom_count + b->atom_count > MAX_ATOMS ||
        __builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient))
        return false;
    for (int i = 0; i < b->atom_count; i++) {
        int at = out->atom_count++;
        for (; at > 0 && strcmp(out->atoms[at - 1], b->atoms[i]) > 0; at--)
            out->atoms[at] = out->atoms[at - 1];
        out->atoms[at] = b->atoms[i];
    }
    return true;
}

static poly poly_multiply(const poly *a, const poly *b) {
    poly p = {.bad = a->bad || b->bad};
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            term t;
            if (term_multiply(&a->terms[i], &b->terms[j], &t))
                poly_add_term(&p, &t);
            else
                p.bad = true;
        }
    return p;
}

static bool poly_is_constant(const poly *p, int64_t *value) {
    *value = p->count ? p->terms[0].coefficient : 0;
    return p->count == 0 || (p->count == 1 && p->terms[0].atom_count == 0);
}

/* a / d where the one term d divides every term of a. */
static bool poly_divide(const poly *a, const poly *d, poly *out) {
    *out = (poly){.bad = a->bad || d->bad};
    if (d->count != 1)
        return false;
    for (int i = 0; i < a->count; i++) {
        term t = {0};
        const term *x = &a->terms[i], *y = &d->terms[0];
        if (x->coefficient % y->coefficient != 0)
            return false;
        t.coefficient = x->coefficient / y->coefficient;
        int j = 0;
        for (int k = 0; k < x->atom_count; k++) {
            if (j < y->atom_count && strcmp(x->atoms[k], y->atoms[j]) == 0)
                j++;
            else
                t.atoms[t.atom_count++] = x->atoms[k];
        }
        if (j < y->atom_count)
            return false;
        poly_add_term(out, &t);
    }
    return true;
}

static void poly_print(const poly *p, text *out) {
    for (int i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        int64_t c = t->coefficient;
        if (i)
            text_append(out, c < 0 ? " - " : " + ");
        else if (c < 0)
            text_append(out, "-");
        if ((c != 1 && c != -1) || t->atom_count == 0)
            text_printf(out, "%" PRId64 "%s", c < 0 ? -c : c, t->atom_count ? "*" : "");
        for (int k = 0; k < t->atom_count; k++)
            text_printf(out, "%s%s", k ? "*" : "", t->atoms[k]);
    }
    if (p->count == 0)
        text_append(out, "0");
}

/* Whether the text can be read again: what is nested in itself grows with every step. */
static bool is_readable(const text *t) {
    int depth = 0, deepest = 0;
    for (size_t i = 0; i < t->length && t->length <= MAX_TEXT; i++) {
        depth += (t->data[i] == '(') - (t->data[i] == ')');
        deepest = depth > deepest ? depth : deepest;
    }
    return t->length <= MAX_TEXT && deepest < MAX_DEPTH;
}

static ir_dim poly_dim(ir_module *m, const poly *p) {
    int64_t value;
    if (p->bad)
        return IR_DIM_INVALID;
    if (poly_is_constant(p, &value))
        return value >= 0 ? value : IR_DIM_INVALID;
    text t;
    text_init(&t);
    poly_print(p, &t);
    ir_dim d = is_readable(&t) ? ir_dim_intern(m, t.data) : IR_DIM_INVALID;
    text_release(&t);
    return d;
}

/* (y*whole + rest) // y = whole + rest // y: moves what y divides out of `rest`. */
static poly poly_take_multiples(poly *rest, int64_t y) {
    poly whole = {.bad = rest->bad}, left = {.bad = rest->bad};
    for (int i = 0; i < rest->count; i++) {
        term t = rest->terms[i];
        int64_t remainder = t.coefficient % y;
        if (t.atom_count > 0 && remainder != 0) {
            left.terms[left.count++] = t;
            continue;
        }
        remainder += remainder < 0 ? y : 0;
        if (remainder != 0) {
            left.terms[left.count] = t;
            left.terms[left.count++].coefficient = remainder;
        }
        t.coefficient = t.coefficient / y - (t.coefficient % y < 0);
        if (t.coefficient != 0)
            whole.terms[whole.count++] = t;
    }
    *rest = left;
    return whole;
}

static poly poly_floordiv(ir_module *m, const poly *a, const poly *b) {
    poly q;
    int64_t x, y;
    if (a->bad || b->bad || (poly_is_constant(b, &y) && y == 0))
        return (poly){.bad = true};
    if (poly_is_constant(a, &x) && poly_is_constant(b, &y))
        return poly_constant(x / y - (x % y != 0 && (x < 0) != (y < 0)));
    if (poly_divide(a, b, &q))
        return q;
    poly rest = *a, whole = {0};
    if (poly_is_constant(b, &y) && y > 1) {
        whole = poly_take_multiples(&rest, y);
        if (poly_is_constant(&rest, &x)) /* 0 <= x < y */
            return whole;
    }
    text t;
    text_init(&t);
    text_append(&t, "floordiv(");
    poly_print(&rest, &t);
    text_append(&t, ", ");
    poly_print(b, &t);
    text_append(&t, ")");
    q = is_readable(&t) ? poly_atom(m, t.data) : (poly){.bad = true};
    text_release(&t);
    poly_add(&q, &whole, 1);
    return q;
}

/* ---- parsing: sum of products of atoms; "//" and floordiv() are the same ---- */

typedef struct dim_parser {
    ir_module *m;
    const char *p;
    bool bad;
    int depth;
} dim_parser;

static poly parse_sum(dim_parser *s);

static bool dim_take(dim_parser *s, const char *token) {
    while (*s->p == ' ')
        s->p++;
    if (strncmp(s->p, token, strlen(token)) != 0)
        return false;
    s->p += strlen(token);
    return true;
}

static poly parse_atom(dim_parser *s) {
    poly result = {0};
    if (++s->depth > MAX_DEPTH) {
        s->bad = true;
    } else if (dim_take(s, "(")) {
        result = parse_sum(s);
        s->bad |= !dim_take(s, ")");
    } else if (dim_take(s, "floordiv(")) {
        poly a = parse_sum(s);
        s->bad |= !dim_take(s, ",");
        poly b = parse_sum(s);
        s->bad |= !dim_take(s, ")");
        result = s->bad ? a : poly_floordiv(s->m, &a, &b);
    } else if (isdigit((unsigned char)*s->p)) {
        char *end;
        long long value = strtoll(s->p, &end, 10);
        s->bad |= end - s->p > 18;
        s->p = end;
        result = poly_constant(value);
    } else if (isalpha((unsigned char)*s->p) || *s->p == '_') {
        const char *name = s->p;
        while (isalnum((unsigned char)*s->p) || *s->p == '_')
            s->p++;
        result = poly_atom(s->m, arena_strndup(&s->m->memory, name, (size_t)(s->p - name)));
    } else {
        s->bad = true;
    }
    s->depth--;
    return result;
}

static poly parse_product(dim_parser *s) {
    poly a = parse_atom(s);
    while (!s->bad) {
        bool divide = dim_take(s, "//");
        if (!divide && !dim_take(s, "*"))
            break;
        poly b = parse_atom(s);
        a = divide ? poly_floordiv(s->m, &a, &b) : poly_multiply(&a, &b);
    }
    return a;
}

static poly parse_sum(dim_parser *s) {
    poly a = {0};
    int64_t sign = dim_take(s, "-") ? -1 : 1;
    poly first = parse_product(s);
    poly_add(&a, &first, sign);
    while (!s->bad) {
        sign = dim_take(s, "+") ? 1 : dim_take(s, "-") ? -1 : 0;
        if (!sign)
            break;
        poly b = parse_product(s);
        poly_add(&a, &b, sign);
    }
    return a;
}

static bool poly_parse(ir_module *m, const char *source, poly *out) {
    dim_parser s = {.m = m, .p = source};
    *out = parse_sum(&s);
    dim_take(&s, "");
    return !s.bad && !*s.p && !out->bad;
}

bool ir_dim_parse(ir_module *m, const char *source, ir_dim *out) {
    poly p;
    if (!poly_parse(m, source, &p))
        return false;
    *out = poly_dim(m, &p);
    return *out != IR_DIM_INVALID;
}

static poly poly_of(ir_module *m, ir_dim d) {
    poly p = {.bad = true};
    if (ir_dim_is_static(d))
        return poly_constant(d);
    if (!names_nothing(m, d))
        poly_parse(m, dim_source(m, d), &p);
    return p;
}

ir_dim ir_dim_symbol(ir_module *m, const char *name) {
    return ir_dim_intern(m, name);
}

ir_dim ir_dim_add(ir_module *m, ir_dim a, ir_dim b) {
    poly p = poly_of(m, a), q = poly_of(m, b);
    poly_add(&p, &q, 1);
    return poly_dim(m, &p);
}

ir_dim ir_dim_sub(ir_module *m, ir_dim a, ir_dim b) {
    poly p = poly_of(m, a), q = poly_of(m, b);
    poly_add(&p, &q, -1);
    return poly_dim(m, &p);
}

ir_dim ir_dim_mul(ir_module *m, ir_dim a, ir_dim b) {
    poly p = poly_of(m, a), q = poly_of(m, b);
    p = poly_multiply(&p, &q);
    return poly_dim(m, &p);
}

ir_dim ir_dim_floordiv(ir_module *m, ir_dim a, ir_dim b) {
    poly p = poly_of(m, a), q = poly_of(m, b);
    p = poly_floordiv(m, &p, &q);
    return poly_dim(m, &p);
}

ir_dim ir_dim_add_scaled(ir_module *m, ir_dim a, ir_dim b, ir_dim factor) {
    int64_t value;
    if (ir_dim_is_static(a) && ir_dim_is_static(b) && ir_dim_is_static(factor))
        return (int64_t)((uint64_t)a + (uint64_t)b * (uint64_t)factor);
    poly p = poly_of(m, b), f = poly_of(m, factor), sum = poly_of(m, a);
    p = poly_multiply(&p, &f);
    poly_add(&sum, &p, 1);
    return !sum.bad && poly_is_constant(&sum, &value) ? value : poly_dim(m, &sum);
}

void ir_dim_adopt(ir_module *m, const ir_module *from) {
    for (size_t i = 0; i < from->dims.count; i++)
        ir_dim_intern(m, from->dims.items[i]);
}

/* ---- folding ---- */

static uint32_t fold_poly(ir_module *m, const poly *p, const ir_dim_fold *f);

static uint32_t fold_atom(ir_module *m, const char *atom, const ir_dim_fold *f) {
    if (strncmp(atom, "floordiv(", 9) != 0)
        return f->symbol(f->context, atom);
    dim_parser s = {.m = m, .p = atom + strlen("floordiv(")};
    poly a = parse_sum(&s);
    dim_take(&s, ",");
    poly b = parse_sum(&s);
    uint32_t x = fold_poly(m, &a, f);
    return f->combine(f->context, '/', x, fold_poly(m, &b, f));
}

static uint32_t fold_poly(ir_module *m, const poly *p, const ir_dim_fold *f) {
    uint32_t sum = 0;
    for (int i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        bool plain = t->coefficient == 1 && t->atom_count > 0;
        uint32_t product = plain ? 0 : f->constant(f->context, t->coefficient);
        for (int k = 0; k < t->atom_count; k++) {
            uint32_t factor = fold_atom(m, t->atoms[k], f);
            product = product ? f->combine(f->context, '*', product, factor) : factor;
        }
        sum = sum ? f->combine(f->context, '+', sum, product) : product;
    }
    return sum ? sum : f->constant(f->context, 0);
}

uint32_t ir_dim_fold_with(ir_module *m, ir_dim d, const ir_dim_fold *fold) {
    poly p = poly_of(m, d);
    return fold_poly(m, &p, fold);
}

/* ---- evaluation ---- */

typedef struct evaluation {
    ir_module *m;
    ir_bindings bindings;
    int64_t each; /* the value of symbols that are not bound; 0: they have none */
    const char *missing;
} evaluation;

static bool evaluate_poly(evaluation *e, const poly *p, int64_t *value_out);

static bool evaluate_floordiv(evaluation *e, const char *atom, int64_t *value_out) {
    dim_parser s = {.m = e->m, .p = atom + strlen("floordiv(")};
    poly a = parse_sum(&s);
    dim_take(&s, ",");
    poly b = parse_sum(&s);
    int64_t x, y;
    if (!evaluate_poly(e, &a, &x) || !evaluate_poly(e, &b, &y) || y == 0)
        return false;
    *value_out = x / y - (x % y != 0 && (x < 0) != (y < 0));
    return true;
}

static bool evaluate_atom(evaluation *e, const char *atom, int64_t *value_out) {
    if (strncmp(atom, "floordiv(", 9) == 0)
        return evaluate_floordiv(e, atom, value_out);
    for (uint32_t i = 0; i < e->bindings.count; i++)
        if (strcmp(e->bindings.items[i].name, atom) == 0) {
            *value_out = e->bindings.items[i].value;
            return true;
        }
    e->missing = ir_intern_name(e->m, atom);
    *value_out = e->each;
    return e->each != 0;
}

static bool evaluate_poly(evaluation *e, const poly *p, int64_t *value_out) {
    int64_t sum = 0;
    for (int i = 0; i < p->count; i++) {
        int64_t product = p->terms[i].coefficient, factor;
        for (int k = 0; k < p->terms[i].atom_count; k++)
            if (!evaluate_atom(e, p->terms[i].atoms[k], &factor) ||
                __builtin_mul_overflow(product, factor, &product))
                return false;
        if (__builtin_add_overflow(sum, product, &sum))
            return false;
    }
    *value_out = sum;
    return true;
}

bool ir_dim_evaluate(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                     const char **missing) {
    if (ir_dim_is_static(d)) {
        *value_out = d;
        return true;
    }
    evaluation e = {.m = m, .bindings = bindings};
    poly p = poly_of(m, d);
    bool ok = !p.bad && evaluate_poly(&e, &p, value_out) && *value_out >= 0;
    if (missing)
        *missing = e.missing;
    return ok;
}

int64_t ir_dim_estimate(ir_module *m, ir_dim d, int64_t each) {
    evaluation e = {.m = m, .each = each};
    int64_t value = 0;
    if (ir_dim_is_static(d))
        return d;
    poly p = poly_of(m, d);
    return !p.bad && evaluate_poly(&e, &p, &value) ? value : each;
}
