/* onednn.c - oneDNN: a list of primitives, executed in order, over the buffers of the case.
 *
 *   matmul f32|bf16|i8 M N K     row-major in and out, nothing packed beforehand; i8 is s8 by s8 to
 * s32; linear: the same with the right side stored as N x K. softmax | layernorm | rmsnorm | gelu M
 * N transpose M N attention H S D              for each head: scores, softmax in place, product:
 * what a library without a fused kernel does conv N H W CI CO             3 x 3, stride 1, padding
 * 1; images by rows, weights in the layout that it likes best */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnnl.h>
#include <omp.h>

#include "peer.h"

enum { STEPS_MAX = 64, MEMORIES_MAX = 256, ARGUMENTS = 4 };

typedef struct step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[ARGUMENTS];
    int count;
} step;

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static step steps[STEPS_MAX];
static int step_count;
static dnnl_memory_t memories[MEMORIES_MAX];
static int memory_count;
static bool gemm_turned; /* the right side is stored as N x K */
static bool use_sgemm;   /* dnnl_sgemm where it is faster than the primitive */
static dnnl_dim_t gemm_m, gemm_n, gemm_k;
static const float *gemm_x, *gemm_y;
static float *gemm_out;

static const dnnl_data_type_t types[PEER_TYPE_COUNT] = {dnnl_f32, dnnl_bf16, dnnl_s8, dnnl_s32};

const char *peer_version(void) {
    static char version[64];
    const dnnl_version_t *v = dnnl_version();
    snprintf(version, sizeof version, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    return version;
}

static void must(dnnl_status_t status, const char *what) {
    if (status == dnnl_success)
        return;
    fprintf(stderr, "oneDNN: %s: status %d\n", what, (int)status);
    exit(3);
}

static void open_engine(int threads) {
    if (engine)
        return;
    omp_set_num_threads(threads);
    must(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
    must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream");
}

static dnnl_memory_desc_t strided(peer_type type, int rank, const dnnl_dim_t *dims,
                                  const dnnl_dim_t *strides) {
    dnnl_memory_desc_t d;
    dnnl_dims_t all_dims = {0}, all_strides = {0};
    memcpy(all_dims, dims, (size_t)rank * sizeof *dims);
    memcpy(all_strides, strides, (size_t)rank * sizeof *strides);
    must(dnnl_memory_desc_init_by_strides(&d, rank, all_dims, types[type], all_strides), "layout");
    return d;
}

/* rows x columns; the strides of a matrix or of its transpose. */
static dnnl_memory_desc_t matrix(peer_type type, dnnl_dim_t rows, dnnl_dim_t columns,
                                 bool transposed) {
    const dnnl_dim_t plain[] = {columns, 1}, turned[] = {1, rows};
    return strided(type, 2, (dnnl_dim_t[]){rows, columns}, transposed ? turned : plain);
}

static dnnl_memory_t place(const dnnl_memory_desc_t *d, const void *data) {
    dnnl_memory_t memory;
    if (memory_count == MEMORIES_MAX)
        must(dnnl_out_of_memory, "too many memories");
    must(dnnl_memory_create(&memory, d, engine, (void *)data), "memory");
    memories[memory_count++] = memory;
    return memory;
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
    if (getenv("PEER_VERBOSE")) {
        const char *name = "";
        dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &name);
        fprintf(stderr, "oneDNN: %s\n", name);
    }
    if (kept && primitive)
        *kept = d;
    else
        dnnl_primitive_desc_destroy(d);
    return primitive;
}

static void add_step(dnnl_primitive_t primitive, int count, const dnnl_exec_arg_t *arguments) {
    if (step_count == STEPS_MAX)
        must(dnnl_out_of_memory, "too many steps");
    step *s = &steps[step_count++];
    s->primitive = primitive;
    s->count = count;
    memcpy(s->arguments, arguments, (size_t)count * sizeof *arguments);
}

static double milliseconds(void) {
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        double start = omp_get_wtime();
        peer_run();
        least = fmin(least, (omp_get_wtime() - start) * 1e3);
    }
    return least;
}

static bool prepare_matmul(peer_case *c) {
    peer_type type;
    if (!peer_type_of(c, c->words[1], &type))
        return false;
    peer_type result = type == PEER_I8 ? PEER_I32 : type;
    dnnl_dim_t m = peer_number(c, 2), n = peer_number(c, 3), k = peer_number(c, 4);
    bool linear = strcmp(c->words[0], "linear") == 0;
    dnnl_memory_desc_t x = matrix(type, m, k, false), y = matrix(type, k, n, linear),
                       z = matrix(result, m, n, false);
    dnnl_matmul_desc_t d;
    must(dnnl_matmul_desc_init(&d, &x, &y, NULL, &z), "matmul");
    dnnl_primitive_t primitive = primitive_of(&d, NULL, NULL);
    if (!primitive)
        return peer_refuse(c, "oneDNN has no matmul of %s", c->words[1]);
    gemm_x = peer_input(c, 0, type, (size_t)(m * k));
    gemm_y = peer_input(c, 1, type, (size_t)(k * n));
    gemm_out = peer_output_buffer(c, result, (size_t)(m * n));
    gemm_m = m, gemm_n = n, gemm_k = k;
    gemm_turned = linear;
    add_step(primitive, 3,
             (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, place(&x, gemm_x)},
                                 {DNNL_ARG_WEIGHTS, place(&y, gemm_y)},
                                 {DNNL_ARG_DST, place(&z, gemm_out)}});
    if (type == PEER_F32) {
        double of_primitive = milliseconds();
        use_sgemm = true;
        use_sgemm = milliseconds() < of_primitive;
    }
    return true;
}

static bool prepare_softmax(peer_case *c) {
    dnnl_dim_t m = peer_number(c, 1), n = peer_number(c, 2);
    dnnl_memory_desc_t x = matrix(PEER_F32, m, n, false);
    dnnl_softmax_desc_t d;
    must(dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, &x, 1), "softmax");
    add_step(primitive_of(&d, NULL, NULL), 2,
             (dnnl_exec_arg_t[]){
                 {DNNL_ARG_SRC, place(&x, peer_input(c, 0, PEER_F32, (size_t)(m * n)))},
                 {DNNL_ARG_DST, place(&x, peer_output_buffer(c, PEER_F32, (size_t)(m * n)))}});
    return true;
}

static bool prepare_layernorm(peer_case *c) {
    dnnl_dim_t m = peer_number(c, 1), n = peer_number(c, 2);
    dnnl_memory_desc_t x = matrix(PEER_F32, m, n, false), g = matrix(PEER_F32, 2, n, false);
    dnnl_layer_normalization_desc_t d;
    must(dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, &x, NULL, 1e-5f,
                                                    dnnl_use_scaleshift),
         "layernorm");
    const float *source = peer_input(c, 0, PEER_F32, (size_t)(m * n));
    float *both = peer_buffer((size_t)(2 * n) * sizeof *both);
    memcpy(both, peer_input(c, 1, PEER_F32, (size_t)n), (size_t)n * sizeof *both);
    memcpy(both + n, peer_input(c, 2, PEER_F32, (size_t)n), (size_t)n * sizeof *both);
    add_step(primitive_of(&d, NULL, NULL), 3,
             (dnnl_exec_arg_t[]){
                 {DNNL_ARG_SRC, place(&x, source)},
                 {DNNL_ARG_SCALE_SHIFT, place(&g, both)},
                 {DNNL_ARG_DST, place(&x, peer_output_buffer(c, PEER_F32, (size_t)(m * n)))}});
    return true;
}

static bool prepare_gelu(peer_case *c) {
    dnnl_dim_t m = peer_number(c, 1), n = peer_number(c, 2);
    dnnl_memory_desc_t x = matrix(PEER_F32, m, n, false);
    dnnl_eltwise_desc_t d;
    must(dnnl_eltwise_forward_desc_init(&d, dnnl_forward_inference, dnnl_eltwise_gelu_tanh, &x, 0,
                                        0),
         "gelu");
    add_step(primitive_of(&d, NULL, NULL), 2,
             (dnnl_exec_arg_t[]){
                 {DNNL_ARG_SRC, place(&x, peer_input(c, 0, PEER_F32, (size_t)(m * n)))},
                 {DNNL_ARG_DST, place(&x, peer_output_buffer(c, PEER_F32, (size_t)(m * n)))}});
    return true;
}

static bool prepare_transpose(peer_case *c) {
    dnnl_dim_t m = peer_number(c, 1), n = peer_number(c, 2);
    dnnl_memory_desc_t from = matrix(PEER_F32, n, m, true), to = matrix(PEER_F32, n, m, false);
    dnnl_primitive_desc_t d;
    dnnl_primitive_t primitive;
    must(dnnl_reorder_primitive_desc_create(&d, &from, engine, &to, engine, NULL), "reorder");
    must(dnnl_primitive_create(&primitive, d), "reorder");
    dnnl_primitive_desc_destroy(d);
    add_step(primitive, 2,
             (dnnl_exec_arg_t[]){
                 {DNNL_ARG_FROM, place(&from, peer_input(c, 0, PEER_F32, (size_t)(m * n)))},
                 {DNNL_ARG_TO, place(&to, peer_output_buffer(c, PEER_F32, (size_t)(m * n)))}});
    return true;
}

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

static bool prepare_attention(peer_case *c) {
    dnnl_dim_t heads = peer_number(c, 1), s = peer_number(c, 2), d = peer_number(c, 3);
    dnnl_memory_desc_t q = matrix(PEER_F32, s, d, false), k = matrix(PEER_F32, d, s, true);
    dnnl_memory_desc_t scores = matrix(PEER_F32, s, s, false);
    dnnl_softmax_desc_t softmax;
    size_t each = (size_t)(s * d);
    if (heads * 3 > STEPS_MAX)
        return peer_refuse(c, "at most %d heads", STEPS_MAX / 3);
    must(dnnl_softmax_forward_desc_init(&softmax, dnnl_forward_inference, &scores, 1), "softmax");
    const float *qs = peer_input(c, 0, PEER_F32, (size_t)heads * each),
                *ks = peer_input(c, 1, PEER_F32, (size_t)heads * each);
    const float *vs = peer_input(c, 2, PEER_F32, (size_t)heads * each);
    float *out = peer_output_buffer(c, PEER_F32, (size_t)heads * each);
    dnnl_memory_t between = place(&scores, peer_buffer((size_t)(s * s) * sizeof(float)));
    for (size_t h = 0; h < (size_t)heads; h++) {
        add_step(product_of(&q, &k, &scores, 1.0f / sqrtf((float)d)), 3,
                 (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, place(&q, qs + h * each)},
                                     {DNNL_ARG_WEIGHTS, place(&k, ks + h * each)},
                                     {DNNL_ARG_DST, between}});
        add_step(primitive_of(&softmax, NULL, NULL), 2,
                 (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, between}, {DNNL_ARG_DST, between}});
        add_step(product_of(&scores, &q, &q, 1.0f), 3,
                 (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, between},
                                     {DNNL_ARG_WEIGHTS, place(&q, vs + h * each)},
                                     {DNNL_ARG_DST, place(&q, out + h * each)}});
    }
    return true;
}

/* Weights come as HWIO and are brought into the library's layout once, outside of what is timed. */
static dnnl_memory_t own_weights(const dnnl_memory_desc_t *plain, const dnnl_memory_desc_t *own,
                                 const float *data) {
    dnnl_primitive_desc_t d;
    dnnl_primitive_t primitive;
    dnnl_memory_t from = place(plain, data),
                  to = place(own, peer_buffer(dnnl_memory_desc_get_size(own)));
    must(dnnl_reorder_primitive_desc_create(&d, plain, engine, own, engine, NULL), "reorder");
    must(dnnl_primitive_create(&primitive, d), "reorder");
    must(dnnl_primitive_execute(primitive, stream, 2,
                                (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}),
         "reorder");
    must(dnnl_stream_wait(stream), "reorder");
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(d);
    return to;
}

static bool prepare_convolution(peer_case *c) {
    dnnl_dim_t n = peer_number(c, 1), h = peer_number(c, 2), w = peer_number(c, 3);
    dnnl_dim_t ci = peer_number(c, 4), co = peer_number(c, 5);
    const dnnl_dims_t ones = {1, 1}, weight_dims = {co, ci, 3, 3};
    dnnl_memory_desc_t x = strided(PEER_F32, 4, (dnnl_dim_t[]){n, ci, h, w},
                                   (dnnl_dim_t[]){h * w * ci, 1, w * ci, ci});
    dnnl_memory_desc_t z = strided(PEER_F32, 4, (dnnl_dim_t[]){n, co, h, w},
                                   (dnnl_dim_t[]){h * w * co, 1, w * co, co});
    dnnl_memory_desc_t hwio = strided(PEER_F32, 4, (dnnl_dim_t[]){co, ci, 3, 3},
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
        return peer_refuse(c, "oneDNN has no such convolution");
    const dnnl_memory_desc_t *own = dnnl_primitive_desc_query_md(kept, dnnl_query_weights_md, 0);
    const float *images = peer_input(c, 0, PEER_F32, (size_t)(n * h * w * ci));
    dnnl_memory_t weights =
        own_weights(&hwio, own, peer_input(c, 1, PEER_F32, (size_t)(9 * ci * co)));
    add_step(
        primitive, 3,
        (dnnl_exec_arg_t[]){
            {DNNL_ARG_SRC, place(&x, images)},
            {DNNL_ARG_WEIGHTS, weights},
            {DNNL_ARG_DST, place(&z, peer_output_buffer(c, PEER_F32, (size_t)(n * h * w * co)))}});
    dnnl_primitive_desc_destroy(kept);
    return true;
}

static const struct {
    const char *name;
    int words;
    bool (*prepare)(peer_case *);
} kernels[] = {
    {"matmul", 5, prepare_matmul},       {"linear", 5, prepare_matmul},
    {"softmax", 3, prepare_softmax},     {"layernorm", 3, prepare_layernorm},
    {"gelu", 3, prepare_gelu},           {"transpose", 3, prepare_transpose},
    {"attention", 4, prepare_attention}, {"conv", 6, prepare_convolution},
};

bool peer_prepare(peer_case *c) {
    open_engine(c->threads);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, c->words[0]) == 0 && kernels[i].words == c->count) {
            if (!kernels[i].prepare(c))
                return false;
            peer_run();
            return true;
        }
    return peer_refuse(c, "oneDNN is not measured with %s", c->words[0]);
}

void peer_run(void) {
    if (use_sgemm) {
        must(dnnl_sgemm('N', gemm_turned ? 'T' : 'N', gemm_m, gemm_n, gemm_k, 1.0f, gemm_x, gemm_k,
                        gemm_y, gemm_turned ? gemm_k : gemm_n, 0.0f, gemm_out, gemm_n),
             "sgemm");
        return;
    }
    for (int i = 0; i < step_count; i++)
        must(dnnl_primitive_execute(steps[i].primitive, stream, steps[i].count, steps[i].arguments),
             "execute");
    must(dnnl_stream_wait(stream), "wait");
}

void peer_release(void) {
    for (int i = 0; i < step_count; i++)
        dnnl_primitive_destroy(steps[i].primitive);
    for (int i = 0; i < memory_count; i++)
        dnnl_memory_destroy(memories[i]);
    step_count = memory_count = 0;
    use_sgemm = false;
}
