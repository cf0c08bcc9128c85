/* execute_export.c - a case in a language that needs nothing of ours; nothing runs. */
#include "exec/execution.h"
#include "job/result.h"

static json_t *buffers_json(const compiler_buffer *buffers, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const compiler_buffer *b = &buffers[i];
        json_t *dims = json_array();
        for (int axis = 0; axis < b->rank; axis++)
            json_array_append_new(dims, json_integer(b->dims[axis]));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:b}", "name", b->name, "type",
                                              dtype_name(b->type), "dims", dims, "effect",
                                              b->effect != NULL));
    }
    return list;
}

bool execution_export(execution *e, status *st) {
    const compiler_signature *s = &e->context->signature;
    const compiler_options options = {.profile = PROFILE_STRICT};
    text code;
    text_init(&code);
    e->stage(e->stage_context, "compile");
    bool ok = compiler_emit(e->context->instance, &options, e->job->language, &code, st);
    json_t *words = ok ? json_stringn(code.data, code.length) : NULL;
    if (ok && !words)
        ok = status_set(st, STATUS_INTERNAL, "its text is not UTF-8");
    if (ok) {
        json_t *made = json_pack("{s:o, s:o, s:o}", "text", words, "inputs",
                                 buffers_json(s->inputs, s->input_count), "outputs",
                                 buffers_json(s->outputs, s->output_count));
        internal_put_EXPORTED(e->result, made);
        result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    }
    text_release(&code);
    return ok;
}
