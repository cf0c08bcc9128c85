/* opencl_mend.c - SPIR-V in a form that PoCL up to 3.1 takes right.
 *
 * It cuts a kernel at its barriers. Where its optimiser has left nothing between a barrier and a
 * branch that not all threads take alike, it takes the branch for one of the whole workgroup, and
 * what the last thread decides happens to all. (It does so in loops that a branch leads around.) A
 * volatile load behind each barrier, of a private variable that nobody else uses, cannot be moved
 * away. */
#include <string.h>

#include "base/arena.h"
#include "device/opencl_parts.h"

enum {
    OP_TYPE_POINTER = 32,
    OP_CONSTANT = 43,
    OP_FUNCTION = 54,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_CONTROL_BARRIER = 224,
    OP_LABEL = 248,
    STORAGE_FUNCTION = 7,
    VOLATILE = 1,
    HEADER_WORDS = 5,
    HALF = 16
};

typedef struct mend {
    const spirv_image *code;
    uint32_t *out;
    size_t count;
    uint32_t bound, word_type, pointer_type, variable; /* of the function that is written */
    bool in_function, first_block;
} mend;

static void put(mend *m, uint32_t code, const uint32_t *operands, uint32_t count) {
    m->out[m->count++] = (count + 1) << HALF | code;
    for (uint32_t i = 0; i < count; i++)
        m->out[m->count++] = operands[i];
}

/* The type of a barrier's scope, which is a constant. */
static uint32_t type_of_constant(const spirv_image *code, uint32_t id) {
    for (size_t at = HEADER_WORDS; at < code->count; at += code->words[at] >> HALF)
        if ((code->words[at] & 0xFFFF) == OP_CONSTANT && code->words[at + 2] == id)
            return code->words[at + 1];
    return 0;
}

static size_t barriers_of(const spirv_image *code, uint32_t *scope_out) {
    size_t count = 0;
    for (size_t at = HEADER_WORDS; at < code->count; at += code->words[at] >> HALF)
        if ((code->words[at] & 0xFFFF) == OP_CONTROL_BARRIER && code->words[at] >> HALF == 4) {
            *scope_out = code->words[at + 1];
            count++;
        }
    return count;
}

/* Of each function: a variable in its first block. */
static void before(mend *m, uint32_t code) {
    if (code != OP_FUNCTION)
        return;
    if (!m->in_function)
        put(m, OP_TYPE_POINTER, (uint32_t[]){m->pointer_type, STORAGE_FUNCTION, m->word_type}, 3);
    m->in_function = m->first_block = true;
}

static void behind(mend *m, uint32_t code) {
    if (code == OP_LABEL && m->first_block) {
        m->first_block = false;
        m->variable = m->bound++;
        put(m, OP_VARIABLE, (uint32_t[]){m->pointer_type, m->variable, STORAGE_FUNCTION}, 3);
    }
    if (code == OP_CONTROL_BARRIER)
        put(m, OP_LOAD, (uint32_t[]){m->word_type, m->bound++, m->variable, VOLATILE}, 4);
}

uint32_t *opencl_mend(const spirv_image *code, size_t *count_out) {
    enum { MORE = 5 }; /* words for an instruction */
    uint32_t scope = 0, functions = 0;
    size_t barriers = barriers_of(code, &scope);
    for (size_t at = HEADER_WORDS; at < code->count; at += code->words[at] >> HALF)
        functions += (code->words[at] & 0xFFFF) == OP_FUNCTION;
    mend m = {.code = code, .bound = code->words[3], .word_type = type_of_constant(code, scope)};
    m.out = base_malloc((code->count + MORE * (1 + functions + barriers)) * sizeof *m.out);
    if (barriers && m.word_type)
        m.pointer_type = m.bound++;
    memcpy(m.out, code->words, HEADER_WORDS * sizeof *m.out);
    m.count = HEADER_WORDS;
    for (size_t at = HEADER_WORDS; at < code->count; at += code->words[at] >> HALF) {
        const uint32_t *op = code->words + at;
        if (m.pointer_type)
            before(&m, op[0] & 0xFFFF);
        memcpy(m.out + m.count, op, (op[0] >> HALF) * sizeof *op);
        m.count += op[0] >> HALF;
        if (m.pointer_type)
            behind(&m, op[0] & 0xFFFF);
    }
    m.out[3] = m.bound;
    *count_out = m.count;
    return m.out;
}
