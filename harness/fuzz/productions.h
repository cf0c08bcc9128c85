/* productions.h - a kernel in the making, and what the productions are written with. */
#ifndef TESSERA_HARNESS_FUZZ_PRODUCTIONS_H
#define TESSERA_HARNESS_FUZZ_PRODUCTIONS_H

#include "fuzz/generate.h"

enum { FUZZ_VALUES_MAX = 32, FUZZ_PARAMETERS_MAX = 12, FUZZ_RANK_MAX = 5 };

typedef struct fuzz_value {
    char name[8]; /* p0, ... parameters; t0, ... results */
    dtype type;
    int rank;
    int64_t dims[FUZZ_RANK_MAX];
    size_t made; /* length of the body after the statement that made it */
} fuzz_value;

typedef struct fuzz_kernel {
    choices *c;
    fuzz_value values[FUZZ_VALUES_MAX];
    uint32_t count, parameters;
    text body;
    text distributions; /* ", p0=special()" */
    int64_t work;       /* multiplications so far */
    bool specified;     /* calls a function that @math("correct") does not have */
    bool large;         /* of sizes at which the compiler changes its mind; few statements */
    bool batches;       /* the statements are those of a function that vmap takes */
} fuzz_kernel;

/* One value that was made before; later ones are chosen more often. */
const fuzz_value *fuzz_any(fuzz_kernel *k);
/* One of the same shape (and of `type`, where it is not DTYPE_NONE), perhaps `x` itself; NULL where
 * there is none. */
const fuzz_value *fuzz_like(fuzz_kernel *k, const fuzz_value *x, dtype type);
/* A new parameter; NULL where there is no room. `distribution`: its text, or NULL for a random one.
 */
const fuzz_value *fuzz_parameter(fuzz_kernel *k, dtype type, int rank, const int64_t *dims,
                                 const char *distribution);
/* Adds "tN = <format>"; false where the result is too large or there is no room. */
bool fuzz_let(fuzz_kernel *k, dtype type, int rank, const int64_t *dims, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same with policies in an annotation, "tN: Tensor[..., type<policies>] = ...". None: "".
 * `like` has its type and shape. */
bool fuzz_let_as(fuzz_kernel *k, const char *policies, fuzz_value like, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A value without a name. */
fuzz_value fuzz_shaped(dtype type, int rank, const int64_t *dims);
/* `n` results of x's type and shape: "tN, tM = ...". */
bool fuzz_let_several(fuzz_kernel *k, uint32_t n, const fuzz_value *x, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A length: at most `most`, or what is more in a large kernel. */
int64_t fuzz_length(fuzz_kernel *k, int64_t most);
/* The columns of a right side of `depth` rows: at most `most`, or what is more in a large kernel.
 */
int64_t fuzz_columns(fuzz_kernel *k, dtype type, int64_t depth, int64_t most);
/* Elements that a value may have. */
int64_t fuzz_elements_max(const fuzz_kernel *k);
dtype fuzz_type(fuzz_kernel *k);
int64_t fuzz_count(int rank, const int64_t *dims);
/* Composites and specified functions are for these. */
bool fuzz_is_single(dtype type);
/* Multiplied exactly into i32. */
bool fuzz_is_small_integer(dtype type);
/* Are so few multiplications more affordable that the interpreter takes no notice? Counts them. */
bool fuzz_affordable(fuzz_kernel *k, int64_t multiplications);
/* "(1, 2,)" */
void fuzz_tuple(const int64_t *items, int n, char *out, size_t size);

/* ---- thresholds.c: 0 or false where the compiler has none that fits ---- */
/* A length, less than `most` or beside it. */
int64_t fuzz_threshold_length(fuzz_kernel *k, int64_t most);
/* Columns of a right side of `depth` rows. */
int64_t fuzz_threshold_columns(fuzz_kernel *k, dtype type, int64_t depth, int64_t most);
/* A shape of which some number of bytes or elements is at a threshold. */
bool fuzz_threshold_shape(fuzz_kernel *k, dtype type, int rank, int64_t *dims);

#define P(name, weight) bool fuzz_##name(fuzz_kernel *k);
#include "fuzz/productions.def"

#endif
