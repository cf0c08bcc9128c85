/* execute_sentinels.c - where a NaN or an infinity in outputs comes from, as a field of the result.
 */
#include <math.h>

#include "exec/execution.h"
#include "job/result.h"

/* JSON has neither. */
static json_t *value_json(double value) {
    if (isnan(value))
        return json_string("nan");
    return isinf(value) ? json_string(value < 0 ? "-inf" : "inf") : json_real(value);
}

static json_t *operands_json(const compiler_nonfinite *f) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->operand_count; i++) {
        const compiler_nonfinite_operand *o = &f->operands[i];
        json_t *one = json_pack("{s:I}", "elements", (json_int_t)o->count);
        if (o->count) {
            json_object_set_new(one, "low", value_json(o->low));
            json_object_set_new(one, "high", value_json(o->high));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *turns_json(const compiler_nonfinite *f) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->turn_count; i++)
        json_array_append_new(list, json_pack("{s:i, s:I}", "line", (int)f->turns[i].line, "turn",
                                              (json_int_t)f->turns[i].turn));
    return list;
}

static void put_operation(json_t *found, const compiler_nonfinite *f) {
    json_object_set_new(found, "operation", json_string(f->operation));
    if (f->derived)
        json_object_set_new(found, "derivative_of", json_string(f->derived));
    json_object_set_new(found, "line", f->line ? json_integer(f->line) : json_null());
    json_object_set_new(found, "column", f->line ? json_integer(f->column) : json_null());
    if (f->copies > 1)
        json_object_set_new(found, "copy",
                            json_pack("{s:i, s:i}", "number", (int)f->copy, "of", (int)f->copies));
    json_object_set_new(found, "operands", operands_json(f));
    json_object_set_new(found, "turns", turns_json(f));
}

static json_t *found_json(const execution *e, const compiler_nonfinite *f) {
    const compiler_signature *s = &e->context->signature;
    json_t *index = json_array(), *found;
    for (int axis = 0; axis < f->rank; axis++)
        json_array_append_new(index, json_integer(f->index[axis]));
    found = json_pack("{s:s, s:s, s:I, s:o, s:I, s:o, s:o}", "origin",
                      compiler_nonfinite_name(f->origin), "output", s->outputs[f->output].name,
                      "element", (json_int_t)f->element, "shown", value_json(f->shown), "elements",
                      (json_int_t)f->elements, "value", value_json(f->value), "index", index);
    if (f->operation)
        put_operation(found, f);
    if (f->origin == NONFINITE_INPUT)
        json_object_set_new(found, "input", json_string(s->inputs[f->input].name));
    return found;
}

void execution_put_sentinels(execution *e, const verdict *v) {
    const compiler_nonfinite *f = &v->nonfinite;
    status ignored = STATUS_INIT;
    text words;
    if (!v->looked)
        return;
    text_init(&words);
    json_t *found = v->unseen     ? json_pack("{s:s}", "origin", "unknown")
                    : f->elements ? found_json(e, f)
                                  : json_pack("{s:s}", "origin", "none");
    if (v->unseen)
        text_append(&words, v->unseen);
    else if (f->elements)
        compiler_nonfinite_text(e->context->instance, f, &words, &ignored);
    if (words.length)
        json_object_set_new(found, "description", json_text(words.data));
    result_put_SENTINELS(e->result, found);
    text_release(&words);
}
