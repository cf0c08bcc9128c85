/* fuzz_stablehlo.c - a program of StableHLO as bytecode: what is read has a type for every value
 * and a place for every operation. */
#include <stdlib.h>

#include "fuzz.h"
#include "import/stablehlo/shlo.h"

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
            if (op->regions[i])
                check_block(op->regions[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    status st = STATUS_INIT;
    shlo_module *m = shlo_read_bytecode(data, size, &st);
    for (const shlo_function *f = m ? m->first : NULL; f; f = f->next)
        if (f->body)
            check_block(f->body);
    shlo_module_free(m);
    return 0;
}
