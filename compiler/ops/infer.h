/* infer.h - what the shape and type rules of Graph IR are written with. A rule gives result types,
 * or refuses with a message and the operands that it blames. */
#ifndef TESSERA_OPS_INFER_H
#define TESSERA_OPS_INFER_H

#include "ops/graph.h"

typedef graph_infer_query query;

/* Blames operands a and b (-1: none). False, for the rule to return. */
bool infer_refuse(query *q, graph_misfit misfit, int a, int b, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool infer_give(query *q, ir_type type);
/* Refuses dimensions that are none, and more elements than a tensor may have. */
bool infer_give_shape(query *q, dtype element, int rank, const ir_dim *dims);

const ir_type_data *infer_operand(const query *q, uint32_t i);
/* "[M, 128] f32" in a small ring of buffers, for messages. */
const char *infer_shape_text(const query *q, uint32_t i);

ir_attr infer_attr_of(const query *q, const char *name);
int64_t infer_int_attr(const query *q, const char *name, int64_t otherwise);
/* An attribute that is a distance, such as a stride or a padding: `least` at least, and within the
 * limit of dimensions. */
bool infer_distance_attr(query *q, const char *name, int64_t otherwise, int64_t least,
                         int64_t *out);
const char *infer_string_attr(const query *q, const char *name, const char *otherwise);
/* Elements of an array of ints or dims; -1 when there are more than `limit`. */
int infer_ints_attr(const query *q, const char *name, int64_t *out, int limit);

/* The attribute `accumulate`, where it is there, against the type of operand 0. */
bool infer_accumulates(query *q);
bool infer_need_float(query *q, uint32_t i);
/* Composites but matmul compute in f32: f64 would lose bits in silence. */
bool infer_need_single(query *q, uint32_t i);
bool infer_need_equal(query *q, uint32_t a, uint32_t b);
bool infer_axis_in(query *q, int64_t axis, int rank);

/* ---- rules of infer_scan.c ---- */
bool graph_infer_cumsum(query *q);
bool graph_infer_argsort(query *q);

/* ---- rules of infer_contract.c ---- */
bool graph_infer_dot(query *q);
bool graph_infer_matmul(query *q);
bool graph_infer_scaled_matmul(query *q);
bool graph_infer_dequantize(query *q);
bool graph_infer_linear(query *q);
bool graph_infer_conv2d(query *q);
bool graph_infer_convolve(query *q);
bool graph_infer_attention(query *q);

/* ---- rules of infer_move.c ---- */
bool graph_infer_broadcast(query *q);
bool graph_infer_reshape(query *q);
bool graph_infer_transpose(query *q);
bool graph_infer_slice(query *q);
bool graph_infer_window(query *q);
bool graph_infer_concat(query *q);
bool graph_infer_gather(query *q);

/* ---- rules of infer_collective.c ---- */
bool graph_infer_all_reduce(query *q);
bool graph_infer_all_gather(query *q);
bool graph_infer_shard_slice(query *q);
bool graph_infer_all_to_all(query *q);
bool graph_infer_shard_index(query *q);
bool graph_infer_placed(query *q);
bool graph_infer_exchange(query *q);

/* ---- tiles.c ---- */
bool graph_infer_load(query *q);

#endif
