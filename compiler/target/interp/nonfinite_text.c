/* nonfinite_text.c - where a NaN or an infinity comes from, in words. */
#include <math.h>

#include "tessera/nonfinite.h"

const char *compiler_nonfinite_name(compiler_nonfinite_origin origin) {
    static const char *const names[NONFINITE_ORIGINS] = {[NONFINITE_NONE] = "none",
                                                         [NONFINITE_OPERATION] = "operation",
                                                         [NONFINITE_INPUT] = "input",
                                                         [NONFINITE_CONSTANT] = "constant",
                                                         [NONFINITE_CODE] = "code"};
    return names[origin];
}

/* A NaN's sign means nothing. */
static void append_value(double value, text *out) {
    if (isnan(value))
        text_append(out, "nan");
    else
        text_printf(out, "%.9g", value);
}

static void append_index(int rank, const int64_t *index, text *out) {
    for (int axis = 0; axis < rank; axis++)
        text_printf(out, "%s%lld", axis ? ", " : "[", (long long)index[axis]);
    text_append(out, rank ? "]" : "");
}

static void append_flat(const compiler_buffer *b, int64_t element, text *out) {
    int64_t index[TENSOR_MAX_RANK];
    for (int axis = b->rank - 1; axis >= 0; axis--) {
        index[axis] = element % b->dims[axis];
        element /= b->dims[axis];
    }
    append_index(b->rank, index, out);
}

static void append_operand(const compiler_nonfinite_operand *o, text *out) {
    if (o->count == 0) {
        text_append(out, "no values");
        return;
    }
    if (o->count > 1)
        text_printf(out, "%lld values from ", (long long)o->count);
    append_value(o->low, out);
    if (o->count > 1) {
        text_append(out, " to ");
        append_value(o->high, out);
    }
}

static void append_operation(const compiler_nonfinite *f, text *out) {
    text_printf(out, "'%s'", f->operation);
    if (f->line)
        text_printf(out, " in line %u", f->line);
    if (f->derived)
        text_printf(out, ", in the derivative of '%s'%s", f->derived, f->copies > 1 ? "" : ",");
    if (f->copies > 1)
        text_printf(out, ", number %u of %u there,", f->copy + 1, f->copies);
    text_append(out, " made ");
    append_value(f->value, out);
    if (f->rank) {
        text_append(out, " at ");
        append_index(f->rank, f->index, out);
    }
    for (uint32_t i = 0; i < f->operand_count; i++) {
        text_append(out, i == 0 ? " of " : i + 1 < f->operand_count ? ", " : " and ");
        append_operand(&f->operands[i], out);
    }
    for (uint32_t i = f->turn_count; i-- > 0;)
        text_printf(out, ", in turn %lld of the loop in line %u", (long long)f->turns[i].turn,
                    f->turns[i].line);
}

static void append_origin(const compiler_signature *s, const compiler_nonfinite *f, text *out) {
    switch (f->origin) {
    case NONFINITE_OPERATION:
        append_operation(f, out);
        break;
    case NONFINITE_INPUT:
        text_printf(out, "it came in with input %s", s->inputs[f->input].name);
        append_index(f->rank, f->index, out);
        text_append(out, ", which is ");
        append_value(f->value, out);
        break;
    case NONFINITE_CONSTANT:
        append_value(f->value, out);
        text_printf(out, " is a constant of line %u", f->line);
        break;
    default:
        text_append(out, "no operation made it, the interpreter has ");
        append_value(f->value, out);
        text_append(out, " there");
        break;
    }
}

bool compiler_nonfinite_text(compiler_instance *instance, const compiler_nonfinite *found,
                             text *out, status *st) {
    compiler_signature s;
    if (!compiler_signature_of(instance, &s, st))
        return false;
    if (found->elements == 0) {
        text_append(out, "every element of the outputs is finite");
        return true;
    }
    const compiler_buffer *b = &s.outputs[found->output];
    text_printf(out, "output %s", b->name);
    append_flat(b, found->element, out);
    text_append(out, " is ");
    append_value(found->shown, out);
    text_append(out, ": ");
    append_origin(&s, found, out);
    if (found->elements > 1)
        text_printf(out, "; %lld elements are not finite", (long long)found->elements);
    return true;
}
