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

/* ---- lines, in the order of the turns of loops ---- */

typedef struct printing {
    const compiler_signature *signature;
    const tensor *outputs;
    FILE *to;
    text line;
    int64_t turns[TENSOR_MAX_RANK]; /* of the loops around, */
    int axes;                       /* each an axis of what it prints */
} printing;

/* The next output from `i` on that is printed; `to`: there is none before it. */
static uint32_t next_print(const printing *p, uint32_t i, uint32_t to, effect *out) {
    for (; i < to; i++)
        if (effect_read(p->signature->outputs[i].effect, out) && out->kind <= EFFECT_PRINT_MORE)
            break;
    return i;
}

/* The part of an output for the present turns. */
static tensor part_of(const printing *p, uint32_t i) {
    tensor t = p->outputs[i];
    for (int k = 0; k < p->axes; k++) {
        const int64_t rest = t.dims[0] ? tensor_count(&t) / t.dims[0] : 0;
        t.data = (char *)t.data + p->turns[k] * rest * (int64_t)dtype_size(t.type);
        memmove(t.dims, t.dims + 1, sizeof *t.dims * (size_t)--t.rank);
    }
    return t;
}

/* Counts how often the block happens in which output `i` stands; a branch has no axis. */
static int64_t times_of(const printing *p, uint32_t i, uint32_t block, uint32_t depth,
                        bool *branch) {
    const compiler_signature *s = p->signature;
    effect e;
    *branch = false;
    for (uint32_t k = 0; k < s->output_count; k++) {
        if (!effect_read(s->outputs[k].effect, &e) || e.kind != EFFECT_TURNS ||
            effect_block(&e, depth) != block || effect_block(&e, depth + 1))
            continue;
        const tensor turns = part_of(p, k);
        *branch = turns.type == DTYPE_BOOL;
        return *branch ? *(const unsigned char *)turns.data : *(const int32_t *)turns.data;
    }
    return part_of(p, i).dims[0];
}

static void print_line(printing *p, uint32_t i, const effect *e, bool ends) {
    const tensor value = part_of(p, i);
    text_append(&p->line, p->line.length ? " " : "");
    put_words(&p->line, e->words, &value);
    if (!ends)
        return;
    say(p->to, "%s\n", p->line.data);
    text_clear(&p->line);
}

static void print_outputs(printing *p, uint32_t i, uint32_t to, uint32_t depth);

/* Those from `i` to `to`, all of one block at that depth. */
static void print_block(printing *p, uint32_t i, uint32_t to, uint32_t block, uint32_t depth) {
    bool branch;
    const int64_t times = times_of(p, i, block, depth, &branch);
    const int axis = p->axes;
    p->axes += !branch;
    for (int64_t turn = 0; turn < times; turn++) {
        if (!branch)
            p->turns[axis] = turn;
        print_outputs(p, i, to, depth + 1);
    }
    p->axes = axis;
}

static void print_outputs(printing *p, uint32_t i, uint32_t to, uint32_t depth) {
    effect e, next;
    for (uint32_t end; (i = next_print(p, i, to, &e)) < to; i = end) {
        const uint32_t block = effect_block(&e, depth);
        end = next_print(p, i + 1, to, &next);
        while (block && end < to && effect_block(&next, depth) == block)
            end = next_print(p, end + 1, to, &next);
        if (block)
            print_block(p, i, end, block, depth);
        else
            print_line(p, i, &e, end == to || next.kind != EFFECT_PRINT_MORE);
    }
}

bool effects_any(const compiler_signature *signature) {
    effect e;
    const printing p = {.signature = signature};
    return next_print(&p, 0, signature->output_count, &e) < signature->output_count;
}

void effects_print(const compiler_signature *signature, const tensor *outputs, FILE *to) {
    printing p = {.signature = signature, .outputs = outputs, .to = to};
    text_init(&p.line);
    print_outputs(&p, 0, signature->output_count, 0);
    text_release(&p.line);
}
