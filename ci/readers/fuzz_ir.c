/* fuzz_ir.c - IR as text: what is read and printed is read again, and printed the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tessera/compiler.h"

static void print_again(const ir_module *m) {
    text first, second;
    status st = STATUS_INIT;
    text_init(&first);
    text_init(&second);
    ir_print(m, &first);
    ir_module *again = ir_parse(first.data, &st);
    if (!again)
        abort();
    ir_print(again, &second);
    if (strcmp(first.data, second.data) != 0)
        abort();
    ir_module_free(again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *source = malloc(size + 1);
    status st = STATUS_INIT;
    if (!source)
        return 0;
    memcpy(source, data, size);
    source[size] = '\0';
    compiler_init();
    ir_module *m = ir_parse(source, &st);
    if (m) {
        if (ir_verify(m, &st))
            print_again(m);
        ir_module_free(m);
    }
    free(source);
    return 0;
}
