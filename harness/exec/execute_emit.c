/* execute_emit.c - an edited case for its parent, in a worker that can write no files: its source,
 * and its arrays. */
#include "exec/execution.h"
#include "job/result.h"

/* More than the parent reads in one message. */
static const uint64_t bytes_most = UINT64_C(4) << 20;

static void put_hex(const void *bytes, size_t count, text *out) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) {
        text_append_char(out, digits[b[i] >> 4]);
        text_append_char(out, digits[b[i] & 15]);
    }
}

static json_t *array_json(const char *name, const tensor *t) {
    text header, hex;
    text_init(&header);
    text_init(&hex);
    tensor_npy_header(t, &header);
    put_hex(header.data, header.length, &hex);
    put_hex(t->data, tensor_bytes(t), &hex);
    json_t *one = json_pack("[s, s]", name, hex.data);
    text_release(&header);
    text_release(&hex);
    return one;
}

bool execution_emit(execution *e, status *st) {
    const case_context *s = e->context;
    uint64_t bytes = 0;
    text source;
    if (!e->edited)
        return status_set(st, STATUS_INVALID, "a case without edits is not emitted");
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        bytes += tensor_bytes(&s->inputs[i]);
    if (bytes > bytes_most)
        return status_set(st, STATUS_UNAVAILABLE,
                          "its inputs are %llu bytes; at most %llu are kept",
                          (unsigned long long)bytes, (unsigned long long)bytes_most);
    text_init(&source);
    bool ok = compiler_edited_source(e->edited, &source, st);
    json_t *arrays = json_array();
    for (uint32_t i = 0; ok && i < s->signature.input_count; i++)
        json_array_append_new(arrays, array_json(s->signature.inputs[i].name, &s->inputs[i]));
    if (ok)
        internal_put_SOURCE(e->result, source.data);
    internal_put_ARRAYS(e->result, arrays);
    text_release(&source);
    if (ok)
        result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return ok;
}

void execution_put_size(const execution *e, const compiler_edited *edited) {
    json_t *inputs = json_array();
    for (uint32_t i = 0; i < edited->input_count; i++)
        json_array_append_new(inputs, json_integer((json_int_t)tensor_count(&edited->inputs[i])));
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < edited->input_count; i++)
        bytes += tensor_bytes(&edited->inputs[i]);
    internal_put_SIZE(e->result, json_pack("{s:I, s:I, s:o, s:I}", "operations",
                                           (json_int_t)edited->operation_count, "outputs",
                                           (json_int_t)edited->output_count, "inputs", inputs,
                                           "bytes", (json_int_t)bytes));
}
