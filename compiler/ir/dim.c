/* dim.c - symbolic dimensions: ids of polynomials, which are interned in their module. */
#include "ir/dim.h"

#include <inttypes.h>
#include <string.h>

#include "ir/dim_poly.h"
#include "ir/internal.h"

bool ir_dim_is_static(ir_dim d) {
    return d >= IR_DIM_SYMBOLS;
}

static const dim_entry *entry_of(const ir_module *m, ir_dim d) {
    return &m->dims.items[IR_DIM_SYMBOLS - d - 1];
}

/* Neither a number nor the name of an expression of this module: what somebody computed wrongly. */
static bool names_nothing(const ir_module *m, ir_dim d) {
    return d < IR_DIM_SYMBOLS && (uint64_t)(IR_DIM_SYMBOLS - d) > m->dims.count;
}

const char *ir_dim_text(ir_module *m, ir_dim d) {
    if (names_nothing(m, d))
        return "?";
    return ir_dim_is_static(d) ? arena_printf(&m->memory, "%" PRId64, d) : entry_of(m, d)->text;
}

/* ---- interning ---- */

static uint64_t entry_hash(const ir_module *m, uint32_t number) {
    return dim_poly_hash(m->dims.items[number - 1].poly);
}

static bool entry_same(const ir_module *m, uint32_t number, const void *wanted) {
    return dim_poly_is_equal(m->dims.items[number - 1].poly, wanted);
}

/* The id of an expression that is no number; IR_DIM_INVALID where its text could not be read again.
 * A text is made once for each. */
static ir_dim intern(ir_module *m, const dim_poly *p) {
    text t;
    uint32_t *slot = ir_intern_slot(m, &m->dim_index, dim_poly_hash(p), entry_hash, entry_same, p);
    if (*slot)
        return IR_DIM_SYMBOLS - (ir_dim)*slot;
    text_init(&t);
    if (!dim_poly_print(p, &t)) {
        text_release(&t);
        return IR_DIM_INVALID;
    }
    dim_entry entry = {arena_strdup(&m->memory, t.data), arena_copy(&m->memory, p, sizeof *p)};
    text_release(&t);
    vec_push(&m->dims, entry);
    m->dim_index.count++;
    *slot = (uint32_t)m->dims.count;
    return IR_DIM_SYMBOLS - (ir_dim)m->dims.count;
}

static ir_dim poly_dim(ir_module *m, const dim_poly *p) {
    int64_t value;
    if (p->bad)
        return IR_DIM_INVALID;
    if (dim_poly_is_constant(p, &value))
        return value >= 0 ? value : IR_DIM_INVALID;
    return intern(m, p);
}

/* The same polynomial, of atoms of another module. */
static dim_poly adopted(ir_module *m, const dim_poly *p) {
    dim_poly out = {0};
    for (int i = 0; i < p->count; i++) {
        dim_poly product = dim_poly_constant(p->terms[i].coefficient);
        for (int k = 0; k < p->terms[i].atom_count; k++) {
            const dim_atom *old = p->terms[i].atoms[k];
            dim_poly atom = {.bad = true};
            if (!old->dividend)
                atom = dim_poly_symbol(m, old->text);
            else
                dim_poly_parse(m, old->text, &atom);
            product = dim_poly_multiply(&product, &atom);
        }
        dim_poly_add(&out, &product, 1);
    }
    return out;
}

/* ---- arithmetic ---- */

bool ir_dim_parse(ir_module *m, const char *source, ir_dim *out) {
    dim_poly p;
    if (!dim_poly_parse(m, source, &p))
        return false;
    *out = poly_dim(m, &p);
    return *out != IR_DIM_INVALID;
}

static dim_poly poly_of(const ir_module *m, ir_dim d) {
    if (ir_dim_is_static(d))
        return dim_poly_constant(d);
    return names_nothing(m, d) ? (dim_poly){.bad = true} : *entry_of(m, d)->poly;
}

ir_dim ir_dim_symbol(ir_module *m, const char *name) {
    dim_poly p = dim_poly_symbol(m, name);
    return intern(m, &p);
}

ir_dim ir_dim_add(ir_module *m, ir_dim a, ir_dim b) {
    int64_t value;
    if (ir_dim_is_static(a) && ir_dim_is_static(b) && !__builtin_add_overflow(a, b, &value))
        return value;
    dim_poly p = poly_of(m, a), q = poly_of(m, b);
    dim_poly_add(&p, &q, 1);
    return poly_dim(m, &p);
}

ir_dim ir_dim_sub(ir_module *m, ir_dim a, ir_dim b) {
    dim_poly p = poly_of(m, a), q = poly_of(m, b);
    dim_poly_add(&p, &q, -1);
    return poly_dim(m, &p);
}

ir_dim ir_dim_mul(ir_module *m, ir_dim a, ir_dim b) {
    int64_t value;
    if (ir_dim_is_static(a) && ir_dim_is_static(b) && !__builtin_mul_overflow(a, b, &value))
        return value;
    dim_poly p = poly_of(m, a), q = poly_of(m, b);
    p = dim_poly_multiply(&p, &q);
    return poly_dim(m, &p);
}

ir_dim ir_dim_floordiv(ir_module *m, ir_dim a, ir_dim b) {
    dim_poly p = poly_of(m, a), q = poly_of(m, b);
    p = dim_poly_floordiv(m, &p, &q);
    return poly_dim(m, &p);
}

ir_dim ir_dim_least(ir_module *m, ir_dim a, ir_dim b) {
    if (ir_dim_is_static(a) && ir_dim_is_static(b))
        return a < b ? a : b;
    dim_poly p = poly_of(m, a), q = poly_of(m, b);
    p = dim_poly_least(m, &p, &q);
    return poly_dim(m, &p);
}

ir_dim ir_dim_add_scaled(ir_module *m, ir_dim a, ir_dim b, ir_dim factor) {
    int64_t value;
    if (ir_dim_is_static(a) && ir_dim_is_static(b) && ir_dim_is_static(factor))
        return (int64_t)((uint64_t)a + (uint64_t)b * (uint64_t)factor);
    dim_poly p = poly_of(m, b), f = poly_of(m, factor), sum = poly_of(m, a);
    p = dim_poly_multiply(&p, &f);
    dim_poly_add(&sum, &p, 1);
    return !sum.bad && dim_poly_is_constant(&sum, &value) ? value : poly_dim(m, &sum);
}

void ir_dim_adopt(ir_module *m, const ir_module *from) {
    for (size_t i = 0; i < from->dims.count; i++) {
        dim_poly p = adopted(m, from->dims.items[i].poly);
        intern(m, &p);
    }
}

/* ---- folding ---- */

static uint32_t fold_poly(const dim_poly *p, const ir_dim_fold *f);

static uint32_t fold_atom(const dim_atom *atom, const ir_dim_fold *f) {
    if (!atom->dividend)
        return f->symbol(f->context, atom->text);
    uint32_t x = fold_poly(atom->dividend, f);
    return f->combine(f->context, atom->least ? '<' : '/', x, fold_poly(atom->divisor, f));
}

static uint32_t fold_poly(const dim_poly *p, const ir_dim_fold *f) {
    uint32_t sum = 0;
    for (int i = 0; i < p->count; i++) {
        const dim_term *t = &p->terms[i];
        bool plain = t->coefficient == 1 && t->atom_count > 0;
        uint32_t product = plain ? 0 : f->constant(f->context, t->coefficient);
        for (int k = 0; k < t->atom_count; k++) {
            uint32_t factor = fold_atom(t->atoms[k], f);
            product = product ? f->combine(f->context, '*', product, factor) : factor;
        }
        sum = sum ? f->combine(f->context, '+', sum, product) : product;
    }
    return sum ? sum : f->constant(f->context, 0);
}

uint32_t ir_dim_fold_with(ir_module *m, ir_dim d, const ir_dim_fold *fold) {
    dim_poly p = poly_of(m, d);
    return fold_poly(&p, fold);
}

/* ---- evaluation ---- */

typedef struct evaluation {
    ir_bindings bindings;
    int64_t each; /* the value of symbols that are not bound; 0: they have none */
    const char *missing;
} evaluation;

static bool evaluate_poly(evaluation *e, const dim_poly *p, int64_t *value_out);

static bool evaluate_two(evaluation *e, const dim_atom *atom, int64_t *value_out) {
    int64_t x, y;
    if (!evaluate_poly(e, atom->dividend, &x) || !evaluate_poly(e, atom->divisor, &y) ||
        (y == 0 && !atom->least))
        return false;
    *value_out = atom->least ? (x < y ? x : y) : x / y - (x % y != 0 && (x < 0) != (y < 0));
    return true;
}

static bool evaluate_atom(evaluation *e, const dim_atom *atom, int64_t *value_out) {
    if (atom->dividend)
        return evaluate_two(e, atom, value_out);
    for (uint32_t i = 0; i < e->bindings.count; i++)
        if (strcmp(e->bindings.items[i].name, atom->text) == 0) {
            *value_out = e->bindings.items[i].value;
            return true;
        }
    e->missing = atom->text;
    *value_out = e->each;
    return e->each != 0;
}

static bool evaluate_poly(evaluation *e, const dim_poly *p, int64_t *value_out) {
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

static bool evaluate_signed(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                            const char **missing) {
    if (ir_dim_is_static(d)) {
        *value_out = d;
        return true;
    }
    evaluation e = {.bindings = bindings};
    dim_poly p = poly_of(m, d);
    bool ok = !p.bad && evaluate_poly(&e, &p, value_out);
    if (missing)
        *missing = e.missing;
    return ok;
}

bool ir_dim_evaluate(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                     const char **missing) {
    return evaluate_signed(m, d, bindings, value_out, missing) &&
           (ir_dim_is_static(d) || *value_out >= 0);
}

bool ir_dim_count(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                  const char **missing) {
    bool ok = evaluate_signed(m, d, bindings, value_out, missing);
    *value_out = ok && *value_out < 0 ? 0 : *value_out;
    return ok;
}

int64_t ir_dim_estimate(ir_module *m, ir_dim d, int64_t each) {
    evaluation e = {.each = each};
    int64_t value = 0;
    if (ir_dim_is_static(d))
        return d;
    dim_poly p = poly_of(m, d);
    return !p.bad && evaluate_poly(&e, &p, &value) ? value : each;
}
