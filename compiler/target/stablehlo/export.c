/* export.c - a module of Graph IR as one of StableHLO: functions, blocks, and the table of
 * operations. */
#include "target/stablehlo/export.h"

#include <stdlib.h>
#include <string.h>

/* How an operation is written. */
typedef enum out_form {
    REFUSED,
    PLAIN,     /* in StableHLO's own operations */
    COMPOSITE, /* a composite, whose decomposition `write` writes */
    CLAMPED,   /* ... where a conversion is clamped */
    ORDERED    /* ... where the order of a sum is another than the importer's */
} out_form;

static const struct row {
    out_form form;
    out_fn write;
    const char *name; /* of out_elementwise */
} rows[GRAPH_OP_COUNT] = {
#define NAMED(ENUM, name) [GRAPH_##ENUM] = {PLAIN, out_elementwise, name}
    NAMED(NEG, "stablehlo.negate"),
    NAMED(ABS, "stablehlo.abs"),
    NAMED(NOT, "stablehlo.not"),
    NAMED(SQRT, "stablehlo.sqrt"),
    NAMED(FLOOR, "stablehlo.floor"),
    NAMED(CEIL, "stablehlo.ceil"),
    NAMED(ROUND, "stablehlo.round_nearest_even"),
    NAMED(RSQRT, "stablehlo.rsqrt"),
    NAMED(EXP, "stablehlo.exponential"),
    NAMED(EXPM1, "stablehlo.exponential_minus_one"),
    NAMED(LOG, "stablehlo.log"),
    NAMED(LOG1P, "stablehlo.log_plus_one"),
    NAMED(TANH, "stablehlo.tanh"),
    NAMED(ERF, "chlo.erf"),
    NAMED(LOGISTIC, "stablehlo.logistic"),
    NAMED(SIN, "stablehlo.sine"),
    NAMED(COS, "stablehlo.cosine"),
    NAMED(POW, "stablehlo.power"),
    NAMED(ATAN2, "stablehlo.atan2"),
    NAMED(BITCAST, "stablehlo.bitcast_convert"),
    NAMED(ADD, "stablehlo.add"),
    NAMED(SUB, "stablehlo.subtract"),
    NAMED(MUL, "stablehlo.multiply"),
    NAMED(DIV, "stablehlo.divide"),
    NAMED(MAXIMUM, "stablehlo.maximum"),
    NAMED(MINIMUM, "stablehlo.minimum"),
    NAMED(AND, "stablehlo.and"),
    NAMED(OR, "stablehlo.or"),
    NAMED(XOR, "stablehlo.xor"),
    NAMED(LEFT_SHIFT, "stablehlo.shift_left"),
    NAMED(SELECT, "stablehlo.select"),
#undef NAMED
    [GRAPH_RIGHT_SHIFT] = {PLAIN, out_right_shift, NULL},
    [GRAPH_COMPARE] = {PLAIN, out_comparison, NULL},
    [GRAPH_CONVERT] = {CLAMPED, out_converted, NULL},
    [GRAPH_STOP_GRADIENT] = {PLAIN, out_same, NULL},
    [GRAPH_CONSTANT] = {PLAIN, out_constant, NULL},
    [GRAPH_DENSE] = {PLAIN, out_dense, NULL},
    [GRAPH_EXTENT] = {PLAIN, out_extent, NULL},
    [GRAPH_IOTA] = {PLAIN, out_index, NULL},
    [GRAPH_BROADCAST] = {PLAIN, out_broadcast_of, NULL},
    [GRAPH_RESHAPE] = {PLAIN, out_reshape_of, NULL},
    [GRAPH_TRANSPOSE] = {PLAIN, out_transpose_of, NULL},
    [GRAPH_SLICE] = {PLAIN, out_slice_of, NULL},
    [GRAPH_CONCAT] = {PLAIN, out_concat, NULL},
    [GRAPH_GATHER] = {PLAIN, out_gather, NULL},
    [GRAPH_WINDOW] = {PLAIN, out_window, NULL},
    [GRAPH_CALL] = {PLAIN, out_call, NULL},
    [GRAPH_IF] = {PLAIN, out_choice, NULL},
    [GRAPH_WHILE] = {PLAIN, out_general_loop, NULL},
    [GRAPH_LOOP] = {PLAIN, out_counted_loop, NULL},
    [GRAPH_REDUCE_WITH] = {PLAIN, out_reduce_with, NULL},
    [GRAPH_SORT] = {PLAIN, out_sort, NULL},
    [GRAPH_SCATTER] = {PLAIN, out_scatter, NULL},
    [GRAPH_REDUCE] = {ORDERED, out_reduce, NULL},
    [GRAPH_DOT] = {ORDERED, out_dot, NULL},
    [GRAPH_CONVOLVE] = {ORDERED, out_convolve, NULL},
    [GRAPH_FMA] = {COMPOSITE, out_fma, NULL},
    [GRAPH_EXP2] = {COMPOSITE, out_exp2, NULL},
    [GRAPH_LOG2] = {COMPOSITE, out_log2, NULL},
    [GRAPH_TRUNC] = {COMPOSITE, out_trunc, NULL},
    [GRAPH_RANDOM_BITS] = {COMPOSITE, out_random_bits, NULL},
    [GRAPH_CUMSUM] = {COMPOSITE, out_cumsum, NULL},
    [GRAPH_ARGSORT] = {COMPOSITE, out_argsort, NULL},
};

const char *out_name_of(int opcode) {
    return rows[opcode].name;
}

/* ---- messages and values ---- */

bool out_refuse(shlo_writer *w, ir_op op, const char *why) {
    const ir_op_data *d = ir_op_get(w->m, op);
    if (!w->failed)
        status_set(w->st, STATUS_INVALID, "line %u: %s is not expressed in StableHLO: %s",
                   d->location.line, op_info_get(d->opcode)->name, why);
    w->failed = true;
    return false;
}

void out_put(shlo_writer *w, ir_value v, shlo_value *made) {
    while (w->made.count <= v)
        vec_push(&w->made, NULL);
    w->made.items[v] = made;
}

shlo_value *out_made(const shlo_writer *w, ir_value v) {
    return w->made.items[v];
}

shlo_value **out_ends(shlo_writer *w, ir_block block, uint32_t *count) {
    const ir_op_data *end = ir_op_get(w->m, ir_block_get(w->m, block)->last);
    shlo_value **values = ARENA_NEW(&w->out->memory, shlo_value *, end->operand_count + 1);
    *count = end->operand_count;
    for (uint32_t i = 0; i < end->operand_count; i++)
        values[i] = out_made(w, end->operands[i]);
    return values;
}

/* ---- operations ---- */

static bool is_composite(const shlo_writer *w, ir_op op, out_form form) {
    if (w->plain)
        return false;
    return form == COMPOSITE || (form == CLAMPED && out_is_clamped(w, op)) ||
           (form == ORDERED && out_is_ordered(w, op));
}

static bool write_operation(shlo_writer *w, ir_op op, shlo_value *const *in,
                            shlo_value **results) {
    const int opcode = ir_op_get(w->m, op)->opcode;
    const struct row *row = &rows[opcode];
    if (graph_op_class(opcode) == GRAPH_CLASS_COMPOSITE)
        return out_composite(w, op, out_decomposed, in, results);
    if (row->form == REFUSED)
        return out_refuse(w, op, "it has no counterpart there");
    return is_composite(w, op, row->form) ? out_composite(w, op, row->write, in, results)
                                          : row->write(w, op, in, results);
}

static bool out_operation(shlo_writer *w, ir_op op) {
    const ir_op_data d = *ir_op_get(w->m, op);
    arena *memory = &w->out->memory;
    shlo_value **in = ARENA_NEW(memory, shlo_value *, d.operand_count + 1);
    shlo_value **results = ARENA_NEW(memory, shlo_value *, d.result_count + 1);
    for (uint32_t i = 0; i < d.operand_count; i++)
        in[i] = out_made(w, d.operands[i]);
    if (!write_operation(w, op, in, results))
        return false;
    for (uint32_t i = 0; i < d.result_count; i++)
        out_put(w, d.results[i], results[i]);
    return true;
}

bool out_block(shlo_writer *w, ir_block block) {
    const ir_op last = ir_block_get(w->m, block)->last;
    for (ir_op op = ir_block_get(w->m, block)->first; op && op != last;
         op = ir_op_get(w->m, op)->next)
        if (!out_operation(w, op))
            return false;
    return true;
}

/* ---- functions ---- */

static const shlo_type *type_of(shlo_writer *w, ir_block block) {
    const ir_block_data *b = ir_block_get(w->m, block);
    const ir_op_data *end = ir_op_get(w->m, b->last);
    const uint32_t count = b->argument_count + end->operand_count;
    const shlo_type **parts = ARENA_NEW(&w->out->memory, const shlo_type *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const bool taken = i < b->argument_count;
        const ir_value v = taken ? b->arguments[i] : end->operands[i - b->argument_count];
        parts[i] = out_type(w, ir_value_get(w->m, v)->type);
    }
    shlo_type *t = ARENA_NEW(&w->out->memory, shlo_type, 1);
    *t = (shlo_type){.kind = SHLO_TYPE_FUNCTION,
                     .count = count,
                     .inputs = b->argument_count,
                     .parts = parts};
    return t;
}

/* All are there before one is filled, so that decompositions have names of their own. */
static shlo_function *declare(shlo_writer *w, ir_op op, bool entry) {
    const ir_block block = ir_op_block(w->m, op, 0);
    const ir_block_data *b = ir_block_get(w->m, block);
    const char *name = entry ? "main" : ir_op_string(w->m, op, "name", "");
    shlo_function *f = ARENA_NEW(&w->out->memory, shlo_function, 1);
    *f = (shlo_function){.name = arena_strdup(&w->out->memory, name),
                         .is_private = !entry,
                         .type = type_of(w, block),
                         .body = shlo_block_new(w->out, b->argument_count)};
    for (uint32_t i = 0; i < b->argument_count; i++) {
        f->body->arguments[i].type = f->type->parts[i];
        out_put(w, b->arguments[i], &f->body->arguments[i]);
    }
    if (shlo_module_add(w->out, f))
        return f;
    out_refuse(w, op, "a function that is called is called main");
    return NULL;
}

static bool write_functions(shlo_writer *w) {
    VEC(ir_op) ops = {0};
    VEC(shlo_function *) functions = {0};
    bool good = true;
    uint32_t count;
    for (ir_op op = ir_module_kernel(w->m); op; op = ir_op_get(w->m, op)->next)
        vec_push(&ops, op);
    for (size_t i = 0; i < ops.count && good; i++) {
        shlo_function *f = declare(w, ops.items[i], i == 0);
        good = f != NULL;
        vec_push(&functions, f);
    }
    for (size_t i = 0; i < ops.count && good; i++) {
        const ir_block block = ir_op_block(w->m, ops.items[i], 0);
        w->block = functions.items[i]->body;
        good = out_block(w, block);
        if (good) {
            shlo_value **ends = out_ends(w, block, &count);
            out_return(w, ends, count);
        }
    }
    vec_release(&ops);
    vec_release(&functions);
    return good;
}

bool shlo_export(ir_module *m, text *out, status *st) {
    shlo_writer w = {.m = m, .out = shlo_module_new(), .st = st};
    const char *name = ir_op_string(m, ir_module_kernel(m), "name", NULL);
    map_init(&w.composites);
    w.out->name = name ? arena_strdup(&w.out->memory, name) : NULL;
    const bool good = write_functions(&w);
    if (good)
        shlo_print(w.out, out);
    map_release(&w.composites);
    vec_release(&w.made);
    shlo_module_free(w.out);
    return good;
}
