/* export.h - Graph IR written as StableHLO, for XLA and every other compiler that reads it: the
 * inverse of import/stablehlo.
 *
 * What StableHLO says in full becomes its operation. Anything else becomes a `stablehlo.composite`
 * that is named like the operation of Graph IR ("tessera.softmax", "tessera.fma"), has its
 * attributes, and a decomposition that others run; the importer makes that operation of it again. A
 * few operations have neither, and are refused.
 *
 * tf32 is stored as f32, so it is f32 here. Dimensions are numbers. */
#ifndef TESSERA_TARGET_STABLEHLO_EXPORT_H
#define TESSERA_TARGET_STABLEHLO_EXPORT_H

#include "base/vec.h"
#include "import/stablehlo/table.h"
#include "ops/graph.h"

typedef struct shlo_writer {
    ir_module *m; /* decompositions are built in it */
    shlo_module *out;
    shlo_block *block;      /* operations go to its end */
    VEC(shlo_value *) made; /* by value of Graph IR */
    map composites;         /* decompositions by what they are of: shlo_function, as intptr_t */
    bool plain;             /* in a combiner's body, where composites are written out */
    bool failed;
    status *st;
} shlo_writer;

/* Makes the results of an operation of Graph IR from its operands. False when refused. */
typedef bool (*out_fn)(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results);

/* The kernel, public and called main, and its functions; `m` is changed. NULL: STATUS_INVALID names
 * the operation and its line. */
shlo_module *shlo_lower(ir_module *m, status *st);
/* The same as text, behind what `out` holds. */
bool shlo_export(ir_module *m, text *out, status *st);

/* ---- export.c ---- */
bool out_refuse(shlo_writer *w, ir_op op, const char *why);
/* The value that stands for one of Graph IR; makes it stand for it. */
shlo_value *out_made(const shlo_writer *w, ir_value v);
void out_put(shlo_writer *w, ir_value v, shlo_value *made);
/* Operations of a block but for its last one. */
bool out_block(shlo_writer *w, ir_block block);
/* Values with which a block ends, in an array of its arena. */
shlo_value **out_ends(shlo_writer *w, ir_block block, uint32_t *count);

/* ---- export_composite.c ---- */
/* A decomposition as a function, and the composite that names it. */
bool out_composite(shlo_writer *w, ir_op op, out_fn decompose, shlo_value *const *in,
                   shlo_value **results);
/* The decomposition of a composite of Graph IR, in the function that is written. */
bool out_decomposed(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results);

/* ---- export_sharding.c ---- */
/* The mesh, and how main's arguments and results lie on it, where the kernel says so. */
bool out_shardings(shlo_writer *w);

/* ---- export_build.c: types, attributes, operations ---- */
const shlo_type *out_tensor(shlo_writer *w, shlo_element element, uint32_t rank,
                            const int64_t *dims);
const shlo_type *out_type(shlo_writer *w, ir_type type);
const shlo_type *out_result_type(shlo_writer *w, ir_op op, uint32_t i);
/* The same shape with another element. */
const shlo_type *out_type_with(shlo_writer *w, const shlo_type *t, shlo_element element);
shlo_element out_element(dtype type);

const shlo_attr *out_int(shlo_writer *w, int64_t value);
const shlo_attr *out_ints(shlo_writer *w, uint32_t count, const int64_t *values);
/* [count, 2] */
const shlo_attr *out_pairs(shlo_writer *w, uint32_t count, const int64_t *values);
const shlo_attr *out_bool(shlo_writer *w, bool value);
/* A string, a symbol or a word of an enumeration. */
const shlo_attr *out_word(shlo_writer *w, shlo_attr_kind kind, const char *word);
const shlo_attr *out_bytes(shlo_writer *w, const shlo_type *t, const void *bytes, size_t size);

typedef struct out_spec {
    const char *name;
    shlo_value *const *operands;
    const shlo_type *const *results;
    const shlo_named_attr *attrs; /* in any order */
    shlo_block *const *regions;
    uint32_t operand_count, result_count, attr_count, region_count;
} out_spec;
shlo_op *out_build(shlo_writer *w, const out_spec *spec);
/* One operation with one result. */
shlo_value *out_unary(shlo_writer *w, const char *name, shlo_value *x, const shlo_type *result);
shlo_value *out_binary(shlo_writer *w, const char *name, shlo_value *x, shlo_value *y);
shlo_value *out_with(shlo_writer *w, const char *name, shlo_value *x, const shlo_type *result,
                     const shlo_named_attr *attr);
shlo_value *out_compare(shlo_writer *w, const char *direction, shlo_value *x, shlo_value *y);
shlo_value *out_select(shlo_writer *w, shlo_value *condition, shlo_value *x, shlo_value *y);
/* `x` itself where it has that element. */
shlo_value *out_convert(shlo_writer *w, shlo_value *x, shlo_element to);
/* Each element of a tensor of this type has these bits. */
shlo_value *out_splat(shlo_writer *w, const shlo_type *t, uint64_t bits);
/* ... is this number. */
shlo_value *out_number(shlo_writer *w, const shlo_type *t, double value);
shlo_value *out_iota(shlo_writer *w, const shlo_type *t, int64_t axis);
shlo_value *out_reshape(shlo_writer *w, shlo_value *x, uint32_t rank, const int64_t *dims);
shlo_value *out_transpose(shlo_writer *w, shlo_value *x, const int64_t *order);
shlo_value *out_broadcast(shlo_writer *w, shlo_value *x, const shlo_type *t, const int64_t *axes);
void out_return(shlo_writer *w, shlo_value *const *values, uint32_t count);
/* The axis of an operation, counted from 0. */
int64_t out_axis(const shlo_writer *w, ir_op op, uint32_t rank);
dtype out_dtype(const shlo_value *x);

/* ---- the operations ---- */
#define OUT(name)                                                                                  \
    bool out_##name(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results)
OUT(elementwise);
OUT(comparison);
OUT(converted);
OUT(same);
OUT(placed);
OUT(magnitude);
OUT(quotient);
OUT(left_shift);
OUT(right_shift);
OUT(fma);
OUT(exp2);
OUT(log2);
OUT(trunc);
OUT(random_bits);
OUT(stochastic_round);
OUT(constant);
OUT(dense);
OUT(extent);
OUT(index);
OUT(broadcast_of);
OUT(reshape_of);
OUT(transpose_of);
OUT(slice_of);
OUT(concat);
OUT(gather);
OUT(window);
OUT(reduce);
OUT(dot);
OUT(cumsum);
OUT(argsort);
OUT(convolve);
OUT(call);
OUT(choice);
OUT(general_loop);
OUT(counted_loop);
OUT(reduce_with);
OUT(sort);
OUT(scatter);
#undef OUT

/* ---- export_element.c ---- */
/* Does a conversion end at the greatest number, as StableHLO does not say it? */
bool out_is_clamped(const shlo_writer *w, ir_op op);
/* Between the least and the greatest number of a type. */
shlo_value *out_clamped(shlo_writer *w, shlo_value *x, dtype to);
/* ... a division of integers by what may be zero, of which it says nothing? */
bool out_may_divide_by_zero(const shlo_writer *w, ir_op op);

/* ---- export_sum.c ---- */
/* sum, prod, max or min of two scalars of this element, as a body; and what it begins with. */
shlo_block *out_combiner(shlo_writer *w, const char *kind, shlo_element element);
shlo_value *out_neutral(shlo_writer *w, const char *kind, shlo_element element);
/* Has the operation an order that the importer gives no other one of its kind? */
bool out_is_ordered(const shlo_writer *w, ir_op op);

/* The name of a primitive of one operation of StableHLO: "stablehlo.add"; NULL: it has none. */
const char *out_name_of(int opcode);

#endif
