/* host.c - the driver of this machine's CPU: it picks the best fitting "elf:<isa>" part of a
 * module, loads it and runs phases on the thread pool. */
#include "device/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "device/device.h"
#include "device/host_elf.h"
#include "device/host_memory.h"
#include "device/host_pool.h"
#include "module.h"

typedef struct host_device {
    device base;
    host_pool *pool;
} host_device;

struct device_image {
    host_elf *elf;
    size_t phase_count;
    tsr_phase_fn phases[];
};

extern const device_driver host_driver;

static void probe(tsr_device_info_t *info) {
    *info = (tsr_device_info_t){.backend = "cpu",
                                .name = host_cpu_name(),
                                .isa = host_isa(),
                                .compute_units = host_usable_cores(),
                                .memory_bytes = host_memory_bytes(),
                                .unavailable = host_unavailable()};
}

static bool open_host(uint32_t threads, device **device_out, status *st) {
    if (host_unavailable())
        return status_set(st, STATUS_UNAVAILABLE, "this host cannot run kernels: %s",
                          host_unavailable());
    host_pool *pool = host_pool_new(threads ? threads : host_usable_cores(), st);
    if (!pool)
        return false;
    host_device *d = base_calloc(1, sizeof *d);
    d->base.driver = &host_driver;
    d->pool = pool;
    *device_out = &d->base;
    return true;
}

static void close_host(device *d) {
    host_device *host = (host_device *)d;
    host_pool_free(host->pool);
    free(host);
}

/* Says which images the module has, and why the host takes none of them. */
static void no_image_fits(const device_load *load, status *st) {
    text found;
    module_part part;
    text_init(&found);
    for (size_t i = 0; module_part_at(load->module, load->module_bytes, i, &part); i++)
        if (strncmp(part.kind, "elf:", 4) == 0)
            text_printf(&found, "%s%s", found.length ? ", " : "", part.kind + 4);
    status_set(st, STATUS_UNAVAILABLE,
               "no image of '%s' fits this host (%s%s%s); the module has %s", load->metadata->name,
               host_isa(), host_isa_limit() ? ", the limit of " : "",
               host_isa_limit() ? HOST_ISA_LIMIT : "", found.length ? found.data : "no host image");
    text_release(&found);
}

/* What the metadata says of a part; every part, where it tells none apart. */
static const metadata_image *description(const metadata *m, const char *kind) {
    for (uint32_t i = 0; i < m->image_count; i++)
        if (!m->images[i].isa || strcmp(m->images[i].section, kind) == 0)
            return &m->images[i];
    return NULL;
}

/* The level of the best image that runs here; NULL: none does. */
static const char *pick_image(const device_load *load, module_part *part, status *st) {
    const char *isa;
    for (size_t i = 0; (isa = host_isa_level(i)); i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "elf:%s", isa);
        if (host_isa_supports(isa) && module_find(load->module, load->module_bytes, kind, part))
            return isa;
    }
    no_image_fits(load, st);
    return NULL;
}

static void unload(device *d, device_image *image) {
    (void)d;
    host_elf_free(image->elf);
    free(image);
}

static bool load_host(device *d, const device_load *load, device_code *code_out, status *st) {
    module_part part;
    const metadata_image *code = load->image;
    const char *isa = code ? code->isa : pick_image(load, &part, st);
    if (!isa || (code && !module_find(load->module, load->module_bytes, code->section, &part)))
        return false;
    code = code ? code : description(load->metadata, part.kind);
    host_elf *elf = host_elf_load(part.data, part.size_bytes, st);
    if (!elf)
        return status_set(st, STATUS_CORRUPT, "loading '%s' of '%s'", part.kind,
                          load->metadata->name);
    device_image *image =
        base_calloc(1, sizeof *image + code->phase_count * sizeof image->phases[0]);
    image->elf = elf;
    image->phase_count = code->phase_count;
    for (size_t i = 0; i < code->phase_count; i++) {
        void *address = host_elf_symbol(elf, code->symbols[i]);
        if (!address) {
            status_set(st, STATUS_NOT_FOUND, "'%s' has no function '%s', which its metadata names",
                       part.kind, code->symbols[i]);
            unload(d, image);
            return false;
        }
        memcpy(&image->phases[i], &address, sizeof address); /* ISO C knows no such cast */
    }
    *code_out = (device_code){image, code, isa};
    return true;
}

static bool alloc(device *d, size_t size_bytes, bool guarded, device_memory *memory_out,
                  status *st) {
    (void)d;
    return host_memory_map(size_bytes, guarded, memory_out, st);
}

static void release(device *d, device_memory *memory) {
    (void)d;
    host_memory_unmap(memory);
}

static bool intact(device *d, const device_memory *memory, status *st) {
    (void)d;
    return host_memory_intact(memory, st);
}

static bool copy(device *d, void *to, const void *from, size_t size_bytes, status *st) {
    (void)d, (void)st;
    memmove(to, from, size_bytes);
    return true;
}

typedef struct cell_call {
    tsr_phase_fn phase;
    const tsr_kernel_frame *frame;
} cell_call;

static void run_cells(void *context, unsigned char *scratch, int64_t begin, int64_t end) {
    const cell_call *call = context;
    tsr_kernel_frame frame = *call->frame;
    frame.scratch = scratch;
    call->phase(&frame, begin, end);
}

static bool run(device *d, const device_phase *phase, status *st) {
    cell_call call = {phase->image->phases[phase->phase], phase->frame};
    host_pool_grid grid = {run_cells, &call, phase->cells, phase->scratch_bytes, phase->guarded};
    return host_pool_run(((host_device *)d)->pool, &grid, st);
}

static void cancel(device *d) {
    host_pool_cancel(((host_device *)d)->pool);
}

const device_driver host_driver = {
    .name = "cpu",
    .listed = true,
    .probe = probe,
    .open = open_host,
    .close = close_host,
    .load = load_host,
    .unload = unload,
    .alloc = alloc,
    .release = release,
    .intact = intact,
    .copy = copy,
    .run = run,
    .cancel = cancel,
};
