/* kernels.c - builds, compiles and loads the graph. */
#include "test/conversions/kernels.h"

#include <stdio.h>
#include <string.h>

#include "ops/graph.h"

/* The operation for a conversion, of x and perhaps the index of each element. */
typedef struct operation {
    int opcode;
    ir_type operands[2];
    ir_named_attr attrs[4];
    uint32_t operand_count, attr_count;
} operation;

static bool operation_fits(ir_module *m, dtype from, conversion c, operation *o) {
    int64_t count = CONVERSION_ELEMENTS;
    *o = (operation){
        .opcode = c.drawn ? GRAPH_STOCHASTIC_ROUND : GRAPH_CONVERT,
        .operands = {ir_type_tensor(m, from, 1, &count), ir_type_tensor(m, DTYPE_I32, 1, &count)},
        .operand_count = c.drawn ? 2 : 1};
    o->attrs[o->attr_count++] = (ir_named_attr){"to", ir_attr_type(m, ir_type_scalar(m, c.to))};
    if (c.saturate)
        o->attrs[o->attr_count++] = (ir_named_attr){"saturate", ir_attr_bool(m, true)};
    if (c.drawn) {
        o->attrs[o->attr_count++] =
            (ir_named_attr){"seed", ir_attr_int(m, (int64_t)CONVERSION_SEED)};
        o->attrs[o->attr_count++] = (ir_named_attr){"stream", ir_attr_int(m, CONVERSION_STREAM)};
    }
    graph_infer_query q = {.m = m,
                           .opcode = o->opcode,
                           .operands = o->operands,
                           .operand_count = o->operand_count,
                           .attrs = o->attrs,
                           .attr_count = o->attr_count};
    return graph_infer(&q);
}

/* A saturating conversion is one that the shape rule lets be one. */
uint32_t conversions_from(dtype from, conversion_choice choice, conversion *list) {
    uint32_t count = 0;
    ir_module *m = ir_module_new();
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        for (int saturate = 0; saturate < 2; saturate++) {
            conversion c = {(dtype)t, saturate != 0, choice == CONVERSIONS_DRAWN};
            operation o;
            bool narrow = dtype_is_narrow(c.to) && c.to != DTYPE_TF32;
            if (c.to != from && (narrow || choice == CONVERSIONS_ALL) &&
                operation_fits(m, from, c, &o))
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
    ir_named_attr along[] = {{"shape", ir_attr_int_array(m, &count, 1)},
                             {"axis", ir_attr_int(m, 0)}};
    ir_op index = graph_build(&b, GRAPH_IOTA, NULL, 0, along, 2);
    ir_value operands[] = {x, ir_op_result(m, index, 0)}, values[CONVERSIONS_MAX];
    for (uint32_t i = 0; i < k->count; i++) {
        operation o;
        operation_fits(m, k->from, k->list[i], &o);
        ir_op op = graph_build(&b, o.opcode, operands, o.operand_count, o.attrs, o.attr_count);
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

bool conversion_kernel_open(conversion_kernel *k, dtype from, conversion_choice choice,
                            const char *isa, status *st) {
    compiler_options options = {.profile = PROFILE_STRICT, .isa = isa, .threads = 1};
    compiler_artifact artifact = {0};
    *k = (conversion_kernel){.from = from};
    k->count = conversions_from(from, choice, k->list);
    compiler_instance *instance = compiler_instance_new(graph_of(k), (ir_bindings){0});
    bool ok = compiler_build(instance, &options, &artifact, st) && load(k, &artifact, st);
    compiler_artifact_release(&artifact);
    compiler_instance_free(instance);
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
