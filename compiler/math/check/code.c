/* code.c - an emitter that writes the sequence down as text. */
#include "math/check/code.h"

#include <inttypes.h>
#include <string.h>

#include "base/dtype.h"
#include "base/sha256.h"
#include "base/text.h"
#include "math/correct/build.h"

typedef struct listing {
    text lines;
    ir_value count;
} listing;

static ir_value write_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    static const char *const names[MATH_OP_COUNT] = {
#define M(ENUM, tile, predicate, result) #ENUM,
#include "math/operations.def"
    };
    listing *l = context;
    text_printf(&l->lines, "%u %s %u %u %u\n", ++l->count, names[op], a, b, c);
    return l->count;
}

static ir_value write_f32(void *context, float value) {
    listing *l = context;
    text_printf(&l->lines, "%u f32 %08" PRIx32 "\n", ++l->count, f32_bits(value));
    return l->count;
}

static ir_value write_i32(void *context, int32_t value) {
    listing *l = context;
    text_printf(&l->lines, "%u i32 %08" PRIx32 "\n", ++l->count, (uint32_t)value);
    return l->count;
}

static ir_value write_f64(void *context, double value) {
    listing *l = context;
    text_printf(&l->lines, "%u f64 %016" PRIx64 "\n", ++l->count, f64_bits(value));
    return l->count;
}

static ir_value write_i64(void *context, uint64_t value) {
    listing *l = context;
    text_printf(&l->lines, "%u i64 %016" PRIx64 "\n", ++l->count, value);
    return l->count;
}

void code_hash(math_set set, math_function function, char hash_out[CODE_HASH_SIZE]) {
    listing l = {.count = 1}; /* value 1 is x */
    math_emit emit = {&l, write_op, write_f32, write_i32, write_f64, write_i64, NULL};
    char hex[65];
    text_init(&l.lines);
    text_append(&l.lines, "tsr.sequence/1\n");
    ir_value result = (set == MATH_CORRECT ? correct_build : math_build)(&emit, function, 1);
    text_printf(&l.lines, "result %u\n", result);
    sha256 digest = sha256_of(l.lines.data, l.lines.length);
    sha256_hex(&digest, hex);
    memcpy(hash_out, hex, CODE_HASH_SIZE - 1);
    hash_out[CODE_HASH_SIZE - 1] = '\0';
    text_release(&l.lines);
}
