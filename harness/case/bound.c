/* bound.c - from --dims to a case, and from a kernel to the --dims that it wants. */
#include "case/bound.h"

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

void bound_line(const char *begin, const compiler_kernel *kernel, text *out) {
    text_printf(out, "%s %s", begin, kernel->path);
    for (uint32_t i = 0; i < kernel->dim_count; i++)
        text_printf(out, "%s%s=...", i ? "," : " --dims ", kernel->dim_names[i]);
    for (uint32_t i = 0; i < kernel->type_count; i++)
        text_printf(out, "%s%s=f32", i || kernel->dim_count ? "," : " --dims ",
                    kernel->type_names[i]);
}

void unbound_tell(const unbound_kernels *kernels, const char *begin, text *out) {
    for (size_t i = 0; i < kernels->count && i < TOLD_MAX; i++) {
        const compiler_kernel *kernel = kernels->items[i];
        text_printf(out, "tsr: %s:%u: kernel %s has other names:\n    ", kernel->path, kernel->line,
                    kernel->name);
        bound_line(begin, kernel, out);
        text_append(out, "\n");
    }
    if (kernels->count > TOLD_MAX)
        text_printf(out, "tsr: and so are %zu other kernels\n", kernels->count - TOLD_MAX);
}
