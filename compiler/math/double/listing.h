/* listing.h - the specified functions as a page to read and to implement from: docs/functions.md.
 */
#ifndef TESSERA_MATH_DOUBLE_LISTING_H
#define TESSERA_MATH_DOUBLE_LISTING_H

#include "base/text.h"

/* Appends the page: what each operation does, then the sequence of each function, an operation a
 * line. */
void math_print_listing(text *out);

#endif
