/* graph_text.c - @graph("""..."""): a kernel whose formula is Graph IR, as `--emit graph` prints
 * it, and whose body is `...`. Its head says what it takes and gives, like that of any kernel. */
#include <string.h>

#include "check/check.h"
#include "ops/graph.h"

static bool is_graph(const node *n) {
    const node *word = n->kind == NODE_CALL ? n->left : n;
    return word->kind == NODE_NAME && strcmp(word->text, "graph") == 0;
}

const node *graph_text_of(const ast_function *f) {
    for (uint32_t i = 0; i < f->decorator_count; i++)
        if (is_graph(f->decorators[i]))
            return f->decorators[i];
    return NULL;
}

static bool has_text(const node *n) {
    return n->kind == NODE_CALL && n->count == 1 && n->items[0]->kind == NODE_STRING;
}

bool graph_text_is_one(const node *n) {
    return is_graph(n);
}

void graph_text_read(const kernel_interface *k, const node *n, diagnostics *d) {
    if (n != k->graph) {
        diagnose_error(d, ERROR_DUPLICATE_DECORATOR, n->at, "@graph appears twice");
        diagnose_note(d, k->graph->at, "first here");
    } else if (!has_text(n)) {
        diagnose_error(d, ERROR_GRAPH_TEXT, n->at, "@graph takes Graph IR, in triple quotes");
        diagnose_help(d, "tsr compile FILE.tsr --emit graph prints that of another kernel");
    } else if (!contract_is_one(k->function)) {
        diagnose_error(d, ERROR_GRAPH_TEXT, n->at, "a kernel with @graph has the body '...'");
        diagnose_note(d, k->function->at, "it says another formula here");
    }
}

/* ---- the module ---- */

static bool differs(checker *c, const annotation *a, ir_value v, const char *what,
                    const char *name) {
    ir_type wanted = kernel_annotated_type(c, a), found = ir_value_get(c->m, v)->type;
    if (!wanted || wanted == found)
        return !wanted;
    diagnose_error(c->report, ERROR_GRAPH_HEAD, a->at, "the %s%s is %s here, and %s in @graph",
                   what, name, entity_type_text(c, wanted), entity_type_text(c, found));
    diagnose_note(c->report, c->kernel->graph->at, "which is here");
    return true;
}

static bool has_counts(checker *c, const ir_block_data *body, const ir_op_data *end) {
    const kernel_interface *k = c->kernel;
    if (body->argument_count == k->parameter_count && end->operand_count == k->result_count)
        return true;
    diagnose_error(c->report, ERROR_GRAPH_HEAD, k->graph->at,
                   "@graph takes %u tensors and gives %u; the kernel takes %u and gives %u",
                   body->argument_count, end->operand_count, k->parameter_count, k->result_count);
    return false;
}

static bool has_types(checker *c, const ir_block_data *body, const ir_op_data *end) {
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->parameter_count; i++)
        if (differs(c, &k->parameters[i], body->arguments[i], "parameter ",
                    k->function->parameters[i].name))
            return false;
    for (uint32_t i = 0; i < k->result_count; i++)
        if (differs(c, &k->results[i], end->operands[i], "result", ""))
            return false;
    return true;
}

/* Names are the head's. */
static void put_names(checker *c, ir_op kernel) {
    const kernel_interface *k = c->kernel;
    ir_attr *inputs = ARENA_NEW(&c->memory, ir_attr, k->parameter_count + 1);
    ir_attr *outputs = ARENA_NEW(&c->memory, ir_attr, k->result_count + 1);
    for (uint32_t i = 0; i < k->parameter_count; i++)
        inputs[i] = ir_attr_string(c->m, k->function->parameters[i].name);
    for (uint32_t i = 0; i < k->result_count; i++)
        outputs[i] = ir_attr_string(
            c->m, k->result_count == 1 ? "out" : arena_printf(&c->memory, "out%u", i));
    ir_op_set_attr(c->m, kernel, "name", ir_attr_string(c->m, k->function->name));
    ir_op_set_attr(c->m, kernel, "inputs", ir_attr_array(c->m, inputs, k->parameter_count));
    ir_op_set_attr(c->m, kernel, "outputs", ir_attr_array(c->m, outputs, k->result_count));
    if (k->math)
        ir_op_set_attr(c->m, kernel, "math", ir_attr_string(c->m, k->math));
}

static bool is_well_formed(ir_module *m, status *st) {
    ir_op kernel = ir_module_kernel(m);
    if (!kernel || ir_op_get(m, kernel)->opcode != GRAPH_KERNEL)
        return status_set(st, STATUS_INVALID, "it begins with no tessera.kernel");
    if (!ir_verify(m, st))
        return false;
    for (ir_walk w = ir_walk_op(m, kernel); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_FOLD)
            return status_set(st, STATUS_INVALID,
                              "tessera.fold is made by the compiler; write tessera.loop, or "
                              "tessera.reduce_with");
    return true;
}

ir_module *graph_text_module(checker *c) {
    if (!has_text(c->kernel->graph))
        return NULL; /* graph_text_read has said so */
    const node *words = c->kernel->graph->items[0];
    status st = STATUS_INIT;
    c->m = ir_parse(words->text, &st);
    if (!c->m || !is_well_formed(c->m, &st)) {
        diagnose_error(c->report, ERROR_GRAPH_TEXT, words->at, "@graph: %.400s", st.message);
        ir_module_free(c->m);
        return NULL;
    }
    ir_op kernel = ir_module_kernel(c->m);
    const ir_block_data *body = ir_block_get(c->m, ir_op_block(c->m, kernel, 0));
    const ir_op_data *end = ir_op_get(c->m, body->last);
    if (has_counts(c, body, end) && has_types(c, body, end)) {
        put_names(c, kernel);
        return c->m;
    }
    ir_module_free(c->m);
    return NULL;
}
