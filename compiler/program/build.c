/* build.c - kernels of a program as modules, and the program as JSON (docs/modules.md). */
#include "program/build.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/blob.h"
#include "ir/copy.h"
#include "ops/graph.h"

/* ---- kernels ---- */

/* The kernel's attributes, but for the names, which are the function's. */
static ir_op new_kernel(ir_module *m, const ir_module *from, ir_op function) {
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    const ir_op_data *d = ir_op_get(from, ir_module_kernel(from));
    ir_op_spec spec = {
        .opcode = GRAPH_KERNEL, .attrs = d->attrs, .attr_count = d->attr_count, .region_count = 1};
    ir_op kernel = ir_build(&b, &spec);
    static const char *const names[] = {"name", "inputs", "outputs"};
    for (int i = 0; i < 3; i++)
        ir_op_set_attr(m, kernel, names[i], ir_op_attr(from, function, names[i]));
    ir_op_remove_attr(m, kernel, "donated"); /* those of the program */
    ir_op_remove_attr(m, kernel, "effects");
    return kernel;
}

/* Not a clone without what is left out: it would have room, and time, for the whole program. What
 * checkpoints compute again stands in it already. */
ir_module *program_kernel(const ir_module *from, const draft_kernel *k) {
    ir_module *m = ir_module_like(from);
    ir_op kernel = new_kernel(m, from, k->function);
    const ir_block_data *body = ir_block_get(from, ir_op_block(from, k->function, 0));
    if (k->donated)
        ir_op_set_attr(m, kernel, "donated",
                       ir_attr_int_array(m, k->donated, body->argument_count));
    ir_value *copies = base_calloc(ir_value_count(from) + 1, sizeof *copies);
    ir_builder b = {.m = m, .block = ir_op_block(m, kernel, 0)};
    for (uint32_t i = 0; i < body->argument_count; i++)
        copies[body->arguments[i]] =
            ir_block_add_argument(m, b.block, ir_value_get(from, body->arguments[i])->type, NULL);
    for (ir_op op = body->first; op; op = ir_op_get(from, op)->next)
        ir_copy_op(&b, from, op, copies);
    for (ir_walk w = ir_walk_op(m, kernel); ir_walk_next(&w);)
        ir_op_get(m, w.op)->location.checkpoint = 0;
    free(copies);
    return m;
}

/* ---- JSON ---- */

static json_t *view_json(const draft *p, const draft_view *v) {
    static const char *const spaces[] = {"arena", "input", "output", "constant"};
    const draft_slot *s = &p->slots.items[v->slot];
    json_t *list = json_pack("[s, I, I]", spaces[s->space], (json_int_t)s->index,
                             (json_int_t)(s->offset + v->offset));
    int depth = PROGRAM_DEPTH_MAX;
    while (depth > 0 && !v->strides[depth - 1])
        depth--;
    for (int i = 0; i < depth; i++)
        json_array_append_new(list, json_integer(v->strides[i]));
    return list;
}

static json_t *views_json(const draft *p, const draft_command *c) {
    json_t *list = json_array();
    for (size_t i = 0; i < c->views.count; i++)
        json_array_append_new(list, view_json(p, &c->views.items[i]));
    return list;
}

static json_t *ints_json(const ir_module *m, ir_op op, const char *name, uint32_t first,
                         uint32_t step) {
    json_t *list = json_array();
    const ir_attr_data *items = ir_attr_get(m, ir_op_attr(m, op, name));
    for (uint32_t i = first; i < items->count; i += step)
        json_array_append_new(list, json_integer(ir_attr_get(m, items->items[i])->integer));
    return list;
}

/* Rows that are sent and received, by rank of the group. */
static json_t *exchange_json(const ir_module *m, const draft *p, const draft_command *c) {
    const ir_op op = c->exchange;
    const ir_type_data *t = ir_type_of(m, ir_op_get(m, op)->operands[0]);
    json_int_t row = (json_int_t)dtype_size(t->element);
    for (int i = 1; i < t->rank; i++)
        row *= t->dims[i];
    return json_pack(
        "{s:o, s:I, s:o, s:I, s:I, s:o, s:o, s:o}", "exchange", views_json(p, c), "number",
        (json_int_t)ir_op_int(m, op, "number", 0) + 1, "group", ints_json(m, op, "group", 0, 1),
        "row", row, "rows", (json_int_t)t->dims[0], "first", ints_json(m, op, "sends", 0, 2),
        "sent", ints_json(m, op, "sends", 1, 2), "received", ints_json(m, op, "receives", 0, 1));
}

static json_t *list_json(const ir_module *m, const draft *p, const command_list *list);

static json_t *command_json(const ir_module *m, const draft *p, const draft_command *c) {
    const draft_view *first = c->views.items;
    switch (c->kind) {
    case COMMAND_DISPATCH:
        return json_pack("{s:i, s:o}", "dispatch", (int)c->kernel, "operands", views_json(p, c));
    case COMMAND_COPY:
        return json_pack("{s:o, s:I}", "copy", views_json(p, c), "bytes", (json_int_t)c->bytes);
    case COMMAND_FILL:
        return json_pack("{s:o, s:i, s:I}", "fill", view_json(p, first), "byte", (int)c->byte,
                         "bytes", (json_int_t)c->bytes);
    case COMMAND_TURN:
        return json_pack("{s:o, s:I}", "turn", view_json(p, first), "bytes", (json_int_t)c->bytes);
    case COMMAND_EXCHANGE:
        return exchange_json(m, p, c);
    case COMMAND_WAIT:
        return json_pack("{s:I}", "wait", (json_int_t)ir_op_int(m, c->exchange, "number", 0) + 1);
    case COMMAND_LOOP:
        return json_pack("{s:I, s:o}", "loop", (json_int_t)c->count, "body",
                         list_json(m, p, &c->blocks[0]));
    case COMMAND_WHILE:
        return json_pack("{s:o, s:o, s:o}", "while", view_json(p, first), "condition",
                         list_json(m, p, &c->blocks[0]), "body", list_json(m, p, &c->blocks[1]));
    case COMMAND_IF:
        return json_pack("{s:o, s:o, s:o}", "if", view_json(p, first), "then",
                         list_json(m, p, &c->blocks[0]), "else", list_json(m, p, &c->blocks[1]));
    }
    return NULL;
}

static json_t *list_json(const ir_module *m, const draft *p, const command_list *list) {
    json_t *out = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(out, command_json(m, p, &list->items[i]));
    return out;
}

void program_section(const char *kind, size_t number, char out[PROGRAM_SECTION_BYTES]) {
    snprintf(out, PROGRAM_SECTION_BYTES, "%s:%zu", kind, number);
}

json_t *program_donations_json(const draft *p) {
    json_t *list = p->donations.count ? json_array() : NULL;
    for (size_t i = 0; i < p->donations.count; i++)
        json_array_append_new(list, json_pack("[I, I]", (json_int_t)p->donations.items[i].input,
                                              (json_int_t)p->donations.items[i].output));
    return list;
}

/* ---- what is in memory ---- */

static int64_t live_at(const draft *p, int64_t tick) {
    int64_t bytes = 0;
    for (size_t i = 0; i < p->slots.count; i++) {
        const draft_slot *s = &p->slots.items[i];
        bytes += s->space == SLOT_ARENA && s->first <= tick && tick <= s->last ? s->bytes : 0;
    }
    return bytes;
}

static const char *name_of(const ir_module *m, const draft *p, const draft_command *c) {
    static const char *const others[] = {[COMMAND_COPY] = "copy",
                                         [COMMAND_FILL] = "fill",
                                         [COMMAND_TURN] = "turn",
                                         [COMMAND_EXCHANGE] = "exchange",
                                         [COMMAND_WAIT] = "wait"};
    return c->kind == COMMAND_DISPATCH
               ? ir_op_string(m, p->kernels.items[c->kernel].function, "name", "")
               : others[c->kind];
}

/* Adds commands that are no blocks, in reading order: what each is, and the bytes of the arena that
 * hold something meanwhile. */
static void add_steps(const ir_module *m, const draft *p, const command_list *list, json_t *out) {
    enum { STEPS_MOST = 4096 };
    for (size_t i = 0; i < list->count && json_array_size(out) < STEPS_MOST; i++) {
        const draft_command *c = &list->items[i];
        const bool is_block = c->blocks[0].count || c->blocks[1].count;
        if (is_block || c->kind >= COMMAND_LOOP) {
            add_steps(m, p, &c->blocks[0], out);
            add_steps(m, p, &c->blocks[1], out);
            continue;
        }
        json_array_append_new(out, json_pack("{s:s, s:I}", "what", name_of(m, p, c), "live_bytes",
                                             (json_int_t)live_at(p, c->end)));
    }
}

/* Bytes of the arena if nothing shared its room. */
static json_int_t unplanned_bytes(const draft *p) {
    json_int_t bytes = 0;
    for (size_t i = 0; i < p->slots.count; i++)
        bytes += p->slots.items[i].space == SLOT_ARENA ? p->slots.items[i].bytes : 0;
    return bytes;
}

json_t *program_json(const ir_module *m, const draft *p) {
    json_t *kernels = json_array(), *constants = json_array();
    char section[PROGRAM_SECTION_BYTES];
    for (size_t i = 0; i < p->constants.count; i++) {
        program_section("constant", i, section);
        json_array_append_new(constants, json_pack("{s:s, s:I}", "section", section, "bytes",
                                                   (json_int_t)p->constants.items[i]->size_bytes));
    }
    for (size_t i = 0; i < p->kernels.count; i++) {
        program_section("kernel", i, section);
        json_array_append_new(kernels, json_string(section));
    }
    json_t *steps = json_array();
    add_steps(m, p, &p->commands, steps);
    json_t *all = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "arena_bytes",
                            (json_int_t)p->arena_bytes, "needed_bytes", (json_int_t)p->needed_bytes,
                            "unplanned_bytes", unplanned_bytes(p), "kernels", kernels, "steps",
                            steps, "commands", list_json(m, p, &p->commands));
    if (json_array_size(constants))
        json_object_set(all, "constants", constants);
    json_decref(constants);
    return all;
}
