/* tile_kernel.h - a kernel of tiles in the making, and beside it the same computation on whole
 * tensors.
 *
 * Each statement is written twice. Loops over blocks are written out on tensors, turn by turn, with
 * slices where the tiles load blocks: so the order of every sum is the same, and the bits are. */
#ifndef TESSERA_HARNESS_FUZZ_TILE_KERNEL_H
#define TESSERA_HARNESS_FUZZ_TILE_KERNEL_H

#include "fuzz/generate.h"

enum { TILE_VALUES_MAX = 40, TILE_AXES_MAX = 12, TILE_BATCHES_MAX = 2, TILE_TEXT = 400 };
/* Axes of the table: the first two are the result's rows and columns. */
enum { AXIS_ROWS, AXIS_COLUMNS };

typedef struct tile_value {
    char name[8]; /* p0, ... parameters; s0, ... scalars; t0, ... tiles */
    dtype type;
    int rank, axes[2]; /* of the tile; numbers of axes */
    bool batched;      /* one for each batch of the result */
    size_t made;       /* length of the tiles' body after the statement that made it */
} tile_value;

typedef struct tile_axis {
    char name[8]; /* "M" */
    int64_t length;
} tile_axis;

typedef struct tile_kernel {
    choices *c;
    tile_value values[TILE_VALUES_MAX];
    uint32_t count, names;
    tile_axis axes[TILE_AXES_MAX];
    int axis_count;
    int64_t batch[TILE_BATCHES_MAX];
    int batches;
    int64_t block[2];    /* BM, BN */
    bool by_columns;     /* instances stand along columns, too */
    bool numbers;        /* the tiles' annotations say numbers, not names */
    int64_t turns, work; /* of loops, and multiplications, so far */
    text signature, tensor_signature, distributions;
    text body, tensor_body;
} tile_kernel;

/* The same value on both sides. */
typedef struct tile_pair {
    char tile[TILE_TEXT], tensor[TILE_TEXT];
} tile_pair;

int64_t tile_length(tile_kernel *k, int64_t most);
/* A new axis of such a length; -1 where there is no room. */
int tile_new_axis(tile_kernel *k, int64_t length);
int64_t tile_axis_length(const tile_kernel *k, int axis);
/* "T.m", "T.n", or the whole axis. */
const char *tile_axis_text(const tile_kernel *k, int axis, char out[24]);
/* Elements of the value on all instances. */
int64_t tile_elements(const tile_kernel *k, const tile_value *v);

/* One made before that is no scalar; NULL where there is none with this rank (-1: any) and type
 * (DTYPE_NONE: any). */
const tile_value *tile_any(tile_kernel *k, int rank, dtype type);
/* One of the same axes and type, perhaps `x`. */
const tile_value *tile_like(tile_kernel *k, const tile_value *x);
/* Is it in each row of the result: its first axis is the rows. */
bool tile_is_rows(const tile_value *v);
/* Is its last axis whole in every instance? */
bool tile_has_whole_rows(const tile_kernel *k, const tile_value *v);

/* A new parameter in memory, and how it is loaded; `tensor` is its name. False: no room.
 * Along an axis of `by` a loop goes: the block is `index`, on tensors from place `from` to `to`. */
typedef struct tile_loop {
    int axis; /* -1: none */
    int64_t size;
    uint32_t number;
} tile_loop;
typedef struct tile_memory {
    char name[8];
    dtype type;
    int rank, axes[2];
    bool batched;
} tile_memory;
bool tile_parameter(tile_kernel *k, dtype type, int rank, const int *axes, bool batched,
                    tile_memory *out);
/* Text that loads it; `loops` and `turns` (NULL: none) say where loops are. */
void tile_load_text(const tile_kernel *k, const tile_memory *m, const tile_loop *loops, int count,
                    const int64_t *turns, tile_pair *out);
/* "v[:, None]", and the same behind batches. */
void tile_as_column(const tile_kernel *k, const tile_value *v, tile_pair *out);
/* "(T.m, T.n)", and the whole shape with batches. */
void tile_shape_text(const tile_kernel *k, const tile_value *v, tile_pair *out);

/* A new value and the statement that makes it. NULL: no room, or too many elements. */
const tile_value *tile_let(tile_kernel *k, tile_value like, const char *tile, const char *plain);
/* The same expression on both sides. */
const tile_value *tile_let_same(tile_kernel *k, tile_value like, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Are so many multiplications affordable? Counts them. */
bool tile_affordable(tile_kernel *k, int64_t multiplications);

dtype tile_random_type(tile_kernel *k);
/* Type of the products of a type. */
dtype tile_product_type(dtype type);
/* "x @ y" on tensors, as tile.dot has it. */
void tile_product_text(dtype type, const char *x, const char *y, char out[TILE_TEXT * 3]);

#define P(name, weight) bool fuzz_tile_##name(tile_kernel *k);
#include "fuzz/tile_productions.def"

#endif
