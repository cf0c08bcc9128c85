/* build.h - short builders for primitive operations, used by decompositions and graph passes.
 *
 * Every function adds one operation (scalar constants: two) at the builder's place and returns its
 * result. */
#ifndef TESSERA_OPS_BUILD_H
#define TESSERA_OPS_BUILD_H

#include "ops/graph.h"

ir_value build_unary(ir_builder *b, int opcode, ir_value x);
ir_value build_binary(ir_builder *b, int opcode, ir_value x, ir_value y);
ir_value build_select(ir_builder *b, ir_value condition, ir_value x, ir_value y);
ir_value build_compare(ir_builder *b, const char *predicate, ir_value x, ir_value y);
/* `x` itself when it already has the type. */
ir_value build_convert(ir_builder *b, ir_value x, dtype to);
/* A scalar with these bits. */
ir_value build_scalar(ir_builder *b, dtype element, uint64_t bits);
/* An f32 or i32 constant in the shape of `like`. */
ir_value build_f32(ir_builder *b, float value, ir_value like);
ir_value build_i32(ir_builder *b, int32_t value, ir_value like);
/* A dimension as a number of `element` (f32, i32) in the shape of `like`: a constant where it is
 * known. */
ir_value build_extent(ir_builder *b, ir_dim dim, dtype element, ir_value like);
ir_value build_iota(ir_builder *b, int rank, const ir_dim *shape, int axis);
/* Result axis axes[i] is x's axis i. */
ir_value build_broadcast(ir_builder *b, ir_value x, int rank, const ir_dim *shape,
                         const int64_t *axes);
/* `x` lacks `axis` of `like`: repeated along it. */
ir_value build_spread(ir_builder *b, ir_value x, ir_value like, int axis);
/* `x` has the last axes of `like`: repeated along the leading ones. */
ir_value build_align(ir_builder *b, ir_value x, ir_value like);
ir_value build_reshape(ir_builder *b, ir_value x, int rank, const ir_dim *shape);
/* One of them, as the only part along a new first axis. */
ir_value build_row(ir_builder *b, ir_value x);
/* Result axis i is x's axis permutation[i]. */
ir_value build_transpose(ir_builder *b, ir_value x, const int64_t *permutation);
/* The axis `from` becomes the axis `to`; the others stay in their order. */
ir_value build_moved(ir_builder *b, ir_value x, int from, int to);
ir_value build_gather(ir_builder *b, ir_value x, ir_value indices, int axis, int batch_dims);
/* Sums of floats carry the order lanes64. */
ir_value build_reduce(ir_builder *b, const char *kind, ir_value x, int axis);
/* x[start:stop] on every axis; on one, and all of the others. */
ir_value build_slice(ir_builder *b, ir_value x, const ir_dim *start, const ir_dim *stop);
/* All of these, one behind the other along an axis; of one alone it. */
ir_value build_concat(ir_builder *b, int axis, const ir_value *items, uint32_t count);
/* Axes of a contraction, by number in x and in y. */
typedef struct dot_axes {
    int64_t x[IR_MAX_RANK], y[IR_MAX_RANK], x_batch[IR_MAX_RANK], y_batch[IR_MAX_RANK];
    uint32_t contracted, batch;
} dot_axes;
enum { DOT_AXES_ATTRS = 4 };
void build_dot_axes(ir_module *m, const dot_axes *axes, ir_named_attr *attrs);
/* Contracts in chunk512. */
ir_value build_dot(ir_builder *b, ir_value x, ir_value y, const dot_axes *axes);
/* An operation along an axis whose block, which is empty, says how elements are put together:
 * GRAPH_REDUCE_WITH, GRAPH_SORT, GRAPH_SCATTER. Parameters: operands and types of results. */
ir_op build_along(ir_builder *b, int opcode, int axis, const ir_value *operands, uint32_t count,
                  const ir_type *results, uint32_t result_count);
/* Ends a block with the values that it gives. */
ir_op build_next(ir_builder *b, const ir_value *values, uint32_t count);
ir_value build_slice_axis(ir_builder *b, ir_value x, int axis, ir_dim start, ir_dim stop);

/* The `site` of words of steps, which is no draw's. */
enum { STEP_SITE = INT32_MAX };
/* The word of a step, by which others are made of it (docs/numerics.md, "Another step"). */
ir_value build_step_word(ir_builder *b, ir_value step);

/* ["x0", "x1", ...], for the prefix "x"; it adds no operation. */
ir_attr build_names(ir_module *m, const char *prefix, size_t count);

const ir_type_data *build_type(const ir_builder *b, ir_value x);

/* The decomposition of a composite: primitives before `b->before`; fills `results`. Inputs may be
 * of any float type: the result is widened to f32 on entry and rounded once at exit. */
void graph_decompose(ir_builder *b, ir_op op, ir_value *results);
/* Values that attention makes of its rows: [..., Sq] the greatest score and the sum of exp(score -
 * greatest), as its decomposition builds them; the scores, and the mask, 0 where all keys are seen.
 */
typedef struct attention_parts {
    ir_value counts, mask, greatest, sum;
} attention_parts;
void graph_attention_rows(ir_builder *b, ir_op op, attention_parts *out);
ir_value graph_attention_scores(ir_builder *b, ir_op op, attention_parts *out);
ir_value graph_attention_scale(ir_builder *b, ir_op op, ir_value like);
/* Composites that stay what they are; NULL of it: none. */
typedef struct graph_kept {
    bool (*keeps)(const ir_module *m, ir_op op, const void *context);
    const void *context;
} graph_kept;
/* Every other composite of the kernel gives way to its primitives. False: that would be more than
 * `limit` operations, and it was given up. */
bool graph_decompose_kernel(ir_module *m, uint32_t limit, const graph_kept *kept);

#endif
