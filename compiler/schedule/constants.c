/* constants.c - inputs that stay as they are from launch to launch: what is made from one of them
 * alone is made once, outside of the launches. */
#include <string.h>

#include "schedule/scheduler.h"

static const ir_attr_data *input_names(const scheduler *s) {
    return ir_attr_get(s->m, ir_op_attr(s->m, ir_module_kernel(s->m), "inputs"));
}

static const char *name_of_input(const scheduler *s, uint32_t index) {
    return ir_attr_get(s->m, input_names(s)->items[index])->string;
}

/* The number of the input, -1: the buffer is none. */
static int input_of(const scheduler *s, ir_value buffer) {
    const ir_block_data *body = ir_kernel_body(s->m);
    for (uint32_t i = 0; i < input_names(s)->count; i++)
        if (body->arguments[i] == buffer)
            return (int)i;
    return -1;
}

/* Finds the name in "a,b,c", or NULL. */
static const char *find_in_list(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *p = list; p && *p;) {
        size_t word = strcspn(p, ",");
        if (word == length && memcmp(p, name, length) == 0)
            return p;
        p += word + (p[word] == ',');
    }
    return NULL;
}

const char *scheduler_constant(scheduler *s, ir_value buffer) {
    int input = input_of(s, buffer);
    if (input < 0)
        return NULL;
    s->operands[input] = true;
    const char *name = name_of_input(s, (uint32_t)input);
    return find_in_list(s->request->constants, name) ? name : NULL;
}

void scheduler_mark_constant(scheduler *s, const char *name) {
    ir_op phase = ir_block_get(s->m, s->at.block)->last;
    ir_op_set_attr(s->m, phase, "constant", ir_attr_string(s->m, name));
}

/* Any input will do where every value has memory of its own: copies stand before contractions. */
static bool can_be_constant(const scheduler *s, uint32_t input) {
    return s->target->unfused || s->operands[input];
}

static void refuse(scheduler *s, const char *word, size_t length) {
    text can;
    text_init(&can);
    for (uint32_t i = 0; i < input_names(s)->count; i++)
        if (can_be_constant(s, i))
            text_printf(&can, "%s%s", can.length ? ", " : "", name_of_input(s, i));
    s->failed = true;
    status_set(s->st, STATUS_INVALID,
               "'%.*s' cannot be constant here: an input can that a contraction or convolution "
               "takes as it lies; there %s%.500s",
               length < 60 ? (int)length : 60, word, can.length ? "are: " : "is none",
               can.length ? can.data : "");
    text_release(&can);
}

void scheduler_end_constants(scheduler *s) {
    uint32_t count = 0;
    for (const char *p = s->request->constants; p && *p && !s->failed;) {
        size_t word = strcspn(p, ",");
        bool known = false;
        for (uint32_t i = 0; i < input_names(s)->count; i++) {
            const char *name = name_of_input(s, i);
            known |= can_be_constant(s, i) && strlen(name) == word && !memcmp(name, p, word);
        }
        if (!known)
            refuse(s, p, word);
        p += word + (p[word] == ',');
    }
    if (!s->request->constants || s->failed)
        return;
    ir_attr *found = base_malloc((input_names(s)->count + 1) * sizeof *found);
    for (uint32_t i = 0; i < input_names(s)->count; i++)
        if (find_in_list(s->request->constants, name_of_input(s, i)))
            found[count++] = ir_attr_string(s->m, name_of_input(s, i));
    if (count)
        ir_op_set_attr(s->m, ir_module_kernel(s->m), "constants",
                       ir_attr_array(s->m, found, count));
    free(found);
}
