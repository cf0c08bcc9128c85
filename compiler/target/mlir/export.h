/* export.h - Graph IR written in MLIR's own dialects (linalg, tensor, scf, arith, math), for the
 * stock tools of LLVM: a second opinion on what a kernel means.
 *
 * Nothing of our levels below Graph IR takes part. Every primitive becomes one loop over the
 * elements of its result, which reads its operands wherever they are; accumulations are loops in
 * the order that their attribute names, written out again here. */
#ifndef TESSERA_TARGET_MLIR_EXPORT_H
#define TESSERA_TARGET_MLIR_EXPORT_H

#include "base/arena.h"
#include "base/text.h"
#include "ops/graph.h"

typedef struct exporter {
    const ir_module *m;
    text *out;
    arena memory;
    int next; /* number of the next name */
    status *st;
    bool failed;
} exporter;

/* ---- names and lines ---- */

/* Appends "%tN = ..." and returns "%tN". */
const char *export_op(exporter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void export_line(exporter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *export_text(exporter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refuses what cannot be said in MLIR here; the first reason stays. */
void export_refuse(exporter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *export_index(exporter *e, int64_t value);
/* An index moved by a constant. */
const char *export_plus(exporter *e, const char *index, int64_t n);
/* A constant of a number type, from its bits. */
const char *export_bits(exporter *e, dtype type, uint64_t bits);

/* ---- types ---- */

/* In a tensor: bf16 travels as i16, 8-bit floats and i4 as i8, bool as i1. */
const char *export_element(exporter *e, dtype type);
/* "tensor<3x4xf32>" */
const char *export_tensor(exporter *e, ir_value v);
const ir_type_data *export_type(const exporter *e, ir_value v);
/* Type that the element-wise operations of a type compute in. */
dtype export_compute_type(dtype type);

/* ---- elements ---- */

/* Element `index` (names of indices) of a tensor, as it is kept. */
const char *export_load(exporter *e, ir_value v, const char *const *index);
/* The same as its compute type. */
const char *export_load_wide(exporter *e, ir_value v, const char *const *index);
/* x of type `from`, a compute type, as `to` is kept: one rounding. */
const char *export_convert(exporter *e, dtype from, dtype to, const char *x);
/* As kept, to its compute type: exact. */
const char *export_widen(exporter *e, dtype type, const char *x);
/* An integer as `type` keeps it: i4 wraps within its byte. */
const char *export_wrap(exporter *e, dtype type, const char *x);
/* The operation that gives the greater or the lesser of two elements. */
const char *export_extreme(dtype type, bool largest);

/* ---- operations: the value of one element of the result, at `index` ---- */
const char *export_elementwise(exporter *e, ir_op op, const char *const *index);
const char *export_moved(exporter *e, ir_op op, const char *const *index);
const char *export_accumulated(exporter *e, ir_op op, const char *const *index);
/* One of the specified functions of the operands x. */
const char *export_function(exporter *e, int opcode, dtype element, const char *const *x);

/* The whole kernel: a static graph of primitives. False with STATUS_UNAVAILABLE where it holds
 * something that cannot be expressed. */
bool mlir_export(const ir_module *graph, text *out, status *st);

#endif
