/* dim.h - symbolic dimensions: polynomials with integer coefficients over names, in one canonical
 * text.
 *
 * An ir_dim from IR_DIM_SYMBOLS up is a number; an extent is never negative, a coefficient may be.
 * One below names an interned expression of its module, e.g. "2*D + 1", "H*D", "floordiv(D, 2)".
 * Equal expressions have equal ids, so comparison is integer comparison: two dims that differ as
 * ids may still be equal at run time, which the language treats as an error to be fixed by the
 * author. */
#ifndef TESSERA_IR_DIM_H
#define TESSERA_IR_DIM_H

#include "ir.h"

#define IR_DIM_SYMBOLS (INT64_MIN / 2)

ir_dim ir_dim_symbol(ir_module *m, const char *name);
ir_dim ir_dim_add(ir_module *m, ir_dim a, ir_dim b);
ir_dim ir_dim_sub(ir_module *m, ir_dim a,
                  ir_dim b); /* may be a negative number: as IR_DIM_INVALID */
ir_dim ir_dim_mul(ir_module *m, ir_dim a, ir_dim b);
/* a / b rounded down; exact polynomial division where it goes ("H*D" / "D" = "H"). */
ir_dim ir_dim_floordiv(ir_module *m, ir_dim a, ir_dim b);
/* The lesser one; of numbers also a negative one. */
ir_dim ir_dim_least(ir_module *m, ir_dim a, ir_dim b);
bool ir_dim_is_static(ir_dim d);
/* a + b * factor, of any sign. Of numbers it wraps around. */
ir_dim ir_dim_add_scaled(ir_module *m, ir_dim a, ir_dim b, ir_dim factor);
/* The value if every symbol were `each`: for choices that no result depends on. */
int64_t ir_dim_estimate(ir_module *m, ir_dim d, int64_t each);
/* Gives a module without expressions those of another, under the same numbers. */
void ir_dim_adopt(ir_module *m, const ir_module *from);
/* Text of a dimension ("128", "H*D"); borrowed from the module. */
const char *ir_dim_text(ir_module *m, ir_dim d);
/* Parses the text; false on bad syntax. */
bool ir_dim_parse(ir_module *m, const char *source, ir_dim *out);

/* The same dimension built of something else: constants, symbols, and x + y ('+'), x * y ('*'),
 * x / y rounded down ('/') and the lesser one ('<') of two that were built. Handles are the
 * caller's; 0 stands for none. */
typedef struct ir_dim_fold {
    void *context;
    uint32_t (*constant)(void *context, int64_t value);
    uint32_t (*symbol)(void *context, const char *name); /* borrowed from the module */
    uint32_t (*combine)(void *context, char operation, uint32_t x, uint32_t y);
} ir_dim_fold;
uint32_t ir_dim_fold_with(ir_module *m, ir_dim d, const ir_dim_fold *fold);

#define IR_DIM_INVALID INT64_MIN

typedef struct ir_binding {
    const char *name;
    int64_t value;
} ir_binding;
typedef struct ir_bindings {
    const ir_binding *items; /* borrowed */
    uint32_t count;
} ir_bindings;
/* Value under bindings; false when a symbol is unbound (its name in *missing, borrowed) or the
 * value negative. */
bool ir_dim_evaluate(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                     const char **missing);
/* The same of something that is counted: a negative value is 0. */
bool ir_dim_count(ir_module *m, ir_dim d, ir_bindings bindings, int64_t *value_out,
                  const char **missing);
/* The dimension with numbers for those symbols that are bound; IR_DIM_INVALID where it is none. */
ir_dim ir_dim_substitute(ir_module *m, ir_dim d, ir_bindings known);

#endif
