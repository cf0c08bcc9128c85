/* transform_donated.c - derivatives that need a donated parameter behind the value that has its
 * memory: the parameter would have to be copied first, which donating it was to spare. */
#include <string.h>

#include "check/check.h"
#include "ops/donated.h"
#include "ops/graph.h"
#include "transforms/passes.h"

static bool reads(const ir_op_data *o, ir_value v) {
    bool found = false;
    for (uint32_t i = 0; i < o->operand_count; i++)
        found |= o->operands[i] == v;
    return found;
}

/* The first derivative that needs `v` behind the operation; 0: there is none. */
static ir_op needing_behind(const ir_module *m, ir_op op, ir_value v) {
    while (op) {
        op = ir_op_get(m, op)->next;
        if (op && ir_op_get(m, op)->opcode == GRAPH_VJP && reads(ir_op_get(m, op), v) &&
            graph_derivative_needs(m, op, v))
            break;
    }
    return op;
}

static const ast_parameter *parameter_of(const checker *c, uint32_t input) {
    const ast_function *f = c->kernel->function;
    uint32_t i = 0;
    for (uint32_t place = 0; i < f->parameter_count; i++)
        if (!f->parameters[i].keyword_only && place++ == input)
            break;
    return &f->parameters[i];
}

static span place_of(const checker *c, ir_op op) {
    const ir_location at = ir_op_get(c->m, op)->location;
    const uint32_t start = source_offset_of(c->report->source, at.line, at.column);
    return (span){start, start + 1};
}

/* The name in @jit(donate=...); the parameter, of a state. */
static span donated_at(const checker *c, const ast_parameter *p) {
    const node *list = c->kernel->returned.donate;
    span at = p->at;
    for (uint32_t i = 0; list && i < (list->kind == NODE_STRING ? 1 : list->count); i++) {
        const node *name = list->kind == NODE_STRING ? list : list->items[i];
        const size_t length = strlen(name->text);
        if (strncmp(p->name, name->text, length) == 0 && (p->name[length] | '.') == '.')
            at = name->at;
    }
    return at;
}

static void refuse(checker *c, const ast_parameter *p, ir_op derivative, ir_op writer) {
    diagnose_error(c->report, ERROR_DERIVATIVE_OF_DONATED, place_of(c, derivative),
                   "this derivative needs '%s', whose memory another value has by now", p->name);
    diagnose_note(c->report, place_of(c, writer), "this one, which is returned in its place");
    diagnose_note(c->report, donated_at(c, p), "donated here");
    diagnose_help(c->report, "take the derivative before '%s' is replaced, or do not donate it",
                  p->name);
}

void transforms_donated(checker *c) {
    const ir_module *m = c->m;
    const ir_op kernel = ir_module_kernel(m);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, kernel, 0));
    for (uint32_t i = 0; i < donated_inputs(m, kernel); i++) {
        const int64_t output = donated_output(m, kernel, i);
        if (output < 0)
            continue;
        const ir_value made = ir_op_get(m, block->last)->operands[output];
        const ir_op writer = ir_value_get(m, made)->op,
                    derivative = needing_behind(m, writer, block->arguments[i]);
        if (derivative)
            refuse(c, parameter_of(c, i), derivative, writer);
    }
}
