/* dim_poly.h - polynomials with integer coefficients over atoms: what a symbolic dimension is.
 *
 * A polynomial is a list of terms, each a coefficient and a sorted product of atoms; an atom is a
 * name or a quotient, rounded down, of two polynomials. Terms are sorted by degree, highest first,
 * then by the text of their atoms. An atom is interned in its module: equal ones have one address.
 */
#ifndef TESSERA_IR_DIM_POLY_H
#define TESSERA_IR_DIM_POLY_H

#include "base/text.h"
#include "ir/ir.h"

enum { DIM_TERMS_MAX = 32, DIM_ATOMS_MAX = 8, DIM_DEPTH_MAX = 16 };

typedef struct dim_poly dim_poly;

typedef struct dim_atom {
    const char *text;                   /* canonical: a name, "floordiv(a, b)" or "min(a, b)" */
    bool least;                         /* the lesser one of both */
    const dim_poly *dividend, *divisor; /* or both; NULL: a name */
} dim_atom;

typedef struct dim_term {
    int64_t coefficient;
    int atom_count;
    const dim_atom *atoms[DIM_ATOMS_MAX];
} dim_term;

struct dim_poly {
    int count;
    bool bad; /* overflow of a limit or of 64 bits */
    dim_term terms[DIM_TERMS_MAX];
};

dim_poly dim_poly_constant(int64_t value);
dim_poly dim_poly_symbol(ir_module *m, const char *name);
void dim_poly_add(dim_poly *a, const dim_poly *b, int64_t sign);
dim_poly dim_poly_multiply(const dim_poly *a, const dim_poly *b);
/* a / b rounded down; exact where it goes. */
dim_poly dim_poly_floordiv(ir_module *m, const dim_poly *a, const dim_poly *b);
/* The lesser one, in one text for both orders of the two. */
dim_poly dim_poly_least(ir_module *m, const dim_poly *a, const dim_poly *b);
bool dim_poly_is_constant(const dim_poly *p, int64_t *value);
bool dim_poly_is_equal(const dim_poly *a, const dim_poly *b);
uint64_t dim_poly_hash(const dim_poly *p);
/* The canonical text; false where it could not be read again: it is too long, or too deep. */
bool dim_poly_print(const dim_poly *p, text *out);
/* Sums of products of atoms; "//" and floordiv() are the same; min() is there, too. False on bad
 * syntax. */
bool dim_poly_parse(ir_module *m, const char *source, dim_poly *out);

#endif
