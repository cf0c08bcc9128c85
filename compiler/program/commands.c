/* commands.c - from calls, branches and loops to commands and memory.
 *
 * Blocks are gone through in text order. A value is a view of a slot; arguments of blocks are views
 * of their operands', so nothing is copied on the way in. On the way out a value is computed where
 * it is wanted, if its operation makes it there, and copied otherwise. */
#include "program/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "ir/blob.h"
#include "ops/control.h"
#include "ops/functions.h"
#include "program/outline.h"

typedef struct open_loop {
    int64_t start;
    VEC(int) used; /* slots that were there before */
} open_loop;

typedef struct begun_exchange {
    ir_op op;
    draft_view to, from;
} begun_exchange;

typedef struct emitter {
    const ir_module *m;
    draft *p;
    draft_view *views;         /* by value */
    bool *known;               /* by value: it has a view */
    int *kernel_of;            /* by operation: the number of a function; -1: none yet */
    map functions;             /* by name */
    map constants;             /* by the name of a blob: its slot */
    VEC(open_loop) loops;      /* counted or not: a turn follows a turn */
    VEC(begun_exchange) begun; /* that are not waited for yet */
    int depth;                 /* counted loops */
    int64_t clock;
    status *st;
} emitter;

static int64_t bytes_of(const ir_module *m, ir_value v) {
    ir_type type = ir_value_get(m, v)->type;
    return ir_type_count(m, type) * (int64_t)dtype_size(ir_type_get(m, type)->element);
}

/* ---- slots ---- */

static draft_view new_slot(emitter *e, slot_space space, uint32_t index, int64_t bytes) {
    draft_slot s = {
        .space = space, .index = index, .bytes = bytes, .first = e->clock, .last = e->clock};
    vec_push(&e->p->slots, s);
    return (draft_view){.slot = (int)e->p->slots.count - 1};
}

static draft_view room_for(emitter *e, ir_value v) {
    return new_slot(e, SLOT_ARENA, 0, bytes_of(e->m, v));
}

/* Now; and in the turns to come, where it was there before the loop. An output is used from its
 * first command on, with all turns of the loops around that. */
static void use(emitter *e, const draft_view *v) {
    draft_slot *s = &e->p->slots.items[v->slot];
    if (s->first == DRAFT_UNUSED)
        s->first = e->loops.count ? e->loops.items[0].start : e->clock;
    s->last = e->clock > s->last ? e->clock : s->last;
    for (size_t i = 0; i < e->loops.count; i++)
        if (s->first < e->loops.items[i].start)
            vec_push(&e->loops.items[i].used, v->slot);
}

static void begin_loop(emitter *e) {
    open_loop loop = {.start = ++e->clock};
    vec_push(&e->loops, loop);
}

static void end_loop(emitter *e) {
    open_loop *loop = &e->loops.items[--e->loops.count];
    e->clock++;
    for (size_t i = 0; i < loop->used.count; i++) {
        draft_slot *s = &e->p->slots.items[loop->used.items[i]];
        s->last = e->clock > s->last ? e->clock : s->last;
    }
    vec_release(&loop->used);
}

static bool same_view(const draft_view *a, const draft_view *b) {
    for (int i = 0; i < PROGRAM_DEPTH_MAX; i++)
        if (a->strides[i] != b->strides[i])
            return false;
    return a->slot == b->slot && a->offset == b->offset;
}

static bool is_aligned(const draft_view *v) {
    int64_t all = v->offset;
    for (int i = 0; i < PROGRAM_DEPTH_MAX; i++)
        all |= v->strides[i];
    return all % DRAFT_ALIGNMENT == 0;
}

/* ---- commands ---- */

static draft_command *add(const emitter *e, command_list *out, command_kind kind) {
    draft_command c = {.kind = kind, .end = e->clock};
    vec_push(out, c);
    return &out->items[out->count - 1];
}

static void add_view(emitter *e, draft_command *c, const draft_view *v) {
    use(e, v);
    vec_push(&c->views, *v);
}

static void copy(emitter *e, command_list *out, const draft_view *to, const draft_view *from,
                 int64_t bytes) {
    if (same_view(to, from) || bytes == 0)
        return;
    e->clock++;
    draft_command *c = add(e, out, COMMAND_COPY);
    c->bytes = bytes;
    add_view(e, c, to);
    add_view(e, c, from);
}

static void define(emitter *e, ir_value v, const draft_view *view) {
    e->views[v] = *view;
    e->known[v] = true;
}

/* The view that a result was given, or room of its own. */
static draft_view result_view(emitter *e, ir_value v) {
    if (!e->known[v]) {
        draft_view own = room_for(e, v);
        define(e, v, &own);
    }
    return e->views[v];
}

static bool emit_block(emitter *e, ir_block block, const draft_view *arguments,
                       const draft_view *wanted, command_list *out);

/* ---- calls ---- */

static uint32_t kernel_number(emitter *e, ir_op function) {
    if (e->kernel_of[function] < 0) {
        e->kernel_of[function] = (int)e->p->kernels.count;
        const draft_kernel made = {function, NULL};
        vec_push(&e->p->kernels, made);
    }
    return (uint32_t)e->kernel_of[function];
}

static draft_view *views_of(const emitter *e, const ir_value *values, uint32_t count) {
    draft_view *list = base_calloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = e->views[values[i]];
    return list;
}

static draft_view *result_views(emitter *e, const ir_op_data *d, uint32_t from) {
    draft_view *list = base_calloc((size_t)d->result_count + 1, sizeof *list);
    for (uint32_t i = from; i < d->result_count; i++)
        list[i - from] = result_view(e, d->results[i]);
    return list;
}

/* A kernel takes aligned memory: a part that is not is copied first. */
static draft_view aligned(emitter *e, command_list *out, ir_value v) {
    draft_view view = e->views[v];
    if (is_aligned(&view))
        return view;
    draft_view room = room_for(e, v);
    copy(e, out, &room, &view, bytes_of(e->m, v));
    return room;
}

static void dispatch(emitter *e, ir_op function, const ir_op_data *d, command_list *out) {
    VEC(draft_view) operands = {0};
    for (uint32_t i = 0; i < d->operand_count; i++) {
        draft_view v = aligned(e, out, d->operands[i]);
        vec_push(&operands, v);
    }
    e->clock++;
    for (uint32_t i = 0; i < d->result_count; i++) {
        draft_view v = result_view(e, d->results[i]);
        vec_push(&operands, v);
    }
    draft_command *c = add(e, out, COMMAND_DISPATCH);
    c->kernel = kernel_number(e, function);
    for (size_t i = 0; i < operands.count; i++)
        add_view(e, c, &operands.items[i]);
    vec_release(&operands);
}

/* One value, all of whose bytes are one: memory that is filled, without a kernel. */
static bool is_fill(const emitter *e, ir_op function, unsigned char *byte) {
    const ir_block_data *body = ir_block_get(e->m, ir_op_block(e->m, function, 0));
    const ir_op_data *end = ir_op_get(e->m, body->last);
    ir_op op = end->operand_count == 1 ? ir_value_get(e->m, end->operands[0])->op : 0;
    while (op && (ir_op_get(e->m, op)->opcode == GRAPH_BROADCAST ||
                  ir_op_get(e->m, op)->opcode == GRAPH_RESHAPE))
        op = ir_value_get(e->m, ir_op_get(e->m, op)->operands[0])->op;
    if (!op || ir_op_get(e->m, op)->opcode != GRAPH_CONSTANT)
        return false;
    const ir_attr_data *value = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"));
    const dtype type = ir_type_of(e->m, ir_op_result(e->m, op, 0))->element;
    unsigned char bytes[sizeof value->bits];
    memcpy(bytes, &value->bits, sizeof bytes);
    *byte = bytes[0];
    for (size_t i = 1; i < dtype_size(type); i++)
        if (bytes[i] != bytes[0])
            return false;
    bool nan = dtype_is_float(type) && isnan(dtype_load(type, bytes, 0)); /* made quiet */
    return value->kind == IR_ATTR_BITS && !nan;
}

static void fill(emitter *e, ir_value v, unsigned char byte, command_list *out) {
    const draft_view view = result_view(e, v);
    e->clock++;
    draft_command *c = add(e, out, COMMAND_FILL);
    e->p->fills = true;
    c->byte = byte;
    c->bytes = bytes_of(e->m, v);
    add_view(e, c, &view);
}

static bool emit_call(emitter *e, ir_op op, command_list *out) {
    const ir_op_data *d = ir_op_get(e->m, op);
    intptr_t function = 0;
    (void)map_get(&e->functions, ir_op_string(e->m, op, "callee", ""), &function);
    unsigned char byte;
    if (is_fill(e, (ir_op)function, &byte)) {
        fill(e, d->results[0], byte, out);
        return true;
    }
    if (program_is_dispatch(e->m, (ir_op)function)) {
        dispatch(e, (ir_op)function, d, out);
        return true;
    }
    draft_view *given = views_of(e, d->operands, d->operand_count);
    draft_view *results = result_views(e, d, 0);
    bool ok = emit_block(e, ir_op_block(e->m, (ir_op)function, 0), given, results, out);
    free(given);
    free(results);
    return ok;
}

static void emit_exchange(emitter *e, ir_op op, command_list *out) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const draft_view from = e->views[d->operands[0]];
    e->clock++;
    const draft_view to = result_view(e, d->results[0]);
    draft_command *c = add(e, out, COMMAND_EXCHANGE);
    c->exchange = op;
    add_view(e, c, &to);
    add_view(e, c, &from);
    const begun_exchange begun = {op, to, from};
    vec_push(&e->begun, begun);
}

/* A wait uses what the exchange sends and what comes, so both have their memory until then. */
static void wait_for(emitter *e, size_t number, command_list *out) {
    const begun_exchange begun = e->begun.items[number];
    for (size_t i = number; i + 1 < e->begun.count; i++)
        e->begun.items[i] = e->begun.items[i + 1];
    e->begun.count--;
    e->clock++;
    draft_command *c = add(e, out, COMMAND_WAIT);
    c->exchange = begun.op;
    add_view(e, c, &begun.to);
    add_view(e, c, &begun.from);
}

/* Waits for the exchanges whose results an operation takes, from number `first` on. */
static void wait_for_operands(emitter *e, ir_op op, size_t first, command_list *out) {
    const ir_op_data *d = ir_op_get(e->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        for (size_t k = e->begun.count; k-- > first;)
            if (ir_op_result(e->m, e->begun.items[k].op, 0) == d->operands[i])
                wait_for(e, k, out);
}

/* ---- branches and loops ---- */

static bool emit_if(emitter *e, ir_op op, command_list *out) {
    const ir_op_data *d = ir_op_get(e->m, op);
    draft_view *given = views_of(e, d->operands + 1, d->operand_count - 1);
    e->clock++;
    draft_view *results = result_views(e, d, 0);
    draft_command made = {.kind = COMMAND_IF};
    add_view(e, &made, &e->views[d->operands[0]]);
    bool ok = true;
    for (uint32_t r = 0; r < 2 && ok; r++) {
        ok = emit_block(e, ir_op_block(e->m, op, r), given, results, &made.blocks[r]);
        for (uint32_t i = 0; i < d->result_count; i++)
            use(e, &results[i]);
    }
    made.end = e->clock;
    vec_push(out, made);
    free(given);
    free(results);
    return ok;
}

/* The values that a loop carries: its first operands and results, of which its block takes one
 * after the other from `arguments` on, and makes the next ones. */
typedef struct carried_values {
    const ir_op_data *d;
    const ir_value *arguments, *ends;
    uint32_t count;
} carried_values;

static carried_values carried_of(const emitter *e, ir_op op, uint32_t region, uint32_t turn,
                                 uint32_t count) {
    const ir_block_data *body = ir_block_get(e->m, ir_op_block(e->m, op, region));
    return (carried_values){.d = ir_op_get(e->m, op),
                            .arguments = body->arguments + turn,
                            .ends = ir_op_get(e->m, body->last)->operands,
                            .count = count};
}

/* Every turn hands it on as it is. */
static bool stays(const carried_values *c, uint32_t i) {
    return c->ends[i] == c->arguments[i];
}

/* Carried values have memory of their own, which is that of the results; what stays as it is, is
 * the operand, unless the result is wanted elsewhere. */
static draft_view *begin_carried(emitter *e, const carried_values *c, command_list *out) {
    draft_view *carried = base_calloc((size_t)c->count + 1, sizeof *carried);
    e->clock++;
    for (uint32_t i = 0; i < c->count; i++) {
        ir_value operand = c->d->operands[i], result = c->d->results[i];
        if (stays(c, i) && !e->known[result])
            define(e, result, &e->views[operand]);
        carried[i] = result_view(e, result);
        copy(e, out, &carried[i], &e->views[operand], bytes_of(e->m, operand));
    }
    return carried;
}

/* Puts a turn's results elsewhere until the turn is over: it reads what it was given. */
static draft_view *next_room(emitter *e, const carried_values *c, const draft_view *carried) {
    draft_view *next = base_calloc((size_t)c->d->result_count + 1, sizeof *next);
    for (uint32_t i = 0; i < c->count; i++)
        next[i] = stays(c, i) ? carried[i] : room_for(e, c->d->results[i]);
    return next;
}

static void end_turn(emitter *e, const ir_op_data *d, const draft_view *carried,
                     const draft_view *next, uint32_t count, command_list *out) {
    for (uint32_t i = 0; i < count; i++)
        copy(e, out, &carried[i], &next[i], bytes_of(e->m, d->results[i]));
}

static bool emit_while(emitter *e, ir_op op, command_list *out) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const carried_values c = carried_of(e, op, 1, 0, d->result_count);
    draft_view *carried = begin_carried(e, &c, out);
    draft_command made = {.kind = COMMAND_WHILE};
    begin_loop(e);
    ir_value asked =
        ir_op_get(e->m, ir_block_get(e->m, ir_op_block(e->m, op, 0))->last)->operands[0];
    draft_view answer = room_for(e, asked);
    bool ok = emit_block(e, ir_op_block(e->m, op, 0), carried, &answer, &made.blocks[0]);
    add_view(e, &made, &answer);
    e->clock++;
    draft_view *next = next_room(e, &c, carried);
    ok = ok && emit_block(e, ir_op_block(e->m, op, 1), carried, next, &made.blocks[1]);
    end_turn(e, d, carried, next, d->result_count, &made.blocks[1]);
    end_loop(e);
    made.end = e->clock;
    vec_push(out, made);
    free(carried);
    free(next);
    return ok;
}

/* The view of a part, one a turn. */
static draft_view part_of(const emitter *e, const draft_view *all, int64_t bytes) {
    draft_view part = *all;
    part.strides[e->depth - 1] = bytes;
    return part;
}

static void give_turn(emitter *e, ir_value turn, draft_view *view, command_list *out) {
    draft_command *c = add(e, out, COMMAND_TURN);
    *view = room_for(e, turn);
    c->bytes = bytes_of(e->m, turn);
    add_view(e, c, view);
    e->clock++;
}

/* The block's arguments: the turn, what is carried, parts, the rest. */
static draft_view *loop_arguments(emitter *e, const ir_op_data *d, const ir_block_data *body,
                                  const loop_shape *l, const draft_view *carried,
                                  command_list *out) {
    draft_view *list = base_calloc((size_t)body->argument_count + 1, sizeof *list);
    give_turn(e, body->arguments[0], &list[0], out);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_value argument = body->arguments[i + 1];
        bool sliced = i >= l->carried && i < l->carried + l->sliced;
        list[i + 1] = i < l->carried ? carried[i]
                      : sliced ? part_of(e, &e->views[d->operands[i]], bytes_of(e->m, argument))
                               : e->views[d->operands[i]];
    }
    return list;
}

/* The turns of a loop, of which there is one at least. */
static bool emit_turns(emitter *e, ir_op op, const carried_values *c, const draft_view *carried,
                       const draft_view *stacked, command_list *out) {
    const ir_op_data *d = c->d;
    const ir_block block = ir_op_block(e->m, op, 0);
    const ir_block_data *body = ir_block_get(e->m, block);
    const loop_shape l = loop_shape_of(e->m, op);
    draft_command made = {.kind = COMMAND_LOOP, .count = l.count};
    begin_loop(e);
    e->depth++;
    draft_view *given = loop_arguments(e, d, body, &l, carried, &made.blocks[0]);
    draft_view *next = next_room(e, c, carried);
    for (uint32_t i = l.carried; i < d->result_count; i++)
        next[i] = part_of(e, &stacked[i - l.carried], bytes_of(e->m, c->ends[i]));
    bool ok = emit_block(e, block, given, next, &made.blocks[0]);
    end_turn(e, d, carried, next, l.carried, &made.blocks[0]);
    for (uint32_t i = 0; i < l.stacked; i++)
        use(e, &stacked[i]);
    e->depth--;
    end_loop(e);
    made.end = e->clock;
    vec_push(out, made);
    free(given);
    free(next);
    return ok;
}

static bool emit_loop(emitter *e, ir_op op, command_list *out) {
    const loop_shape l = loop_shape_of(e->m, op);
    if (e->depth == PROGRAM_DEPTH_MAX)
        return status_set(e->st, STATUS_UNAVAILABLE, "loops are nested more than %d deep",
                          PROGRAM_DEPTH_MAX);
    const carried_values c = carried_of(e, op, 0, 1, l.carried);
    draft_view *carried = begin_carried(e, &c, out);
    draft_view *stacked = result_views(e, c.d, l.carried);
    bool ok = l.count == 0 || emit_turns(e, op, &c, carried, stacked, out);
    free(stacked);
    free(carried);
    return ok;
}

/* ---- constants ---- */

static draft_view constant_view(emitter *e, ir_op op) {
    ir_blob *blob = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"))->blob;
    intptr_t slot;
    if (map_get(&e->constants, blob->name, &slot))
        return (draft_view){.slot = (int)slot};
    draft_view made =
        new_slot(e, SLOT_CONSTANT, (uint32_t)e->p->constants.count, (int64_t)blob->size_bytes);
    vec_push(&e->p->constants, blob);
    map_put(&e->constants, blob->name, made.slot);
    return made;
}

/* It is read where it lies, unless it is wanted elsewhere. */
static void emit_constant(emitter *e, ir_op op, command_list *out) {
    ir_value result = ir_op_result(e->m, op, 0);
    draft_view all = constant_view(e, op);
    if (e->known[result])
        copy(e, out, &e->views[result], &all, bytes_of(e->m, result));
    else
        define(e, result, &all);
}

/* ---- blocks ---- */

static bool emit_op(emitter *e, ir_op op, command_list *out) {
    switch (ir_op_get(e->m, op)->opcode) {
    case GRAPH_CALL:
        return emit_call(e, op, out);
    case GRAPH_IF:
        return emit_if(e, op, out);
    case GRAPH_WHILE:
        return emit_while(e, op, out);
    case GRAPH_LOOP:
        return emit_loop(e, op, out);
    case GRAPH_EXCHANGE:
        emit_exchange(e, op, out);
        return true;
    case GRAPH_DENSE:
        emit_constant(e, op, out);
        return true;
    default:
        return true;
    }
}

/* Makes what the block ends in where it is wanted, as far as it is made here, once and aligned. */
static void want_results(emitter *e, ir_block block, const ir_op_data *end,
                         const draft_view *wanted) {
    for (uint32_t i = 0; i < end->operand_count; i++) {
        ir_value v = end->operands[i];
        ir_op op = ir_value_get(e->m, v)->op;
        if (op && ir_op_get(e->m, op)->block == block && !e->known[v] && is_aligned(&wanted[i]))
            define(e, v, &wanted[i]);
    }
}

static void forget(emitter *e, ir_block block) {
    for (ir_op op = ir_block_get(e->m, block)->first; op; op = ir_op_get(e->m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(e->m, op)->result_count; i++)
            e->known[ir_op_get(e->m, op)->results[i]] = false;
}

/* `wanted`: a view for each value that the block ends in. A block can be gone through several
 * times, as that of a function is. */
static bool emit_block(emitter *e, ir_block block, const draft_view *arguments,
                       const draft_view *wanted, command_list *out) {
    const ir_block_data *body = ir_block_get(e->m, block);
    const ir_op_data *end = ir_op_get(e->m, body->last);
    bool ok = true;
    forget(e, block);
    for (uint32_t i = 0; i < body->argument_count; i++)
        define(e, body->arguments[i], &arguments[i]);
    want_results(e, block, end, wanted);
    const size_t begun = e->begun.count;
    for (ir_op op = body->first; op != body->last && ok; op = ir_op_get(e->m, op)->next) {
        wait_for_operands(e, op, begun, out);
        ok = emit_op(e, op, out);
    }
    while (e->begun.count > begun)
        wait_for(e, begun, out);
    for (uint32_t i = 0; i < end->operand_count && ok; i++)
        copy(e, out, &wanted[i], &e->views[end->operands[i]], bytes_of(e->m, end->operands[i]));
    return ok;
}

static draft_view *kernel_views(emitter *e, slot_space space, const ir_value *values,
                                uint32_t count) {
    draft_view *list = base_calloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = new_slot(e, space, i, bytes_of(e->m, values[i]));
    for (uint32_t i = 0; space == SLOT_OUTPUT && i < count; i++)
        e->p->slots.items[list[i].slot].first = DRAFT_UNUSED;
    return list;
}

/* A module has sections for kernels and constants. */
static bool fits_a_module(const draft *p, status *st) {
    enum { OTHER_SECTIONS = 2 };
    size_t most = PROGRAM_KERNELS_MAX + 1 - OTHER_SECTIONS,
           count = p->kernels.count + p->constants.count;
    return count <= most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "the program has %zu different kernels and %zu constants; a module holds %zu "
                      "of both together",
                      p->kernels.count, p->constants.count, most);
}

bool draft_build(const ir_module *m, bool unoptimised, draft *p, status *st) {
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    const ir_block_data *body = ir_block_get(m, block);
    const ir_op_data *end = ir_op_get(m, body->last);
    size_t values = ir_value_count(m) + 1, ops = ir_op_count(m) + 1;
    *p = (draft){.unoptimised = unoptimised};
    emitter e = {.m = m, .p = p, .st = st};
    e.views = base_calloc(values, sizeof *e.views);
    e.known = base_calloc(values, sizeof *e.known);
    e.kernel_of = base_malloc(ops * sizeof *e.kernel_of);
    for (size_t i = 0; i < ops; i++)
        e.kernel_of[i] = -1;
    map_init(&e.functions);
    map_init(&e.constants);
    for (ir_op f = ir_op_get(m, ir_module_kernel(m))->next; f; f = ir_op_get(m, f)->next)
        map_put(&e.functions, ir_op_string(m, f, "name", ""), (intptr_t)f);
    draft_view *inputs = kernel_views(&e, SLOT_INPUT, body->arguments, body->argument_count);
    draft_view *outputs = kernel_views(&e, SLOT_OUTPUT, end->operands, end->operand_count);
    bool ok = emit_block(&e, block, inputs, outputs, &p->commands);
    ok = ok && fits_a_module(p, st);
    if (ok) {
        draft_join_updated(m, p);
        draft_find_donations(m, p);
    }
    vec_release(&e.loops);
    vec_release(&e.begun);
    map_release(&e.functions);
    map_release(&e.constants);
    free(inputs);
    free(outputs);
    free(e.views);
    free(e.known);
    free(e.kernel_of);
    return ok;
}
