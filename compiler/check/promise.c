/* promise.c - calls of functions that promise something of their results: their operations become
 * kernels of their own, whose inputs are what the call reads. */
#include "tessera/promise.h"

#include <stdlib.h>

#include "check/check.h"
#include "check/modules.h"
#include "check/observed.h"
#include "ir/copy.h"
#include "ops/build.h"

/* ---- what a function promises ---- */

static void read_promise(compiler_source *s, callable *f, const node *n, diagnostics *d) {
    compiler_numerics numerics;
    checker c;
    if (f->numerics) {
        diagnose_error(d, ERROR_DUPLICATE_DECORATOR, n->at, "@verify.numerics appears twice");
        return;
    }
    checker_init(&c, s, d);
    checker_define_constants(&c);
    c.module = f->module;
    c.constants_only = true;
    if (numerics_read(&c, n, false, &numerics))
        f->numerics = arena_copy(&s->memory, &numerics, sizeof numerics);
    checker_release(&c);
}

void promise_read(compiler_source *s, callable *f, diagnostics *d) {
    for (uint32_t i = 0; i < f->ast->decorator_count && !f->in_tiles && !f->is_kernel; i++)
        if (numerics_is_one(f->ast->decorators[i]))
            read_promise(s, f, f->ast->decorators[i], d);
}

/* ---- calls ---- */

promise_mark promise_begin(const checker *c) {
    promise_mark mark = {.block = c->builder.block};
    if (c->m && mark.block)
        mark.last = ir_block_get(c->m, mark.block)->last;
    return mark;
}

/* A call while its operations are copied. */
typedef struct call_copy {
    const ir_module *from;
    ir_op first; /* 0: it has none */
    value_list outside;
    ir_value *copies; /* by value of `from` */
    bool *own;        /* by value: one of its operations makes it */
} call_copy;

static void note_outside(call_copy *k, ir_value v) {
    if (k->own[v])
        return;
    for (size_t i = 0; i < k->outside.count; i++)
        if (k->outside.items[i] == v)
            return;
    vec_push(&k->outside, v);
}

static void find_outside(call_copy *k, const entity_list *results) {
    for (ir_op op = k->first; op; op = ir_op_get(k->from, op)->next)
        for (uint32_t i = 0; i < ir_op_get(k->from, op)->result_count; i++)
            k->own[ir_op_get(k->from, op)->results[i]] = true;
    for (ir_op op = k->first; op; op = ir_op_get(k->from, op)->next)
        for (uint32_t i = 0; i < ir_op_get(k->from, op)->operand_count; i++)
            note_outside(k, ir_op_get(k->from, op)->operands[i]);
    for (size_t i = 0; i < results->count; i++)
        note_outside(k, results->items[i].value);
}

static ir_module *copy_body(const checker *c, const callable *f, call_copy *k,
                            const entity_list *results) {
    ir_module *m = ir_module_like(k->from);
    ir_named_attr attrs[] = {{"name", ir_attr_string(m, f->ast->name)},
                             {"inputs", build_names(m, "a", k->outside.count)},
                             {"outputs", build_names(m, "result", results->count)},
                             {"math", 0}};
    if (c->kernel->math)
        attrs[3].value = ir_attr_string(m, c->kernel->math);
    ir_builder b = {.m = m, .block = ir_module_body(m), .location = c->builder.location};
    ir_op kernel = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_KERNEL,
                                              .attrs = attrs,
                                              .attr_count = c->kernel->math ? 4 : 3,
                                              .region_count = 1});
    b.block = ir_op_block(m, kernel, 0);
    for (size_t i = 0; i < k->outside.count; i++) {
        ir_value v = k->outside.items[i];
        k->copies[v] = ir_block_add_argument(m, b.block, ir_value_get(k->from, v)->type, NULL);
    }
    for (ir_op op = k->first; op; op = ir_op_get(k->from, op)->next)
        ir_copy_op(&b, k->from, op, k->copies);
    ir_value *values = base_malloc((results->count + 1) * sizeof *values);
    for (size_t i = 0; i < results->count; i++)
        values[i] = k->copies[results->items[i].value];
    ir_build(&b, &(ir_op_spec){.opcode = GRAPH_RETURN,
                               .operands = values,
                               .operand_count = (uint32_t)results->count});
    free(values);
    kernel_drop_unused(m, b.block);
    return m;
}

static ir_op first_behind(const checker *c, const promise_mark *mark) {
    return mark->last ? ir_op_get(c->m, mark->last)->next : ir_block_get(c->m, mark->block)->first;
}

static ir_block kernel_block(const checker *c) {
    return ir_op_block(c->m, ir_module_kernel(c->m), 0);
}

static void keep_results(promised_call *call, const entity_list *results) {
    call->result_count = (uint32_t)results->count;
    call->results = base_malloc((results->count + 1) * sizeof *call->results);
    for (size_t i = 0; i < results->count; i++)
        call->results[i] = results->items[i].value;
}

static void note_call(checker *c, const callable *f, const promise_mark *mark,
                      const entity_list *results) {
    size_t values = ir_value_count(c->m) + 1;
    call_copy k = {.from = c->m,
                   .first = first_behind(c, mark),
                   .copies = base_calloc(values, sizeof *k.copies),
                   .own = base_calloc(values, sizeof *k.own)};
    find_outside(&k, results);
    promised_call call = {.function = f,
                          .line = c->builder.location.line,
                          .body = copy_body(c, f, &k, results),
                          .observed = c->observed.count,
                          .argument_count = (uint32_t)k.outside.count};
    for (size_t i = 0; i < k.outside.count; i++)
        observe_in(c, k.outside.items[i], region_block_of(c->m, k.outside.items[i]));
    entity made = {.kind = ENTITY_BOOL, .at = results->items[0].at, .integer = 1};
    made = emit_constant(c, &made, DTYPE_BOOL, made.at);
    observe_in(c, made.value, mark->block);
    if (mark->block == kernel_block(c))
        keep_results(&call, results);
    vec_push(&c->promises->items, call);
    vec_release(&k.outside);
    free(k.copies);
    free(k.own);
}

void promise_note(checker *c, const callable *f, const promise_mark *mark, const entity *e) {
    entity_list results = {0};
    const bool tensors =
        e->kind == ENTITY_TENSOR || e->kind == ENTITY_TUPLE || e->kind == ENTITY_RECORD;
    if (!c->promises || !f->numerics || !tensors || c->builder.block != mark->block ||
        c->builder.before)
        return;
    c->builder.location = checker_location(c, e->at);
    if (tree_flatten(c, e, &results, NULL) && results.count)
        note_call(c, f, mark, &results);
    vec_release(&results);
}

/* ---- behind the kernel ---- */

void promise_end(checker *c) {
    for (size_t k = 0; k < c->promises->items.count; k++) {
        promised_call *call = &c->promises->items.items[k];
        const observed_value *seen = &c->observed.items[call->observed];
        bool known = true;
        call->arguments = base_malloc((call->argument_count + 1) * sizeof *call->arguments);
        for (uint32_t i = 0; i <= call->argument_count; i++) {
            call->arguments[i] = seen[i].value;
            known &= seen[i].block == kernel_block(c);
        }
        if (!known) {
            free(call->arguments);
            call->arguments = NULL;
        }
    }
}

/* ---- for the compiler's callers ---- */

static bool promises_anything(const compiler_source *s) {
    bool any = false;
    for (size_t i = 0; i < s->modules.count; i++)
        for (uint32_t k = 0; k < s->modules.items[i]->function_count; k++)
            any |= s->modules.items[i]->functions[k].numerics != NULL;
    return any;
}

/* NULL where there are no values. */
static compiler_instance *instance_of(const ir_module *kernel, ir_value *values, uint32_t count,
                                      ir_bindings dims) {
    compiler_instance *made =
        values ? compiler_instance_new(kernel_giving(kernel, values, count), dims) : NULL;
    free(values);
    return made;
}

static compiler_promise promise_of(const ir_module *kernel, promised_call *call, ir_bindings dims) {
    return (compiler_promise){
        .function = call->function->ast->name,
        .line = call->line,
        .numerics = call->function->numerics,
        .body = compiler_instance_new(call->body, dims),
        .arguments = instance_of(kernel, call->arguments, call->argument_count + 1, dims),
        .results = instance_of(kernel, call->results, call->result_count, dims)};
}

compiler_promise *compiler_promises(compiler_source *source, const compiler_kernel *kernel,
                                    const compiler_case *c, uint32_t *count, text *out) {
    const kernel_interface *k = &source->interfaces[kernel - source->kernels];
    const ir_bindings dims = {c ? c->dims : NULL, c ? c->dim_count : 0};
    promised_calls calls = {0};
    diagnostics d;
    *count = 0;
    if (!promises_anything(source) || kernel->contract || k->graph || k->in_tiles)
        return base_calloc(1, sizeof(compiler_promise));
    diagnostics_init(&d, &source->text, false, out);
    ir_module *m = kernel_check_promises(source, k, c, &calls, &d);
    diagnostics_release(&d);
    compiler_promise *list = m ? base_calloc(calls.items.count + 1, sizeof *list) : NULL;
    for (size_t i = 0; m && i < calls.items.count; i++)
        list[(*count)++] = promise_of(m, &calls.items.items[i], dims);
    ir_module_free(m);
    vec_release(&calls.items);
    return list;
}

void compiler_promises_free(compiler_promise *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        compiler_instance_free(list[i].body);
        compiler_instance_free(list[i].arguments);
        compiler_instance_free(list[i].results);
    }
    free(list);
}
