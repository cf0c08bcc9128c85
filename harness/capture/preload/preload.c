/* preload.c - libtessera-capture.so: LD_PRELOAD puts its functions before those of any BLAS. */
#include "calls.h"

static void __attribute__((constructor)) begin(void) {
    record_start();
}

static void __attribute__((destructor)) end(void) {
    record_finish();
}

/* The table in six turns: CBLAS and Fortran, under each of their names. NAME pastes what has been
 * replaced. */
#define PASTE(prefix, letter, family, suffix) prefix##letter##family##suffix
#define NAME(prefix, letter, family, suffix) PASTE(prefix, letter, family, suffix)

#define BLAS(family, letter, type) CBLAS_##family(NAME(cblas_, letter, family, ), type, int)
#include "blas.def"
#undef BLAS
#define BLAS(family, letter, type) CBLAS_##family(NAME(cblas_, letter, family, 64_), type, int64_t)
#include "blas.def"
#undef BLAS
#define BLAS(family, letter, type)                                                                 \
    CBLAS_##family(NAME(scipy_cblas_, letter, family, 64_), type, int64_t)
#include "blas.def"
#undef BLAS
#define BLAS(family, letter, type) FORTRAN_##family(NAME(, letter, family, _), type, int)
#include "blas.def"
#undef BLAS
#define BLAS(family, letter, type) FORTRAN_##family(NAME(, letter, family, _64_), type, int64_t)
#include "blas.def"
#undef BLAS
#define BLAS(family, letter, type)                                                                 \
    FORTRAN_##family(NAME(scipy_, letter, family, _64_), type, int64_t)
#include "blas.def"
#undef BLAS
