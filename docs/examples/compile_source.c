/* compile_source.c - DIMS: compiles a kernel of this file for these dimensions ("M=2,N=3"), shows its shapes, and runs it on inputs
 * 1, 2, 3, ... cc compile_source.c $(pkg-config --cflags --libs tessera-compiler tessera) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/compile.h>

static const char source[] = "from tessera import *\n"
                             "@kernel\n"
                             "def row_sums(x: Tensor['M', 'N', f32]) -> Tensor['M', f32]:\n"
                             "    return sum(x, axis=1)\n";

static void check(tsr_status_t status) {
    if (status == TSR_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", tsrStatusName(status), tsrGetLastError());
    exit(1);
}

int main(int argc, char **argv) {
    tsr_compile_options_t options = {.struct_size = sizeof options};
    tsr_compilation_t compiled;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *buffers[2], *args[2];
    float *host[2];
    size_t counts[2], size;
    options.dims = argc == 2 ? argv[1] : "M=2,N=3";
    if (tsrCompile(source, strlen(source), "row_sums.tsr", &options, &compiled) != TSR_SUCCESS) {
        fputs(tsrGetDiagnosticText(compiled), stderr);
        tsrDestroyCompilation(compiled);
        return 1;
    }
    const void *image = tsrGetCompiledModule(compiled, &size);
    check(tsrCreateContext(&context));
    check(tsrLoadModule(context, image, size, &module));
    check(tsrGetKernel(module, "row_sums", &kernel));
    for (uint32_t i = 0; i < 2; i++) {
        tsr_shape_t shape = {.struct_size = sizeof shape};
        check(tsrGetShape(compiled, i, &shape));
        printf("%s %s", shape.name, shape.type);
        counts[i] = 1;
        for (uint32_t axis = 0; axis < shape.rank; axis++) {
            counts[i] *= (size_t)shape.dims[axis];
            printf(" %lld", (long long)shape.dims[axis]);
        }
        printf("\n");
        check(tsrAlloc(context, counts[i] * sizeof(float), TSR_ALLOC_HOST_VISIBLE, &buffers[i]));
        check(tsrMap(context, buffers[i], (void **)&host[i]));
        args[i] = &buffers[i];
    }
    tsrDestroyCompilation(compiled);
    for (size_t k = 0; k < counts[0]; k++)
        host[0][k] = (float)(k + 1);
    check(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, 2));
    for (size_t k = 0; k < counts[1]; k++)
        printf("%.9g\n", (double)host[1][k]);
    for (uint32_t i = 0; i < 2; i++)
        check(tsrFree(context, buffers[i]));
    check(tsrUnloadModule(module));
    check(tsrDestroyContext(context));
}
