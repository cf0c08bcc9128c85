/* host_run.c - see host_run.h. */
#include "device/host/host_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/host/host.h"
#include "device/host/host_elf.h"

enum { POISON = 0xCB, LINE_BYTES = 64 };

/* Accesses of code that checks them. */
typedef struct checked_sites {
    const tsr_bounds_site *items; /* NULL: it checks nothing */
    size_t bytes, names_bytes;
    const char *names;
} checked_sites;

typedef struct host_image {
    device_image base;
    host_elf *elf;
    checked_sites sites;
    bool *concurrent; /* of each phase; NULL: none is */
    tsr_phase_fn phases[];
} host_image;

void host_describe_code(device_info *info) {
    uint32_t count = 0;
    const char *level;
    info->isa = host_isa();
    info->target_limit = host_isa_limit() ? HOST_ISA_LIMIT : NULL;
    for (size_t i = 0; (level = host_isa_level(i)); i++)
        if (host_isa_supports(level) && count < DEVICE_TARGETS_MAX)
            info->targets[count++] = host_target(i);
    info->targets[count] = NULL;
}

/* ---- images ---- */

void host_unload(device *d, device_image *image) {
    (void)d;
    host_elf_free(((host_image *)image)->elf);
    free(((host_image *)image)->concurrent);
    free(image);
}

static checked_sites sites_of(const host_elf *elf) {
    checked_sites s = {NULL, 0, 0, NULL};
    s.items = host_elf_object(elf, "tsr_bounds_sites", &s.bytes);
    s.names = host_elf_object(elf, "tsr_bounds_names", &s.names_bytes);
    return s;
}

bool host_load(device *d, const device_source *source, device_image **image_out, status *st) {
    host_elf *elf = host_elf_load(source->bytes, source->size_bytes, st);
    if (!elf)
        return status_context(st, "loading '%s'", source->label);
    host_image *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->phases[0]);
    image->base.phase_count = source->phase_count;
    image->elf = elf;
    image->sites = sites_of(elf);
    if (source->concurrent && source->phase_count) {
        image->concurrent = base_malloc(source->phase_count * sizeof *image->concurrent);
        memcpy(image->concurrent, source->concurrent,
               source->phase_count * sizeof *image->concurrent);
    }
    for (uint32_t i = 0; i < source->phase_count; i++) {
        void *address = host_elf_symbol(elf, source->symbols[i]);
        if (!address) {
            host_unload(d, &image->base);
            return status_set(st, STATUS_NOT_FOUND,
                              "'%s' has no function '%s', which its metadata names", source->label,
                              source->symbols[i]);
        }
        memcpy(&image->phases[i], &address, sizeof address); /* ISO C knows no such cast */
    }
    *image_out = &image->base;
    return true;
}

/* ---- dispatches ---- */

bool host_runner_init(host_runner *r, const device_options *options, uint32_t threads,
                      uint64_t clock_start_ns, status *st) {
    *r = (host_runner){.options = options, .clock_start_ns = clock_start_ns};
    r->pool = host_pool_new(threads ? threads : host_usable_cores(), st);
    return r->pool != NULL;
}

void host_runner_release(host_runner *r) {
    host_pool_free(r->pool);
    host_memory_unmap(&r->workspace);
}

/* Under debug it fits exactly, so that the guard page begins where the kernel's right to write
 * ends. */
static bool prepare_workspace(host_runner *r, size_t size_bytes, status *st) {
    bool debug = r->options->debug;
    bool fits = r->workspace.data && (debug ? r->workspace.size_bytes == size_bytes
                                            : r->workspace.size_bytes >= size_bytes);
    if (!fits) {
        host_memory_unmap(&r->workspace);
        if (!host_memory_map(size_bytes, debug, &r->workspace, st))
            return status_context(st, "allocating the workspace");
    }
    if (debug)
        memset(r->workspace.data, POISON, size_bytes);
    return true;
}

static bool workspace_is_intact(const host_runner *r, status *st) {
    status why = STATUS_INIT;
    return host_memory_intact(&r->workspace, &why) ||
           status_set(st, STATUS_INTERNAL, "it broke its bounds: workspace: %s", why.message);
}

static bool run_timed(host_runner *r, const device_dispatch *p, host_pool_work *work, status *st) {
    uint64_t start = clock_now_ns();
    device_times times = {
        .label = p->label, .start_ns = start - r->clock_start_ns, .phases = p->image->phase_count};
    work->times = &times;
    bool ok = host_pool_run(r->pool, work, st);
    times.total_ns = clock_now_ns() - start;
    if (ok)
        r->options->timed(r->options->timed_context, &times);
    return ok;
}

/* ---- checked accesses ---- */

/* Extents of all memory of a dispatch, in the order of tsr_kernel_bounds; owned. */
static int64_t *extents_of(const device_dispatch *p) {
    int64_t *bytes = base_malloc((p->buffer_count + 3) * sizeof *bytes);
    for (uint32_t i = 0; i < p->buffer_count; i++)
        bytes[i] = p->buffer_bytes ? p->buffer_bytes[i] : INT64_MAX;
    bytes[p->buffer_count] = (int64_t)p->workspace_bytes;
    bytes[p->buffer_count + 1] = (int64_t)p->workgroup_bytes;
    bytes[p->buffer_count + 2] = (int64_t)p->prepared_bytes;
    return bytes;
}

static bool tell_outside(const checked_sites *sites, const tsr_kernel_bounds *b, status *st) {
    const tsr_bounds_site *s = &sites->items[b->site];
    bool known = b->site < sites->bytes / sizeof *s && s->name_offset < sites->names_bytes &&
                 memchr(sites->names + s->name_offset, 0, sites->names_bytes - s->name_offset);
    if (!known || s->element_bytes == 0)
        return status_set(st, STATUS_CORRUPT, "its image names an access that it does not list");
    const int64_t has = (b->bytes[s->memory] - s->offset_bytes) / s->element_bytes;
    return status_set(st, STATUS_MISMATCH,
                      "out-of-bounds: line %u %s element %lld of '%s', which has %lld", s->line,
                      s->writes ? "writes" : "reads", (long long)b->element,
                      sites->names + s->name_offset, (long long)has);
}

static bool run_checked(host_runner *r, const device_dispatch *p, host_pool_work *work,
                        status *st) {
    const checked_sites *sites = &((const host_image *)p->image)->sites;
    tsr_kernel_frame frame = *work->frame;
    int64_t *bytes = extents_of(p);
    tsr_kernel_bounds bounds = {.bytes = bytes};
    frame.bounds = &bounds;
    work->frame = &frame;
    bool ok = p->timed ? run_timed(r, p, work, st) : host_pool_run(r->pool, work, st);
    if (bounds.found)
        ok = ok && tell_outside(sites, &bounds, st);
    free(bytes);
    return ok;
}

static bool run_work(host_runner *r, const device_dispatch *p, host_pool_work *work, status *st) {
    if (((const host_image *)p->image)->sites.items)
        return run_checked(r, p, work, st);
    return p->timed ? run_timed(r, p, work, st) : host_pool_run(r->pool, work, st);
}

bool host_runner_run(host_runner *r, const device_dispatch *p, status *st) {
    size_t lines = (p->workspace_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    size_t own = p->prepared.address ? 0 : p->prepared_bytes;
    if (!prepare_workspace(r, own ? lines + own : p->workspace_bytes, st))
        return status_context(st, "kernel '%s'", p->label);
    unsigned char *prepared = own ? r->workspace.data + lines : p->prepared.address;
    const tsr_kernel_frame frame = {p->buffers, p->dims, r->workspace.data, NULL, prepared, NULL};
    host_pool_work work = {.phases = ((const host_image *)p->image)->phases,
                           .workgroups = p->workgroups,
                           .phase_count = p->image->phase_count,
                           .concurrent = ((const host_image *)p->image)->concurrent,
                           .frame = &frame,
                           .scratch_bytes = p->workgroup_bytes,
                           .guarded = r->options->debug};
    bool ok = run_work(r, p, &work, st);
    if (r->options->debug)
        ok = workspace_is_intact(r, st) && ok;
    return ok || status_context(st, "kernel '%s'", p->label);
}
