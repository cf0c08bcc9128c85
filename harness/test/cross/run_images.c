/* run_images.c - ISA: loads, runs and judges what write_images writes, from stdin, with the
 * runtime's own loader and threads. It is built for the machine that the images are for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/host/host.h"
#include "device/host/host_elf.h"
#include "device/host/host_pool.h"
#include "program.h"
#include "tessera/kernel.h"

enum { PHASES_MAX = 256, DIMS_MAX = 64, LOOPS_MAX = 16, ALIGNMENT = 64, POISON = 0xA5 };
enum { LIST_MAX = 1 << 20, NO_CASES = 3 /* an exit code */ };

typedef struct block {
    unsigned char *data; /* aligned as a kernel wants it; owned */
    size_t size;
} block;

typedef struct kernel_code {
    block object;
    uint64_t workspace_bytes, scratch_bytes, phase_count;
    block symbols[PHASES_MAX];
    int64_t cells[PHASES_MAX];
    host_elf *elf; /* once it is loaded */
    tsr_phase_fn phases[PHASES_MAX];
} kernel_code;

typedef struct place {
    uint64_t buffer, stride_count;
    int64_t offset, strides[LOOPS_MAX];
} place;

typedef struct command_list {
    struct command *commands;
    uint64_t count;
} command_list;

typedef struct command {
    program_kind kind;
    uint64_t kernel, bytes, byte, turns, place_count;
    place *places;
    command_list blocks[2];
} command;

typedef struct image_case {
    block name;
    uint64_t dim_count, kernel_count, constant_count, input_count, output_count;
    int64_t dims[DIMS_MAX];
    kernel_code *kernels;
    block arena, *constants, *inputs, *outputs, *expected;
    command_list body;
    /* Inputs, outputs, the arena, constants; and the turn that each loop is in. */
    unsigned char **bases;
    int64_t turns[LOOPS_MAX];
    uint32_t loops;
} image_case;

/* A stream that ends too early is no result. */
static void get(void *to, size_t size) {
    if (fread(to, 1, size, stdin) == size)
        return;
    fprintf(stderr, "run_images: the stream ends inside a case\n");
    exit(2);
}

static uint64_t get_number(uint64_t limit) {
    uint64_t number = 0;
    get(&number, sizeof number);
    if (number <= limit)
        return number;
    fprintf(stderr, "run_images: %" PRIu64 " is more than %" PRIu64 "\n", number, limit);
    exit(2);
}

/* One byte more, which ends a text. */
static block new_block(size_t size) {
    size_t whole = (size + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block b = {aligned_alloc(ALIGNMENT, whole), size};
    if (!b.data)
        exit(2);
    b.data[size] = 0;
    return b;
}

static block get_block(void) {
    block b = new_block(get_number(UINT64_C(1) << 32));
    get(b.data, b.size);
    return b;
}

static block *get_blocks(uint64_t *count) {
    *count = get_number(LIST_MAX);
    block *list = base_calloc(*count + 1, sizeof *list);
    for (uint64_t i = 0; i < *count; i++)
        list[i] = get_block();
    return list;
}

static void get_kernel(kernel_code *k) {
    k->object = get_block();
    k->workspace_bytes = get_number(UINT64_C(1) << 32);
    k->scratch_bytes = get_number(UINT64_C(1) << 32);
    k->phase_count = get_number(PHASES_MAX);
    for (uint64_t i = 0; i < k->phase_count; i++) {
        k->symbols[i] = get_block();
        k->cells[i] = (int64_t)get_number(INT64_MAX);
    }
}

static place get_place(void) {
    place p = {.buffer = get_number(LIST_MAX)};
    p.offset = (int64_t)get_number(INT64_MAX);
    p.stride_count = get_number(LOOPS_MAX);
    for (uint64_t i = 0; i < p.stride_count; i++)
        p.strides[i] = (int64_t)get_number(UINT64_MAX);
    return p;
}

/* Blocks go LOOPS_MAX deep. */
static command_list get_commands(void) {
    command_list list = {.count = get_number(LIST_MAX)};
    list.commands = base_calloc(list.count + 1, sizeof *list.commands);
    for (uint64_t i = 0; i < list.count; i++) {
        command *c = &list.commands[i];
        c->kind = (program_kind)get_number(PROGRAM_IF);
        c->kernel = get_number(LIST_MAX);
        c->bytes = get_number(UINT64_C(1) << 40);
        c->byte = get_number(UINT8_MAX);
        c->turns = get_number(INT64_MAX);
        c->place_count = get_number(LIST_MAX);
        c->places = base_calloc(c->place_count + 1, sizeof *c->places);
        for (uint64_t p = 0; p < c->place_count; p++)
            c->places[p] = get_place();
        const uint32_t blocks = c->kind < PROGRAM_LOOP ? 0 : c->kind == PROGRAM_LOOP ? 1 : 2;
        for (uint32_t b = 0; b < blocks; b++)
            c->blocks[b] = get_commands();
    }
    return list;
}

/* False at the end of the stream. */
static bool get_case(image_case *c) {
    int next = getc(stdin);
    if (next == EOF)
        return false;
    ungetc(next, stdin);
    *c = (image_case){.name = get_block()};
    c->dim_count = get_number(DIMS_MAX);
    for (uint64_t i = 0; i < c->dim_count; i++)
        c->dims[i] = (int64_t)get_number(INT64_MAX);
    c->kernel_count = get_number(LIST_MAX);
    c->kernels = base_calloc(c->kernel_count + 1, sizeof *c->kernels);
    for (uint64_t i = 0; i < c->kernel_count; i++)
        get_kernel(&c->kernels[i]);
    c->arena = new_block(get_number(UINT64_C(1) << 32));
    memset(c->arena.data, POISON, c->arena.size);
    c->constants = get_blocks(&c->constant_count);
    c->body = get_commands();
    c->inputs = get_blocks(&c->input_count);
    c->expected = get_blocks(&c->output_count);
    c->outputs = base_calloc(c->output_count + 1, sizeof *c->outputs);
    for (uint64_t i = 0; i < c->output_count; i++) {
        c->outputs[i] = new_block(c->expected[i].size);
        memset(c->outputs[i].data, POISON, c->outputs[i].size);
    }
    return true;
}

static void release_blocks(block *list, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        free(list[i].data);
    free(list);
}

static void release_commands(command_list *list) {
    for (uint64_t i = 0; i < list->count; i++) {
        free(list->commands[i].places);
        release_commands(&list->commands[i].blocks[0]);
        release_commands(&list->commands[i].blocks[1]);
    }
    free(list->commands);
}

static void release_case(image_case *c) {
    for (uint64_t i = 0; i < c->kernel_count; i++) {
        kernel_code *k = &c->kernels[i];
        host_elf_free(k->elf);
        free(k->object.data);
        for (uint64_t p = 0; p < k->phase_count; p++)
            free(k->symbols[p].data);
    }
    free(c->kernels);
    free(c->bases);
    free(c->name.data);
    free(c->arena.data);
    release_commands(&c->body);
    release_blocks(c->constants, c->constant_count);
    release_blocks(c->inputs, c->input_count);
    release_blocks(c->outputs, c->output_count);
    release_blocks(c->expected, c->output_count);
}

/* ---- running ---- */

static bool load_kernel(kernel_code *k, status *st) {
    if (!(k->elf = host_elf_load(k->object.data, k->object.size, st)))
        return false;
    for (uint64_t i = 0; i < k->phase_count; i++) {
        const char *symbol = (const char *)k->symbols[i].data;
        void *address = host_elf_symbol(k->elf, symbol);
        if (!address)
            return status_set(st, STATUS_NOT_FOUND, "no function %s", symbol);
        memcpy(&k->phases[i], &address, sizeof address);
    }
    return true;
}

static unsigned char *address_of(const image_case *c, const place *p) {
    unsigned char *address = c->bases[p->buffer] + p->offset;
    for (uint64_t i = 0; i < p->stride_count; i++)
        address += c->turns[i] * p->strides[i];
    return address;
}

static bool launch(host_pool *pool, image_case *c, const command *l, status *st) {
    kernel_code *k = &c->kernels[l->kernel];
    void **buffers = base_calloc(l->place_count + 1, sizeof *buffers);
    for (uint64_t i = 0; i < l->place_count; i++)
        buffers[i] = address_of(c, &l->places[i]);
    block workspace = new_block(k->workspace_bytes);
    const tsr_kernel_frame frame = {
        .buffers = buffers, .dims = c->dims, .workspace = workspace.data};
    const host_pool_work work = {
        k->phases, k->cells, (uint32_t)k->phase_count, &frame, k->scratch_bytes, true, NULL, NULL};
    const bool ok = (k->elf || load_kernel(k, st)) && host_pool_run(pool, &work, st);
    free(workspace.data);
    free(buffers);
    return ok;
}

static bool run_commands(host_pool *pool, image_case *c, const command_list *list, status *st);

static bool run_loop(host_pool *pool, image_case *c, const command *l, status *st) {
    int64_t *turn = &c->turns[c->loops++];
    bool ok = true;
    for (*turn = 0; *turn < (int64_t)l->turns && ok; ++*turn)
        ok = run_commands(pool, c, &l->blocks[0], st);
    c->loops--;
    return ok;
}

static bool run_while(host_pool *pool, image_case *c, const command *l, status *st) {
    while (run_commands(pool, c, &l->blocks[0], st)) {
        if (!*address_of(c, l->places))
            return true;
        if (!run_commands(pool, c, &l->blocks[1], st))
            return false;
    }
    return false;
}

static bool run_command(host_pool *pool, image_case *c, const command *l, status *st) {
    switch (l->kind) {
    case PROGRAM_DISPATCH:
        return launch(pool, c, l, st);
    case PROGRAM_COPY:
        memmove(address_of(c, &l->places[0]), address_of(c, &l->places[1]), l->bytes);
        return true;
    case PROGRAM_FILL:
        memset(address_of(c, l->places), (int)l->byte, l->bytes);
        return true;
    case PROGRAM_TURN: /* little endian, as the machine is */
        memcpy(address_of(c, l->places), &c->turns[c->loops - 1], l->bytes);
        return true;
    case PROGRAM_LOOP:
        return run_loop(pool, c, l, st);
    case PROGRAM_WHILE:
        return run_while(pool, c, l, st);
    case PROGRAM_IF:
        return run_commands(pool, c, &l->blocks[*address_of(c, l->places) ? 0 : 1], st);
    default:
        return status_set(st, STATUS_INVALID, "a program of several ranks is not run here");
    }
}

static bool run_commands(host_pool *pool, image_case *c, const command_list *list, status *st) {
    bool ok = true;
    for (uint64_t i = 0; i < list->count && ok; i++)
        ok = run_command(pool, c, &list->commands[i], st);
    return ok;
}

static bool run_case(host_pool *pool, image_case *c, status *st) {
    uint64_t n = 0;
    c->bases =
        base_calloc(c->input_count + c->output_count + 1 + c->constant_count + 1, sizeof *c->bases);
    for (uint64_t i = 0; i < c->input_count; i++)
        c->bases[n++] = c->inputs[i].data;
    for (uint64_t i = 0; i < c->output_count; i++)
        c->bases[n++] = c->outputs[i].data;
    c->bases[n++] = c->arena.data;
    for (uint64_t i = 0; i < c->constant_count; i++)
        c->bases[n++] = c->constants[i].data;
    return run_commands(pool, c, &c->body, st);
}

static bool judge(const image_case *c, status *st) {
    for (uint64_t i = 0; i < c->output_count; i++) {
        const block *got = &c->outputs[i], *wanted = &c->expected[i];
        for (size_t at = 0; at < wanted->size; at++)
            if (got->data[at] != wanted->data[at])
                return status_set(st, STATUS_INVALID,
                                  "output %" PRIu64 ", byte %zu of %zu: 0x%02x, not 0x%02x", i, at,
                                  wanted->size, got->data[at], wanted->data[at]);
    }
    return true;
}

/* Another floating-point environment than kernels are promised: toward zero, and flushing. The pool
 * must give them the default one, and this one back. */
#if defined(__aarch64__)
enum { FOREIGN_FPCR = 3 << 22 | 1 << 24 };

static void set_foreign_environment(void) {
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)FOREIGN_FPCR));
}

static bool has_foreign_environment(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control == FOREIGN_FPCR;
}
#else
static void set_foreign_environment(void) {}

static bool has_foreign_environment(void) {
    return true;
}
#endif

int main(int argc, char **argv) {
    static image_case c;
    status st = STATUS_INIT;
    size_t cases = 0, failed = 0;
    char reason[HOST_REASON_BYTES];
    if (argc != 2)
        return fprintf(stderr, "usage: run_images ISA <STREAM\n"), 2;
    host_isa_why_not(argv[1], reason);
    set_foreign_environment();
    host_pool *pool = reason[0] ? NULL : host_pool_new(2, &st);
    if (!pool)
        return fprintf(stderr, "run_images: %s%s\n", reason, st.message), 4;
    while (get_case(&c)) {
        status why = STATUS_INIT;
        bool ok = run_case(pool, &c, &why) && judge(&c, &why);
        if (!has_foreign_environment())
            ok = status_set(&why, STATUS_INTERNAL, "the caller's FPCR is not put back");
        if (!ok)
            printf("NOT OK - %s: %s\n", (const char *)c.name.data, why.message);
        cases++;
        failed += !ok;
        release_case(&c);
    }
    host_pool_free(pool);
    printf("%s: %zu cases, %zu of other bits or not run\n", argv[1], cases, failed);
    return failed ? 1 : cases == 0 ? NO_CASES : 0;
}
