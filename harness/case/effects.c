/* effects.c - see effects.h. */
#include "case/effects.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "common/say.h"

enum { ELEMENTS_SHOWN = 8 };

bool effect_is_check(const char *source, effect *out) {
    return effect_read(source, out) && out->kind == EFFECT_CHECK;
}

int effects_failed(const compiler_signature *signature, const tensor *outputs) {
    effect e;
    for (uint32_t i = 0; i < signature->output_count; i++)
        if (effect_is_check(signature->outputs[i].effect, &e) &&
            memchr(outputs[i].data, 0, (size_t)tensor_count(&outputs[i])))
            return (int)i;
    return -1;
}

/* ---- values ---- */

static void put_element(text *out, const tensor *t, int64_t i) {
    if (t->type == DTYPE_BOOL)
        text_append(out, ((const unsigned char *)t->data)[i] ? "True" : "False");
    else if (t->type == DTYPE_U64)
        text_printf(out, "%" PRIu64, ((const uint64_t *)t->data)[i]);
    else if (t->type == DTYPE_I64)
        text_printf(out, "%" PRId64, ((const int64_t *)t->data)[i]);
    else
        text_printf(out, "%.9g", dtype_load(t->type, t->data, (size_t)i));
}

/* [1, 2, ..., 9], of a tensor with its shape in front where that is not one row. */
static void put_value(text *out, const tensor *t) {
    const int64_t count = tensor_count(t);
    if (t->rank == 0) {
        put_element(out, t, 0);
        return;
    }
    for (int i = 0; t->rank > 1 && i < t->rank; i++)
        text_printf(out, "%s%" PRId64, i ? "x" : "", t->dims[i]);
    text_append_char(out, '[');
    for (int64_t i = 0; i < count; i++) {
        const bool left_out = count > ELEMENTS_SHOWN && i == ELEMENTS_SHOWN / 2;
        text_append(out, i ? ", " : "");
        if (left_out) {
            text_append(out, "..., ");
            i = count - ELEMENTS_SHOWN / 2;
        }
        put_element(out, t, i);
    }
    text_append_char(out, ']');
}

/* Is it of a state, and counts something: for all, or for each row? */
static bool is_count(const compiler_signature *s, const compiler_buffer *output) {
    return output->replaces >= 0 && strchr(s->inputs[output->replaces].name, '.') &&
           output->type == DTYPE_I32 && output->rank < 2;
}

void effects_message(const compiler_signature *signature, const tensor *outputs, int failed,
                     text *out) {
    effect e;
    const char *before = " (";
    if (!effect_is_check(signature->outputs[failed].effect, &e))
        return;
    text_append(out, e.words);
    for (uint32_t i = 0; i < signature->output_count; i++) {
        if (!is_count(signature, &signature->outputs[i]))
            continue;
        text_printf(out, "%s%s: ", before, signature->inputs[signature->outputs[i].replaces].name);
        put_value(out, &outputs[i]);
        before = ", ";
    }
    text_append(out, before[0] == ',' ? ")" : "");
}

/* The words, in which {} stands for the value. */
static void put_words(text *out, const char *words, const tensor *value) {
    const char *place = strstr(words, "{}");
    text_append_bytes(out, words, place ? (size_t)(place - words) : strlen(words));
    if (!place)
        return;
    put_value(out, value);
    text_append(out, place + 2);
}

void effects_print(const compiler_signature *signature, const tensor *outputs, FILE *to) {
    text line;
    text_init(&line);
    for (uint32_t i = 0; i < signature->output_count; i++) {
        effect e, next;
        if (!effect_read(signature->outputs[i].effect, &e) || e.kind == EFFECT_CHECK)
            continue;
        text_append(&line, line.length ? " " : "");
        put_words(&line, e.words, &outputs[i]);
        if (i + 1 < signature->output_count &&
            effect_read(signature->outputs[i + 1].effect, &next) && next.kind == EFFECT_PRINT_MORE)
            continue;
        say(to, "%s\n", line.data);
        text_clear(&line);
    }
    text_release(&line);
}
