/* fuzz_source.c - the tile language: lexer, parser, checker; graphs of what is right are verified.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tessera/compiler.h"

/* Takes a sound case as far as its schedules, as every command does; it may be refused. */
static void go_down(compiler_instance *instance) {
    status st = STATUS_INIT;
    compiler_options options = {.isa = "x86-64-v3", .threads = 2};
    compiler_space space;
    uint64_t flops, bytes;
    compiler_cost(instance, &flops, &bytes, &st);
    if (compiler_space_of(instance, &options, &space, &st))
        compiler_space_release(&space);
}

static void check_case(compiler_source *s, const compiler_kernel *k, const compiler_case *c,
                       text *diagnostics) {
    compiler_instance *instance = compiler_instance_open(s, k, c, diagnostics);
    status st = STATUS_INIT;
    compiler_signature signature;
    if (!instance)
        return;
    if (!ir_verify(compiler_instance_graph(instance), &st))
        abort();
    if (compiler_signature_of(instance, &signature, &st))
        go_down(instance);
    compiler_instance_free(instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *source = malloc(size + 1);
    text diagnostics;
    if (!source)
        return 0;
    memcpy(source, data, size);
    source[size] = '\0';
    compiler_init();
    text_init(&diagnostics);
    compiler_source *s = compiler_open_text("fuzzed.tsr", source, false, &diagnostics);
    for (uint32_t i = 0; s && i < compiler_kernel_count(s); i++) {
        const compiler_kernel *k = compiler_kernel_at(s, i);
        for (uint32_t n = 0; n < k->case_count && n < 4 && !k->broken; n++)
            check_case(s, k, &k->cases[n], &diagnostics);
    }
    if (s)
        compiler_close(s);
    text_release(&diagnostics);
    free(source);
    return 0;
}
