/* emulated.c - see emulated.h. */
#include "device/emulate/emulated.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/emulate/emulate.h"
#include "device/host/host.h"
#include "device/host/host_elf.h"
#include "device/shared/host_memory.h"
#include "device/shared/soft.h"

enum { POISON = 0xCB, LINE_BYTES = 64 };

/* ---- what there is ---- */

static const struct {
    const char *name;
    uint64_t workgroup_memory_bytes;
    uint32_t subgroup;
} products[EMULATED_DEVICE_COUNT] = {
    [EMULATED_DEVICE_PTX] = {"ptx-emulated", UINT64_C(227) * 1024, 32},
    [EMULATED_DEVICE_ROCM] = {"rocm-emulated", UINT64_C(64) * 1024, 64},
};

/* CPU levels that code is made for, best first: wider vectors would be of no use to one thread. */
static const char *const levels[] = {"x86-64-v3", "x86-64-v2+fma", "aarch64-neon"};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

static char isas[EMULATED_DEVICE_COUNT][LEVEL_COUNT][EMULATED_NAME_BYTES];
static char targets[EMULATED_DEVICE_COUNT][LEVEL_COUNT][EMULATED_NAME_BYTES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

void emulated_isa_of(uint32_t index, const char *cpu_level, char isa_out[EMULATED_NAME_BYTES]) {
    snprintf(isa_out, EMULATED_NAME_BYTES, "%s+%s", products[index].name, cpu_level);
}

void emulated_target_of(uint32_t index, const char *cpu_level,
                        char target_out[EMULATED_NAME_BYTES]) {
    snprintf(target_out, EMULATED_NAME_BYTES, "elf/%s+%s", products[index].name, cpu_level);
}

static void name_all(void) {
    for (uint32_t index = 0; index < EMULATED_DEVICE_COUNT; index++) {
        for (size_t i = 0; i < LEVEL_COUNT; i++) {
            emulated_isa_of(index, levels[i], isas[index][i]);
            emulated_target_of(index, levels[i], targets[index][i]);
        }
    }
}

static bool enumerate(uint32_t index, device_info *info_out) {
    uint32_t count = 0;
    pthread_once(&once, name_all);
    if (index >= EMULATED_DEVICE_COUNT || !getenv(EMULATED_DEVICES))
        return false;
    *info_out = (device_info){.backend = "emulated",
                              .name = products[index].name,
                              .isa = isas[index][LEVEL_COUNT - 1],
                              .unavailable = host_unavailable(),
                              .compute_units = 1,
                              .memory_bytes = host_memory_bytes(),
                              .memory_kinds = (1u << DEVICE_MEMORY_KIND_COUNT) - 1,
                              .mappable_kinds =
                                  1u << DEVICE_MEMORY_HOST_VISIBLE | 1u << DEVICE_MEMORY_PINNED,
                              .workgroup_memory_bytes = products[index].workgroup_memory_bytes,
                              .timestamp_ns = 1,
                              .subgroup = products[index].subgroup,
                              .workgroup_threads = EMULATED_THREADS_MAX,
                              .f32 = DEVICE_ARITHMETIC_NATIVE,
                              .f64 = DEVICE_ARITHMETIC_NATIVE,
                              .target_limit = host_isa_limit() ? HOST_ISA_LIMIT : NULL};
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (!host_isa_supports(levels[i]))
            continue;
        info_out->isa = count == 0 ? isas[index][i] : info_out->isa;
        info_out->targets[count++] = targets[index][i];
    }
    return true;
}

/* ---- images ---- */

typedef struct emulated_image {
    device_image base;
    host_elf *elf;
    const uint32_t *threads; /* of a workgroup, for each phase */
    uint32_t subgroup;
    const char *matrix_family;
    emulate_sites sites;
    emulated_phase_fn phases[];
} emulated_image;

static void unload(device *d, device_image *image) {
    (void)d;
    host_elf_free(((emulated_image *)image)->elf);
    free(image);
}

static bool find_phases(emulated_image *image, const device_source *source, status *st) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < source->phase_count; i++) {
        void *address = host_elf_symbol(image->elf, source->symbols[i]);
        if (!address)
            return status_set(st, STATUS_NOT_FOUND,
                              "'%s' has no function '%s', which its metadata names", source->label,
                              source->symbols[i]);
        memcpy(&image->phases[i], &address, sizeof address); /* ISO C knows no such cast */
    }
    image->threads = host_elf_object(image->elf, "emulated_phase_threads", &bytes);
    if (source->phase_count &&
        (!image->threads || bytes / sizeof *image->threads < source->phase_count))
        return status_set(st, STATUS_CORRUPT,
                          "'%s' does not say how many threads each of its %u phases has "
                          "(emulated_phase_threads)",
                          source->label, source->phase_count);
    return true;
}

static const void *object_of(const emulated_image *image, const char *symbol, const char *suffix,
                             size_t *bytes) {
    char name[256];
    const char *end = strstr(symbol, "_phase_");
    for (const char *later = end; later; later = strstr(later + 1, "_phase_"))
        end = later;
    *bytes = 0;
    if (!end || (size_t)(end - symbol) + strlen(suffix) >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s%s", (int)(end - symbol), symbol, suffix);
    return host_elf_object(image->elf, name, bytes);
}

/* Places in the source, of which a message can do without. */
static void find_sites(emulated_image *image, const char *symbol) {
    emulate_sites *s = &image->sites;
    size_t sites_bytes, count_bytes, names_bytes;
    uint64_t count = 0;
    const void *sites = object_of(image, symbol, "_sites", &sites_bytes);
    const void *told = object_of(image, symbol, "_site_count", &count_bytes);
    s->names = object_of(image, symbol, "_site_names", &names_bytes);
    if (told && count_bytes >= sizeof count)
        memcpy(&count, told, sizeof count);
    size_t buffers_bytes;
    s->buffers = object_of(image, symbol, "_site_buffers", &buffers_bytes);
    s->buffers_count = buffers_bytes / sizeof *s->buffers;
    s->sites = sites;
    s->names_bytes = names_bytes;
    s->count =
        count < sites_bytes / sizeof(emulated_site) ? count : sites_bytes / sizeof(emulated_site);
}

static uint32_t subgroup_of(const emulated_image *image, uint32_t otherwise) {
    size_t bytes = 0;
    const void *told = host_elf_object(image->elf, "emulated_subgroup", &bytes);
    if (told && bytes >= sizeof otherwise)
        memcpy(&otherwise, told, sizeof otherwise);
    return otherwise;
}

static const char *matrix_family_of(const emulated_image *image) {
    size_t bytes = 0;
    const char *told = host_elf_object(image->elf, "emulated_matrix_family", &bytes);
    return told && memchr(told, '\0', bytes) ? told : NULL;
}

typedef struct emulated_device {
    soft_device soft;
    uint32_t index;
    emulate_order order;
} emulated_device;

static bool load(device *d, const device_source *source, device_image **image_out, status *st) {
    host_elf *elf = host_elf_load(source->bytes, source->size_bytes, st);
    if (!elf)
        return status_context(st, "loading '%s'", source->label);
    emulated_image *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->phases[0]);
    image->base.phase_count = source->phase_count;
    image->elf = elf;
    if (!find_phases(image, source, st)) {
        unload(d, &image->base);
        return false;
    }
    if (source->phase_count)
        find_sites(image, source->symbols[0]);
    image->subgroup = subgroup_of(image, products[((emulated_device *)d)->index].subgroup);
    image->matrix_family = matrix_family_of(image);
    *image_out = &image->base;
    return true;
}

/* ---- launches ---- */

typedef struct emulated_queue {
    device_queue base;
    emulate *emulator;
    host_memory workspace; /* grown on demand */
    device_times *times;   /* of the launch that runs; NULL: nobody wants them */
    uint64_t phase_began_ns;
} emulated_queue;

static void phase_ended(void *context, uint32_t phase) {
    emulated_queue *q = context;
    uint64_t now = clock_now_ns();
    if (q->times && phase < DEVICE_TIMED_PHASES)
        q->times->phase_ns[phase] = now - q->phase_began_ns;
    q->phase_began_ns = now;
}

/* The workspace, and behind it what is prepared for this launch alone. */
static bool prepare_workspace(emulated_queue *q, size_t size_bytes, status *st) {
    if (!q->workspace.data || q->workspace.size_bytes < size_bytes) {
        host_memory_unmap(&q->workspace);
        if (!host_memory_map(size_bytes, false, &q->workspace, st))
            return status_context(st, "allocating the workspace");
    }
    if (q->base.device->options.debug)
        memset(q->workspace.data, POISON, size_bytes);
    return true;
}

static bool launch(emulated_queue *q, const device_dispatch *p, status *st) {
    const emulated_image *image = (const emulated_image *)p->image;
    size_t lines = (p->workspace_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    size_t own = p->prepared.address ? 0 : p->prepared_bytes;
    uint64_t most = q->base.device->base.info.workgroup_memory_bytes;
    emulate_finding finding;
    if (p->workgroup_bytes > most)
        return status_set(st, STATUS_OUT_OF_MEMORY,
                          "a workgroup needs %zu bytes of shared memory; this device has %llu",
                          p->workgroup_bytes, (unsigned long long)most);
    if (!prepare_workspace(q, lines + own, st))
        return false;
    emulate_span *buffers = base_calloc(p->buffer_count + 1, sizeof *buffers);
    for (uint32_t i = 0; i < p->buffer_count; i++)
        buffers[i] = (emulate_span){p->buffers[i], (uint64_t)p->buffer_bytes[i]};
    const emulate_launch l = {
        .phases = image->phases,
        .threads = image->threads,
        .workgroups = p->workgroups,
        .phase_count = image->base.phase_count,
        .subgroup = image->subgroup,
        .matrix_family = image->matrix_family,
        .buffers = buffers,
        .buffer_count = p->buffer_count,
        .dims = p->dims,
        .workspace = {q->workspace.data, p->workspace_bytes},
        .prepared = {own ? q->workspace.data + lines : p->prepared.address, p->prepared_bytes},
        .prepared_here = own != 0,
        .shared_bytes = p->workgroup_bytes,
        .sites = image->sites,
        .phase_ended = phase_ended,
        .context = q};
    bool ok = emulate_run(q->emulator, &l, &finding, st);
    free(buffers);
    return ok;
}

static bool dispatch(emulated_queue *q, const device_dispatch *p, status *st) {
    const soft_device *d = q->base.device;
    uint64_t start = clock_now_ns();
    device_times times = {
        .label = p->label, .start_ns = start - d->clock_start_ns, .phases = p->image->phase_count};
    q->times = p->timed ? &times : NULL;
    q->phase_began_ns = start;
    bool ok = launch(q, p, st);
    times.total_ns = clock_now_ns() - start;
    if (ok && p->timed)
        d->options.timed(d->options.timed_context, &times);
    return ok || status_context(st, "kernel '%s'", p->label);
}

static bool execute(device_queue *queue, const device_command *c, status *st) {
    bool ok = soft_begin(queue, c, st);
    if (!ok)
        return false;
    if (c->kind == DEVICE_DISPATCH)
        ok = dispatch((emulated_queue *)queue, &c->dispatch, st);
    else if (c->kind == DEVICE_COPY)
        memmove(c->range.to.address, c->range.from.address, c->range.size_bytes);
    else
        memset(c->range.to.address, c->byte, c->range.size_bytes);
    soft_end(queue, c);
    return ok;
}

/* With the device's lock held, which keeps its queues. */
static void lost(soft_device *d) {
    for (device_queue *q = d->queues; q; q = q->next)
        emulate_cancel(((emulated_queue *)q)->emulator);
}

static const soft_functions functions = {
    .resolve = soft_hidden_resolve, .execute = execute, .lost = lost};

static bool queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    emulated_queue *q = base_calloc(1, sizeof *q);
    (void)st;
    q->emulator = emulate_new(&((emulated_device *)d)->order);
    soft_queue_init(&q->base, (soft_device *)d, synchronous);
    *queue_out = &q->base;
    return true;
}

static void queue_destroy(device *d, device_queue *queue) {
    emulated_queue *q = (emulated_queue *)queue;
    (void)d;
    soft_queue_release(queue);
    emulate_free(q->emulator);
    host_memory_unmap(&q->workspace);
    free(q);
}

/* ---- devices ---- */

extern const device_driver emulated_driver;

static bool open_emulated(uint32_t index, const device_options *options, device **device_out,
                          status *st) {
    emulate_order order;
    if (!emulate_order_parse(getenv(EMULATE_ORDER), &order, st))
        return false;
    emulated_device *e = base_calloc(1, sizeof *e);
    soft_device_init(&e->soft, &emulated_driver, &functions, options);
    e->index = index;
    e->soft.base.own_addresses = true; /* in pages that nobody may touch */
    e->order = order;
    e->soft.clock_start_ns = clock_now_ns();
    enumerate(index, &e->soft.base.info);
    *device_out = &e->soft.base;
    return true;
}

static void close_emulated(device *d) {
    soft_device_release((soft_device *)d);
    free(d);
}

const device_driver emulated_driver = {
    .name = "emulated",
    .listed = true,
    .enumerate = enumerate,
    .open = open_emulated,
    .close = close_emulated,
    SOFT_DRIVER_FUNCTIONS,
    .alloc = soft_hidden_alloc,
    .free = soft_hidden_free,
    SOFT_HIDDEN_FUNCTIONS,
    .load = load,
    .unload = unload,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
};
