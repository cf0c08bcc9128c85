/* reference_products.h - products with bounds that hold for every order of their factors. */
#ifndef TESSERA_TARGET_INTERP_REFERENCE_PRODUCTS_H
#define TESSERA_TARGET_INTERP_REFERENCE_PRODUCTS_H

#include "target/interp/reference_walk.h"

/* The product of n numbers x with bounds e, in the type `wide`, rounded once to `type`. */
bounded reference_product_row(const double *x, const double *e, int64_t n, dtype wide, dtype type);
/* Running products of one row, into s->out. */
void reference_running_product(const reference_step *s, const scan_rows *rows, int64_t start,
                               dtype wide);

#endif
