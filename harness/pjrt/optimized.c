/* optimized.c - the program as frameworks ask for it once it is compiled: what one device takes and
 * gives, and as attributes of the module how that lies on the devices. Its operations are none of
 * those that run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pjrt/plugin.h"

/* ---- how a value lies ---- */

/* The number of the part that a device has, in row-major order. */
static uint64_t part_of(const program *p, uint32_t tensor, uint32_t device) {
    const program_cut *cut = &p->lies.cuts[tensor];
    const uint32_t *place =
        p->lies.places[(size_t)tensor * p->lies.replicas * p->lies.partitions + device];
    uint64_t part = 0;
    for (uint32_t k = cut->device_axes; k < p->tensors[tensor].rank; k++)
        part = part * cut->parts[k] + place[k];
    return part;
}

/* {devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}: the parts of each axis, and the devices of each
 * part. */
static void put_sharding(const program *p, uint32_t tensor, text *out) {
    const program_cut *cut = &p->lies.cuts[tensor];
    const uint32_t devices = p->lies.replicas * p->lies.partitions;
    uint64_t parts = 1;
    for (uint32_t k = cut->device_axes; k < p->tensors[tensor].rank; k++)
        parts *= cut->parts[k];
    if (parts == 1) {
        text_append(out, "{replicated}");
        return;
    }
    text_append(out, "{devices=[");
    for (uint32_t k = cut->device_axes; k < p->tensors[tensor].rank; k++)
        text_printf(out, "%s%u", k > cut->device_axes ? "," : "", cut->parts[k]);
    if (parts < devices)
        text_printf(out, ",%u", (unsigned)(devices / parts));
    text_append_char(out, ']');
    bool first = true;
    for (uint64_t part = 0; part < parts; part++)
        for (uint32_t d = 0; d < devices; d++)
            if (part_of(p, tensor, d) == part) {
                text_printf(out, "%s%u", first ? "" : ",", d);
                first = false;
            }
    text_append(out, parts < devices ? " last_tile_dim_replicate}" : "}");
}

static void put_attributes(const program *p, text *out) {
    text_printf(out, "attributes {mhlo.num_partitions = %u : i32, mhlo.num_replicas = %u : i32",
                p->lies.partitions, p->lies.replicas);
    text_append(out, p->outputs == 0   ? ""
                     : p->outputs == 1 ? ", mhlo.spmd_output_sharding = \""
                                       : ", mhlo.spmd_output_sharding = \"{");
    for (uint32_t i = 0; i < p->outputs; i++) {
        text_append(out, i ? ", " : "");
        put_sharding(p, p->inputs + i, out);
    }
    text_append(out, p->outputs == 0 ? "" : p->outputs == 1 ? "\"" : "}\"");
    text_append(out, ", mhlo.spmd_parameters_shardings = [");
    for (uint32_t i = 0; i < p->inputs; i++) {
        text_append(out, i ? ", \"" : "\"");
        put_sharding(p, i, out);
        text_append_char(out, '"');
    }
    text_append(out, "]}");
}

/* ---- what one device takes and gives ---- */

static void put_type(const program_tensor *t, text *out) {
    char word[TYPE_WORD_BYTES];
    text_append(out, "tensor<");
    for (uint32_t i = 0; i < t->own_rank; i++)
        text_printf(out, "%" PRId64 "x", t->own_dims[i]);
    text_printf(out, "%s>", type_word(t->type, word));
}

static void put_types(const program *p, uint32_t first, uint32_t count, text *out) {
    for (uint32_t i = 0; i < count; i++) {
        text_append(out, i ? ", " : "");
        put_type(&p->tensors[first + i], out);
    }
}

/* Its results are those of one call, of code with the kernel's name. */
static void put_program(const program *p, text *out) {
    text_printf(out, "module @%s ", p->name);
    put_attributes(p, out);
    text_append(out, " {\n  func.func public @main(");
    for (uint32_t i = 0; i < p->inputs; i++) {
        text_printf(out, "%s%%a%u: ", i ? ", " : "", i);
        put_type(&p->tensors[i], out);
    }
    text_append(out, ") -> (");
    put_types(p, p->inputs, p->outputs, out);
    text_append(out, ") {\n");
    if (p->outputs) {
        text_printf(out, "    %%0:%u = stablehlo.custom_call @%s(", p->outputs, p->name);
        for (uint32_t i = 0; i < p->inputs; i++)
            text_printf(out, "%s%%a%u", i ? ", " : "", i);
        text_append(out, ") : (");
        put_types(p, 0, p->inputs, out);
        text_append(out, ") -> (");
        put_types(p, p->inputs, p->outputs, out);
        text_append(out, ")\n");
    }
    text_append(out, "    return");
    for (uint32_t i = 0; i < p->outputs; i++)
        text_printf(out, "%s%%0#%u", i ? ", " : " ", i);
    text_append(out, p->outputs ? " : " : "");
    put_types(p, p->inputs, p->outputs, out);
    text_append(out, "\n  }\n}\n");
}

PJRT_Error *pjrt_Executable_OptimizedProgram(void *args) {
    PJRT_TAKES(Executable_OptimizedProgram, program);
    PJRT_NEEDS(Executable_OptimizedProgram, executable);
    PJRT_NEEDS(Executable_OptimizedProgram, program);
    static const char format[] = "mlir";
    text out;
    PJRT_Error *e = NULL;
    text_init(&out);
    put_program(a->executable->program, &out);
    if (a->program->code && a->program->code_size < out.length)
        e = error_new(PJRT_Error_Code_INVALID_ARGUMENT, "%zu bytes do not hold the program's %zu",
                      a->program->code_size, out.length);
    else if (a->program->code)
        memcpy(a->program->code, out.data, out.length);
    a->program->code_size = out.length;
    a->program->format = format;
    a->program->format_size = sizeof format - 1;
    text_release(&out);
    return e;
}
