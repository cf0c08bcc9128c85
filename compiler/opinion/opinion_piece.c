/* opinion_piece.c - the rules of derivatives one by one: of each operation below a derivative a
 * kernel is made that is its derivative alone, and judged on numbers of its own (opinion_slope.c).
 *
 * So a rule is seen to be wrong where the whole is near a kink, or holds too much to tell. A
 * collective stands in a tessera.shard, and its derivative is that of what all shards have
 * together. */
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "opinion/opinion.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/transforms.h"

enum { VALUES_MOST = 16, NUMBERS_MOST = 4096 };

typedef struct piece {
    const ir_module *m;
    ir_op op;
    int transform;  /* GRAPH_VJP or GRAPH_JVP */
    int64_t shards; /* 0: it is no collective */
    int64_t wrt[VALUES_MOST], of[VALUES_MOST];
    uint32_t wrt_count, of_count;
} piece;

static dtype element(const ir_module *m, ir_value v) {
    return ir_type_of(m, v)->element;
}

/* ---- which ---- */

static bool is_collective(int opcode) {
    return graph_op_class(opcode) == GRAPH_CLASS_COLLECTIVE;
}

static bool fits(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->region_count || d->operand_count == 0 ||
        d->operand_count + d->result_count > VALUES_MOST || d->opcode == GRAPH_CALL ||
        d->opcode == GRAPH_VARY || d->opcode == GRAPH_COTANGENT || d->opcode == GRAPH_NEXT)
        return false;
    int64_t numbers = 0;
    for (uint32_t i = 0; i < d->operand_count + d->result_count; i++) {
        const ir_value v = i < d->operand_count ? d->operands[i] : d->results[i - d->operand_count];
        int64_t count = 1;
        if (!ir_type_is_static(m, ir_value_get(m, v)->type))
            return false;
        for (int axis = 0; axis < ir_type_of(m, v)->rank; axis++)
            count *= ir_type_of(m, v)->dims[axis];
        numbers += count;
    }
    return numbers <= NUMBERS_MOST;
}

static bool piece_of(const ir_module *m, ir_op op, int transform, piece *out) {
    const ir_op_data *d = ir_op_get(m, op);
    if (!fits(m, op))
        return false;
    *out = (piece){.m = m, .op = op, .transform = transform};
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (dtype_is_float(element(m, d->operands[i])))
            out->wrt[out->wrt_count++] = i;
    for (uint32_t i = 0; i < d->result_count; i++)
        if (dtype_is_float(element(m, d->results[i])))
            out->of[out->of_count++] = i;
    if (is_collective(d->opcode)) {
        const ir_dim count = ir_attr_get(m, ir_op_attr(m, op, "count"))->integer;
        out->shards = ir_dim_is_static(count) ? count : 0;
        if (out->shards < 1 || dtype_is_narrow(element(m, d->operands[0])))
            return false;
    }
    return out->wrt_count && out->of_count;
}

/* ---- the kernels ---- */

/* Is the operand of a collective alike on all shards? Its result comes out of each, so that each
 * may have a cotangent of its own. */
static bool takes_alike(const piece *p) {
    return ir_op_get(p->m, p->op)->opcode == GRAPH_SHARD_SLICE;
}

static ir_type stacked(ir_module *m, ir_type of, int64_t count) {
    ir_type_data t = *ir_type_get(m, of);
    ir_dim dims[IR_MAX_RANK + 1] = {count};
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return ir_type_tensor(m, t.element, t.rank + 1, dims);
}

/* The derivative of the operation, of seeds (cotangents or tangents) and values; fills in its
 * results. */
static ir_op build_derivative(ir_builder *b, const piece *p, const ir_value *seeds,
                              const ir_value *values) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    const bool reverse = p->transform == GRAPH_VJP;
    const uint32_t seed_count = reverse ? p->of_count : p->wrt_count,
                   made = reverse ? p->wrt_count : p->of_count;
    ir_value operands[2 * VALUES_MOST];
    ir_type results[2 * VALUES_MOST];
    memcpy(operands, seeds, sizeof *seeds * seed_count);
    memcpy(operands + seed_count, values, sizeof *values * d->operand_count);
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = ir_value_get(p->m, d->results[i])->type;
    for (uint32_t i = 0; i < made; i++)
        results[d->result_count + i] =
            ir_value_get(p->m, reverse ? d->operands[p->wrt[i]] : d->results[p->of[i]])->type;
    const ir_named_attr attrs[] = {{"wrt", ir_attr_int_array(b->m, p->wrt, p->wrt_count)},
                                   {"of", ir_attr_int_array(b->m, p->of, p->of_count)}};
    return ir_build(b, &(ir_op_spec){.opcode = p->transform,
                                     .operands = operands,
                                     .operand_count = seed_count + d->operand_count,
                                     .results = results,
                                     .result_count = d->result_count + made,
                                     .attrs = attrs,
                                     .attr_count = 2,
                                     .region_count = 1});
}

/* The block of a derivative: the operation. */
static void fill_derivative(ir_module *m, const piece *p, ir_op derivative) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    ir_builder b = {.m = m, .block = ir_op_block(m, derivative, 0)};
    ir_value *copies = base_calloc((size_t)ir_value_count(p->m) + 1, sizeof *copies);
    ir_value arguments[VALUES_MOST];
    for (uint32_t i = 0; i < d->operand_count; i++) {
        arguments[i] =
            ir_block_add_argument(m, b.block, ir_value_get(p->m, d->operands[i])->type, NULL);
        copies[d->operands[i]] = arguments[i];
    }
    const ir_op copy = ir_copy_op(&b, p->m, p->op, copies);
    ir_op_set_operands(m, copy, arguments, d->operand_count);
    build_next(&b, ir_op_get(m, copy)->results, d->result_count);
    free(copies);
}

/* Types of what goes in: seeds, and the operation's operands. */
static uint32_t input_types(const piece *p, ir_type *out) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    const bool reverse = p->transform == GRAPH_VJP;
    uint32_t count = 0;
    for (uint32_t i = 0; i < (reverse ? p->of_count : p->wrt_count); i++)
        out[count++] =
            ir_value_get(p->m, reverse ? d->results[p->of[i]] : d->operands[p->wrt[i]])->type;
    for (uint32_t i = 0; i < d->operand_count; i++)
        out[count++] = ir_value_get(p->m, d->operands[i])->type;
    return count;
}

/* ---- plain ones ---- */

static ir_op plain_kernel(ir_builder *b, const piece *p, compiler_instance **kernel) {
    ir_type types[2 * VALUES_MOST];
    ir_value in[2 * VALUES_MOST];
    const uint32_t count = input_types(p, types),
                   seeds = count - ir_op_get(p->m, p->op)->operand_count;
    for (uint32_t i = 0; i < count; i++)
        in[i] = ir_block_add_argument(b->m, b->block, types[i], NULL);
    const ir_op made = build_derivative(b, p, in, in + seeds);
    fill_derivative(b->m, p, made);
    const ir_op_data *d = ir_op_get(b->m, made);
    *kernel = opinion_end(b, d->results, d->result_count);
    return made;
}

/* ---- in shards ---- */

/* A collective has one operand and one result: what goes in is a seed and that operand, in this
 * order; those that lie along the shards come first in a tessera.shard. */
typedef struct shard_kernel {
    ir_builder b, block;
    ir_value inside[2];
} shard_kernel;

/* Parameters: types of what goes in, and of them which are alike; results of the block. */
static ir_op open_shard(shard_kernel *k, const piece *p, const ir_type *types, const bool *alike,
                        uint32_t count, const ir_type *results, const bool *whole,
                        uint32_t result_count) {
    ir_module *m = k->b.m;
    ir_value in[2], operands[2];
    ir_type made[2];
    int64_t list[2];
    uint32_t sliced = 0, at = 0, whole_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        in[i] = ir_block_add_argument(m, k->b.block,
                                      alike[i] ? types[i] : stacked(m, types[i], p->shards), NULL);
        sliced += !alike[i];
    }
    for (int last = 0; last < 2; last++)
        for (uint32_t i = 0; i < count; i++)
            if (alike[i] == (last == 1))
                operands[at++] = in[i];
    for (uint32_t i = 0; i < result_count; i++) {
        made[i] = whole[i] ? results[i] : stacked(m, results[i], p->shards);
        if (whole[i])
            list[whole_count++] = i;
    }
    const ir_named_attr attrs[] = {
        {"sliced", ir_attr_int(m, sliced)},
        {"count", ir_attr_dim(m, p->shards)},
        {"axis", ir_attr_string(m, ir_op_string(p->m, p->op, "axis", ""))},
        {"whole", ir_attr_int_array(m, list, whole_count)}};
    const ir_op shard = ir_build(&k->b, &(ir_op_spec){.opcode = GRAPH_SHARD,
                                                      .operands = operands,
                                                      .operand_count = count,
                                                      .results = made,
                                                      .result_count = result_count,
                                                      .attrs = attrs,
                                                      .attr_count = 4,
                                                      .region_count = 1});
    k->block = (ir_builder){.m = m, .block = ir_op_block(m, shard, 0)};
    for (int last = 0; last < 2; last++)
        for (uint32_t i = 0; i < count; i++)
            if (alike[i] == (last == 1))
                k->inside[i] = ir_block_add_argument(m, k->block.block, types[i], NULL);
    return shard;
}

static compiler_instance *close_shard(shard_kernel *k, ir_op shard) {
    const ir_op_data *d = ir_op_get(k->b.m, shard);
    return opinion_end(&k->b, d->results, d->result_count);
}

static compiler_instance *shard_function(const piece *p) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    const ir_type type = ir_value_get(p->m, d->operands[0])->type,
                  result = ir_value_get(p->m, d->results[0])->type;
    const bool alike = takes_alike(p), whole = false;
    shard_kernel k = {.b = opinion_begin(p->m, 1, 1)};
    const ir_op shard = open_shard(&k, p, &type, &alike, 1, &result, &whole, 1);
    ir_value *copies = base_calloc((size_t)ir_value_count(p->m) + 1, sizeof *copies);
    copies[d->operands[0]] = k.inside[0];
    const ir_op copy = ir_copy_op(&k.block, p->m, p->op, copies);
    build_next(&k.block, ir_op_get(k.b.m, copy)->results, 1);
    free(copies);
    return close_shard(&k, shard);
}

static compiler_instance *shard_derivative(const piece *p) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    const bool reverse = p->transform == GRAPH_VJP,
               alike[] = {!reverse && takes_alike(p), takes_alike(p)},
               whole[] = {false, reverse && takes_alike(p)};
    ir_type types[2];
    const ir_type results[] = {ir_value_get(p->m, d->results[0])->type,
                               ir_value_get(p->m, reverse ? d->operands[0] : d->results[0])->type};
    (void)input_types(p, types);
    shard_kernel k = {.b = opinion_begin(p->m, 2, 2)};
    const ir_op shard = open_shard(&k, p, types, alike, 2, results, whole, 2);
    const ir_op made = build_derivative(&k.block, p, k.inside, k.inside + 1);
    fill_derivative(k.b.m, p, made);
    build_next(&k.block, ir_op_get(k.b.m, made)->results, 2);
    return close_shard(&k, shard);
}

/* ---- numbers ---- */

enum { OF_EITHER_SIGN, POSITIVE, EQUAL, KINDS };

static double number_of(int kind, uint64_t *dice) {
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double size = 0.3 + 0.65 * (double)(*dice >> 40) * 0x1p-24;
    return kind == EQUAL ? 0.625 : kind == POSITIVE || *dice >> 63 ? size : -size;
}

/* Fills in the kernel's inputs; other types than floats are 0. */
static bool fill(compiler_instance *kernel, int kind, tensor *out, status *st) {
    compiler_signature s;
    uint64_t dice = 7;
    bool ok = compiler_signature_of(kernel, &s, st);
    for (uint32_t i = 0; i < s.input_count && ok; i++) {
        ok = tensor_init(&out[i], s.inputs[i].type, s.inputs[i].rank, s.inputs[i].dims, st);
        for (int64_t k = 0; ok && k < tensor_count(&out[i]); k++)
            dtype_store(out[i].type, out[i].data, (size_t)k,
                        dtype_is_float(out[i].type) ? number_of(kind, &dice) : 0);
    }
    return ok;
}

static opinion_verdict judge(opinion *o, const piece *p) {
    const ir_op_data *d = ir_op_get(p->m, p->op);
    const bool reverse = p->transform == GRAPH_VJP;
    ir_builder b = opinion_begin(p->m, d->operand_count + (reverse ? p->of_count : p->wrt_count),
                                 d->result_count + (reverse ? p->wrt_count : p->of_count));
    compiler_instance *plain = NULL, *function = NULL, *derivative = NULL;
    const ir_op made = plain_kernel(&b, p, &plain);
    if (p->shards) {
        function = shard_function(p);
        derivative = shard_derivative(p);
    }
    compiler_instance *kernel = p->shards ? derivative : plain;
    opinion_verdict v = OPINION_NONE;
    for (int kind = 0; kind < KINDS && v != OPINION_WRONG; kind++) {
        tensor *in = tensors_new(2 * VALUES_MOST), *out = tensors_new(2 * VALUES_MOST);
        if (fill(kernel, kind, in, o->st) && opinion_interpret(o, kernel, in, out)) {
            const opinion_case c = {o, b.m, made, in, out};
            v = p->shards ? opinion_of_slope(&c, function, derivative) : opinion_of_derivative(&c);
        }
        *o->st = (status)STATUS_INIT;
        tensors_free(in);
        tensors_free(out);
    }
    compiler_instance_free(function);
    compiler_instance_free(derivative);
    compiler_instance_free(plain);
    return v;
}

/* ---- all of a derivative ---- */

bool opinion_pieces(opinion *o, const ir_module *m, ir_op derivative, ir_op *wrong) {
    const ir_block body = ir_op_block(m, derivative, 0);
    piece p;
    *wrong = 0;
    for (ir_walk w = ir_walk_block(m, body); !*wrong && o->work > 0 && ir_walk_next(&w);)
        if (piece_of(m, w.op, ir_op_get(m, derivative)->opcode, &p) &&
            judge(o, &p) == OPINION_WRONG)
            *wrong = w.op;
    return *wrong == 0;
}
