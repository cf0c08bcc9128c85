/* import_roots.h - roots of unity with one set of bits on every machine. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_ROOTS_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_ROOTS_H

#include <stdint.h>

/* cos and sin of 2 pi k / n, 0 <= k < n <= 2^40, each rounded once from about 100 binary digits. */
void root_of_unity(int64_t k, int64_t n, double *cosine, double *sine);

#endif
