/* fuzz_stablehlo.c - a program of StableHLO, as bytecode or text: what is read has a type for every
 * value and a place for every operation, and passes and the printer take it. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fuzz.h"
#include "import/stablehlo/shlo.h"
#include "target/stablehlo/passes.h"

static void check_values(const shlo_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!values[i].type)
            abort();
}

/* Regions go SHLO_DEPTH_MAX deep. */
static void check_block(const shlo_block *block) {
    check_values(block->arguments, block->argument_count);
    for (const shlo_op *op = block->first; op; op = op->next) {
        check_values(op->results, op->result_count);
        if (!op->location)
            abort();
        for (uint32_t i = 0; i < op->operand_count; i++)
            check_values(op->operands[i], 1);
        for (uint32_t i = 0; i < op->region_count; i++)
            check_block(op->regions[i]);
    }
}

/* A text ends in a NUL. */
static shlo_module *read_one(const uint8_t *data, size_t size) {
    status st = STATUS_INIT;
    if (shlo_is_bytecode(data, size))
        return shlo_read_bytecode(data, size, &st);
    char *source = base_calloc(size + 1, 1);
    if (size)
        memcpy(source, data, size);
    shlo_module *m = shlo_read_text(source, size, &st);
    free(source);
    return m;
}

static void change(shlo_module *m) {
    text out;
    text_init(&out);
    for (size_t i = 0; i < shlo_pass_count; i++) {
        status st = STATUS_INIT;
        shlo_passes[i].run(m, NULL, &st);
    }
    shlo_print(m, &out);
    text_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    shlo_module *m = read_one(data, size);
    for (const shlo_function *f = m ? m->first : NULL; f; f = f->next)
        if (f->body)
            check_block(f->body);
    if (m)
        change(m);
    shlo_module_free(m);
    return 0;
}
