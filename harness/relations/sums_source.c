/* sums_source.c - see sums_source.h: the operation is read off the kernel's graph. */
#include "relations/sums_source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/inputs.h"
#include "ir/opset.h"
#include "relations/attempt.h"
#include "relations/tree_text.h"

enum { RANDOM_INPUTS = 3, COLUMNS = 100 };

/* ---- the formula ---- */

/* The kernel's one operation; 0: it has others beside it. */
static ir_op lone_operation(const ir_module *m, status *st) {
    const ir_block_data *body = ir_kernel_body(m);
    static const char *const known[] = {"tessera.matmul", "tessera.dot", "tessera.reduce"};
    const char *name = op_info_get(ir_op_get(m, body->first)->opcode)->name;
    for (int i = 0; i < 3; i++)
        if (strcmp(name, known[i]) == 0 && ir_op_get(m, body->first)->next == body->last)
            return body->first;
    status_set(st, STATUS_UNAVAILABLE,
               "an order is written for matmul, dot and sum, alone in a "
               "kernel");
    return 0;
}

static void write_axes(const ir_module *m, ir_op op, const char *attribute, const char *name,
                       text *out) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, op, attribute, axes, IR_MAX_RANK);
    text_printf(out, ", %s=(", name);
    for (uint32_t i = 0; i < count; i++)
        text_printf(out, "%s%" PRId64 "%s", i ? " " : "", axes[i],
                    i + 1 < count || i == 0 ? "," : "");
    text_append_char(out, ')');
}

static dtype type_attribute(const ir_module *m, ir_op op, const char *name) {
    ir_attr attr = ir_op_attr(m, op, name);
    return attr ? ir_type_get(m, ir_attr_get(m, attr)->type)->element : DTYPE_NONE;
}

/* The call up to its order. */
static void write_call(const summing *s, const ir_module *m, ir_op op, text *out) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block_data *body = ir_block_get(m, d->block);
    const char *name = op_info_get(d->opcode)->name + strlen("tessera.");
    bool sum = strcmp(name, "reduce") == 0;
    dtype result = type_attribute(m, op, "out");
    text_printf(out, "%s(", sum ? "sum" : name);
    for (uint32_t i = 0; i < d->operand_count; i++)
        for (uint32_t k = 0; k < body->argument_count; k++)
            if (body->arguments[k] == d->operands[i])
                text_printf(out, "%s%s", i ? ", " : "", s->shape.signature.inputs[k].name);
    if (sum)
        write_axes(m, op, "axes", "axis", out);
    if (strcmp(name, "dot") == 0) {
        write_axes(m, op, "x_contract", "x_contract", out);
        write_axes(m, op, "y_contract", "y_contract", out);
        write_axes(m, op, "x_batch", "x_batch", out);
        write_axes(m, op, "y_batch", "y_batch", out);
    }
    if (result)
        text_printf(out, ", out=%s", dtype_name(result));
}

/* ---- the kernel ---- */

static void write_type(const struct compiler_buffer *b, dtype accumulator, text *out) {
    text_append(out, "Tensor[");
    for (int i = 0; i < b->rank; i++)
        text_printf(out, "%" PRId64 ", ", b->dims[i]);
    text_append(out, dtype_name(b->type));
    if (accumulator)
        text_printf(out, " @ accum(%s)", dtype_name(accumulator));
    text_append_char(out, ']');
}

/* A file's name, where a string can hold it. */
static const char *shown_column(const summing *s) {
    const char *name = s->request->column->name;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.:", *c))
            return "another library";
    return name;
}

static void write_head(const summing *s, dtype accumulator, text *out) {
    const compiler_signature *g = &s->shape.signature;
    const char *name = s->request->column->kernel->name;
    text_printf(out, "\"\"\"%s in the order in which %s adds", name, shown_column(s));
    for (uint32_t i = 0; i < s->shape.c->dim_count; i++)
        text_printf(out, "%s%s=%" PRId64, i ? ", " : " at ", s->shape.c->dims[i].name,
                    s->shape.c->dims[i].value);
    text_printf(out, " on %u thread%s.\"\"\"\nfrom tessera import *\n\n\n", s->threads,
                s->threads == 1 ? "" : "s");
    text_printf(out, "@cases(case(\"found\"))\n@kernel\ndef %s(", name);
    for (uint32_t i = 0; i < g->input_count; i++) {
        text_printf(out, "%s%s: ", i ? ", " : "", g->inputs[i].name);
        write_type(&g->inputs[i], DTYPE_NONE, out);
    }
    text_append(out, ") -> ");
    write_type(&g->outputs[0], accumulator, out);
    text_append(out, ":\n    return ");
}

/* Lines end in front of a '+'. */
static void write_order(const char *order, text *out) {
    size_t column = 0;
    text_append(out, ", order=\"\"\"\n        ");
    for (; *order; order++) {
        if (*order == '+' && column >= COLUMNS) {
            text_append(out, "\n        ");
            column = 0;
        }
        text_append_char(out, *order);
        column++;
    }
    text_append(out, "\"\"\")\n");
}

/* In f64 products of f32 are exact, unless they are rounded to f32 before. */
static bool is_exact(summing *s, status *st) {
    bool every = s->every;
    s->every = false;
    int fused = summing_fused(s);
    s->every = every;
    return fused != 0 ||
           status_set(st, STATUS_UNAVAILABLE,
                      "products are rounded, and then added in more than f32: no order says that");
}

bool sums_source(summing *s, text *out, status *st) {
    const ir_module *m = compiler_instance_graph(s->shape.instance);
    ir_op op = lone_operation(m, st);
    const char *added_in = op ? summing_accumulator(s) : NULL;
    bool wider = added_in && strcmp(added_in, "wider") == 0;
    dtype own = op ? type_attribute(m, op, "accumulate") : DTYPE_NONE;
    signed char *joins = base_malloc(s->nodes.count + 1);
    text order;
    text_init(&order);
    bool ok = op && (!wider || is_exact(s, st)) && summing_joins(s, wider, joins, st);
    if (ok)
        tree_text(&s->nodes, joins, s->cut.is_dot, &order);
    if (ok && order.length > LIMIT_ORDER_BYTES)
        ok = status_set(st, STATUS_UNAVAILABLE,
                        "the tree takes %zu letters, and an order may have %d", order.length,
                        (int)LIMIT_ORDER_BYTES);
    if (ok) {
        write_head(s, own ? own : wider ? DTYPE_F64 : DTYPE_NONE, out);
        write_call(s, m, op, out);
        write_order(order.data, out);
    }
    text_release(&order);
    free(joins);
    return ok;
}

/* ---- whether it is so ---- */

static bool same_bits(const tensor *ours, const tensor *theirs, status *st) {
    char index[80];
    size_t size = dtype_size(ours->type);
    uint64_t bits[2] = {0};
    for (int64_t i = 0; i < tensor_count(ours); i++) {
        memcpy(&bits[0], (const char *)theirs->data + (size_t)i * size, size);
        memcpy(&bits[1], (const char *)ours->data + (size_t)i * size, size);
        if (bits[0] == bits[1])
            continue;
        attempt_index(ours, i, index, sizeof index);
        return status_set(st, STATUS_UNAVAILABLE,
                          "of random inputs element [%s] is 0x%" PRIx64 ", and 0x%" PRIx64
                          " in the order that was found: a tree alone does not describe it",
                          index, bits[0], bits[1]);
    }
    return true;
}

static bool confirm_one(summing *s, compiler_instance *written, const compiler_case *c,
                        uint64_t seed, status *st) {
    tensor *inputs = tensors_new(s->shape.signature.input_count),
           *ours = tensors_new(s->shape.signature.output_count),
           *theirs = tensors_new(s->shape.signature.output_count);
    const circumstances how = {
        .threads = s->threads, .before = 0xA5, .surround = 0x5A, .changed = -1};
    bool ok = inputs_make(&s->shape.signature, c, seed, inputs, st) &&
              compiler_interpret(written, inputs, ours, st) &&
              runner_run(s->runner, &s->shape, &how, inputs, theirs, st) &&
              same_bits(&ours[0], &theirs[0], st);
    tensors_free(inputs);
    tensors_free(ours);
    tensors_free(theirs);
    return ok;
}

bool sums_confirm(summing *s, const char *source, status *st) {
    text said;
    text_init(&said);
    compiler_source *written = compiler_open_text("written", source, false, &said);
    const compiler_kernel *k =
        written && compiler_error_count(written) == 0 ? compiler_kernel_at(written, 0) : NULL;
    compiler_instance *instance =
        k ? compiler_instance_open(written, k, &k->cases[0], &said) : NULL;
    bool ok =
        instance || status_set(st, STATUS_INVALID, "the kernel cannot be written: %s", said.data);
    for (int i = 0; i < RANDOM_INPUTS && ok; i++)
        ok = confirm_one(s, instance, &k->cases[0], s->request->seed + (uint64_t)i, st);
    compiler_instance_free(instance);
    compiler_close(written);
    text_release(&said);
    return ok;
}
