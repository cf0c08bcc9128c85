/* export.c - a module of Graph IR as one of StableHLO: functions, blocks, and the table of
 * operations. */
#include "target/stablehlo/export.h"

#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"

static bool always(const shlo_writer *w, ir_op op) {
    (void)w;
    (void)op;
    return true;
}

/* The way in which an operation is written; one without a row is refused. */
static const struct row {
    out_fn write;
    bool (*composite)(const shlo_writer *w, ir_op op); /* it is one, which `write` takes apart */
    const char *name;                                  /* of out_elementwise */
} rows[GRAPH_OP_COUNT] = {
#define NAMED(ENUM, name) [GRAPH_##ENUM] = {out_elementwise, NULL, name}
    NAMED(NEG, "stablehlo.negate"),
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
    NAMED(MAXIMUM, "stablehlo.maximum"),
    NAMED(MINIMUM, "stablehlo.minimum"),
    NAMED(AND, "stablehlo.and"),
    NAMED(OR, "stablehlo.or"),
    NAMED(XOR, "stablehlo.xor"),
    NAMED(SELECT, "stablehlo.select"),
#undef NAMED
    [GRAPH_ABS] = {out_magnitude, NULL, "stablehlo.abs"},
    [GRAPH_DIV] = {out_quotient, out_may_divide_by_zero, "stablehlo.divide"},
    [GRAPH_LEFT_SHIFT] = {out_left_shift, NULL, NULL},
    [GRAPH_RIGHT_SHIFT] = {out_right_shift, NULL, NULL},
    [GRAPH_COMPARE] = {out_comparison, NULL, NULL},
    [GRAPH_CONVERT] = {out_converted, out_is_clamped, NULL},
    [GRAPH_STOP_GRADIENT] = {out_same, NULL, NULL},
    [GRAPH_PLACED] = {out_same, NULL, NULL},
    [GRAPH_CONSTANT] = {out_constant, NULL, NULL},
    [GRAPH_DENSE] = {out_dense, NULL, NULL},
    [GRAPH_EXTENT] = {out_extent, NULL, NULL},
    [GRAPH_IOTA] = {out_index, NULL, NULL},
    [GRAPH_BROADCAST] = {out_broadcast_of, NULL, NULL},
    [GRAPH_RESHAPE] = {out_reshape_of, NULL, NULL},
    [GRAPH_TRANSPOSE] = {out_transpose_of, NULL, NULL},
    [GRAPH_SLICE] = {out_slice_of, NULL, NULL},
    [GRAPH_CONCAT] = {out_concat, NULL, NULL},
    [GRAPH_GATHER] = {out_gather, NULL, NULL},
    [GRAPH_WINDOW] = {out_window, NULL, NULL},
    [GRAPH_CALL] = {out_call, NULL, NULL},
    [GRAPH_IF] = {out_choice, NULL, NULL},
    [GRAPH_WHILE] = {out_general_loop, NULL, NULL},
    [GRAPH_LOOP] = {out_counted_loop, NULL, NULL},
    [GRAPH_REDUCE_WITH] = {out_reduce_with, NULL, NULL},
    [GRAPH_SORT] = {out_sort, NULL, NULL},
    [GRAPH_SCATTER] = {out_scatter, NULL, NULL},
    [GRAPH_REDUCE] = {out_reduce, out_is_ordered, NULL},
    [GRAPH_DOT] = {out_dot, out_is_ordered, NULL},
    [GRAPH_CONVOLVE] = {out_convolve, out_is_ordered, NULL},
    [GRAPH_FMA] = {out_fma, always, NULL},
    [GRAPH_EXP2] = {out_exp2, always, NULL},
    [GRAPH_LOG2] = {out_log2, always, NULL},
    [GRAPH_TRUNC] = {out_trunc, always, NULL},
    [GRAPH_RANDOM_BITS] = {out_random_bits, always, NULL},
    [GRAPH_STOCHASTIC_ROUND] = {out_stochastic_round, always, NULL},
    [GRAPH_CUMSUM] = {out_cumsum, always, NULL},
    [GRAPH_ARGSORT] = {out_argsort, always, NULL},
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

static bool write_operation(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const int opcode = ir_op_get(w->m, op)->opcode;
    const struct row *row = &rows[opcode];
    if (graph_op_class(opcode) == GRAPH_CLASS_COMPOSITE)
        return out_composite(w, op, out_decomposed, in, results);
    if (!row->write)
        return out_refuse(w, op, "it has no counterpart there");
    const bool composite = row->composite && !w->plain && row->composite(w, op);
    return composite ? out_composite(w, op, row->write, in, results)
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
    *t = (shlo_type){
        .kind = SHLO_TYPE_FUNCTION, .count = count, .inputs = b->argument_count, .parts = parts};
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
    for (ir_op op = ir_module_kernel(w->m); op; op = ir_op_get(w->m, op)->next) {
        graph_remove_dead(w->m, ir_op_block(w->m, op, 0));
        vec_push(&ops, op);
    }
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

/* Correctly rounded functions are the module's. */
static void note_math(shlo_writer *w) {
    const char *math = ir_op_string(w->m, ir_module_kernel(w->m), "math", NULL);
    if (!math)
        return;
    w->out->attrs = ARENA_NEW(&w->out->memory, shlo_named_attr, 1);
    w->out->attrs[0] = (shlo_named_attr){SHLO_MATH, out_word(w, SHLO_ATTR_STRING, math)};
    w->out->attr_count = 1;
}

/* Every extent is a number. */
static bool has_sizes(shlo_writer *w) {
    for (ir_walk walk = ir_walk_block(w->m, ir_module_body(w->m)); ir_walk_next(&walk);) {
        const ir_op_data *d = ir_op_get(w->m, walk.op);
        for (uint32_t i = 0; i < d->result_count + d->operand_count; i++) {
            const bool made = i < d->result_count;
            const ir_value v = made ? d->results[i] : d->operands[i - d->result_count];
            if (!ir_type_is_static(w->m, ir_value_get(w->m, v)->type))
                return out_refuse(w, walk.op, "it has a dimension that is no number");
        }
    }
    return true;
}

shlo_module *shlo_lower(ir_module *m, status *st) {
    if (ir_op_get(m, ir_module_kernel(m))->opcode != GRAPH_KERNEL) {
        status_set(st, STATUS_INVALID, "only Graph IR is expressed in StableHLO");
        return NULL;
    }
    shlo_writer w = {.m = m, .out = shlo_module_new(), .st = st};
    const char *name = ir_op_string(m, ir_module_kernel(m), "name", NULL);
    map_init(&w.composites);
    w.out->name = name ? arena_strdup(&w.out->memory, name) : NULL;
    note_math(&w);
    const bool good = has_sizes(&w) && write_functions(&w);
    map_release(&w.composites);
    vec_release(&w.made);
    if (good)
        return w.out;
    shlo_module_free(w.out);
    return NULL;
}

bool shlo_export(ir_module *m, text *out, status *st) {
    shlo_module *lowered = shlo_lower(m, st);
    if (lowered)
        shlo_print(lowered, out);
    shlo_module_free(lowered);
    return lowered != NULL;
}
