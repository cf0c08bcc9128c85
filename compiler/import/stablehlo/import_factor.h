/* import_factor.h - loops over columns, and the steps that factorisations share. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_FACTOR_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_FACTOR_H

#include "import/stablehlo/import_complex.h"

/* Values of a loop's block: the turn, what it carries, and what it reads. */
enum { FACTOR_CARRIED = 4, FACTOR_READ = 4 };
struct factor_loop;
typedef struct factor_turn {
    const struct factor_loop *loop;
    ir_value column; /* i32 */
    ir_value carried[FACTOR_CARRIED], whole[FACTOR_READ];
} factor_turn;
typedef void (*factor_fn)(importer *im, const factor_turn *t, ir_value *next);
typedef struct factor_loop {
    /* 0: there are no more. Imaginary parts stand behind all real ones. */
    ir_value begin[FACTOR_CARRIED], whole[FACTOR_READ];
    ir_dim count;
    bool descending;
    bool unit; /* the diagonal of a triangle is 1 */
    factor_fn turn;
} factor_loop;
void factor_run(importer *im, const factor_loop *l, ir_value *results);

/* Narrow floats as f32. */
ir_value factor_as_steps(importer *im, ir_value x);
/* Places along an axis of `like`, compared with one of them. */
ir_value factor_places(importer *im, const char *predicate, ir_value like, int axis, ir_value at);
/* One place of an axis, which goes. */
ir_value factor_taken(importer *im, ir_value x, ir_value at, int axis);
/* The last two axes, each in the other's place. */
ir_value factor_transposed(importer *im, ir_value x);
/* x [.., n] by y [.., n, m], or its transpose: leading axes are batches. */
ir_value factor_row_by(importer *im, ir_value x, ir_value y, bool turned);
/* The unit matrix in the shape of `like`, [.., m, n]. */
ir_value factor_unit(importer *im, ir_value like);

/* ---- import_parts.c: the same of numbers as parts; of what is not complex `im` is 0 ---- */
complex_value parts_taken(importer *im, complex_value x, ir_value at, int axis);
complex_value parts_spread(importer *im, complex_value x, ir_value like, int axis);
complex_value parts_select(importer *im, ir_value where, complex_value x, complex_value y);
/* A number that is not complex, in the shape and the parts of x. */
complex_value parts_like(importer *im, complex_value x, double re);
complex_value parts_sub(importer *im, complex_value x, complex_value y);
complex_value parts_mul(importer *im, complex_value x, complex_value y);
complex_value parts_div(importer *im, complex_value x, complex_value y);
complex_value parts_conjugate(importer *im, complex_value x);
complex_value parts_transposed(importer *im, complex_value x);
complex_value parts_row_by(importer *im, complex_value row, complex_value x, bool turned);
complex_value parts_as_steps(importer *im, complex_value x);
complex_value parts_converted(importer *im, complex_value x, dtype to);

#endif
