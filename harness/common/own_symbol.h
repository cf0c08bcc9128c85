/* own_symbol.h - the function of this program at an offset from where it is loaded, by the table of
 * symbols in its file, which a program that was stripped lacks. */
#ifndef TESSERA_HARNESS_COMMON_OWN_SYMBOL_H
#define TESSERA_HARNESS_COMMON_OWN_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct own_symbols own_symbols;

/* NULL: there is no table. Owned by the caller (own_symbols_close). */
own_symbols *own_symbols_open(void);
/* The function's name, and the offset in it; NULL: there is none there. Borrowed. */
const char *own_symbol_at(const own_symbols *s, uint64_t offset, uint64_t *within);
void own_symbols_close(own_symbols *s); /* NULL is allowed */

#endif
