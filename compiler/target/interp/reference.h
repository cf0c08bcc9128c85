/* reference.h - the rooms of compiler_reference: values in f64 with a running a-priori error bound.
 *
 * A float value is its f64 reference and a bound: whatever a correct implementation computes (in
 * any order of accumulation, contracted or not, with functions of 2 ULP) lies within reference +-
 * bound. A NaN or an infinity with a finite bound is certain; an infinite bound says that nothing
 * is promised but what reference_enclosure.h keeps: without that, the result may be any number, an
 * infinity or a NaN. Integers and bools are held
 * exactly in their own type; a bound above 0 there says that a comparison or conversion of floats
 * could have gone the other way. */
#ifndef TESSERA_TARGET_INTERP_REFERENCE_H
#define TESSERA_TARGET_INTERP_REFERENCE_H

#include "target/interp/interp.h"

typedef struct reference_value {
    tensor value;   /* f64 for floats, else of its own type */
    tensor bound;   /* f64 */
    double *limits; /* what is known of elements beside the bound (reference_enclosure.h), owned;
                       NULL: nothing */
} reference_value;

typedef struct reference_step {
    const ir_module *m;
    ir_op op;
    int opcode;
    const reference_value *const *in;
    uint32_t in_count;
    dtype in_type; /* of the first operand, in the IR */
    dtype type;    /* of the result, in the IR */
    reference_value *out;
    bool *whole; /* becomes false where whole numbers may be rounded on the way to a result */
} reference_step;

bool reference_elementwise(const reference_step *s, status *st);
bool reference_reduce(const reference_step *s, status *st);
bool reference_dot(const reference_step *s, status *st);
bool reference_scan(const reference_step *s, status *st);

/* The same operation of the interpreter on the values, or (`bounds`) on the bounds, of a step. */
typedef bool (*interp_room)(const interp_step *s, status *st);
bool reference_run(const reference_step *s, interp_room room, status *st);
/* Exact where every operand is, unknown (bound infinite) elsewhere: operations on integers. */
bool reference_exact(const reference_step *s, interp_room room, status *st);

/* A number on its way: reference and what is propagated from the operands. */
typedef struct bounded {
    double value, bound;
} bounded;

/* Half the spacing of a type relative to a number (f64: twice that, since references round too). */
double reference_roundoff(dtype type);
/* x times y, with 0 where either is 0 (no error of an infinite number, or no number that an error
 * scales). */
double reference_product(double x, double y);
/* n u / (1 - n u) (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1). */
double reference_gamma(double n, double u);
/* Adds `roundings` roundings to `type`, and settles overflow: certain (an infinity), or possible
 * (bound infinite). */
bounded reference_rounded(bounded x, dtype type, double roundings);
/* Is nothing rounded to a type's range, nor any bound of use (compiler_references, unlimited)? */
bool reference_is_unlimited(void);
/* A function of one operand, in f64; NaN: not one that is known. */
double reference_function(int opcode, double x);
/* Beyond strict a chip's own instruction may stand for exp and exp2 (EXP2 of chip/targets.def). How
 * far off its operand is: that of exp is multiplied by log2 e. */
double reference_operand_error(int opcode, dtype type, double x);
/* ... and the number below which its results may be 0; 0: there is none. */
double reference_flushed_below(int opcode, dtype type);
/* Beginning of its domain; -HUGE_VAL: it is defined everywhere. */
double reference_begin(int opcode);
/* Is it a NaN, whatever else is not known? */
bool reference_is_nan(bounded x);
/* Settles what is certain: an infinity and a NaN have no error, and one that is no number is not
 * known. */
bounded reference_settled(bounded x);
/* The same for a conversion that saturates: beyond the greatest number there is only that one. */
bounded reference_saturated(bounded x, dtype type, double roundings);

#endif
