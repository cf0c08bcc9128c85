/* load.c - modules and kernels: from a module file to code that can be launched. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "module.h"
#include "runtime.h"

/* The version comes first: a module of another version may have another layout altogether. */
static tsr_status_t check_version(const void *image, size_t size_bytes) {
    status st = STATUS_INIT;
    uint16_t major, minor;
    if (!module_version(image, size_bytes, &major, &minor, &st))
        return error_from(&st);
    if (major != TSR_ABI_MAJOR || minor > TSR_ABI_MINOR)
        return error_set(
            TSR_EVERSION,
            "the module was made for ABI %u.%u; this runtime is ABI %d.%d and loads %d.0 to %d.%d",
            major, minor, TSR_ABI_MAJOR, TSR_ABI_MINOR, TSR_ABI_MAJOR, TSR_ABI_MAJOR,
            TSR_ABI_MINOR);
    return TSR_SUCCESS;
}

/* The images that the metadata describes are there, and it describes all that are there. */
static bool check_images(const device_load *load, status *st) {
    const metadata *m = load->metadata;
    module_part part;
    if (!m->images[0].isa)
        return true;
    for (uint32_t i = 0; i < m->image_count; i++)
        if (!module_find(load->module, load->module_bytes, m->images[i].section, &part))
            return status_set(st, STATUS_CORRUPT,
                              "the metadata describes the image '%.40s', which the module lacks",
                              m->images[i].section);
    for (size_t i = 0; module_part_at(load->module, load->module_bytes, i, &part); i++) {
        bool described = strncmp(part.kind, "elf:", 4) != 0;
        for (uint32_t k = 0; k < m->image_count && !described; k++)
            described = strcmp(m->images[k].section, part.kind) == 0;
        if (!described)
            return status_set(st, STATUS_CORRUPT,
                              "the metadata does not describe the module's image '%s'", part.kind);
    }
    return true;
}

static void unload_codes(tsr_module_t m) {
    device *d = m->context->device;
    for (uint32_t i = 0; i < m->code_count; i++)
        d->driver->unload(d, m->codes[i].image);
    free(m->codes);
}

/* The best image, and all others of its level: those for certain dimensions. */
static bool load_codes(tsr_module_t m, device_load load, status *st) {
    device *d = m->context->device;
    m->codes = base_calloc(m->metadata.image_count, sizeof *m->codes);
    bool ok = d->driver->load(d, &load, &m->codes[0], st);
    m->code_count = ok;
    for (uint32_t i = 0; i < m->metadata.image_count && ok; i++) {
        load.image = &m->metadata.images[i];
        if (load.image == m->codes[0].description || !load.image->isa ||
            strcmp(load.image->isa, m->codes[0].isa) != 0)
            continue;
        ok = d->driver->load(d, &load, &m->codes[m->code_count], st);
        m->code_count += ok;
    }
    if (!ok)
        unload_codes(m);
    return ok;
}

static bool load_parts(tsr_module_t m, const void *image, size_t size_bytes, status *st) {
    module_part part;
    if (!module_check(image, size_bytes, st))
        return false;
    if (!module_find(image, size_bytes, "metadata", &part))
        return status_set(st, STATUS_CORRUPT, "the module has no metadata");
    if (!metadata_parse(&m->metadata, part.data, part.size_bytes, st))
        return false;
    device_load load = {image, size_bytes, &m->metadata, NULL};
    if (check_images(&load, st) && load_codes(m, load, st)) {
        m->kernel = (struct tsr_kernel){m, &m->metadata};
        return true;
    }
    metadata_release(&m->metadata);
    return false;
}

tsr_status_t tsrLoadModule(tsr_context_t context, const void *image, size_t size_bytes,
                           tsr_module_t *module) {
    status st = STATUS_INIT;
    if (!context)
        return error_null("context");
    if (!image || !module)
        return error_null(image ? "module" : "image");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_status_t version = check_version(image, size_bytes);
    if (version != TSR_SUCCESS)
        return version;
    tsr_module_t m = base_calloc(1, sizeof *m);
    m->context = context;
    if (!load_parts(m, image, size_bytes, &st)) {
        free(m);
        return error_from(&st);
    }
    pthread_mutex_lock(&context->mutex);
    context->modules++;
    pthread_mutex_unlock(&context->mutex);
    *module = m;
    return TSR_SUCCESS;
}

tsr_status_t tsrUnloadModule(tsr_module_t module) {
    if (!module)
        return error_null("module");
    tsr_context_t context = module->context;
    pthread_mutex_lock(&context->mutex);
    bool lost = context_is_lost(context);
    while (!lost && module->launches > 0)
        lost = !context_wait(context);
    if (!lost)
        context->modules--;
    pthread_mutex_unlock(&context->mutex);
    if (lost)
        return error_from(&context->lost);
    unload_codes(module);
    metadata_release(&module->metadata);
    free(module);
    return TSR_SUCCESS;
}

tsr_status_t tsrGetKernel(tsr_module_t module, const char *name, tsr_kernel_t *kernel) {
    if (!module || !name || !kernel)
        return error_null(!module ? "module" : !name ? "name" : "kernel");
    tsr_status_t usable = context_usable(module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (strcmp(name, module->metadata.name) != 0)
        return error_set(TSR_ENOTFOUND, "the module has no kernel '%s'; it has '%s'", name,
                         module->metadata.name);
    *kernel = &module->kernel;
    return TSR_SUCCESS;
}

tsr_status_t tsrGetModuleMetadata(tsr_module_t module, const char **json) {
    if (!module || !json)
        return error_null(module ? "json" : "module");
    tsr_status_t usable = context_usable(module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    *json = module->metadata.json;
    return TSR_SUCCESS;
}

tsr_status_t tsrGetModuleIsa(tsr_module_t module, const char **isa) {
    if (!module || !isa)
        return error_null(module ? "isa" : "module");
    tsr_status_t usable = context_usable(module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    *isa = module->codes[0].isa;
    return TSR_SUCCESS;
}

tsr_status_t tsrGetKernelInfo(tsr_kernel_t kernel, tsr_kernel_info_t *info) {
    if (!kernel || !info)
        return error_null(kernel ? "info" : "kernel");
    tsr_status_t usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    const metadata *m = kernel->metadata;
    const metadata_image *code = kernel->module->codes[0].description;
    *info = (tsr_kernel_info_t){.name = m->name,
                                .inputs = m->inputs,
                                .outputs = m->outputs,
                                .dims = m->dims,
                                .phases = code->phase_count,
                                .workspace_bytes = (uint64_t)code->workspace_bytes.value,
                                .scratch_bytes = (uint64_t)code->scratch_bytes.value};
    return TSR_SUCCESS;
}

tsr_status_t tsrGetKernelParameter(tsr_kernel_t kernel, uint32_t index, const char **name,
                                   const char **type, uint32_t *rank, const int64_t **dims) {
    if (!kernel)
        return error_null("kernel");
    tsr_status_t usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    const metadata *m = kernel->metadata;
    if (index >= m->inputs + m->outputs)
        return error_set(TSR_ENOTFOUND, "kernel '%s' has no buffer %u; it has %u", m->name, index,
                         m->inputs + m->outputs);
    const metadata_parameter *p = &m->parameters[index];
    if (name)
        *name = p->name;
    if (type)
        *type = dtype_name(p->type);
    if (rank)
        *rank = p->rank;
    if (dims)
        *dims = p->dims;
    return TSR_SUCCESS;
}
