/* import.h - the importer of StableHLO from the inside: each operation becomes Graph IR by the
 * handler that stablehlo.def names.
 *
 * What StableHLO leaves open is decided in docs/numerics.md: orders of sums, windows and scatters,
 * functions. Blocks of Graph IR see their arguments alone, so a region's values from outside become
 * arguments of it. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_H

#include "base/vec.h"
#include "import/stablehlo/sharding.h"
#include "import/stablehlo/table.h"
#include "ops/build.h"
#include "ops/control.h"

enum { GRAPH_NONE = -1 }; /* of a handler of one operation */

/* Axes of devices that the operations in hand are the shards of, the outermost first. */
typedef struct import_shards {
    uint32_t count;
    struct {
        const char *name;
        int64_t size, stride; /* the next shard is so many devices further */
    } axes[MESH_AXES_MAX + 2];
    int64_t replicas, partitions;
    const int64_t *ids; /* the partition at each place of the mesh; NULL: its number */
} import_shards;

typedef struct importer {
    shlo_module *source;
    ir_module *m;
    ir_builder b;
    status *st;
    bool failed;
    ir_value *made;       /* by number of a value of the source; 0: none */
    ir_value *imaginary;  /* the same of the second part of a complex one */
    int part;             /* of complex values that handlers see: 0 the real, 1 the imaginary one */
    uint32_t value_count; /* numbers are 1 to this */
    /* The body of a map is written out on tensors of this shape instead of scalars. */
    int lifted; /* axes; -1: no map is written out */
    ir_dim shape[IR_MAX_RANK];
    bool in_combiner; /* the body of one is written: functions that it calls are written out */
    int calls;        /* ... one in the other */
    uint32_t written; /* ... so far, in 64 operations */
    import_shards shards;
    map collective; /* functions by name that are parts of shards */
} importer;

/* Values and types in a row, complex ones as two. */
typedef VEC(ir_value) import_values;
typedef VEC(ir_type) import_types;

/* `results` are values for each result of the operation; behind them the imaginary parts. */
typedef bool (*import_fn)(importer *im, const shlo_op *op, int graph, ir_value *results);

/* ---- import.c ---- */
bool import_refuse(importer *im, const shlo_op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An operation in the place of a function, for what refuses one. */
shlo_op import_place(const shlo_function *f);
/* The value that stands for an operand; of a complex one the present part. */
ir_value import_operand(const importer *im, const shlo_op *op, uint32_t i);
const ir_type_data *import_type_of(const importer *im, ir_value v);
/* The type; complex elements have that of a part. 0 when refused: an element, an extent, or a
 * number of axes that Graph IR has not. */
ir_type import_type(importer *im, const shlo_op *op, const shlo_type *t);
ir_type import_result_type(importer *im, const shlo_op *op, uint32_t i);
/* One operation with inferred results; 0 when refused. */
ir_value import_build(importer *im, const shlo_op *op, int opcode, const ir_value *operands,
                      uint32_t count, const ir_named_attr *attrs, uint32_t attr_count);
/* Runs the handler of the operation. */
bool import_handled(importer *im, const shlo_op *op, ir_value *results);
/* Makes Graph IR of the operations of a block but for the last one. */
bool import_block(importer *im, const shlo_block *block);
/* Exactly so many operands, or refused. */
bool import_takes(importer *im, const shlo_op *op, uint32_t operands);

/* The element type of Graph IR; of complex elements that of a part. */
dtype import_element(shlo_element e);
bool import_is_complex(const shlo_value *v);

/* Types of what a function takes, or gives, each in the form that it has there. */
bool import_signature(importer *im, const shlo_function *f, bool kernel, bool results,
                      import_types *out);
/* A function's operations, of these arguments: what it returns. */
bool import_body(importer *im, const shlo_function *f, bool kernel, const ir_value *values,
                 import_values *results);

/* ---- import_element.c ---- */
/* The bits of elements along one axis as those of another type, from the lowest on. */
ir_value import_bits_as(importer *im, ir_value x, shlo_element from, shlo_element to);

/* ---- import_complex.c: complex numbers are two values, the real and the imaginary parts ---- */
/* Does the operation take or give complex numbers? */
bool import_has_complex(const shlo_op *op);
bool import_complex_op(importer *im, const shlo_op *op, ir_value *results);

/* Operations that move elements, whatever they are. */
bool import_moves(shlo_opcode opcode);
/* Operations that take values in a row: calls, branches and loops, and what combines by a body. */
bool import_in_rows(shlo_opcode opcode);

/* ---- import_quantized.c ---- */
bool import_has_quantized(const shlo_op *op);
bool import_quantized_op(importer *im, const shlo_op *op, ir_value *results);

/* ---- import_dynamic.c ---- */
/* The operation with attributes in the place of operands that are constants, which is made in
 * `room`; the operation itself where it has no such operands. NULL: refused. */
const shlo_op *import_static_form(importer *im, const shlo_op *op, shlo_op *room);

/* ---- import_small.c ---- */
/* The byte that holds an integer of fewer bits, one to each; DTYPE_NONE: the element is none. */
dtype import_small_as(shlo_element e);
/* The low bits of bytes, as that integer has them; x where it is none. */
ir_value import_small_wrapped(importer *im, ir_value x, shlo_element e);
/* The results of an operation of StableHLO as their types have them; false: refused. */
bool import_small_results(importer *im, const shlo_op *op, ir_value *results);

/* ---- import_rows.c ---- */
/* The type of pairs along a last axis, 0 when refused; both parts of such ones, and these of parts.
 */
ir_type import_pair_type(importer *im, const shlo_op *op, ir_type part);
void import_unpair(importer *im, ir_value pairs, ir_value *real, ir_value *imaginary);
ir_value import_pair(importer *im, ir_value real, ir_value imaginary);

void import_push(const importer *im, const shlo_value *v, import_values *out);
bool import_push_type(importer *im, const shlo_op *op, const shlo_type *t, import_types *out);
/* The other way round: results of an operation of ours, in a row, for those of the source. */
void import_take_results(const shlo_op *op, const ir_value *from, ir_value *results);
/* Gives a value its next one, or two, of `from`, which moves on. */
void import_pull(importer *im, const shlo_value *v, const ir_value **from);

/* ---- import_values.c: constants in the shape of another value, and small steps ---- */
ir_value import_number(importer *im, dtype type, double value); /* a scalar */
ir_value import_like(importer *im, ir_value like, double value);
ir_value import_bits_like(importer *im, ir_value like, uint64_t bits);
/* Elements as they lie in memory, which are copied. */
ir_value import_dense(importer *im, ir_type type, const void *data, size_t bytes);
ir_value import_unary(importer *im, int opcode, ir_value x);
ir_value import_binary(importer *im, int opcode, ir_value x, ir_value y);
ir_value import_add(importer *im, ir_value x, ir_value y);
ir_value import_sub(importer *im, ir_value x, ir_value y);
ir_value import_mul(importer *im, ir_value x, ir_value y);
ir_value import_div(importer *im, ir_value x, ir_value y);
ir_value import_is(importer *im, const char *predicate, ir_value x, ir_value y);
/* Each element by so many places: GRAPH_LEFT_SHIFT, GRAPH_RIGHT_SHIFT. */
ir_value import_shifted(importer *im, int opcode, ir_value x, int places);
/* The same bits as another type of that size: the unsigned integer, or the one with a sign. */
ir_value import_bitcast(importer *im, ir_value x, dtype to);
dtype import_unsigned(dtype t);
dtype import_signed(dtype t);
/* Floats as integers in their total order: -NaN < -Inf < ... < -0 < 0 < ... < NaN. */
ir_value import_total_order(importer *im, ir_value x);
/* A scalar repeated in a shape; what has the shape stays as it is. */
ir_value import_spread(importer *im, ir_value x, int rank, const ir_dim *dims);
/* Axes of one extent in the place of others, in row-major order. */
ir_value import_shaped(importer *im, ir_value x, int rank, const ir_dim *dims);
/* Indices of an axis in some type, from 0 on. */
ir_value import_places(importer *im, ir_dim count);
/* All elements along one axis, in row-major order. */
ir_value import_flat(importer *im, ir_value x);
/* A scalar of any integer type as i32 between 0 and `highest`. */
ir_value import_clamped(importer *im, ir_value x, int64_t highest);
/* The same, between two numbers. */
ir_value import_index_from(importer *im, ir_value x, int64_t lowest, int64_t highest);
/* The same of each element, -1 in the place of what does not lie between them. */
ir_value import_index_or_none(importer *im, ir_value x, int64_t highest);
/* Windows of an axis that lie whole in it: the place of each of their elements, [windows, size]. */
typedef struct window_axis {
    int64_t size, stride, dilation;
    bool reversed;
} window_axis;
ir_value import_window_places(importer *im, ir_dim extent, const window_axis *w);
/* x with padding of `value` around each axis, and between its elements. */
ir_value import_padded(importer *im, ir_value x, ir_value value, const int64_t *low,
                       const int64_t *high, const int64_t *interior);

/* ---- import_contract.c ---- */
/* dot_general of these values, of which a part of a complex number is one; 0 when refused. */
ir_value import_dot_of(importer *im, const shlo_op *op, ir_value x, ir_value y);
/* Likewise a convolution. */
ir_value import_convolution_of(importer *im, const shlo_op *op, ir_value x, ir_value w);

/* ---- import_control.c ---- */
/* Values that a region reads and does not make, each once. The caller frees them. */
typedef VEC(const shlo_value *) value_refs;
void import_captures(const shlo_op *op, value_refs *out);

/* The operations of a body with these in the place of its arguments: tensors of one shape, whose
 * elements it combines one by one. What it returns; 0 when refused. */
ir_value import_body_of(importer *im, const shlo_op *op, const shlo_block *body,
                        const ir_value *values, uint32_t count);

/* ---- import_combine.c ---- */
/* The one operation of a body of two scalars that is a sum, a product, a maximum or a minimum of
 * them: its kind as tessera.reduce has it, "and" or "or"; NULL: it is another one. */
const char *import_kind_of(const shlo_block *body);
/* Constants that a body reads of the outside are made again in it; anything else is refused. The
 * values that stood for them go to `outer`. */
bool import_repeat_constants(importer *im, const shlo_op *op, const value_refs *outside,
                             import_values *outer);
/* Are the first `count` operands tensors of one shape, each of the elements of its result, and
 * those from `begin` on (0: there are none) of theirs, as the body takes them? */
bool import_alike(importer *im, const shlo_op *op, uint32_t count, uint32_t begin);
/* The block of a combiner of `count` tensors: scalars of one place, and then those of another; of a
 * sort the source has them in pairs. False when refused. Parameters: the operation with this body,
 * the block to fill, and how the body has its arguments. */
bool import_combiner_block(importer *im, const shlo_op *op, ir_block block, const shlo_block *body,
                           uint32_t count, bool pairs);
/* Ends the block that is built with what the body returns. */
bool import_end_block(importer *im, const shlo_block *body);
/* A kind that tessera.reduce has for this element; NULL: the body is run as it is. */
const char *import_reducible(const importer *im, const char *kind, ir_value x);
/* Sums, products and extremes of numbers over axes, in ascending order; and, or of truth values. 0
 * when refused. */
ir_value import_known_reduction(importer *im, const shlo_op *op, const char *kind, ir_value x,
                                const int64_t *axes, uint32_t count);
/* ... of a scalar and each element. */
ir_value import_combined(importer *im, const char *kind, ir_value init, ir_value x);
/* Reduces the last axis of tensors, from these scalars on, by the body of `op`. */
bool import_reduce_last(importer *im, const shlo_op *op, const shlo_block *body,
                        const import_values *tensors, const import_values *inits,
                        ir_value *results);

/* ---- import_shard.c ---- */
/* Does the function, or one that it calls, have collectives that stand in no shards of its own? */
bool import_is_collective(const importer *im, const shlo_function *f);
/* Finds that out of functions; false: it did not come to an end. */
bool import_note_collectives(importer *im, const shlo_function *const *functions, size_t count);
/* Is it what one device does, of which its kernel has all, as leading axes of each value? */
bool import_is_per_device(const importer *im, const shlo_function *f);
/* Do its arguments and results lie on the devices in equal parts? */
bool import_check_shardings(importer *im, const shlo_function *f);
/* Writes them as the kernel's, for ranks that keep parts of values. */
void import_shardings(importer *im, const shlo_function *f, ir_op kernel);
/* The value of an operation that says where it lies, as one that ranks keep so. */
ir_value import_placed(importer *im, const shlo_op *op, ir_value x);
/* Makes the types of such a kernel out of those of one device. */
bool import_devices_begin(importer *im, const shlo_function *f, import_types *types);
/* The kernel's operations, on shards: from arguments to results. */
bool import_on_devices(importer *im, const shlo_function *f, const ir_value *values,
                       import_values *results);
/* sdy.manual_computation */
bool import_manual(importer *im, const shlo_op *op, ir_value *results);

/* ---- import_control.c ---- */

/* The function of a name, called. */
bool import_call_of(importer *im, const shlo_op *op, const char *name, ir_value *results);

/* ---- import_factor.c, import_eigen.c: functions that XLA calls by a name ---- */
/* Is it one of these, or another one that takes all parts of complex matrices at once? */
bool import_is_factor(const shlo_op *op);
bool import_eigh(importer *im, const shlo_op *op, ir_value *results);
bool import_qr(importer *im, const shlo_op *op, ir_value *results);
bool import_reflectors(importer *im, const shlo_op *op, ir_value *results);

/* ---- import_composite.c ---- */
/* Is the composite a function of ours, so that its decomposition is not needed? */
bool import_composite_is_own(const shlo_op *op);

/* Handlers: see stablehlo.def. */
#define SHLO(ENUM, name, regions, attrs, syntax, handler, graph)                                   \
    bool import_##handler(importer *im, const shlo_op *op, int graph_op, ir_value *results);
#include "import/stablehlo/stablehlo.def"
#undef SHLO

/* The module's functions as one module of Graph IR whose kernel is `entry`; owned by the caller
 * (ir_module_free). NULL with STATUS_INVALID: the message has the operation and its place. */
ir_module *shlo_import(shlo_module *source, const char *entry, status *st);

#endif
