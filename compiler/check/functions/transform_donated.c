/* transform_donated.c - derivatives that need a donated parameter behind the value that has its
 * memory: the parameter would have to be copied first, which donating it was to spare. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "ops/control.h"
#include "ops/donated.h"
#include "ops/graph.h"
#include "transforms/passes.h"

/* Arguments of the operation's blocks that are handed a marked operand are marked, too; what a loop
 * carries is its own from the second turn on, which is for the caller to say. */
static void mark_arguments(const ir_module *m, ir_op op, bool carried, bool *marked) {
    const ir_op_data *o = ir_op_get(m, op);
    const uint32_t own = o->opcode == GRAPH_LOOP    ? loop_shape_of(m, op).carried
                         : o->opcode == GRAPH_WHILE ? o->operand_count
                                                    : 0;
    for (uint32_t r = 0; graph_is_control(o->opcode) && r < o->region_count; r++) {
        const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, r));
        const uint32_t behind = o->operand_count - b->argument_count; /* an if's condition: 1 */
        for (uint32_t i = carried ? 0 : own; i < o->operand_count; i++)
            if (marked[o->operands[i]] && i - behind < b->argument_count)
                marked[b->arguments[i - behind]] = true;
    }
}

static bool needs(const ir_module *m, ir_op op, const bool *marked) {
    const ir_op_data *o = ir_op_get(m, op);
    bool found = false;
    for (uint32_t i = 0; o->opcode == GRAPH_VJP && i < o->operand_count && !found; i++)
        found = marked[o->operands[i]] && graph_derivative_needs(m, op, o->operands[i]);
    return found;
}

/* The first derivative that needs `v` behind the operation, or in a turn of it, as the second turn
 * is behind the first; 0: there is none. Branches and loops are looked into. */
static ir_op needing_behind(const ir_module *m, ir_op writer, ir_value v) {
    bool *marked = base_calloc((size_t)ir_value_count(m) + 1, sizeof *marked);
    ir_op found = 0;
    marked[v] = true;
    for (ir_op at = writer; at && !found; at = ir_op_get(m, at)->next)
        for (ir_walk w = ir_walk_op(m, at); !found && ir_walk_next(&w);) {
            const bool branch = ir_op_get(m, w.op)->opcode == GRAPH_IF;
            if (w.op == writer && branch)
                break;
            found = w.op != writer && needs(m, w.op, marked) ? w.op : 0;
            mark_arguments(m, w.op, at != writer, marked);
        }
    free(marked);
    return found;
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
