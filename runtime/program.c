/* program.c - reads the program of a module's metadata; whoever wrote it is not trusted. */
#include "program.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "metadata.h"
#include "module.h"

/* State of reading a program. */
typedef struct reader {
    metadata *m;
    program *p;
    uint32_t next;                /* number of the command that is read next */
    const program_command *first; /* of the block that is read */
    uint32_t depth, loops;        /* blocks and counted loops around it */
    status *st;
} reader;

static bool wrong(const reader *r, const char *what) {
    return status_set(r->st, STATUS_CORRUPT, "%s", what);
}

static bool read_number(const json_t *value, int64_t most, int64_t *out) {
    *out = json_integer_value(value);
    return json_is_integer(value) && *out >= 0 && *out <= most;
}

/* ---- places ---- */

static bool find_buffer(const reader *r, const char *space, int64_t index, uint32_t *out) {
    const metadata *m = r->m;
    int64_t first = 0, count = 0;
    if (strcmp(space, "input") == 0) {
        count = m->inputs;
    } else if (strcmp(space, "output") == 0) {
        first = m->inputs;
        count = m->outputs;
    } else if (strcmp(space, "arena") == 0) {
        first = (int64_t)m->inputs + m->outputs;
        count = 1;
    } else if (strcmp(space, "constant") == 0) {
        first = (int64_t)m->inputs + m->outputs + 1;
        count = r->p->constant_count;
    }
    *out = (uint32_t)(first + index);
    return index < count;
}

/* [space, index, offset, stride, ...] */
static bool read_place(reader *r, const json_t *value, program_place *out) {
    const char *space = json_string_value(json_array_get(value, 0));
    size_t length = json_array_size(value);
    int64_t index;
    if (length < 3 || !space || !read_number(json_array_get(value, 1), UINT32_MAX, &index) ||
        !read_number(json_array_get(value, 2), METADATA_LIMIT, &out->offset))
        return wrong(r, "a place is not [space, index, offset, strides]");
    if (!find_buffer(r, space, index, &out->buffer))
        return status_set(r->st, STATUS_CORRUPT, "there is no buffer '%.16s' %lld", space,
                          (long long)index);
    if (length - 3 > r->loops)
        return wrong(r, "a place has more strides than there are loops around it");
    out->stride_count = (uint32_t)length - 3;
    int64_t *strides = ARENA_NEW(&r->m->memory, int64_t, out->stride_count);
    out->strides = strides;
    for (uint32_t i = 0; i < out->stride_count; i++)
        if (!read_number(json_array_get(value, 3 + i), METADATA_LIMIT, &strides[i]))
            return wrong(r, "a stride is not a number of bytes");
    return true;
}

/* An array of places. */
static bool read_places(reader *r, const json_t *list, program_command *c) {
    if (!json_is_array(list) || json_array_size(list) > 2 * METADATA_PARAMETERS_MAX)
        return wrong(r, "it has no array of places, or too long a one");
    c->place_count = (uint32_t)json_array_size(list);
    c->places = ARENA_NEW(&r->m->memory, program_place, c->place_count);
    for (uint32_t i = 0; i < c->place_count; i++)
        if (!read_place(r, json_array_get(list, i), &c->places[i]))
            return status_context(r->st, "place %u", i);
    return true;
}

static bool read_one_place(reader *r, const json_t *value, program_command *c) {
    c->place_count = 1;
    c->places = ARENA_NEW(&r->m->memory, program_place, 1);
    return read_place(r, value, c->places);
}

/* ---- commands ---- */

static bool read_block(reader *r, const json_t *list, program_block *out);

/* The block of a command, which lies one deeper than the command itself. */
static bool read_inner(reader *r, const json_t *one, const char *key, program_block *out) {
    const json_t *list = json_object_get(one, key);
    if (!json_is_array(list))
        return status_set(r->st, STATUS_CORRUPT, "its \"%s\" is not an array of commands", key);
    if (r->depth == PROGRAM_DEPTH_MAX)
        return status_set(r->st, STATUS_CORRUPT, "it nests deeper than %d", PROGRAM_DEPTH_MAX);
    r->depth++;
    bool ok = read_block(r, list, out);
    r->depth--;
    return ok;
}

static bool read_dispatch(reader *r, const json_t *one, program_command *c) {
    int64_t kernel;
    if (!read_number(json_object_get(one, "dispatch"), UINT32_MAX, &kernel) ||
        kernel >= r->p->kernel_count)
        return wrong(r, "there is no such kernel");
    c->kernel = (uint32_t)kernel;
    return read_places(r, json_object_get(one, "operands"), c);
}

static bool read_copy(reader *r, const json_t *one, program_command *c) {
    if (!read_number(json_object_get(one, "bytes"), METADATA_LIMIT, &c->bytes))
        return wrong(r, "its \"bytes\" is not a number of bytes");
    if (!read_places(r, json_object_get(one, "copy"), c))
        return false;
    return c->place_count == 2 || wrong(r, "a copy has two places");
}

static bool read_fill(reader *r, const json_t *one, program_command *c) {
    int64_t byte;
    if (!read_number(json_object_get(one, "bytes"), METADATA_LIMIT, &c->bytes))
        return wrong(r, "its \"bytes\" is not a number of bytes");
    if (!read_number(json_object_get(one, "byte"), UCHAR_MAX, &byte))
        return wrong(r, "its \"byte\" is not a number from 0 to 255");
    c->byte = (unsigned char)byte;
    return read_one_place(r, json_object_get(one, "fill"), c);
}

static bool read_turn(reader *r, const json_t *one, program_command *c) {
    if (r->loops == 0)
        return wrong(r, "there is no loop around it whose turn it could write");
    if (!read_number(json_object_get(one, "bytes"), 8, &c->bytes) ||
        (c->bytes != 4 && c->bytes != 8))
        return wrong(r, "its \"bytes\" is neither 4 nor 8");
    return read_one_place(r, json_object_get(one, "turn"), c);
}

/* Numbers of rows, in bytes. */
static const int64_t *read_rows(reader *r, const json_t *list, size_t count, int64_t row) {
    int64_t *out = ARENA_NEW(&r->m->memory, int64_t, count + 1);
    bool ok = json_is_array(list) && json_array_size(list) == count;
    for (size_t i = 0; i < count && ok; i++)
        ok = read_number(json_array_get(list, i), METADATA_LIMIT, &out[i]) &&
             !__builtin_mul_overflow(out[i], row, &out[i]) && out[i] <= METADATA_LIMIT;
    return ok ? out : NULL;
}

static const uint32_t *read_ranks(reader *r, const json_t *list, size_t count) {
    uint32_t *out = ARENA_NEW(&r->m->memory, uint32_t, count + 1);
    int64_t rank, last = -1;
    bool own = false;
    for (size_t i = 0; i < count; i++) {
        if (!read_number(json_array_get(list, i), (int64_t)r->p->ranks - 1, &rank) || rank <= last)
            return NULL;
        last = rank;
        out[i] = (uint32_t)rank;
        own |= out[i] == r->p->rank;
    }
    return own ? out : NULL;
}

/* Sent bytes lie in those that there are, and received ones are all that there is room for. */
static bool add_up(program_exchange *e, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t end;
        if (__builtin_add_overflow(e->first[i], e->sent[i], &end) || end > e->from_bytes ||
            __builtin_add_overflow(e->to_bytes, e->received[i], &e->to_bytes) ||
            e->to_bytes > METADATA_LIMIT)
            return false;
    }
    return true;
}

/* { "exchange": [to, from], "number", "group": [rank, ...], "row": bytes, "rows", "first", "sent",
 * "received": [rows, ...] } */
static bool read_exchange(reader *r, const json_t *one, program_command *c) {
    program_exchange *e = ARENA_NEW(&r->m->memory, program_exchange, 1);
    const json_t *group = json_object_get(one, "group");
    const size_t count = json_array_size(group);
    int64_t number, row, rows;
    *e = (program_exchange){.count = (uint32_t)count};
    if (!read_number(json_object_get(one, "number"), PROGRAM_COMMANDS_MAX, &number) || number < 1 ||
        !read_number(json_object_get(one, "row"), METADATA_LIMIT, &row) ||
        !read_number(json_object_get(one, "rows"), METADATA_LIMIT, &rows) ||
        __builtin_mul_overflow(row, rows, &e->from_bytes) || e->from_bytes > METADATA_LIMIT)
        return wrong(r, "an exchange needs its \"number\", from 1 on, \"row\" and \"rows\"");
    e->number = (uint64_t)number;
    e->ranks = count && count <= r->p->ranks ? read_ranks(r, group, count) : NULL;
    if (!e->ranks)
        return wrong(r, "the \"group\" of an exchange is no ascending list of ranks with this one");
    e->first = read_rows(r, json_object_get(one, "first"), count, row);
    e->sent = read_rows(r, json_object_get(one, "sent"), count, row);
    e->received = read_rows(r, json_object_get(one, "received"), count, row);
    if (!e->first || !e->sent || !e->received || !add_up(e, count))
        return wrong(r, "the rows of an exchange do not fit its group and its places");
    c->exchange = e;
    if (!read_places(r, json_object_get(one, "exchange"), c))
        return false;
    return c->place_count == 2 || wrong(r, "an exchange has two places");
}

/* { "wait": number }: of an exchange that the block began before. */
static bool read_wait(reader *r, const json_t *one, program_command *c) {
    int64_t number;
    const program_command *begun = c;
    if (!read_number(json_object_get(one, "wait"), PROGRAM_COMMANDS_MAX, &number))
        return wrong(r, "its \"wait\" is not the number of an exchange");
    while (begun > r->first &&
           (begun[-1].kind != PROGRAM_EXCHANGE || begun[-1].exchange->number != (uint64_t)number))
        begun--;
    if (begun == r->first)
        return status_set(r->st, STATUS_CORRUPT,
                          "it waits for exchange %lld, which its block has not begun",
                          (long long)number);
    c->exchange = begun[-1].exchange;
    c->places = begun[-1].places;
    c->place_count = begun[-1].place_count;
    return true;
}

static bool read_loop(reader *r, const json_t *one, program_command *c) {
    if (!read_number(json_object_get(one, "loop"), PROGRAM_TURNS_MAX, &c->count))
        return wrong(r, "its turns are not a number of turns");
    r->loops++;
    bool ok = read_inner(r, one, "body", &c->blocks[0]);
    r->loops--;
    return ok;
}

static bool read_while(reader *r, const json_t *one, program_command *c) {
    r->p->conditional = true;
    return read_one_place(r, json_object_get(one, "while"), c) &&
           read_inner(r, one, "condition", &c->blocks[0]) &&
           read_inner(r, one, "body", &c->blocks[1]);
}

static bool read_if(reader *r, const json_t *one, program_command *c) {
    r->p->conditional = true;
    return read_one_place(r, json_object_get(one, "if"), c) &&
           read_inner(r, one, "then", &c->blocks[0]) && read_inner(r, one, "else", &c->blocks[1]);
}

static const struct kind {
    const char *key;
    bool (*read)(reader *r, const json_t *one, program_command *c);
} kinds[] = {[PROGRAM_DISPATCH] = {"dispatch", read_dispatch},
             [PROGRAM_COPY] = {"copy", read_copy},
             [PROGRAM_FILL] = {"fill", read_fill},
             [PROGRAM_TURN] = {"turn", read_turn},
             [PROGRAM_EXCHANGE] = {"exchange", read_exchange},
             [PROGRAM_WAIT] = {"wait", read_wait},
             [PROGRAM_LOOP] = {"loop", read_loop},
             [PROGRAM_WHILE] = {"while", read_while},
             [PROGRAM_IF] = {"if", read_if}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool read_command(reader *r, const json_t *one, program_command *c) {
    int found = 0;
    for (int i = 0; i < KINDS; i++)
        if (json_object_get(one, kinds[i].key)) {
            c->kind = (program_kind)i;
            found++;
        }
    if (found != 1)
        return wrong(
            r,
            "it is not exactly one of dispatch, copy, fill, turn, exchange, wait, loop, while and "
            "if");
    return kinds[c->kind].read(r, one, c);
}

/* Whoever fails inside says in which command. */
static bool read_block(reader *r, const json_t *list, program_block *out) {
    size_t count = json_array_size(list);
    out->count = (uint32_t)count;
    out->commands = ARENA_NEW(&r->m->memory, program_command, count);
    const program_command *around = r->first;
    for (size_t i = 0; i < count; i++) {
        r->first = out->commands;
        program_command *c = &out->commands[i];
        if (r->next == PROGRAM_COMMANDS_MAX)
            return status_set(r->st, STATUS_CORRUPT, "there are more than %d commands",
                              PROGRAM_COMMANDS_MAX);
        c->number = r->next++;
        if (!read_command(r, json_array_get(list, i), c))
            return r->depth ? false : status_context(r->st, "in command %u", r->next - 1);
    }
    r->first = around;
    return true;
}

/* ---- the program ---- */

static bool read_kernels(reader *r, const json_t *list) {
    program *p = r->p;
    if (!json_is_array(list) || json_array_size(list) > PROGRAM_KERNELS_MAX)
        return wrong(r, "\"kernels\" is not an array of sections, or too long a one");
    p->kernel_count = (uint32_t)json_array_size(list);
    p->kernels = ARENA_NEW(&r->m->memory, const char *, p->kernel_count);
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        const char *section = json_string_value(json_array_get(list, i));
        if (!section || !module_is_kernel(section))
            return wrong(r, "\"kernels\" has one that is no section \"kernel:N\"");
        p->kernels[i] = arena_strdup(&r->m->memory, section);
    }
    return true;
}

/* Reads the list of { "section", "bytes" }, if there is one; load.c finds the bytes. */
static bool read_constants(reader *r, const json_t *list) {
    program *p = r->p;
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > PROGRAM_CONSTANTS_MAX)
        return wrong(r, "\"constants\" is not an array, or too long a one");
    p->constant_count = (uint32_t)json_array_size(list);
    p->constants = ARENA_NEW(&r->m->memory, program_constant, p->constant_count);
    for (uint32_t i = 0; i < p->constant_count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *section = json_string_value(json_object_get(one, "section"));
        if (!section || !module_is_constant(section))
            return wrong(r, "\"constants\" has one that is no section \"constant:N\"");
        if (!read_number(json_object_get(one, "bytes"), METADATA_LIMIT, &p->constants[i].bytes))
            return wrong(r, "\"constants\" has one without a number of bytes");
        p->constants[i].section = arena_strdup(&r->m->memory, section);
    }
    return true;
}

static int64_t sum_of(int64_t a, int64_t b) {
    return a < METADATA_LIMIT - b ? a + b : METADATA_LIMIT;
}

static int64_t steps_of(const program_block *block) {
    int64_t steps = 0, product;
    for (uint32_t i = 0; i < block->count; i++) {
        program_command *c = &block->commands[i];
        int64_t own = c->kind == PROGRAM_LOOP ? 0 : c->kind == PROGRAM_TURN ? c->bytes : 1;
        for (uint32_t k = 0; k < program_block_count(c); k++)
            own = sum_of(own, steps_of(&c->blocks[k]));
        if (c->kind == PROGRAM_LOOP)
            own = __builtin_mul_overflow(own, c->count, &product) || product > METADATA_LIMIT
                      ? METADATA_LIMIT
                      : product;
        c->steps = own;
        steps = sum_of(steps, own);
    }
    return steps;
}

/* "rank": [rank, ranks], "meeting": digest; a program without it exchanges nothing. */
static bool read_rank(reader *r, const json_t *list, const json_t *meeting) {
    int64_t ranks, rank;
    r->p->ranks = 1;
    if (!list)
        return true;
    if (json_array_size(list) != 2 ||
        !read_number(json_array_get(list, 1), PROGRAM_RANKS_MAX, &ranks) || ranks < 1 ||
        !read_number(json_array_get(list, 0), ranks - 1, &rank))
        return wrong(r, "\"rank\" is not [rank, ranks]");
    if (!sha256_parse(json_string_value(meeting) ? json_string_value(meeting) : "", &r->p->meeting))
        return wrong(r, "\"meeting\" is not a SHA-256");
    r->p->conditional = true;
    r->p->rank = (uint32_t)rank;
    r->p->ranks = (uint32_t)ranks;
    return true;
}

bool program_read(metadata *m, const json_t *document, status *st) {
    program *p = ARENA_NEW(&m->memory, program, 1);
    reader r = {.m = m, .p = p, .st = st};
    const json_t *commands = json_object_get(document, "commands");
    bool ok =
        read_number(json_object_get(document, "arena_bytes"), METADATA_LIMIT, &p->arena_bytes) ||
        wrong(&r, "\"arena_bytes\" is not a number of bytes");
    ok = ok &&
         read_rank(&r, json_object_get(document, "rank"), json_object_get(document, "meeting")) &&
         read_kernels(&r, json_object_get(document, "kernels")) &&
         read_constants(&r, json_object_get(document, "constants"));
    ok = ok && (json_is_array(commands) || wrong(&r, "\"commands\" is not an array"));
    if (!ok || !read_block(&r, commands, &p->body))
        return status_context(st, "the program of the module's metadata");
    p->command_count = r.next;
    p->steps = steps_of(&p->body);
    m->program = p;
    return true;
}
