/* interp.h - the rooms of the interpreter: one primitive at a time, on whole tensors.
 *
 * Element types are taken from the tensors, not from the IR, so that compiler_reference moves its
 * f64 values with the same code. Every function fills `out`, which the caller has allocated in the
 * result's shape and type. */
#ifndef TESSERA_TARGET_INTERP_INTERP_H
#define TESSERA_TARGET_INTERP_INTERP_H

#include "base/status.h"
#include "base/tensor.h"
#include "ops/graph.h"
#include "ops/tree_order.h"

typedef struct interp_step {
    const ir_module *m;
    ir_op op;
    int opcode;
    const tensor *const *in;
    uint32_t in_count;
    tensor *out;
} interp_step;

bool interp_generate(const interp_step *s, status *st); /* constant, iota */
bool interp_elementwise(const interp_step *s, status *st);
bool interp_move(const interp_step *s, status *st);
bool interp_reduce(const interp_step *s, status *st);
bool interp_dot(const interp_step *s, status *st);
bool interp_scan(const interp_step *s, status *st);
/* Any of these. */
bool interp_evaluate(const interp_step *s, status *st);

/* The outputs of a module of primitives, branches and loops. On failure none is given. */
bool interp_module(const ir_module *m, const tensor *inputs, tensor *outputs, status *st);
/* The same of the modules of all ranks, which exchange rows; the outputs of each. */
bool interp_ranks(const ir_module *const *modules, uint32_t count, const tensor *const *inputs,
                  tensor *const *outputs, status *st);

/* An onlooker while blocks run: told when an operation with blocks begins and ends, and after
 * each run of a block, as long as the values of the block are there. */
typedef struct interp_watch {
    void *self;
    void (*begins)(void *self, ir_op op);
    bool (*ran)(void *self, ir_block block); /* false: the status says why the run ends here */
    void (*ends)(void *self);
    bool (*calls)(void *self, ir_op call, const tensor *operands); /* before each; as `ran`; NULL:
                                                                      nobody asks */
} interp_watch;

/* Every value of the kernel, by its number; `values` has room for all, and holds nothing. The
 * inputs among them are borrowed. interp_values_release in any case. `watch` may be NULL. */
bool interp_values(const ir_module *m, const tensor *inputs, const interp_watch *watch,
                   tensor *values, status *st);
void interp_values_release(const ir_module *m, tensor *values);

/* Checks that the tensors have the types and shapes of the kernel's inputs. */
bool interp_check_inputs(const ir_module *m, const tensor *inputs, status *st);
/* An empty tensor of a value's shape; DTYPE_NONE: of its own element type. */
bool interp_allocate(const ir_module *m, ir_value value, dtype type, tensor *out, status *st);
const char *interp_text(const interp_step *s, const char *attribute);
/* Does the operation say that its sums are accumulated in f64? */
bool interp_accumulates_f64(const interp_step *s);
const char *interp_kernel_text(const interp_step *s, const char *attribute);

/* out[i] = in at the strided place of i: strides in elements of `size` bytes. */
typedef struct strided {
    int rank;
    int64_t dims[IR_MAX_RANK];
    int64_t strides[IR_MAX_RANK];
    int64_t start;
} strided;
void interp_copy_strided(void *out, const void *in, size_t size, const strided *view);

/* `in` with its axes in the order `axes`, row-major. `out` is allocated. */
bool interp_permute(const tensor *in, const int64_t *axes, tensor *out, status *st);

/* Working arrays: f16 and bf16 widen to f32 exactly; integers and bool to i64. */
void interp_load_f32(const tensor *t, int64_t first, int64_t count, float *out);
void interp_load_f64(const tensor *t, int64_t first, int64_t count, double *out);
void interp_load_i64(const tensor *t, int64_t first, int64_t count, int64_t *out);
/* Back, with one rounding (floats) or wrapping (integers). */
void interp_store_f32(tensor *t, int64_t first, int64_t count, const float *in);
void interp_store_f64(tensor *t, int64_t first, int64_t count, const double *in);
void interp_store_i64(tensor *t, int64_t first, int64_t count, const int64_t *in);

/* `saturate`: what overflows becomes the greatest number. */
void interp_convert(const tensor *in, tensor *out, bool saturate);
/* Its first element everywhere. */
void interp_repeat(tensor *t);
/* Every NaN becomes the quiet NaN of its type. */
void interp_canonical(tensor *t);

/* The sum of n values in the order lanes64. */
float interp_lanes64_f32(const float *x, int64_t n);
double interp_lanes64_f64(const double *x, int64_t n);
/* The same with products. */
float interp_products64_f32(const float *x, int64_t n);
double interp_products64_f64(const double *x, int64_t n);

/* A reduction as rows: `axes` become the last ones. */
bool interp_reduce_rows(const interp_step *s, tensor *rows, int64_t *length, status *st);

/* Facts of a reduction that are the same for all rows. */
typedef struct interp_reduction {
    const char *kind;
    bool wide;              /* sums of f64 */
    const tree_order *tree; /* NULL: the order is another, or none can be seen */
    bool exact, odd;
} interp_reduction;

/* One row; `work`: room for 8 bytes of each element. */
void interp_reduce_row(const interp_reduction *r, const tensor *rows, int64_t row, int64_t length,
                       void *work, tensor *out);

/* The axis of a scan: `count` rows of `length` elements that are `stride` apart; element 0 of row r
 * is at interp_scan_start. */
typedef struct scan_rows {
    int64_t count, length, stride;
} scan_rows;
scan_rows interp_scan_rows(const interp_step *s);
int64_t interp_scan_start(const scan_rows *rows, int64_t row);

/* A contraction as batch x (m, k) by (k, n). */
typedef struct dot_plan {
    int64_t batch, m, n, k;
    int64_t x_axes[IR_MAX_RANK],
        y_axes[IR_MAX_RANK]; /* batch, free, contracted | batch, contracted, free */
} dot_plan;
/* Plan of a contraction; a convolve's image keeps its axes. */
dot_plan interp_dot_plan(const interp_step *s);
/* The windows of a convolve: batch 1, m counts windows, k is (kh, kw, channel). */
typedef struct window_plan {
    int64_t height, width, channels; /* of the image */
    int64_t rows, columns;           /* of a window */
    int64_t down, across;            /* windows of an image */
    int64_t stride, padding;
} window_plan;
window_plan interp_window_plan(const interp_step *s);
/* Finds the place of a window, kh * columns + kw, in the image: its first channel's element. False:
 * it is outside. */
bool interp_window_place(const window_plan *p, int64_t window, int64_t place, int64_t *at);
/* Steps of row `row`: k, or what k_count says within [0, k]. */
int64_t interp_dot_steps(const interp_step *s, const dot_plan *p, int64_t row);

#endif
