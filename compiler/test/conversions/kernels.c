/* kernels.c - builds, compiles and loads the graph. */
#include "test/conversions/kernels.h"

#include <stdio.h>
#include <string.h>

#include "ops/graph.h"

static bool convert_fits(ir_module *m, dtype from, conversion c, ir_named_attr *attrs, ir_type *x) {
    int64_t count = CONVERSION_ELEMENTS;
    *x = ir_type_tensor(m, from, 1, &count);
    attrs[0] = (ir_named_attr){"to", ir_attr_type(m, ir_type_scalar(m, c.to))};
    attrs[1] = (ir_named_attr){"saturate", ir_attr_bool(m, true)};
    graph_infer_query q = {.m = m,
                           .opcode = GRAPH_CONVERT,
                           .operands = x,
                           .operand_count = 1,
                           .attrs = attrs,
                           .attr_count = c.saturate ? 2 : 1};
    return graph_infer(&q);
}

/* A saturating conversion is one that the shape rule lets be one. */
uint32_t conversions_from(dtype from, bool narrow, conversion *list) {
    uint32_t count = 0;
    ir_module *m = ir_module_new();
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        for (int saturate = 0; saturate < 2; saturate++) {
            conversion c = {(dtype)t, saturate != 0};
            ir_named_attr attrs[2];
            ir_type x;
            bool wanted = !narrow || (dtype_is_narrow(c.to) && c.to != DTYPE_TF32);
            if (c.to != from && wanted && convert_fits(m, from, c, attrs, &x))
                list[count++] = c;
        }
    ir_module_free(m);
    return count;
}

static ir_module *graph_of(const conversion_kernel *k) {
    ir_module *m = ir_module_new();
    ir_attr names[CONVERSIONS_MAX], in = ir_attr_string(m, "x");
    char name[16];
    for (uint32_t i = 0; i < k->count; i++) {
        snprintf(name, sizeof name, "y%u", i);
        names[i] = ir_attr_string(m, name);
    }
    ir_named_attr attrs[] = {{"name", ir_attr_string(m, "conversions")},
                             {"inputs", ir_attr_array(m, &in, 1)},
                             {"outputs", ir_attr_array(m, names, k->count)}};
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    ir_op_spec spec = {.opcode = GRAPH_KERNEL, .attrs = attrs, .attr_count = 3, .region_count = 1};
    b.block = ir_op_block(m, ir_build(&b, &spec), 0);
    int64_t count = CONVERSION_ELEMENTS;
    ir_value x = ir_block_add_argument(m, b.block, ir_type_tensor(m, k->from, 1, &count), "x");
    ir_value values[CONVERSIONS_MAX];
    for (uint32_t i = 0; i < k->count; i++) {
        ir_named_attr how[2];
        ir_type type;
        convert_fits(m, k->from, k->list[i], how, &type);
        ir_op op = graph_build(&b, GRAPH_CONVERT, &x, 1, how, k->list[i].saturate ? 2 : 1);
        values[i] = ir_op_result(m, op, 0);
    }
    ir_build(&b,
             &(ir_op_spec){.opcode = GRAPH_RETURN, .operands = values, .operand_count = k->count});
    return m;
}

static bool load(conversion_kernel *k, const compiler_artifact *a, status *st) {
    const size_t bytes = CONVERSION_ELEMENTS * sizeof(uint64_t);
    bool ok = tsrCreateContextOn(0, 1, 0, &k->context) == TSR_SUCCESS &&
              tsrLoadModule(k->context, a->image, a->image_size, &k->module) == TSR_SUCCESS &&
              tsrGetKernel(k->module, "conversions", &k->kernel) == TSR_SUCCESS &&
              tsrAlloc(k->context, bytes, TSR_ALLOC_ZERO, &k->in) == TSR_SUCCESS;
    for (uint32_t i = 0; ok && i < k->count; i++)
        ok = tsrAlloc(k->context, bytes, TSR_ALLOC_ZERO, &k->out[i]) == TSR_SUCCESS;
    return ok || status_set(st, STATUS_UNAVAILABLE, "%s", tsrGetLastError());
}

bool conversion_kernel_open(conversion_kernel *k, dtype from, bool narrow, const char *isa,
                            status *st) {
    compiler_options options = {.profile = PROFILE_STRICT, .isa = isa, .threads = 1};
    compiler_artifact artifact = {0};
    *k = (conversion_kernel){.from = from};
    k->count = conversions_from(from, narrow, k->list);
    ir_module *graph = graph_of(k);
    bool ok = compiler_build(graph, NULL, 0, &options, &artifact, st) && load(k, &artifact, st);
    compiler_artifact_release(&artifact);
    ir_module_free(graph);
    return ok;
}

bool conversion_kernel_run(conversion_kernel *k) {
    void *args[CONVERSIONS_MAX + 1] = {&k->in};
    for (uint32_t i = 0; i < k->count; i++)
        args[1 + i] = &k->out[i];
    return tsrLaunch(k->kernel, NULL, (tsr_launch_t){0}, args, k->count + 1) == TSR_SUCCESS;
}

void conversion_kernel_close(conversion_kernel *k) {
    for (uint32_t i = 0; i < k->count; i++)
        if (k->out[i])
            tsrFree(k->context, k->out[i]);
    if (k->in)
        tsrFree(k->context, k->in);
    if (k->module)
        tsrUnloadModule(k->module);
    if (k->context)
        tsrDestroyContext(k->context);
    memset(k, 0, sizeof *k);
}
