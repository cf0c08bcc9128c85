/* export_math.c - the specified functions: their one sequence (compiler/math), in arith and math.
 */
#include <string.h>

#include "math/correct/build.h"
#include "math/double/build.h"
#include "math/math.h"
#include "target/mlir/export.h"

/* Names and types of values, by the numbers that the sequence knows them by (from 1). */
typedef struct sequence {
    exporter *e;
    const char *names[2048];
    dtype types[2048];
    uint32_t count;
} sequence;

static ir_value keep(sequence *s, const char *name, dtype type) {
    if (s->count + 1 >= sizeof s->names / sizeof *s->names) {
        export_refuse(s->e, "a sequence of more than 2000 operations");
        return 1;
    }
    s->names[++s->count] = name;
    s->types[s->count] = type;
    return s->count;
}

/* Words before the operands; the type behind them is theirs. */
static const char *const names[MATH_OP_COUNT] = {
    [MATH_OP_ADD] = "arith.addf",       [MATH_OP_SUB] = "arith.subf",
    [MATH_OP_MUL] = "arith.mulf",       [MATH_OP_DIV] = "arith.divf",
    [MATH_OP_SQRT] = "math.sqrt",       [MATH_OP_FMA] = "math.fma",
    [MATH_OP_LT] = "arith.cmpf olt,",   [MATH_OP_LE] = "arith.cmpf ole,",
    [MATH_OP_EQ] = "arith.cmpf oeq,",   [MATH_OP_UNORDERED] = "arith.cmpf uno,",
    [MATH_OP_LOGIC_AND] = "arith.andi", [MATH_OP_LOGIC_OR] = "arith.ori",
    [MATH_OP_IADD] = "arith.addi",      [MATH_OP_ISUB] = "arith.subi",
    [MATH_OP_IMUL] = "arith.muli",      [MATH_OP_AND] = "arith.andi",
    [MATH_OP_OR] = "arith.ori",         [MATH_OP_XOR] = "arith.xori",
    [MATH_OP_SHR] = "arith.shrsi",      [MATH_OP_ILT] = "arith.cmpi slt,",
    [MATH_OP_IEQ] = "arith.cmpi eq,",   [MATH_OP_DADD] = "arith.addf",
    [MATH_OP_DSUB] = "arith.subf",      [MATH_OP_DMUL] = "arith.mulf",
    [MATH_OP_DDIV] = "arith.divf",      [MATH_OP_DSQRT] = "math.sqrt",
    [MATH_OP_DFMA] = "math.fma",        [MATH_OP_DLT] = "arith.cmpf olt,",
    [MATH_OP_DEQ] = "arith.cmpf oeq,",  [MATH_OP_DUNORDERED] = "arith.cmpf uno,",
    [MATH_OP_LADD] = "arith.addi",      [MATH_OP_LSUB] = "arith.subi",
    [MATH_OP_LMUL] = "arith.muli",      [MATH_OP_LAND] = "arith.andi",
    [MATH_OP_LOR] = "arith.ori",        [MATH_OP_LXOR] = "arith.xori",
    [MATH_OP_LSHL] = "arith.shli",      [MATH_OP_LSHR] = "arith.shrsi",
    [MATH_OP_LUSHR] = "arith.shrui",    [MATH_OP_LEQ] = "arith.cmpi eq,",
};

/* Changes of type, of one operand. */
static const struct change {
    const char *name;
    dtype to;
} changes[MATH_OP_COUNT] = {
    [MATH_OP_TO_BITS] = {"arith.bitcast", DTYPE_I32},
    [MATH_OP_FROM_BITS] = {"arith.bitcast", DTYPE_F32},
    [MATH_OP_TO_INT] = {"arith.fptosi", DTYPE_I32},
    [MATH_OP_TO_FLOAT] = {"arith.sitofp", DTYPE_F32},
    [MATH_OP_DTO_BITS] = {"arith.bitcast", DTYPE_I64},
    [MATH_OP_DFROM_BITS] = {"arith.bitcast", DTYPE_F64},
    [MATH_OP_WIDEN] = {"arith.extf", DTYPE_F64},
    [MATH_OP_NARROW] = {"arith.truncf", DTYPE_F32},
};

static const char *constant(sequence *s, int value) {
    return export_op(s->e, "arith.constant %d : i32", value);
}

/* A shift by 32 or more gives 0; MLIR leaves that open. */
static const char *shifted(sequence *s, const char *name, const char *x, const char *by) {
    exporter *e = s->e;
    const char *fits = export_op(e, "arith.cmpi ult, %s, %s : i32", by, constant(s, 32));
    const char *low = export_op(e, "arith.andi %s, %s : i32", by, constant(s, 31));
    const char *value = export_op(e, "%s %s, %s : i32", name, x, low);
    return export_op(e, "arith.select %s, %s, %s : i32", fits, value, constant(s, 0));
}

static const char *high_product(sequence *s, const char *x, const char *y) {
    exporter *e = s->e;
    const char *a = export_op(e, "arith.extui %s : i32 to i64", x);
    const char *b = export_op(e, "arith.extui %s : i32 to i64", y);
    const char *product = export_op(e, "arith.muli %s, %s : i64", a, b);
    const char *by = export_op(e, "arith.constant 32 : i64");
    return export_op(e, "arith.trunci %s : i64 to i32",
                     export_op(e, "arith.shrui %s, %s : i64", product, by));
}

static ir_value plain(sequence *s, math_op op, ir_value a, ir_value b, ir_value c) {
    exporter *e = s->e;
    const char *x = s->names[a], *type = export_element(e, s->types[a]);
    dtype result = strstr(names[op], "cmp") ? DTYPE_BOOL : s->types[a];
    const char *name =
        c   ? export_op(e, "%s %s, %s, %s : %s", names[op], x, s->names[b], s->names[c], type)
        : b ? export_op(e, "%s %s, %s : %s", names[op], x, s->names[b], type)
            : export_op(e, "%s %s : %s", names[op], x, type);
    return keep(s, name, result);
}

static ir_value emit(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    sequence *s = context;
    exporter *e = s->e;
    const char *x = s->names[a];
    if (op == MATH_OP_SELECT)
        return keep(s,
                    export_op(e, "arith.select %s, %s, %s : %s", x, s->names[b], s->names[c],
                              export_element(e, s->types[b])),
                    s->types[b]);
    if (op == MATH_OP_UMULH)
        return keep(s, high_product(s, x, s->names[b]), DTYPE_I32);
    if (op == MATH_OP_SHL || op == MATH_OP_USHR)
        return keep(s, shifted(s, op == MATH_OP_SHL ? "arith.shli" : "arith.shrui", x, s->names[b]),
                    DTYPE_I32);
    if (changes[op].name)
        return keep(s,
                    export_op(e, "%s %s : %s to %s", changes[op].name, x,
                              export_element(e, s->types[a]), export_element(e, changes[op].to)),
                    changes[op].to);
    if (names[op])
        return plain(s, op, a, b, c);
    export_refuse(e, "an operation of a function");
    return keep(s, x, s->types[a]);
}

static ir_value emit_f32(void *context, float value) {
    sequence *s = context;
    return keep(s, export_bits(s->e, DTYPE_F32, f32_bits(value)), DTYPE_F32);
}

static ir_value emit_i32(void *context, int32_t value) {
    sequence *s = context;
    return keep(s, constant(s, value), DTYPE_I32);
}

static ir_value emit_f64(void *context, double value) {
    sequence *s = context;
    return keep(s, export_bits(s->e, DTYPE_F64, f64_bits(value)), DTYPE_F64);
}

static ir_value emit_i64(void *context, uint64_t value) {
    sequence *s = context;
    return keep(s, export_bits(s->e, DTYPE_I64, value), DTYPE_I64);
}

static const char *export_pair(sequence *s, const math_emit *emitter, math_pair pair, dtype element,
                               const char *const *x) {
    ir_value first = keep(s, x[0], element), second = keep(s, x[1], element);
    return s->names[(element == DTYPE_F64 ? double_build_pair : math_build_pair)(emitter, pair,
                                                                                 first, second)];
}

const char *export_function(exporter *e, int opcode, dtype element, const char *const *x) {
    sequence s = {.e = e};
    math_set set = MATH_SPECIFIED;
    math_emit emitter = {&s, emit, emit_f32, emit_i32, emit_f64, emit_i64, NULL};
    math_set_named(ir_op_string(e->m, ir_module_kernel(e->m), "math", NULL), &set);
    math_pair pair = math_pair_of(opcode);
    if (pair != MATH_PAIR_COUNT)
        return export_pair(&s, &emitter, pair, element, x);
    ir_value in = keep(&s, x[0], element);
    if (element == DTYPE_F64)
        return s.names[double_build(&emitter, math_function_of(opcode), in)];
    return s.names[(set == MATH_CORRECT ? correct_build
                                        : math_build)(&emitter, math_function_of(opcode), in)];
}
