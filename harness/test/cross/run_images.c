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
#include "tessera/kernel.h"

enum { BUFFERS_MAX = 128, PHASES_MAX = 256, DIMS_MAX = 64, ALIGNMENT = 64, POISON = 0xA5 };

typedef struct block {
    unsigned char *data; /* aligned as a kernel wants it; owned */
    size_t size;
} block;

typedef struct image_case {
    block name, object;
    uint64_t dim_count, workspace_bytes, scratch_bytes, phase_count, input_count, output_count;
    int64_t dims[DIMS_MAX];
    block symbols[PHASES_MAX];
    int64_t cells[PHASES_MAX];
    block inputs[BUFFERS_MAX], outputs[BUFFERS_MAX], expected[BUFFERS_MAX];
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

/* False at the end of the stream. */
static bool get_case(image_case *c) {
    int next = getc(stdin);
    if (next == EOF)
        return false;
    ungetc(next, stdin);
    *c = (image_case){.name = get_block(), .object = get_block()};
    c->dim_count = get_number(DIMS_MAX);
    for (uint64_t i = 0; i < c->dim_count; i++)
        c->dims[i] = (int64_t)get_number(INT64_MAX);
    c->workspace_bytes = get_number(UINT64_C(1) << 32);
    c->scratch_bytes = get_number(UINT64_C(1) << 32);
    c->phase_count = get_number(PHASES_MAX);
    for (uint64_t i = 0; i < c->phase_count; i++) {
        c->symbols[i] = get_block();
        c->cells[i] = (int64_t)get_number(INT64_MAX);
    }
    c->input_count = get_number(BUFFERS_MAX / 2);
    for (uint64_t i = 0; i < c->input_count; i++)
        c->inputs[i] = get_block();
    c->output_count = get_number(BUFFERS_MAX / 2);
    for (uint64_t i = 0; i < c->output_count; i++) {
        c->expected[i] = get_block();
        c->outputs[i] = new_block(c->expected[i].size);
        memset(c->outputs[i].data, POISON, c->outputs[i].size);
    }
    return true;
}

static void release_case(image_case *c) {
    free(c->name.data);
    free(c->object.data);
    for (uint64_t i = 0; i < c->phase_count; i++)
        free(c->symbols[i].data);
    for (uint64_t i = 0; i < BUFFERS_MAX; i++) {
        free(c->inputs[i].data);
        free(c->outputs[i].data);
        free(c->expected[i].data);
    }
}

static bool find_phases(const host_elf *elf, const image_case *c, tsr_phase_fn *phases,
                        status *st) {
    for (uint64_t i = 0; i < c->phase_count; i++) {
        const char *symbol = (const char *)c->symbols[i].data;
        void *address = host_elf_symbol(elf, symbol);
        if (!address)
            return status_set(st, STATUS_NOT_FOUND, "no function %s", symbol);
        memcpy(&phases[i], &address, sizeof address);
    }
    return true;
}

static bool run_case(host_pool *pool, image_case *c, status *st) {
    void *buffers[BUFFERS_MAX];
    tsr_phase_fn phases[PHASES_MAX];
    block workspace = new_block(c->workspace_bytes);
    host_elf *elf = host_elf_load(c->object.data, c->object.size, st);
    bool ok = elf != NULL;
    for (uint64_t i = 0; i < c->input_count; i++)
        buffers[i] = c->inputs[i].data;
    for (uint64_t i = 0; i < c->output_count; i++)
        buffers[c->input_count + i] = c->outputs[i].data;
    const tsr_kernel_frame frame = {
        .buffers = buffers, .dims = c->dims, .workspace = workspace.data};
    const host_pool_work work = {
        phases, c->cells, (uint32_t)c->phase_count, &frame, c->scratch_bytes, true, NULL, NULL};
    ok = ok && find_phases(elf, c, phases, st) && host_pool_run(pool, &work, st);
    host_elf_free(elf);
    free(workspace.data);
    return ok;
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
    return failed || cases == 0 ? 1 : 0;
}
