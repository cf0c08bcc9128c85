/* listing.c - an emitter that keeps a sequence, and prints an operation a line. */
#include "math/double/listing.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/dtype.h"
#include "base/vec.h"
#include "math/double/build.h"
#include "math/math.h"

static const char introduction[] =
    "# The specified functions, operation by operation\n"
    "\n"
    "This page is made from the code of `compiler/math` by `tsr-opt --functions`, and a test keeps "
    "it equal to it. A function's\n"
    "bits are what its lines give, computed in any way. "
    "[numerics.md](numerics.md#specified-functions) "
    "says by which method, how\n"
    "exact, and what was tried. Those of f32, f16 and bf16 come first, then those of f64.\n"
    "\n"
    "A line is `NAME = OPERATION OPERANDS`; `x` is the argument, or the heading names two, and "
    "`return` gives the result, all f32, or all "
    "f64.\n"
    "An operand is a name, or a constant by its bits: `f32:3f800000` is 1, `i32:00000017` is 23. "
    "Every f32 operation is IEEE 754\n"
    "binary32, every f64 operation binary64; each rounds once, to nearest even, and keeps "
    "subnormal numbers; integers have 32 bits,\n"
    "or 64, and wrap.\n"
    "\n"
    "| operation | result |\n"
    "|---|---|\n"
    "| `add a b`, `sub a b`, `mul a b`, `div a b`, `sqrt a` | f32 |\n"
    "| `fma a b c` | f32: a * b + c with one rounding |\n"
    "| `lt a b`, `le a b`, `eq a b` | a truth value; false where one is a NaN |\n"
    "| `unordered a b` | true where one is a NaN |\n"
    "| `select m a b` | a where m is true, else b |\n"
    "| `logic_and m n`, `logic_or m n` | of truth values |\n"
    "| `iadd a b`, `isub a b`, `imul a b` | i32, the low 32 bits |\n"
    "| `umulh a b` | i32: the high 32 bits of the product of two unsigned numbers |\n"
    "| `and a b`, `or a b`, `xor a b` | i32, bit by bit |\n"
    "| `shl a b`, `ushr a b` | i32, shifted, zeros move in; b is unsigned, and 32 or more give 0 "
    "|\n"
    "| `shr a b` | i32, shifted, copies of the sign move in |\n"
    "| `ilt a b`, `ieq a b` | a truth value, of signed integers |\n"
    "| `to_bits a`, `from_bits a` | the bits of an f32 as i32, and back |\n"
    "| `to_int a` | an f32 as i32, truncated; always in range |\n"
    "| `to_float a` | an i32 as f32, to nearest even |\n"
    "| `dadd a b`, `dsub a b`, `dmul a b`, `ddiv a b`, `dsqrt a` | f64 |\n"
    "| `dfma a b c` | f64: a * b + c with one rounding |\n"
    "| `dlt a b`, `deq a b`, `dunordered a b` | as `lt`, `eq` and `unordered`, of f64 |\n"
    "| `ladd a b`, `lsub a b`, `lmul a b` | i64, the low 64 bits |\n"
    "| `land a b`, `lor a b`, `lxor a b`, `leq a b` | of i64, as `and`, `or`, `xor` and `ieq` |\n"
    "| `lshl a b`, `lushr a b`, `lshr a b` | i64, shifted by less than 64; `lshr` moves copies of "
    "the sign in |\n"
    "| `dto_bits a`, `dfrom_bits a` | the bits of an f64 as i64, and back |\n"
    "\n"
    "What stands behind `#` is a constant's value, for the eye.\n";

typedef struct listed {
    enum { LISTED_ARGUMENT, LISTED_F32, LISTED_I32, LISTED_F64, LISTED_I64, LISTED_OPERATION } kind;
    uint64_t bits; /* of a constant */
    math_op op;
    ir_value operands[3];
    uint32_t name; /* of an operation; 0: not printed yet */
    const char *argument;
} listed;

typedef struct listing {
    text *out;
    VEC(listed) values; /* the arguments come first */
    uint32_t names;
} listing;

enum { NAME_COLUMN = 5, COMMENT_COLUMN = 56 };

static ir_value add_value(listing *l, listed value) {
    vec_push(&l->values, value);
    return (ir_value)l->values.count - 1;
}

static ir_value list_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    return add_value(context, (listed){.kind = LISTED_OPERATION, .op = op, .operands = {a, b, c}});
}

static ir_value list_f32(void *context, float value) {
    return add_value(context, (listed){.kind = LISTED_F32, .bits = f32_bits(value)});
}

static ir_value list_i32(void *context, int32_t value) {
    return add_value(context, (listed){.kind = LISTED_I32, .bits = (uint32_t)value});
}

static ir_value list_f64(void *context, double value) {
    return add_value(context, (listed){.kind = LISTED_F64, .bits = f64_bits(value)});
}

static ir_value list_i64(void *context, uint64_t value) {
    return add_value(context, (listed){.kind = LISTED_I64, .bits = value});
}

/* ---- printing ---- */

static int operand_count(math_op op) {
    switch (op) {
    case MATH_OP_SQRT:
    case MATH_OP_TO_BITS:
    case MATH_OP_FROM_BITS:
    case MATH_OP_TO_INT:
    case MATH_OP_TO_FLOAT:
    case MATH_OP_DSQRT:
    case MATH_OP_DTO_BITS:
    case MATH_OP_DFROM_BITS:
        return 1;
    case MATH_OP_FMA:
    case MATH_OP_DFMA:
    case MATH_OP_SELECT:
        return 3;
    default:
        return 2;
    }
}

static void put_operand(const listed *value, text *line, text *comment) {
    switch (value->kind) {
    case LISTED_ARGUMENT:
        text_printf(line, " %s", value->argument);
        break;
    case LISTED_F32:
        text_printf(line, " f32:%08" PRIx64, value->bits);
        text_printf(comment, " %.9g", (double)f32_from_bits((uint32_t)value->bits));
        break;
    case LISTED_I32:
        text_printf(line, " i32:%08" PRIx64, value->bits);
        text_printf(comment, " %" PRId32, (int32_t)value->bits);
        break;
    case LISTED_F64:
        text_printf(line, " f64:%016" PRIx64, value->bits);
        text_printf(comment, " %.17g", f64_from_bits(value->bits));
        break;
    case LISTED_I64:
        text_printf(line, " i64:%016" PRIx64, value->bits);
        text_printf(comment, " %" PRId64, (int64_t)value->bits);
        break;
    case LISTED_OPERATION:
        text_printf(line, " t%" PRIu32, value->name);
    }
}

static void pad_to(text *line, size_t column) {
    do
        text_append(line, " ");
    while (line->length < column);
}

static void put_line(listing *l, const listed *value) {
    static const char *const names[MATH_OP_COUNT] = {
#define M(ENUM, tile, predicate, result) #ENUM,
#include "math/operations.def"
    };
    text line, comment;
    text_init(&line);
    text_init(&comment);
    text_printf(&line, "t%" PRIu32, value->name);
    pad_to(&line, NAME_COLUMN);
    text_append(&line, "= ");
    for (const char *at = names[value->op]; *at; at++)
        text_printf(&line, "%c", tolower((unsigned char)*at));
    for (int i = 0; i < operand_count(value->op); i++)
        put_operand(&l->values.items[value->operands[i]], &line, &comment);
    if (comment.length) {
        pad_to(&line, COMMENT_COLUMN);
        text_printf(&line, "#%s", comment.data);
    }
    text_printf(l->out, "%s\n", line.data);
    text_release(&line);
    text_release(&comment);
}

/* Puts a value behind what it needs, its first operand's needs first: an order that does not depend
 * on the one in which a C compiler evaluates arguments. */
static void put_value(listing *l, ir_value v) {
    listed *value = &l->values.items[v];
    if (value->kind != LISTED_OPERATION || value->name)
        return;
    for (int i = 0; i < operand_count(value->op); i++)
        put_value(l, value->operands[i]);
    value->name = ++l->names;
    put_line(l, value);
}

static ir_value add_argument(listing *l, const char *name) {
    return add_value(l, (listed){.kind = LISTED_ARGUMENT, .argument = name});
}

static void put_sequence(listing *l, ir_value result) {
    put_value(l, result);
    text_printf(l->out, "return t%" PRIu32 "\n```\n", l->values.items[result].name);
    vec_release(&l->values);
}

static math_emit listing_to(listing *l) {
    return (math_emit){l, list_op, list_f32, list_i32, list_f64, list_i64, NULL};
}

static void put_function(math_function function, const char *name, bool wide, text *out) {
    listing l = {.out = out};
    math_emit emit = listing_to(&l);
    ir_value x = add_argument(&l, "x");
    text_printf(out, "\n## `%s`%s\n\n```\n", name, wide ? " of f64" : "");
    put_sequence(&l, (wide ? double_build : math_build)(&emit, function, x));
}

typedef struct pair_names {
    const char *name, *first, *second;
} pair_names;

static void put_pair(math_pair pair, const pair_names *names, bool wide, text *out) {
    listing l = {.out = out};
    math_emit emit = listing_to(&l);
    ir_value first = add_argument(&l, names->first), second = add_argument(&l, names->second);
    text_printf(out, "\n## `%s(%s, %s)`%s\n\n```\n", names->name, names->first, names->second,
                wide ? " of f64" : "");
    put_sequence(&l, (wide ? double_build_pair : math_build_pair)(&emit, pair, first, second));
}

void math_print_listing(text *out) {
    static const char *const names[] = {
#define F(ENUM, name) #name,
#include "math/functions.def"
    };
    static const pair_names pairs[] = {
#define P(ENUM, name, first, second) {#name, #first, #second},
#include "math/pairs.def"
    };
    text_append(out, introduction);
    for (int wide = 0; wide < 2; wide++) {
        for (int i = 0; i < MATH_FUNCTION_COUNT; i++)
            put_function((math_function)i, names[i], wide, out);
        for (int i = 0; i < MATH_PAIR_COUNT; i++)
            put_pair((math_pair)i, &pairs[i], wide, out);
    }
}
