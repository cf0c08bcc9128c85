/* opinion.c - see tessera/opinion.h: the walk over the operations, inner ones first. */
#include "opinion/opinion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/transforms.h"
#include "target/interp/interp.h"
#include "transforms/passes.h"

/* Some seconds. */
static const int64_t work_most = INT64_C(1) << 27;

/* In the order of the passes: an operation of each is judged by a function of its own. */
static const struct {
    const char *pass;
    opinion_verdict (*judge)(const opinion_case *c); /* NULL: calls, by judge_calls */
    bool exact;                                      /* what is right is right to the last bit */
} passes[COMPILER_OPINION_PASSES] = {
    {"vmap", opinion_of_batch, true},      {"jvp", opinion_of_derivative, false},
    {"vjp", opinion_of_derivative, false}, {"decompose", opinion_of_composite, false},
    {"shard", opinion_of_shard, true},     {"inline", NULL, true}};
enum { OF_JVP = 1, OF_VJP = 2, OF_CALLS = 5, OF_NONE = COMPILER_OPINION_PASSES };

static uint32_t pass_of(int opcode) {
    return opcode == GRAPH_VMAP                              ? 0
           : opcode == GRAPH_JVP                             ? 1
           : opcode == GRAPH_VJP                             ? 2
           : graph_op_class(opcode) == GRAPH_CLASS_COMPOSITE ? 3
           : opcode == GRAPH_SHARD                           ? 4
                                                             : OF_NONE;
}

/* Is there an operation to judge, in it or it itself? */
static bool is_judged(const ir_module *m, ir_op op) {
    bool found = false;
    for (ir_walk w = ir_walk_op(m, op); !found && ir_walk_next(&w);)
        found = pass_of(ir_op_get(m, w.op)->opcode) != OF_NONE;
    return found;
}

/* ---- the values around the operations ---- */

typedef VEC(ir_value) value_list;

static void judged_values(const ir_module *m, value_list *out) {
    for (ir_op op = ir_kernel_body(m)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (!is_judged(m, op))
            continue;
        for (uint32_t i = 0; i < d->operand_count; i++)
            vec_push(out, d->operands[i]);
        for (uint32_t i = 0; i < d->result_count; i++)
            vec_push(out, d->results[i]);
    }
}

/* In the order of judged_values; NULL: they cannot be had. */
static tensor *values_of(opinion *o, const ir_module *m, const value_list *list,
                         const tensor *inputs) {
    ir_module *copy = ir_module_clone(m);
    const ir_op kernel = ir_module_kernel(copy);
    ir_op_set_operands(copy, ir_kernel_body(copy)->last, list->items, (uint32_t)list->count);
    ir_op_set_attr(copy, kernel, "outputs", build_names(copy, "o", list->count));
    ir_op_remove_attr(copy, kernel, "donated");
    ir_op_remove_attr(copy, kernel, "effects");
    compiler_instance *instance = compiler_instance_new(copy, (ir_bindings){0});
    tensor *out = tensors_new((uint32_t)list->count);
    const bool ok = opinion_interpret(o, instance, inputs, out);
    compiler_instance_free(instance);
    if (!ok)
        tensors_free(out);
    return ok ? out : NULL;
}

/* ---- one operation ---- */

static bool judge_kernel(opinion *o, const ir_module *m, const tensor *inputs);

static void put_wrong(opinion *o, const ir_module *m, ir_op op, uint32_t pass) {
    const ir_op_data *d = ir_op_get(m, op);
    o->out->wrong = passes[pass].pass;
    o->out->name = op_info_get(d->opcode)->name;
    o->out->line = d->location.line;
    o->out->column = d->location.column;
}

bool opinion_first_turn(const ir_module *m, ir_op op, const tensor *operands, ir_block *block,
                        tensor *out, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const transform_shape s =
        transform_is_one(d->opcode) ? transform_shape_of(m, op) : (transform_shape){0};
    uint32_t first = 0, parts = 0, turn = 0;
    *block = ir_op_block(m, op, 0);
    if (d->opcode == GRAPH_JVP || d->opcode == GRAPH_VJP)
        first = d->operand_count - s.value_count;
    else if (d->opcode == GRAPH_VMAP || d->opcode == GRAPH_SHARD)
        parts = s.sliced;
    else if (d->opcode == GRAPH_IF) {
        *block = ir_op_block(m, op, *(const uint8_t *)operands[0].data ? 0 : 1);
        first = 1;
    } else if (d->opcode == GRAPH_WHILE)
        *block = ir_op_block(m, op, 1);
    else if (d->opcode == GRAPH_LOOP)
        turn = 1;
    else if (!transform_is_one(d->opcode))
        return false;
    const loop_shape l = turn ? loop_shape_of(m, op) : (loop_shape){0};
    bool ok = !turn || (l.count > 0 && tensor_init(&out[0], DTYPE_I32, 0, NULL, st));
    for (uint32_t i = first; i < d->operand_count && ok; i++) {
        tensor *to = &out[i - first + turn];
        const bool part = turn ? i >= l.carried && i < l.carried + l.sliced : i < parts;
        ok = part ? operands[i].dims[0] > 0 && opinion_part(&operands[i], 0, to, st)
                  : tensor_copy(&operands[i], to, st);
    }
    return ok;
}

/* False: something in it is wrong. */
static bool judge_inside(const opinion_case *c) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    ir_block block;
    tensor *arguments = tensors_new(d->operand_count + 1);
    bool right = true;
    if (opinion_first_turn(c->m, c->op, c->operands, &block, arguments, c->o->st)) {
        compiler_instance *function =
            opinion_function(c->m, block, &(opinion_view){.widen = false});
        right = judge_kernel(c->o, compiler_instance_graph(function), arguments);
        compiler_instance_free(function);
    }
    tensors_free(arguments);
    return right;
}

static bool judge_operation(const opinion_case *c) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    const uint32_t pass = pass_of(d->opcode);
    if (d->region_count && !judge_inside(c))
        return false;
    if (pass == OF_NONE)
        return true;
    const opinion_verdict v = passes[pass].judge(c);
    *c->o->st = (status)STATUS_INIT; /* what cannot be judged says nothing */
    c->o->had[pass] = true;
    c->o->unjudged[pass] |= v == OPINION_NONE;
    if (v == OPINION_WRONG)
        put_wrong(c->o, c->m, c->op, pass);
    return v != OPINION_WRONG;
}

/* False: an operation is wrong. What cannot be evaluated leaves all open. */
static bool judge_kernel(opinion *o, const ir_module *m, const tensor *inputs) {
    value_list list = {0};
    judged_values(m, &list);
    tensor *values = list.count ? values_of(o, m, &list, inputs) : NULL, *at = values;
    bool right = true;
    o->open |= list.count && !values;
    *o->st = (status)STATUS_INIT;
    for (ir_op op = ir_kernel_body(m)->first; op && right && values; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (!is_judged(m, op))
            continue;
        const opinion_case c = {o, m, op, at, at + d->operand_count};
        right = judge_operation(&c);
        at += d->operand_count + d->result_count;
    }
    tensors_free(values);
    vec_release(&list);
    return right;
}

/* ---- calls ---- */

/* The interpreter runs functions where they are called, too, if all dimensions are numbers. False:
 * that gives something else. */
static bool judge_calls(opinion *o, compiler_instance *instance, const tensor *inputs) {
    ir_module *m = ir_module_clone(instance->graph);
    const uint32_t count = opinion_results(instance);
    tensor *called = tensors_new(count), *inlined = tensors_new(count);
    const bool calls = ir_op_get(m, ir_module_kernel(m))->next && instance->dims.count == 0;
    bool right = true;
    if (calls && graph_decompose_all(m, o->st) && interp_module(m, inputs, called, o->st) &&
        opinion_interpret(o, instance, inputs, inlined)) {
        o->had[OF_CALLS] = true;
        for (uint32_t i = 0; i < count && right; i++)
            right = memcmp(called[i].data, inlined[i].data, tensor_bytes(&called[i])) == 0;
    }
    if (!right) {
        put_wrong(o, m, ir_module_kernel(m), OF_CALLS);
        snprintf(o->out->why, sizeof o->out->why,
                 "functions that are run where they are called give other bits");
    }
    *o->st = (status)STATUS_INIT;
    tensors_free(called);
    tensors_free(inlined);
    ir_module_free(m);
    return right;
}

/* ---- rules of derivatives ---- */

/* One by one, where a derivative as a whole was not judged. */
static bool judge_rules(opinion *o, const ir_module *m) {
    bool right = true;
    o->work = work_most;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); right && ir_walk_next(&w);) {
        const int opcode = ir_op_get(m, w.op)->opcode;
        ir_op wrong;
        if (opcode != GRAPH_JVP && opcode != GRAPH_VJP)
            continue;
        right = opinion_pieces(o, m, w.op, &wrong);
        if (!right)
            put_wrong(o, m, wrong, pass_of(opcode));
    }
    return right;
}

static bool is_open(const opinion *o) {
    return o->open || o->unjudged[OF_JVP] || o->unjudged[OF_VJP];
}

/* ---- all ---- */

static void put_right(const opinion *o) {
    for (uint32_t i = 0; i < COMPILER_OPINION_PASSES; i++)
        if (passes[i].exact && o->had[i] && !o->unjudged[i] && !o->open)
            o->out->right[o->out->right_count++] = passes[i].pass;
        else if (o->had[i])
            o->out->open[o->out->open_count++] = passes[i].pass;
}

bool compiler_has_opinion(const char *pass, size_t length) {
    for (uint32_t i = 0; i < COMPILER_OPINION_PASSES; i++)
        if (strlen(passes[i].pass) == length && memcmp(passes[i].pass, pass, length) == 0)
            return true;
    return false;
}

/* As it stands in the source, and then its derivatives, which have composites of their own. */
bool compiler_second_opinion(compiler_instance *instance, const tensor *inputs,
                             compiler_opinion *out, status *st) {
    status own = STATUS_INIT;
    opinion o = {.out = out, .work = work_most, .st = &own};
    ir_module *m = ir_module_clone(instance->graph);
    *out = (compiler_opinion){.wrong = NULL};
    if (!judge_calls(&o, instance, inputs)) {
        ir_module_free(m);
        return true;
    }
    bool ok = graph_inline(m, st) && graph_specialize(m, instance->dims, st) &&
              graph_called_tiles(m, st) && graph_require_formula(m, st);
    bool right = ok && judge_kernel(&o, m, inputs);
    if (right && is_open(&o))
        right = judge_rules(&o, m);
    if (right) {
        ok = graph_vmap(m, st) && graph_jvp(m, st) && graph_vjp(m, st);
        right = ok && judge_kernel(&o, m, inputs);
    }
    ir_module_free(m);
    put_right(&o);
    return ok;
}
