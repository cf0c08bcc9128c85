/* program_check.c - the rules of a program: each place lies in its buffer, nothing is read before
 * it was written, and nothing is written that another one reads at the same time.
 *
 * What was written is followed through the commands as they run, in the first turn of each loop:
 * later turns have no less. A place that moves from turn to turn is looked at again at the end of
 * its loop, in all turns at once. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "metadata.h"
#include "program_ranges.h"

enum { ALIGNMENT = 64 };

/* A counted loop around a command. */
typedef struct loop {
    const struct loop *outer;
    uint32_t depth; /* of how many counted loops it is the next */
    int64_t count;
} loop;

/* Bytes at a place, as they are read or written within loops. */
typedef struct access {
    const program_place *place;
    const loop *inside;
    int64_t bytes;
    uint32_t number; /* of the command */
} access;

typedef VEC(access) accesses;
typedef VEC(const program_command *) command_refs;

typedef struct checker {
    const metadata *m;
    const metadata *const *kernels;
    arena memory; /* of the loops */
    const loop *inside;
    int64_t turns;           /* of the loops around, multiplied */
    program_written written; /* outputs, then the arena */
    accesses reads, writes;  /* of the loops around, at places that move */
    command_refs begun;      /* exchanges that are not waited for yet */
    status *st;
} checker;

/* ---- places ---- */

static int64_t stride_of(const program_place *p, const loop *l) {
    return l->depth < p->stride_count ? p->strides[l->depth] : 0;
}

/* From its last turn to its first. */
static int64_t span_of(const program_place *p, const loop *l) {
    return l->count > 1 ? (l->count - 1) * stride_of(p, l) : 0;
}

static bool moves(const program_place *p) {
    for (uint32_t i = 0; i < p->stride_count; i++)
        if (p->strides[i])
            return true;
    return false;
}

/* NULL: the buffer is no constant. */
static const program_constant *constant_of(const metadata *m, uint32_t buffer) {
    uint32_t before = m->inputs + m->outputs + 1;
    return buffer < before ? NULL : &m->program->constants[buffer - before];
}

/* It is there before the program runs, and nobody writes it. */
static bool is_given(const metadata *m, uint32_t buffer) {
    return buffer < m->inputs || constant_of(m, buffer);
}

static int64_t size_of(const metadata *m, uint32_t buffer) {
    const program_constant *c = constant_of(m, buffer);
    return c                                 ? c->bytes
           : buffer < m->inputs + m->outputs ? (int64_t)m->parameters[buffer].size_bytes
                                             : m->program->arena_bytes;
}

static const char *name_of(const metadata *m, uint32_t buffer) {
    const program_constant *c = constant_of(m, buffer);
    return c                                 ? c->section
           : buffer < m->inputs + m->outputs ? m->parameters[buffer].name
                                             : "the arena";
}

/* All bytes from the first that it touches to the last, in all turns of the loops from `depth` on.
 */
static int64_t hull_of(const access *a, uint32_t depth) {
    int64_t bytes = a->bytes;
    for (const loop *l = a->inside; l && l->depth >= depth; l = l->outer)
        bytes += span_of(a->place, l);
    return bytes;
}

/* The bytes from its first that it touches without a hole, in all turns of the loops from `depth`
 * on. */
static int64_t whole_of(const access *a, uint32_t depth) {
    int64_t bytes = a->bytes, last = 0;
    for (;;) { /* by strides, the smallest first */
        int64_t smallest = INT64_MAX, span = 0;
        for (const loop *l = a->inside; l && l->depth >= depth; l = l->outer) {
            int64_t stride = stride_of(a->place, l);
            if (stride <= last || l->count < 2 || stride > smallest)
                continue;
            span = stride < smallest ? span_of(a->place, l) : span + span_of(a->place, l);
            smallest = stride;
        }
        if (smallest == INT64_MAX || smallest > bytes)
            return bytes;
        bytes += span;
        last = smallest;
    }
}

static bool check_place(checker *ck, const program_command *c, const program_place *p,
                        int64_t bytes) {
    int64_t end, span;
    bool ok = !__builtin_add_overflow(p->offset, bytes, &end);
    for (const loop *l = ck->inside; l && ok; l = l->outer)
        ok = l->count < 2 || (!__builtin_mul_overflow(l->count - 1, stride_of(p, l), &span) &&
                              !__builtin_add_overflow(end, span, &end));
    return (ok && end <= size_of(ck->m, p->buffer)) ||
           status_set(ck->st, STATUS_CORRUPT,
                      "command %u: a place of %lld bytes at %lld runs past the end of '%s'",
                      c->number, (long long)bytes, (long long)p->offset, name_of(ck->m, p->buffer));
}

static bool check_alignment(checker *ck, const program_command *c, const program_place *p) {
    int64_t all = p->offset;
    for (uint32_t i = 0; i < p->stride_count; i++)
        all |= p->strides[i];
    return all % ALIGNMENT == 0 ||
           status_set(ck->st, STATUS_CORRUPT,
                      "command %u: the place of an operand is not aligned to %d bytes", c->number,
                      ALIGNMENT);
}

static int64_t gcd(int64_t a, int64_t b) {
    return b ? gcd(b, a % b) : a;
}

/* Tells whether two places may have a byte in common in some turn. */
static bool overlap(const checker *ck, const program_place *a, int64_t a_bytes,
                    const program_place *b, int64_t b_bytes) {
    int64_t low = b->offset - a->offset, high = low, step = 0;
    if (a->buffer != b->buffer || a_bytes == 0 || b_bytes == 0)
        return false;
    for (const loop *l = ck->inside; l; l = l->outer) {
        int64_t apart = stride_of(b, l) - stride_of(a, l);
        if (l->count < 2 || apart == 0)
            continue;
        *(apart < 0 ? &low : &high) += apart * (l->count - 1);
        step = gcd(step, apart < 0 ? -apart : apart);
    }
    if (low <= -b_bytes && step) /* the first distance behind that that a turn may have */
        low += (-b_bytes - low + step) / step * step;
    return low > -b_bytes && low < a_bytes && low <= high;
}

/* ---- reads and writes ---- */

/* Bytes that an exchange under way sends may be read, those that it receives may not. */
static bool is_quiet(checker *ck, const program_command *c, const program_place *p, int64_t bytes,
                     bool writes) {
    for (size_t i = 0; i < ck->begun.count; i++) {
        const program_command *b = ck->begun.items[i];
        if (overlap(ck, p, bytes, &b->places[0], b->exchange->to_bytes) ||
            (writes && overlap(ck, p, bytes, &b->places[1], b->exchange->from_bytes)))
            return status_set(ck->st, STATUS_CORRUPT,
                              "command %u: it %s %lld bytes at %lld of '%s' while exchange %llu "
                              "is under way",
                              c->number, writes ? "writes" : "reads", (long long)bytes,
                              (long long)p->offset, name_of(ck->m, p->buffer),
                              (unsigned long long)b->exchange->number);
    }
    return true;
}

static bool must_be_written(checker *ck, const access *a, uint32_t depth, bool first) {
    int64_t bytes = first ? a->bytes : hull_of(a, depth);
    return program_written_has(&ck->written, a->place->buffer - ck->m->inputs, a->place->offset,
                               bytes) ||
           status_set(ck->st, STATUS_CORRUPT,
                      "command %u: it reads %lld bytes at %lld of '%s' that were not all written "
                      "before",
                      a->number, (long long)bytes, (long long)a->place->offset,
                      name_of(ck->m, a->place->buffer));
}

static bool read(checker *ck, const program_command *c, const program_place *p, int64_t bytes) {
    const access a = {p, ck->inside, bytes, c->number};
    if (!check_place(ck, c, p, bytes) || !is_quiet(ck, c, p, bytes, false))
        return false;
    if (is_given(ck->m, p->buffer))
        return true;
    if (ck->inside && moves(p))
        vec_push(&ck->reads, a);
    return must_be_written(ck, &a, 0, true);
}

static bool may_write(checker *ck, const program_command *c, const program_place *p,
                      int64_t bytes) {
    return check_place(ck, c, p, bytes) &&
           (!is_given(ck->m, p->buffer) ||
            status_set(ck->st, STATUS_CORRUPT, "command %u: it writes to the %s '%s'", c->number,
                       constant_of(ck->m, p->buffer) ? "constant" : "input",
                       name_of(ck->m, p->buffer))) &&
           is_quiet(ck, c, p, bytes, true);
}

static void write(checker *ck, const program_command *c, const program_place *p, int64_t bytes) {
    const access a = {p, ck->inside, bytes, c->number};
    program_written_add(&ck->written, p->buffer - ck->m->inputs, p->offset, bytes);
    if (ck->inside && moves(p))
        vec_push(&ck->writes, a);
}

/* ---- commands ---- */

static bool check_block(checker *ck, const program_block *block);

/* An operand, and all that its place may touch in any turn. */
typedef struct operand {
    const program_place *place;
    int64_t bytes, end;
    uint32_t index;
} operand;

static int compare_operands(const void *a, const void *b) {
    const operand *x = a, *y = b;
    if (x->place->buffer != y->place->buffer)
        return x->place->buffer < y->place->buffer ? -1 : 1;
    if (x->place->offset != y->place->offset)
        return x->place->offset < y->place->offset ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static operand *sorted_operands(const checker *ck, const program_command *c, const metadata *k) {
    operand *list = base_calloc((size_t)c->place_count + 1, sizeof *list);
    for (uint32_t i = 0; i < c->place_count; i++) {
        const access a = {&c->places[i], ck->inside, (int64_t)k->parameters[i].size_bytes, 0};
        list[i] = (operand){a.place, a.bytes, a.place->offset + hull_of(&a, 0), i};
    }
    qsort(list, c->place_count, sizeof *list, compare_operands);
    return list;
}

/* Does the kernel make an output in the place of a donated input, whose place this is? */
static bool is_in_place(const program_command *c, const metadata *k, uint32_t input,
                        uint32_t output) {
    const program_place *from = &c->places[input], *to = &c->places[output];
    bool same = input < k->inputs && output >= k->inputs && k->donated &&
                k->donated[input] == output - k->inputs && from->offset == to->offset;
    for (uint32_t i = 0; i < PROGRAM_DEPTH_MAX; i++)
        same = same && (i < from->stride_count ? from->strides[i] : 0) ==
                           (i < to->stride_count ? to->strides[i] : 0);
    return same;
}

/* An output overlaps no other operand but the input in whose place it is made. Those that may meet
 * are neighbours by their first byte. */
static bool check_overlaps(checker *ck, const program_command *c, const metadata *k) {
    operand *list = sorted_operands(ck, c, k);
    bool ok = true;
    for (uint32_t i = 0; i < c->place_count && ok; i++) {
        const operand *a = &list[i];
        for (const operand *b = a + 1; b < list + c->place_count && ok; b++) {
            if (b->place->buffer != a->place->buffer || b->place->offset >= a->end)
                break;
            const uint32_t low = a->index < b->index ? a->index : b->index,
                           high = a->index < b->index ? b->index : a->index;
            if (high >= k->inputs && !is_in_place(c, k, low, high) &&
                overlap(ck, a->place, a->bytes, b->place, b->bytes))
                ok = status_set(ck->st, STATUS_CORRUPT, "command %u: operands %u and %u overlap",
                                c->number, high, low);
        }
    }
    free(list);
    return ok;
}

static bool check_dispatch(checker *ck, const program_command *c) {
    const metadata *k = ck->kernels[c->kernel];
    uint32_t count = k->inputs + k->outputs;
    bool ok = c->place_count == count ||
              status_set(ck->st, STATUS_CORRUPT, "command %u: kernel '%s' has %u operands, not %u",
                         c->number, k->name, count, c->place_count);
    for (uint32_t i = 0; i < count && ok; i++) {
        int64_t bytes = (int64_t)k->parameters[i].size_bytes;
        ok = check_alignment(ck, c, &c->places[i]) &&
             (i < k->inputs ? read(ck, c, &c->places[i], bytes)
                            : may_write(ck, c, &c->places[i], bytes));
    }
    ok = ok && check_overlaps(ck, c, k);
    for (uint32_t i = k->inputs; i < count && ok; i++)
        write(ck, c, &c->places[i], (int64_t)k->parameters[i].size_bytes);
    return ok;
}

static bool check_copy(checker *ck, const program_command *c) {
    const program_place *to = &c->places[0], *from = &c->places[1];
    if (!read(ck, c, from, c->bytes) || !may_write(ck, c, to, c->bytes))
        return false;
    if (overlap(ck, to, c->bytes, from, c->bytes))
        return status_set(ck->st, STATUS_CORRUPT, "command %u: it copies bytes onto themselves",
                          c->number);
    write(ck, c, to, c->bytes);
    return true;
}

static bool check_exchange(checker *ck, const program_command *c) {
    const program_place *to = &c->places[0], *from = &c->places[1];
    const int64_t received = c->exchange->to_bytes, sent = c->exchange->from_bytes;
    if (!read(ck, c, from, sent) || !may_write(ck, c, to, received))
        return false;
    if (overlap(ck, to, received, from, sent))
        return status_set(ck->st, STATUS_CORRUPT, "command %u: it receives where it sends from",
                          c->number);
    vec_push(&ck->begun, c);
    return true;
}

/* The bytes that came are there from now on. */
static bool check_wait(checker *ck, const program_command *c) {
    size_t i = ck->begun.count;
    while (i > 0 && ck->begun.items[i - 1]->exchange != c->exchange)
        i--;
    if (i == 0)
        return status_set(ck->st, STATUS_CORRUPT, "command %u: exchange %llu was waited for before",
                          c->number, (unsigned long long)c->exchange->number);
    for (; i < ck->begun.count; i++)
        ck->begun.items[i - 1] = ck->begun.items[i];
    ck->begun.count--;
    write(ck, c, &c->places[0], c->exchange->to_bytes);
    return true;
}

static bool check_write(checker *ck, const program_command *c) {
    if (!may_write(ck, c, c->places, c->bytes))
        return false;
    write(ck, c, c->places, c->bytes);
    return true;
}

/* Adds what moving places wrote since `first_write`, in all turns of the loops from `depth` on. */
static void add_turns(checker *ck, size_t first_write, uint32_t depth) {
    for (size_t i = first_write; i < ck->writes.count; i++) {
        const access *a = &ck->writes.items[i];
        program_written_add(&ck->written, a->place->buffer - ck->m->inputs, a->place->offset,
                            whole_of(a, depth));
    }
}

/* A block that may not run: what it writes is known within it alone, and to `result`. Reads in
 * later turns that it writes for itself are settled. */
static bool check_branch(checker *ck, const program_block *block, program_written *result) {
    program_written before = program_written_copy(&ck->written);
    size_t first_write = ck->writes.count, first_read = ck->reads.count, kept = first_read;
    bool ok = check_block(ck, block);
    if (result)
        *result = program_written_copy(&ck->written);
    add_turns(ck, first_write, 0);
    for (size_t i = first_read; i < ck->reads.count; i++) {
        const access a = ck->reads.items[i];
        if (!program_written_has(&ck->written, a.place->buffer - ck->m->inputs, a.place->offset,
                                 hull_of(&a, 0)))
            ck->reads.items[kept++] = a;
    }
    ck->reads.count = kept;
    ck->writes.count = first_write;
    program_written_free(&ck->written);
    ck->written = before;
    return ok;
}

/* Reads in turns behind the first find what the loop wrote as a whole, or what was there. */
static bool check_turns(checker *ck, const program_block *body, uint32_t depth) {
    size_t first_write = ck->writes.count, first_read = ck->reads.count;
    bool ok = check_block(ck, body);
    add_turns(ck, first_write, depth);
    for (size_t i = first_read; i < ck->reads.count && ok; i++)
        ok = must_be_written(ck, &ck->reads.items[i], depth, false);
    if (depth == 0) {
        ck->writes.count = first_write;
        ck->reads.count = first_read;
    }
    return ok;
}

static bool check_loop(checker *ck, const program_command *c) {
    const loop *outer = ck->inside;
    loop *l = ARENA_NEW(&ck->memory, loop, 1);
    int64_t turns = ck->turns;
    *l = (loop){outer, outer ? outer->depth + 1 : 0, c->count};
    if (c->count && __builtin_mul_overflow(turns, c->count, &ck->turns))
        ck->turns = INT64_MAX;
    if (ck->turns > PROGRAM_TURNS_MAX)
        return status_set(ck->st, STATUS_CORRUPT, "command %u: its loops have more than 2^40 turns",
                          c->number);
    ck->inside = l;
    size_t first_read = ck->reads.count;
    bool ok =
        c->count ? check_turns(ck, &c->blocks[0], l->depth) : check_branch(ck, &c->blocks[0], NULL);
    if (!c->count)
        ck->reads.count = first_read;
    ck->inside = outer;
    ck->turns = turns;
    return ok;
}

static bool check_while(checker *ck, const program_command *c) {
    return check_block(ck, &c->blocks[0]) && read(ck, c, c->places, 1) &&
           check_branch(ck, &c->blocks[1], NULL);
}

static bool check_if(checker *ck, const program_command *c) {
    program_written then = {0}, otherwise = {0};
    bool ok = read(ck, c, c->places, 1) && check_branch(ck, &c->blocks[0], &then) &&
              check_branch(ck, &c->blocks[1], &otherwise);
    if (ok) {
        program_written_intersect(&then, &otherwise);
        program_written_free(&ck->written);
        ck->written = then;
    } else {
        program_written_free(&then);
    }
    program_written_free(&otherwise);
    return ok;
}

static bool check_block(checker *ck, const program_block *block) {
    static bool (*const checks[])(checker * ck,
                                  const program_command *c) = {[PROGRAM_DISPATCH] = check_dispatch,
                                                               [PROGRAM_COPY] = check_copy,
                                                               [PROGRAM_FILL] = check_write,
                                                               [PROGRAM_TURN] = check_write,
                                                               [PROGRAM_EXCHANGE] = check_exchange,
                                                               [PROGRAM_WAIT] = check_wait,
                                                               [PROGRAM_LOOP] = check_loop,
                                                               [PROGRAM_WHILE] = check_while,
                                                               [PROGRAM_IF] = check_if};
    const size_t begun = ck->begun.count;
    bool ok = true;
    for (uint32_t i = 0; i < block->count && ok; i++)
        ok = checks[block->commands[i].kind](ck, &block->commands[i]);
    return ok && (ck->begun.count == begun ||
                  status_set(ck->st, STATUS_CORRUPT,
                             "command %u: its block does not wait for exchange %llu",
                             ck->begun.items[begun]->number,
                             (unsigned long long)ck->begun.items[begun]->exchange->number));
}

/* ---- the program ---- */

static bool check_kernels(const metadata *m, const metadata *const *kernels, status *st) {
    for (uint32_t i = 0; i < m->program->kernel_count; i++)
        if (kernels[i]->program || kernels[i]->dims)
            return status_set(st, STATUS_CORRUPT, "kernel %u, '%s', is no kernel of fixed shapes",
                              i, kernels[i]->name);
    return true;
}

static bool check_outputs(const checker *ck) {
    const metadata *m = ck->m;
    for (uint32_t i = 0; i < m->outputs; i++)
        if (!program_written_has(&ck->written, i, 0, size_of(m, m->inputs + i)))
            return status_set(ck->st, STATUS_CORRUPT, "the output '%s' is not written whole",
                              name_of(m, m->inputs + i));
    return true;
}

bool program_check(const metadata *m, const metadata *const *kernels, status *st) {
    checker ck = {.m = m, .kernels = kernels, .turns = 1, .st = st};
    ck.written = program_written_new(m->outputs + 1);
    arena_init(&ck.memory);
    bool ok = check_kernels(m, kernels, st) && check_block(&ck, &m->program->body) &&
              check_outputs(&ck) && program_check_donations(m, kernels, st);
    arena_release(&ck.memory);
    program_written_free(&ck.written);
    vec_release(&ck.reads);
    vec_release(&ck.writes);
    vec_release(&ck.begun);
    return ok || status_context(st, "the program of module '%s'", m->name);
}
