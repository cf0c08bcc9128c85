/* program_donate.c - the rule of donated inputs: a program is right where the buffer of such an
 * input is that of its output, too. Commands of the program's own list that read the input, in
 * whichever block, come before the first that writes to the output, or are a dispatch that makes
 * the one in the place of the other. */
#include <stdlib.h>
#include <string.h>

#include "metadata.h"
#include "program_ranges.h"

/* When buffers are read and written, in half commands: a dispatch that makes its output in place
 * has read its input in the first half. */
typedef struct survey {
    const metadata *m;
    const metadata *const *kernels;
    uint32_t *read_end, *write; /* by buffer: behind the last read, the first write */
} survey;

static int64_t stride_of(const program_place *p, uint32_t loop) {
    return loop < p->stride_count ? p->strides[loop] : 0;
}

/* Tells that an input lies where its output does, once the buffers are one. */
static bool is_same_place(const metadata *m, const program_place *from, const program_place *to) {
    if (from->buffer >= m->inputs || m->donated[from->buffer] == METADATA_NOT_DONATED ||
        to->buffer != m->inputs + m->donated[from->buffer] || to->offset != from->offset)
        return false;
    bool same = true;
    for (uint32_t i = 0; i < PROGRAM_DEPTH_MAX; i++)
        same &= stride_of(to, i) == stride_of(from, i);
    return same;
}

static void note_read(survey *s, const program_place *p, uint32_t end) {
    if (end > s->read_end[p->buffer])
        s->read_end[p->buffer] = end;
}

static void note_write(survey *s, const program_place *p, uint32_t at) {
    if (at < s->write[p->buffer])
        s->write[p->buffer] = at;
}

/* In the blocks of other commands it may run more than once. */
static void note_dispatch(survey *s, const program_command *c, uint32_t number, bool once) {
    const metadata *k = s->kernels[c->kernel];
    for (uint32_t i = k->inputs; i < c->place_count; i++)
        note_write(s, &c->places[i], 2 * number + 1);
    for (uint32_t i = 0; i < k->inputs; i++) {
        uint32_t output = k->donated ? k->donated[i] : METADATA_NOT_DONATED;
        bool in_place = once && output != METADATA_NOT_DONATED &&
                        is_same_place(s->m, &c->places[i], &c->places[k->inputs + output]);
        note_read(s, &c->places[i], 2 * number + (in_place ? 1 : 2));
    }
}

static void note(survey *s, const program_command *c, uint32_t number, bool once) {
    switch (c->kind) {
    case PROGRAM_DISPATCH:
        note_dispatch(s, c, number, once);
        break;
    case PROGRAM_EXCHANGE:
    case PROGRAM_WAIT: /* until then it reads and writes */
    case PROGRAM_COPY:
        note_read(s, &c->places[1], 2 * number + 2);
        if (!is_same_place(s->m, &c->places[1], &c->places[0])) /* else it changes nothing there */
            note_write(s, &c->places[0], 2 * number);
        break;
    case PROGRAM_FILL:
    case PROGRAM_TURN:
        note_write(s, c->places, 2 * number);
        break;
    case PROGRAM_LOOP:
        break;
    case PROGRAM_WHILE:
    case PROGRAM_IF:
        note_read(s, c->places, 2 * number + 2);
        break;
    }
    for (uint32_t b = 0; b < program_block_count(c); b++)
        for (uint32_t i = 0; i < c->blocks[b].count; i++)
            note(s, &c->blocks[b].commands[i], number, false);
}

static bool check_pair(const survey *s, uint32_t input, uint32_t output, status *st) {
    uint32_t to = s->m->inputs + output;
    return s->read_end[input] <= s->write[to] ||
           status_set(st, STATUS_CORRUPT,
                      "the donated input '%s' is read when '%s' was written already",
                      s->m->parameters[input].name, s->m->parameters[to].name);
}

bool program_check_donations(const metadata *m, const metadata *const *kernels, status *st) {
    const program *p = m->program;
    uint32_t buffers = m->inputs + m->outputs + 1 + p->constant_count;
    bool ok = true;
    if (!m->donated)
        return true;
    survey s = {m, kernels, base_calloc(buffers, sizeof(uint32_t)),
                base_malloc(buffers * sizeof(uint32_t))};
    memset(s.write, 0xFF, buffers * sizeof(uint32_t));
    for (uint32_t i = 0; i < p->body.count; i++)
        note(&s, &p->body.commands[i], i, true);
    for (uint32_t i = 0; i < m->inputs && ok; i++)
        ok = m->donated[i] == METADATA_NOT_DONATED || check_pair(&s, i, m->donated[i], st);
    free(s.read_end);
    free(s.write);
    return ok;
}
