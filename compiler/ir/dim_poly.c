/* dim_poly.c - arithmetic of polynomials, and their atoms. */
#include "ir/dim_poly.h"

#include <inttypes.h>
#include <string.h>

#include "ir/internal.h"

enum { MAX_TEXT = 2000 };

static int compare_atoms(const dim_atom *a, const dim_atom *b) {
    return a == b ? 0 : strcmp(a->text, b->text);
}

static int compare_terms(const dim_term *a, const dim_term *b) {
    if (a->atom_count != b->atom_count)
        return b->atom_count - a->atom_count;
    for (int i = 0; i < a->atom_count; i++) {
        int order = compare_atoms(a->atoms[i], b->atoms[i]);
        if (order)
            return order;
    }
    return 0;
}

static void add_term(dim_poly *p, const dim_term *t) {
    int at = 0;
    while (at < p->count && compare_terms(&p->terms[at], t) < 0)
        at++;
    if (at < p->count && compare_terms(&p->terms[at], t) == 0) {
        p->bad |= __builtin_add_overflow(p->terms[at].coefficient, t->coefficient,
                                         &p->terms[at].coefficient);
        if (p->terms[at].coefficient == 0)
            memmove(&p->terms[at], &p->terms[at + 1], sizeof(dim_term) * (size_t)(--p->count - at));
        return;
    }
    if (t->coefficient == 0)
        return;
    if (p->count == DIM_TERMS_MAX) {
        p->bad = true;
        return;
    }
    memmove(&p->terms[at + 1], &p->terms[at], sizeof(dim_term) * (size_t)(p->count++ - at));
    p->terms[at] = *t;
}

dim_poly dim_poly_constant(int64_t value) {
    dim_poly p = {0};
    add_term(&p, &(dim_term){.coefficient = value});
    return p;
}

/* The atom of a text, which is made of two where it has a dividend. */
static dim_poly poly_atom(ir_module *m, const char *name, bool least, const dim_poly *dividend,
                          const dim_poly *divisor) {
    intptr_t found;
    dim_poly p = {0};
    if (!map_get(&m->dim_atoms, name, &found)) {
        dim_atom *atom = ARENA_NEW(&m->memory, dim_atom, 1);
        atom->text = arena_strdup(&m->memory, name);
        atom->least = least;
        atom->dividend = dividend ? arena_copy(&m->memory, dividend, sizeof *dividend) : NULL;
        atom->divisor = divisor ? arena_copy(&m->memory, divisor, sizeof *divisor) : NULL;
        found = (intptr_t)atom;
        map_put(&m->dim_atoms, name, found);
    }
    add_term(&p, &(dim_term){.coefficient = 1, .atom_count = 1, .atoms = {(dim_atom *)found}});
    return p;
}

dim_poly dim_poly_symbol(ir_module *m, const char *name) {
    return poly_atom(m, name, false, NULL, NULL);
}

void dim_poly_add(dim_poly *a, const dim_poly *b, int64_t sign) {
    a->bad |= b->bad;
    for (int i = 0; i < b->count; i++) {
        dim_term t = b->terms[i];
        a->bad |= __builtin_mul_overflow(t.coefficient, sign, &t.coefficient);
        add_term(a, &t);
    }
}

static bool term_multiply(const dim_term *a, const dim_term *b, dim_term *out) {
    *out = *a;
    if (a->atom_count + b->atom_count > DIM_ATOMS_MAX ||
        __builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient))
        return false;
    for (int i = 0; i < b->atom_count; i++) {
        int at = out->atom_count++;
        for (; at > 0 && compare_atoms(out->atoms[at - 1], b->atoms[i]) > 0; at--)
            out->atoms[at] = out->atoms[at - 1];
        out->atoms[at] = b->atoms[i];
    }
    return true;
}

dim_poly dim_poly_multiply(const dim_poly *a, const dim_poly *b) {
    dim_poly p = {.bad = a->bad || b->bad};
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            dim_term t;
            if (term_multiply(&a->terms[i], &b->terms[j], &t))
                add_term(&p, &t);
            else
                p.bad = true;
        }
    return p;
}

bool dim_poly_is_constant(const dim_poly *p, int64_t *value) {
    *value = p->count ? p->terms[0].coefficient : 0;
    return p->count == 0 || (p->count == 1 && p->terms[0].atom_count == 0);
}

/* a / d where the one dim_term d divides every dim_term of a. */
static bool divide(const dim_poly *a, const dim_poly *d, dim_poly *out) {
    *out = (dim_poly){.bad = a->bad || d->bad};
    if (d->count != 1)
        return false;
    for (int i = 0; i < a->count; i++) {
        dim_term t = {0};
        const dim_term *x = &a->terms[i], *y = &d->terms[0];
        if (x->coefficient % y->coefficient != 0)
            return false;
        t.coefficient = x->coefficient / y->coefficient;
        int j = 0;
        for (int k = 0; k < x->atom_count; k++)
            if (j < y->atom_count && x->atoms[k] == y->atoms[j])
                j++;
            else
                t.atoms[t.atom_count++] = x->atoms[k];
        if (j < y->atom_count)
            return false;
        add_term(out, &t);
    }
    return true;
}

static void print_poly(const dim_poly *p, text *out) {
    for (int i = 0; i < p->count; i++) {
        const dim_term *t = &p->terms[i];
        int64_t c = t->coefficient;
        if (i)
            text_append(out, c < 0 ? " - " : " + ");
        else if (c < 0)
            text_append(out, "-");
        if ((c != 1 && c != -1) || t->atom_count == 0)
            text_printf(out, "%" PRId64 "%s", c < 0 ? -c : c, t->atom_count ? "*" : "");
        for (int k = 0; k < t->atom_count; k++)
            text_printf(out, "%s%s", k ? "*" : "", t->atoms[k]->text);
    }
    if (p->count == 0)
        text_append(out, "0");
}

/* Checks that the text can be read again: what is nested in itself grows with every step. */
static bool is_readable(const text *t) {
    int depth = 0, deepest = 0;
    for (size_t i = 0; i < t->length && t->length <= MAX_TEXT; i++) {
        depth += (t->data[i] == '(') - (t->data[i] == ')');
        deepest = depth > deepest ? depth : deepest;
    }
    return t->length <= MAX_TEXT && deepest < DIM_DEPTH_MAX;
}

static dim_poly atom_of_two(ir_module *m, bool least, const dim_poly *a, const dim_poly *b) {
    text t;
    text_init(&t);
    text_append(&t, least ? "min(" : "floordiv(");
    print_poly(a, &t);
    text_append(&t, ", ");
    print_poly(b, &t);
    text_append(&t, ")");
    dim_poly p = is_readable(&t) ? poly_atom(m, t.data, least, a, b) : (dim_poly){.bad = true};
    text_release(&t);
    return p;
}

/* (y*whole + rest) // y = whole + rest // y: moves what y divides out of `rest`. */
static dim_poly take_multiples(dim_poly *rest, int64_t y) {
    dim_poly whole = {.bad = rest->bad}, left = {.bad = rest->bad};
    for (int i = 0; i < rest->count; i++) {
        dim_term t = rest->terms[i];
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

dim_poly dim_poly_floordiv(ir_module *m, const dim_poly *a, const dim_poly *b) {
    dim_poly q;
    int64_t x, y;
    if (a->bad || b->bad || (dim_poly_is_constant(b, &y) && y == 0))
        return (dim_poly){.bad = true};
    if (dim_poly_is_constant(a, &x) && dim_poly_is_constant(b, &y))
        return dim_poly_constant(x / y - (x % y != 0 && (x < 0) != (y < 0)));
    if (divide(a, b, &q))
        return q;
    dim_poly rest = *a, whole = {0};
    if (dim_poly_is_constant(b, &y) && y > 1) {
        whole = take_multiples(&rest, y);
        if (dim_poly_is_constant(&rest, &x)) /* 0 <= x < y */
            return whole;
    }
    q = atom_of_two(m, false, &rest, b);
    dim_poly_add(&q, &whole, 1);
    return q;
}

/* They are in the order of their texts. */
dim_poly dim_poly_least(ir_module *m, const dim_poly *a, const dim_poly *b) {
    dim_poly less = *a, q;
    int64_t by;
    text x, y;
    dim_poly_add(&less, b, -1);
    if (less.bad)
        return (dim_poly){.bad = true};
    if (dim_poly_is_constant(&less, &by))
        return by < 0 ? *a : *b;
    text_init(&x);
    text_init(&y);
    print_poly(a, &x);
    print_poly(b, &y);
    bool turned = strcmp(x.data, y.data) > 0;
    q = atom_of_two(m, true, turned ? b : a, turned ? a : b);
    text_release(&x);
    text_release(&y);
    return q;
}

/* ---- identity ---- */

bool dim_poly_is_equal(const dim_poly *a, const dim_poly *b) {
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->terms[i].coefficient != b->terms[i].coefficient ||
            compare_terms(&a->terms[i], &b->terms[i]) != 0)
            return false;
    return true;
}

uint64_t dim_poly_hash(const dim_poly *p) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < p->count; i++) {
        h = (h ^ (uint64_t)p->terms[i].coefficient) * UINT64_C(0x9e3779b97f4a7c15);
        for (int k = 0; k < p->terms[i].atom_count; k++)
            h = (h ^ (uint64_t)(uintptr_t)p->terms[i].atoms[k]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

bool dim_poly_print(const dim_poly *p, text *out) {
    print_poly(p, out);
    return is_readable(out);
}
