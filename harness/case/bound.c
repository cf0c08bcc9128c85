/* bound.c - from --dims to a case, and from a kernel to the --dims that it wants. */
#include "case/bound.h"

#include <inttypes.h>
#include <string.h>

enum { TOLD_MAX = 8 };

const compiler_case *case_bound(compiler_source *source, const compiler_kernel *kernel,
                                const char *dims, status *st) {
    arena memory;
    compiler_values values;
    const compiler_case *c = NULL;
    text diagnostics;
    arena_init(&memory);
    text_init(&diagnostics);
    if (compiler_values_read(dims, &memory, &values, st)) {
        c = compiler_case_bind(source, kernel, &values, &diagnostics);
        if (!c)
            status_set(st, STATUS_INVALID, "%.900s", diagnostics.data);
    }
    text_release(&diagnostics);
    arena_release(&memory);
    return c;
}

bool kernel_is_fixed(const compiler_kernel *kernel) {
    return kernel->dim_count + kernel->type_count == 0;
}

/* Appends the value given for a name, else what stands for it. */
static void append_value(const compiler_values *given, const char *name, const char *otherwise,
                         text *out) {
    text_printf(out, "%s=", name);
    for (uint32_t i = 0; given && i < given->dim_count; i++)
        if (strcmp(given->dims[i].name, name) == 0) {
            text_printf(out, "%" PRId64, given->dims[i].value);
            return;
        }
    for (uint32_t i = 0; given && i < given->type_count; i++)
        if (strcmp(given->types[i].name, name) == 0) {
            text_append(out, dtype_name(given->types[i].type));
            return;
        }
    text_append(out, otherwise);
}

void bound_line(const char *begin, const compiler_kernel *kernel, const compiler_values *given,
                text *out) {
    text_printf(out, "%s %s", begin, kernel->path);
    for (uint32_t i = 0; i < kernel->dim_count; i++) {
        text_append(out, i ? "," : " --dims ");
        append_value(given, kernel->dim_names[i], "...", out);
    }
    for (uint32_t i = 0; i < kernel->type_count; i++) {
        text_append(out, i || kernel->dim_count ? "," : " --dims ");
        append_value(given, kernel->type_names[i], "f32", out);
    }
}

void unbound_tell(const unbound_kernels *kernels, const char *begin, const compiler_values *given,
                  text *out) {
    for (size_t i = 0; i < kernels->count && i < TOLD_MAX; i++) {
        const compiler_kernel *kernel = kernels->items[i];
        text_printf(out, "tsr: %s:%u: kernel %s has other names:\n    ", kernel->path, kernel->line,
                    kernel->name);
        bound_line(begin, kernel, given, out);
        text_append(out, "\n");
    }
    if (kernels->count > TOLD_MAX)
        text_printf(out, "tsr: and so are %zu other kernels\n", kernels->count - TOLD_MAX);
}
