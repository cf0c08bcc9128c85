/* onednn.c - oneDNN: a plan of primitives for the tensors of the first call, which later calls
 * execute over their own pointers.
 *
 *   products       row-major in and out, nothing packed beforehand; i8 is s8 by s8 to s32
 *   attention      for each head: scores, softmax in place, product: what a library without a fused
 *                  kernel does
 *   convolutions   3 x 3, stride 1, padding 1; images by rows, and weights that are brought from
 *                  HWIO into the layout that it likes best in each call, as ours are */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnnl.h>
#include <omp.h>

#include "peer.h"

enum { STEPS_MAX = 128, ARGUMENTS = 4, SHAPES_MAX = 4, RANK_MAX = 4 };

/* An argument of a primitive: `tensor` of the call from `offset` bytes on, or memory of the plan's
 * own (tensor < 0). */
typedef struct operand {
    int argument, tensor;
    size_t offset;
    dnnl_memory_t memory;
} operand;

typedef struct step {
    dnnl_primitive_t primitive;
    operand operands[ARGUMENTS];
    int count;
} step;

typedef struct plan {
    int (*of)(DLTensor *const *t, int32_t count); /* the function it was made for; NULL: none */
    int64_t shapes[SHAPES_MAX][RANK_MAX];
    step steps[STEPS_MAX];
    int step_count;
    bool use_sgemm; /* where it is faster than the primitive */
} plan;

static plan made;
static dnnl_engine_t engine;
static dnnl_stream_t stream;

static void must(dnnl_status_t status, const char *what) {
    if (status == dnnl_success)
        return;
    fprintf(stderr, "oneDNN: %s: status %d\n", what, (int)status);
    exit(3);
}

/* ---- making plans ---- */

static void open_engine(void) {
    if (engine)
        return;
    must(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
    must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream");
}

static dnnl_memory_desc_t strided(dnnl_data_type_t type, int rank, const dnnl_dim_t *dims,
                                  const dnnl_dim_t *strides) {
    dnnl_memory_desc_t d;
    dnnl_dims_t all_dims = {0}, all_strides = {0};
    memcpy(all_dims, dims, (size_t)rank * sizeof *dims);
    memcpy(all_strides, strides, (size_t)rank * sizeof *strides);
    must(dnnl_memory_desc_init_by_strides(&d, rank, all_dims, type, all_strides), "layout");
    return d;
}

/* rows x columns; the strides of a matrix or of its transpose. */
static dnnl_memory_desc_t matrix(dnnl_data_type_t type, dnnl_dim_t rows, dnnl_dim_t columns,
                                 bool transposed) {
    const dnnl_dim_t plain[] = {columns, 1}, turned[] = {1, rows};
    return strided(type, 2, (dnnl_dim_t[]){rows, columns}, transposed ? turned : plain);
}

/* An operand in the call's tensors, or in memory that the library allocates. */
static operand at(int argument, int tensor, size_t offset, const dnnl_memory_desc_t *d) {
    operand o = {argument, tensor, offset, NULL};
    void *data = tensor < 0 ? DNNL_MEMORY_ALLOCATE : DNNL_MEMORY_NONE;
    must(dnnl_memory_create(&o.memory, d, engine, data), "memory");
    return o;
}

/* The primitive of an operation's description; NULL where the library has none. */
static dnnl_primitive_t primitive_of(const_dnnl_op_desc_t operation,
                                     const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *kept) {
    dnnl_primitive_desc_t d;
    dnnl_primitive_t primitive = NULL;
    if (dnnl_primitive_desc_create(&d, operation, attributes, engine, NULL) != dnnl_success)
        return NULL;
    if (dnnl_primitive_create(&primitive, d) != dnnl_success)
        primitive = NULL;
    if (kept && primitive)
        *kept = d;
    else
        dnnl_primitive_desc_destroy(d);
    return primitive;
}

static bool add_step(dnnl_primitive_t primitive, int count, const operand *operands) {
    if (!primitive || made.step_count == STEPS_MAX)
        return false;
    step *s = &made.steps[made.step_count++];
    s->primitive = primitive;
    s->count = count;
    memcpy(s->operands, operands, (size_t)count * sizeof *operands);
    return true;
}

static dnnl_primitive_t reorder_of(const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to) {
    dnnl_primitive_desc_t d;
    dnnl_primitive_t primitive;
    must(dnnl_reorder_primitive_desc_create(&d, from, engine, to, engine, NULL), "reorder");
    must(dnnl_primitive_create(&primitive, d), "reorder");
    dnnl_primitive_desc_destroy(d);
    return primitive;
}

/* Memory that several operands share is destroyed once; a process has few plans, so none is. */
static void forget(void) {
    for (int i = 0; i < made.step_count; i++)
        dnnl_primitive_destroy(made.steps[i].primitive);
    made = (plan){0};
}

/* ---- calls ---- */

static void run(DLTensor *const *t) {
    for (int i = 0; i < made.step_count; i++) {
        const step *s = &made.steps[i];
        dnnl_exec_arg_t arguments[ARGUMENTS];
        for (int k = 0; k < s->count; k++) {
            const operand *o = &s->operands[k];
            if (o->tensor >= 0)
                must(dnnl_memory_set_data_handle(o->memory, (char *)t[o->tensor]->data + o->offset),
                     "pointer");
            arguments[k] = (dnnl_exec_arg_t){o->argument, o->memory};
        }
        must(dnnl_primitive_execute(s->primitive, stream, s->count, arguments), "execute");
    }
    must(dnnl_stream_wait(stream), "wait");
}

/* Tells that the plan in hand is of this function and these shapes. */
static bool is_made(int (*of)(DLTensor *const *, int32_t), DLTensor *const *t, int32_t count) {
    bool same = made.of == of;
    for (int32_t i = 0; i < count && same; i++)
        same = memcmp(made.shapes[i], t[i]->shape, (size_t)t[i]->ndim * sizeof(int64_t)) == 0;
    return same;
}

/* A new plan that `make` fills; false where the library has none. */
static bool plan_for(int (*of)(DLTensor *const *, int32_t), DLTensor *const *t, int32_t count,
                     bool (*make)(DLTensor *const *t)) {
    if (count > SHAPES_MAX)
        return false;
    for (int32_t i = 0; i < count; i++)
        if (t[i]->ndim > RANK_MAX)
            return false;
    if (is_made(of, t, count))
        return true;
    open_engine();
    forget();
    for (int32_t i = 0; i < count; i++)
        memcpy(made.shapes[i], t[i]->shape, (size_t)t[i]->ndim * sizeof(int64_t));
    if (!make(t)) {
        forget();
        return false;
    }
    made.of = of;
    return true;
}

/* ---- products ---- */

static dnnl_data_type_t type_of(const DLTensor *t) {
    return peer_is(t, TSR_DL_FLOAT, 32, 2)    ? dnnl_f32
           : peer_is(t, TSR_DL_BFLOAT, 16, 2) ? dnnl_bf16
           : peer_is(t, TSR_DL_INT, 8, 2)     ? dnnl_s8
           : peer_is(t, TSR_DL_INT, 32, 2)    ? dnnl_s32
                                              : dnnl_data_type_undef;
}

static bool turned; /* of the product that is being planned */

static bool make_product(DLTensor *const *t) {
    dnnl_dim_t m = t[0]->shape[0], k = t[0]->shape[1], n = t[2]->shape[1];
    dnnl_data_type_t left = type_of(t[0]), right = type_of(t[1]), result = type_of(t[2]);
    if (!left || !right || !result)
        return false;
    dnnl_memory_desc_t x = matrix(left, m, k, false), y = matrix(right, k, n, turned),
                       z = matrix(result, m, n, false);
    dnnl_matmul_desc_t d;
    return dnnl_matmul_desc_init(&d, &x, &y, NULL, &z) == dnnl_success &&
           add_step(primitive_of(&d, NULL, NULL), 3,
                    (operand[]){at(DNNL_ARG_SRC, 0, 0, &x), at(DNNL_ARG_WEIGHTS, 1, 0, &y),
                                at(DNNL_ARG_DST, 2, 0, &z)});
}

static void run_sgemm(const peer_product *p, bool right_turned) {
    must(dnnl_sgemm('N', right_turned ? 'T' : 'N', p->m, p->n, p->k, 1.0f, p->x, p->k, p->y,
                    right_turned ? p->k : p->n, 0.0f, p->out, p->n),
         "sgemm");
}

static double least_ms(DLTensor *const *t, const peer_product *p, bool sgemm) {
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        double start = omp_get_wtime();
        if (sgemm)
            run_sgemm(p, turned);
        else
            run(t);
        least = fmin(least, (omp_get_wtime() - start) * 1e3);
    }
    return least;
}

static int multiply(int (*of)(DLTensor *const *, int32_t), DLTensor *const *t, int32_t count,
                    bool right_turned) {
    peer_product p;
    if (!peer_take_product(t, count, right_turned, &p))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    if (!is_made(of, t, count)) {
        turned = right_turned;
        if (!plan_for(of, t, count, make_product))
            return TSR_IMPLEMENTATION_UNSUPPORTED;
        made.use_sgemm =
            peer_are_f32(t, count, 2) && least_ms(t, &p, true) < least_ms(t, &p, false);
    }
    if (made.use_sgemm)
        run_sgemm(&p, right_turned);
    else
        run(t);
    return 0;
}

PEER_FUNCTION(matmul_f32) {
    return multiply(matmul_f32, t, count, false);
}

PEER_FUNCTION(linear_f32) {
    return multiply(linear_f32, t, count, true);
}

PEER_ALIAS(matmul_bf16, matmul_f32)
PEER_ALIAS(matmul_bf16_pairs, matmul_f32)
PEER_ALIAS(matmul_i8, matmul_f32)
PEER_ALIAS(linear_bf16, linear_f32)
PEER_ALIAS(linear_i8, linear_f32)
/* As the corpus calls them. */
PEER_ALIAS(matmul_bf16_f32, matmul_f32)
PEER_ALIAS(matmul_f32_yt, linear_f32)
PEER_ALIAS(matmul_bf16_pairs_yt, linear_f32)
PEER_ALIAS(decode, linear_f32)
PEER_ALIAS(decode_integers, linear_f32)

/* ---- rows ---- */

static dnnl_memory_desc_t rows_of(const DLTensor *t) {
    return matrix(dnnl_f32, t->shape[0], t->shape[1], false);
}

static bool make_softmax(DLTensor *const *t) {
    dnnl_memory_desc_t x = rows_of(t[0]);
    dnnl_softmax_desc_t d;
    must(dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, &x, 1), "softmax");
    return add_step(primitive_of(&d, NULL, NULL), 2,
                    (operand[]){at(DNNL_ARG_SRC, 0, 0, &x), at(DNNL_ARG_DST, 1, 0, &x)});
}

static bool make_gelu(DLTensor *const *t) {
    dnnl_memory_desc_t x = rows_of(t[0]);
    dnnl_eltwise_desc_t d;
    must(dnnl_eltwise_forward_desc_init(&d, dnnl_forward_inference, dnnl_eltwise_gelu_tanh, &x, 0,
                                        0),
         "gelu");
    return add_step(primitive_of(&d, NULL, NULL), 2,
                    (operand[]){at(DNNL_ARG_SRC, 0, 0, &x), at(DNNL_ARG_DST, 1, 0, &x)});
}

/* The gain and the bias are two tensors here, as they are for ours. */
static bool make_layernorm(DLTensor *const *t) {
    const dnnl_dim_t n = t[0]->shape[1];
    dnnl_memory_desc_t x = rows_of(t[0]), g = strided(dnnl_f32, 1, &n, (dnnl_dim_t[]){1});
    dnnl_layer_normalization_desc_t d;
    must(dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, &x, NULL, 1e-5f,
                                                    dnnl_use_scale | dnnl_use_shift),
         "layernorm");
    return add_step(primitive_of(&d, NULL, NULL), 4,
                    (operand[]){at(DNNL_ARG_SRC, 0, 0, &x), at(DNNL_ARG_SCALE, 1, 0, &g),
                                at(DNNL_ARG_SHIFT, 2, 0, &g), at(DNNL_ARG_DST, 3, 0, &x)});
}

static bool make_transpose(DLTensor *const *t) {
    dnnl_dim_t m = t[0]->shape[0], n = t[0]->shape[1];
    dnnl_memory_desc_t from = matrix(dnnl_f32, n, m, true), to = matrix(dnnl_f32, n, m, false);
    return add_step(reorder_of(&from, &to), 2,
                    (operand[]){at(DNNL_ARG_FROM, 0, 0, &from), at(DNNL_ARG_TO, 1, 0, &to)});
}

static int run_rows(int (*of)(DLTensor *const *, int32_t), DLTensor *const *t, int32_t count,
                    bool (*make)(DLTensor *const *)) {
    if (count != 2 || !peer_are_f32(t, count, 2) || !plan_for(of, t, count, make))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    run(t);
    return 0;
}

PEER_FUNCTION(softmax_f32) {
    return run_rows(softmax_f32, t, count, make_softmax);
}

PEER_FUNCTION(gelu_f32) {
    return run_rows(gelu_f32, t, count, make_gelu);
}

PEER_FUNCTION(transpose_f32) {
    return run_rows(transpose_f32, t, count, make_transpose);
}

PEER_FUNCTION(layernorm_f32) {
    if (count != 4 || !peer_is_f32(t[0], 2) || !peer_is_f32(t[1], 1) || !peer_is_f32(t[2], 1) ||
        !plan_for(layernorm_f32, t, count, make_layernorm))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    run(t);
    return 0;
}

/* As the corpus calls them. */
PEER_ALIAS(softmax_rows, softmax_f32)
PEER_ALIAS(layernorm_rows, layernorm_f32)
PEER_ALIAS(transpose2d, transpose_f32)

/* ---- attention ---- */

static dnnl_primitive_t product_of(const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *y,
                                   const dnnl_memory_desc_t *z, float scale) {
    dnnl_matmul_desc_t d;
    dnnl_primitive_attr_t attributes;
    must(dnnl_primitive_attr_create(&attributes), "attributes");
    must(dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale), "scale");
    must(dnnl_matmul_desc_init(&d, x, y, NULL, z), "matmul");
    dnnl_primitive_t primitive = primitive_of(&d, attributes, NULL);
    dnnl_primitive_attr_destroy(attributes);
    return primitive;
}

static bool make_attention(DLTensor *const *t) {
    const dnnl_dim_t heads = t[0]->shape[0] * t[0]->shape[1], queries = t[0]->shape[2],
                     keys = t[1]->shape[2], depth = t[0]->shape[3];
    dnnl_memory_desc_t q = matrix(dnnl_f32, queries, depth, false),
                       k = matrix(dnnl_f32, depth, keys, true),
                       v = matrix(dnnl_f32, keys, depth, false),
                       scores = matrix(dnnl_f32, queries, keys, false);
    dnnl_softmax_desc_t softmax;
    must(dnnl_softmax_forward_desc_init(&softmax, dnnl_forward_inference, &scores, 1), "softmax");
    operand between = at(DNNL_ARG_SRC, -1, 0, &scores), result = between;
    result.argument = DNNL_ARG_DST;
    bool ok = true;
    for (size_t h = 0; h < (size_t)heads && ok; h++) {
        size_t rows = h * (size_t)(queries * depth) * sizeof(float),
               columns = h * (size_t)(keys * depth) * sizeof(float);
        ok = add_step(product_of(&q, &k, &scores, 1.0f / sqrtf((float)depth)), 3,
                      (operand[]){at(DNNL_ARG_SRC, 0, rows, &q),
                                  at(DNNL_ARG_WEIGHTS, 1, columns, &k), result}) &&
             add_step(primitive_of(&softmax, NULL, NULL), 2, (operand[]){between, result}) &&
             add_step(product_of(&scores, &v, &q, 1.0f), 3,
                      (operand[]){between, at(DNNL_ARG_WEIGHTS, 2, columns, &v),
                                  at(DNNL_ARG_DST, 3, rows, &q)});
    }
    return ok;
}

PEER_FUNCTION(attention_f32) {
    if (count != 4 || !peer_are_f32(t, count, 4) ||
        !plan_for(attention_f32, t, count, make_attention))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    run(t);
    return 0;
}

PEER_ALIAS(attention_full, attention_f32) /* as the corpus calls it */

/* ---- convolutions ---- */

static bool make_convolution(DLTensor *const *t) {
    const dnnl_dim_t n = t[0]->shape[0], h = t[0]->shape[1], w = t[0]->shape[2];
    const dnnl_dim_t ci = t[0]->shape[3], co = t[1]->shape[3];
    const dnnl_dims_t ones = {1, 1}, weight_dims = {co, ci, 3, 3};
    dnnl_memory_desc_t x = strided(dnnl_f32, 4, (dnnl_dim_t[]){n, ci, h, w},
                                   (dnnl_dim_t[]){h * w * ci, 1, w * ci, ci});
    dnnl_memory_desc_t z = strided(dnnl_f32, 4, (dnnl_dim_t[]){n, co, h, w},
                                   (dnnl_dim_t[]){h * w * co, 1, w * co, co});
    dnnl_memory_desc_t hwio = strided(dnnl_f32, 4, (dnnl_dim_t[]){co, ci, 3, 3},
                                      (dnnl_dim_t[]){1, co, 3 * ci * co, ci * co});
    dnnl_memory_desc_t any;
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t kept;
    must(dnnl_memory_desc_init_by_tag(&any, 4, weight_dims, dnnl_f32, dnnl_format_tag_any),
         "weights");
    must(dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct, &x,
                                            &any, NULL, &z, ones, ones, ones),
         "convolution");
    dnnl_primitive_t primitive = primitive_of(&d, NULL, &kept);
    if (!primitive)
        return false;
    const dnnl_memory_desc_t *own = dnnl_primitive_desc_query_md(kept, dnnl_query_weights_md, 0);
    operand to = at(DNNL_ARG_TO, -1, 0, own), weights = to;
    weights.argument = DNNL_ARG_WEIGHTS;
    bool ok =
        add_step(reorder_of(&hwio, own), 2, (operand[]){at(DNNL_ARG_FROM, 1, 0, &hwio), to}) &&
        add_step(primitive, 3,
                 (operand[]){at(DNNL_ARG_SRC, 0, 0, &x), weights, at(DNNL_ARG_DST, 2, 0, &z)});
    dnnl_primitive_desc_destroy(kept);
    return ok;
}

PEER_FUNCTION(conv3x3_f32) {
    if (count != 3 || !peer_are_f32(t, count, 4) || t[1]->shape[0] != 3 || t[1]->shape[1] != 3 ||
        !plan_for(conv3x3_f32, t, count, make_convolution))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    run(t);
    return 0;
}

PEER_ALIAS(conv2d_3x3, conv3x3_f32) /* as the corpus calls it */
