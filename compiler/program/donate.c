/* donate.c - programs that are right where an input's buffer is its output's, too.
 *
 * Nothing may write to such an output before the last read of its input, but for a dispatch that
 * makes each element where it read it. Where something would, what is written goes to the arena
 * until then, and is copied. Copying the input to where it lies in the output changes nothing
 * there, so that is no write. */
#include <stdlib.h>
#include <string.h>

#include "ops/donated.h"
#include "program/commands.h"

/* When something is done with a slot, in half commands of the kernel's own block, with those of
 * their blocks: [first, end). A dispatch writes in its second half, and what it makes in place it
 * has read in its first. */
typedef struct time_span {
    size_t first, end;
} time_span;

static const time_span never = {SIZE_MAX, 0};

static void widen(time_span *s, size_t first, size_t end) {
    s->first = first < s->first ? first : s->first;
    s->end = end > s->end ? end : s->end;
}

typedef struct slot_use {
    time_span reads, writes, uses;
    int input;   /* of an output: the slot that may lie there, too; -1: none */
    int made_in; /* of an output: the slot where the commands of `uses` make it; -1: there */
} slot_use;

typedef struct donor {
    const ir_module *m;
    draft *p;
    uint32_t inputs;
    slot_use *of; /* by slot */
} donor;

static uint32_t inputs_of(const ir_module *m, ir_op function) {
    return ir_block_get(m, ir_op_block(m, function, 0))->argument_count;
}

static void open_donor(donor *d, const ir_module *m, draft *p) {
    *d = (donor){m, p, inputs_of(m, ir_module_kernel(m)),
                 base_malloc(p->slots.count * sizeof *d->of)};
    for (size_t i = 0; i < p->slots.count; i++)
        d->of[i] = (slot_use){never, never, never, -1, -1};
    for (size_t i = 0; i < p->donations.count; i++) {
        const draft_donation *g = &p->donations.items[i];
        d->of[d->inputs + g->output].input = (int)g->input;
    }
}

/* Checks that an input and an output whose buffers are one have one place, too. */
static bool is_same_place(const donor *d, const draft_view *from, const draft_view *to) {
    bool same = d->of[to->slot].input == from->slot && to->offset == from->offset;
    for (int i = 0; i < PROGRAM_DEPTH_MAX; i++)
        same &= to->strides[i] == from->strides[i];
    return same;
}

/* ---- what kernels should make in place ---- */

/* Tells that the kernel has no wish for this input or this output yet: two operands may lie in one
 * place, and calls of one kernel may wish for different things. */
static bool is_free(const draft_kernel *k, uint32_t inputs, uint32_t input, uint32_t output) {
    bool is = !k->donated || k->donated[input] < 0;
    for (uint32_t i = 0; k->donated && i < inputs; i++)
        is = is && k->donated[i] != output;
    return is;
}

void draft_wish(draft_kernel *k, uint32_t inputs, uint32_t input, uint32_t output) {
    if (!is_free(k, inputs, input, output))
        return;
    if (!k->donated) {
        k->donated = base_malloc(inputs * sizeof *k->donated);
        memset(k->donated, 0xFF, inputs * sizeof *k->donated);
    }
    k->donated[input] = output;
}

static void wish(const donor *d, const draft_command *c) {
    draft_kernel *k = &d->p->kernels.items[c->kernel];
    uint32_t inputs = inputs_of(d->m, k->function);
    const draft_view *views = c->views.items;
    for (uint32_t o = inputs; o < c->views.count; o++) {
        if (d->of[views[o].slot].input < 0)
            continue;
        for (uint32_t i = 0; i < inputs; i++)
            if (is_same_place(d, &views[i], &views[o]))
                draft_wish(k, inputs, i, o - inputs);
    }
}

void draft_find_donations(const ir_module *m, draft *p) {
    ir_op kernel = ir_module_kernel(m);
    donor d;
    for (uint32_t i = 0; i < inputs_of(m, kernel); i++) {
        const draft_donation made = {i, (uint32_t)donated_output(m, kernel, i)};
        if (donated_output(m, kernel, i) >= 0)
            vec_push(&p->donations, made);
    }
    draft_find_carried(m, p);
    if (!p->donations.count)
        return;
    open_donor(&d, m, p);
    for (size_t i = 0; i < p->commands.count; i++)
        if (p->commands.items[i].kind == COMMAND_DISPATCH)
            wish(&d, &p->commands.items[i]);
    free(d.of);
}

/* ---- when slots are used ---- */

static void note_read(const donor *d, const draft_view *v, size_t command, size_t end) {
    widen(&d->of[v->slot].reads, 2 * command, end);
    widen(&d->of[v->slot].uses, 2 * command, 2 * command + 2);
}

static void note_write(const donor *d, const draft_view *v, size_t command, size_t first) {
    widen(&d->of[v->slot].writes, first, 2 * command + 2);
    widen(&d->of[v->slot].uses, 2 * command, 2 * command + 2);
}

/* In the blocks of other commands it may run more than once. */
static void note_dispatch(const donor *d, const draft_command *c, size_t command, bool once) {
    const draft_kernel *k = &d->p->kernels.items[c->kernel];
    uint32_t inputs = inputs_of(d->m, k->function);
    const draft_view *views = c->views.items;
    for (uint32_t i = inputs; i < c->views.count; i++)
        note_write(d, &views[i], command, 2 * command + 1);
    for (uint32_t i = 0; i < inputs; i++) {
        bool in_place = once && k->donated && k->donated[i] >= 0 &&
                        is_same_place(d, &views[i], &views[inputs + k->donated[i]]);
        note_read(d, &views[i], command, 2 * command + (in_place ? 1 : 2));
    }
}

static void note_command(const donor *d, const draft_command *c, size_t command, bool once) {
    const draft_view *views = c->views.items;
    switch (c->kind) {
    case COMMAND_DISPATCH:
        note_dispatch(d, c, command, once);
        break;
    case COMMAND_WAIT: /* what is sent lies where it is until then */
        note_write(d, &views[1], command, 2 * command);
        note_read(d, &views[1], command, 2 * command + 2);
        note_write(d, &views[0], command, 2 * command);
        break;
    case COMMAND_EXCHANGE:
    case COMMAND_COPY:
        note_read(d, &views[1], command, 2 * command + 2);
        if (is_same_place(d, &views[1], &views[0]))
            widen(&d->of[views[0].slot].uses, 2 * command, 2 * command + 2);
        else
            note_write(d, &views[0], command, 2 * command);
        break;
    case COMMAND_FILL:
    case COMMAND_TURN:
        note_write(d, views, command, 2 * command);
        break;
    case COMMAND_LOOP:
        break;
    case COMMAND_WHILE:
    case COMMAND_IF:
        note_read(d, views, command, 2 * command + 2);
        break;
    }
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < c->blocks[b].count; i++)
            note_command(d, &c->blocks[b].items[i], command, false);
}

/* ---- outputs that are made in the arena ---- */

/* Ticks between those that there are, for copies. */
static void stretch_clock(draft *p) {
    for (size_t i = 0; i < p->slots.count; i++) {
        draft_slot *s = &p->slots.items[i];
        s->first = s->first == DRAFT_UNUSED ? DRAFT_UNUSED : 2 * s->first;
        s->last *= 2;
    }
    for (size_t i = 0; i < p->commands.count; i++)
        p->commands.items[i].end *= 2;
}

static size_t later(size_t a, size_t b) {
    return a > b ? a : b;
}

/* The commands that use an output until it may be written. */
static size_t first_command(const donor *d, int output) {
    return d->of[output].uses.first / 2;
}

static size_t end_command(const donor *d, int output) {
    const slot_use *of = &d->of[output];
    return (later(d->of[of->input].reads.end, of->writes.end) + 1) / 2;
}

static void make_room(donor *d, int output) {
    draft *p = d->p;
    size_t first = first_command(d, output);
    const draft_slot room = {.space = SLOT_ARENA,
                             .bytes = p->slots.items[output].bytes,
                             .first = first ? p->commands.items[first - 1].end : 0,
                             .last = p->commands.items[end_command(d, output) - 1].end + 1};
    d->of[output].made_in = (int)p->slots.count;
    vec_push(&p->slots, room);
}

static void move_views(const donor *d, draft_command *c, size_t number) {
    for (size_t i = 0; i < c->views.count; i++) {
        int *slot = &c->views.items[i].slot;
        if (d->of[*slot].made_in >= 0 && number < end_command(d, *slot))
            *slot = d->of[*slot].made_in;
    }
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < c->blocks[b].count; i++)
            move_views(d, &c->blocks[b].items[i], number);
}

static void add_copy(const donor *d, command_list *out, int output) {
    const draft_view views[] = {{.slot = output}, {.slot = d->of[output].made_in}};
    draft_command made = {.kind = COMMAND_COPY, .bytes = d->p->slots.items[output].bytes};
    vec_push(&made.views, views[0]);
    vec_push(&made.views, views[1]);
    vec_push(out, made);
}

typedef struct move {
    size_t end;
    int output;
} move;

static int compare_moves(const void *a, const void *b) {
    const move *x = a, *y = b;
    return x->end != y->end ? (x->end < y->end ? -1 : 1) : x->output - y->output;
}

/* The outputs' copies come behind the commands that they end. */
static void move_outputs(const donor *d, move *moves, size_t count) {
    command_list all = {0};
    size_t next = 0;
    qsort(moves, count, sizeof *moves, compare_moves);
    for (size_t i = 0; i < d->p->commands.count; i++) {
        move_views(d, &d->p->commands.items[i], i);
        vec_push(&all, d->p->commands.items[i]);
        for (; next < count && moves[next].end == i + 1; next++)
            add_copy(d, &all, moves[next].output);
    }
    vec_release(&d->p->commands);
    d->p->commands = all;
}

static void move_early(donor *d) {
    draft *p = d->p;
    move *moves = base_calloc(p->donations.count, sizeof *moves);
    size_t count = 0;
    stretch_clock(p);
    for (size_t i = 0; i < p->donations.count; i++) {
        const draft_donation *g = &p->donations.items[i];
        int output = (int)(d->inputs + g->output);
        if (d->of[output].writes.first >= d->of[g->input].reads.end)
            continue;
        make_room(d, output);
        moves[count++] = (move){end_command(d, output), output};
    }
    move_outputs(d, moves, count);
    free(moves);
}

void draft_donate(const ir_module *m, draft *p) {
    donor d;
    if (!p->donations.count)
        return;
    open_donor(&d, m, p);
    for (size_t i = 0; i < p->commands.count; i++)
        note_command(&d, &p->commands.items[i], i, true);
    move_early(&d);
    free(d.of);
}
