/* edit_source.c - a smaller case as a source of its own: Graph IR below @graph, with its head. */
#include <string.h>

#include "graph/instance.h"
#include "tessera/edit.h"

static void put_type(const compiler_buffer *b, text *out) {
    text_append(out, "Tensor[");
    for (int i = 0; i < b->rank; i++)
        text_printf(out, "%lld, ", (long long)b->dims[i]);
    text_printf(out, "%s]", dtype_name(b->type));
}

static void put_results(const compiler_signature *s, text *out) {
    if (s->output_count > 1)
        text_append(out, "tuple[");
    for (uint32_t i = 0; i < s->output_count; i++) {
        text_append(out, i ? ", " : "");
        put_type(&s->outputs[i], out);
    }
    if (s->output_count > 1)
        text_append(out, "]");
}

bool compiler_edited_source(const compiler_edited *e, text *out, status *st) {
    compiler_signature s;
    const ir_module *m = e->instance->graph;
    if (!compiler_signature_of(e->instance, &s, st))
        return false;
    text_append(out, "from tessera import *\n\n\n@cases(case(\"minimized\"))\n@graph(\"\"\"\n");
    ir_print(m, out);
    text_printf(out, "\"\"\")\n@kernel\ndef %s(", ir_op_string(m, ir_module_kernel(m), "name", ""));
    for (uint32_t i = 0; i < s.input_count; i++) {
        text_printf(out, "%s%s: ", i ? ", " : "", s.inputs[i].name);
        put_type(&s.inputs[i], out);
    }
    text_append(out, ") -> ");
    put_results(&s, out);
    text_append(out, ":\n    ...\n");
    return true;
}
