/* inputs.c - fills tensors from Philox: element by element, so that nothing depends on the order of
 * filling. */
#include "inputs.h"

#include <math.h>

#include "base/philox.h"

static double draw(const compiler_input *input, philox_words words) {
    switch (input->kind) {
    case INPUT_UNIFORM:
        return (double)philox_uniform(words, (float)input->a, (float)input->b);
    case INPUT_INTEGERS:
        return (double)philox_integer(words, (int32_t)input->a, (int32_t)input->b);
    case INPUT_CONSTANT:
        return input->a;
    default:
        return (double)philox_normal(words, (float)input->a, (float)input->b);
    }
}

static void fill(tensor *t, const compiler_input *input, uint32_t parameter, uint64_t seed) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)i,
                    draw(input, philox_element(seed, (uint64_t)i, parameter, INPUTS_DOMAIN)));
}

bool inputs_make(const compiler_signature *signature, const compiler_case *c, uint64_t seed,
                 tensor *inputs, status *st) {
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const struct compiler_buffer *buffer = &signature->inputs[i];
        if (!tensor_init(&inputs[i], buffer->type, buffer->rank, buffer->dims, st)) {
            while (i-- > 0)
                tensor_release(&inputs[i]);
            return false;
        }
        fill(&inputs[i], &c->inputs[i], i, seed);
    }
    return true;
}
