/* load.c - modules and kernels: from a module file to code that can be launched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "module.h"
#include "runtime.h"

enum { THREADS_MOST = 1 << 16 };

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

/* A module in the making. */
typedef struct loader {
    tsr_module_t module;
    const void *image;
    size_t size_bytes;
    bool is_inner; /* a kernel of a program */
} loader;

/* The images that the metadata describes are there, and it describes all that are there. */
static bool check_images(const loader *l, status *st) {
    const metadata *m = &l->module->metadata;
    module_part part;
    if (!m->images[0].isa)
        return true;
    for (uint32_t i = 0; i < m->image_count; i++)
        if (!module_find(l->image, l->size_bytes, m->images[i].section, &part))
            return status_set(st, STATUS_CORRUPT,
                              "the metadata describes the image '%.40s', which the module lacks",
                              m->images[i].section);
    for (size_t i = 0; module_part_at(l->image, l->size_bytes, i, &part); i++) {
        bool described = !module_is_image(part.kind);
        for (uint32_t k = 0; k < m->image_count && !described; k++)
            described = strcmp(m->images[k].section, part.kind) == 0;
        if (!described)
            return status_set(st, STATUS_CORRUPT,
                              "the metadata does not describe the module's image '%s'", part.kind);
    }
    return true;
}

/* Says which images the module has, and why the device takes none of them. */
static bool no_image_fits(const loader *l, status *st) {
    const device_info *info = &l->module->context->device->info;
    text found;
    module_part part;
    text_init(&found);
    for (size_t i = 0; module_part_at(l->image, l->size_bytes, i, &part); i++)
        if (module_is_image(part.kind))
            text_printf(&found, "%s%s", found.length ? ", " : "", part.kind);
    status_set(st, STATUS_UNAVAILABLE,
               "no image of '%s' fits this device (%s%s%s); the module has %s",
               l->module->metadata.name, info->isa, info->target_limit ? ", the limit of " : "",
               info->target_limit ? info->target_limit : "", found.length ? found.data : "none");
    text_release(&found);
    return false;
}

/* Finds the metadata of a part; of every image, where it tells none apart. */
static const metadata_image *description(const metadata *m, const char *kind) {
    for (uint32_t i = 0; i < m->image_count; i++)
        if (!m->images[i].isa || strcmp(m->images[i].section, kind) == 0)
            return &m->images[i];
    return NULL;
}

/* Is it code of others that the driver takes? */
static bool is_foreign(const device_driver *driver, const char *kind) {
    const char *const *known = driver->foreign;
    while (known && *known && strcmp(*known, kind) != 0)
        known++;
    return known && *known;
}

static bool is_of_others(const char *kind) {
    static const char prefix[] = "foreign/";
    return strncmp(kind, prefix, sizeof prefix - 1) == 0;
}

/* The best image that the device runs; false: none. */
static bool pick_image(const loader *l, module_part *part, status *st) {
    const char *const *target = l->module->context->device->info.targets;
    for (size_t i = 0; !*target && module_part_at(l->image, l->size_bytes, i, part); i++)
        if (module_is_image(part->kind)) /* it runs any */
            return true;
    for (; *target; target++)
        if (module_find(l->image, l->size_bytes, *target, part))
            return true;
    for (size_t i = 0; module_part_at(l->image, l->size_bytes, i, part); i++)
        if (is_foreign(l->module->context->device->driver, part->kind))
            return true;
    return no_image_fits(l, st);
}

/* 0: it depends on dimensions, or is beyond what any device has. */
static uint32_t threads_of(const metadata_image *d) {
    int64_t threads = 1;
    for (int i = 3; i < 6; i++) {
        int64_t extent = d->launch[i].value;
        if (d->launch[i].formula || extent < 1 || extent > THREADS_MOST / threads)
            return 0;
        threads *= extent;
    }
    return (uint32_t)threads;
}

static bool load_code(tsr_module_t m, const module_part *part, const metadata_image *d,
                      status *st) {
    device *on = m->context->device;
    const device_source source = {.bytes = part->data,
                                  .size_bytes = part->size_bytes,
                                  .target = part->kind,
                                  .label = part->kind,
                                  .symbols = d->symbols,
                                  .phase_count = d->phase_count,
                                  .threads = threads_of(d),
                                  .calls = d->calls,
                                  .maps = d->maps,
                                  .concurrent = d->concurrent};
    kernel_code *code = &m->codes[m->code_count];
    code->description = d;
    if ((d->calls != NULL) != is_foreign(on->driver, part->kind))
        return status_set(
            st, STATUS_CORRUPT,
            "module metadata: \"call\" is for all phases of code of others, and image "
            "'%s' is %s",
            part->kind, d->calls ? "none that this device takes" : "such code");
    if (!on->driver->load(on, &source, &code->image, st))
        return is_of_others(part->kind) /* its own words are enough */
                   ? false
                   : status_context(st, "image '%s' of '%s'", part->kind, m->metadata.name);
    m->code_count++;
    return true;
}

/* The best image, and all others of its level: those for certain dimensions. */
static bool load_codes(const loader *l, status *st) {
    tsr_module_t m = l->module;
    module_part best, part;
    m->codes = base_calloc(m->metadata.image_count, sizeof *m->codes);
    if (!pick_image(l, &best, st))
        return false;
    const metadata_image *first = description(&m->metadata, best.kind);
    m->isa = arena_strndup(&m->metadata.memory, strchr(best.kind, '/') + 1,
                           strcspn(strchr(best.kind, '/') + 1, ":"));
    bool ok = load_code(m, &best, first, st);
    for (uint32_t i = 0; i < m->metadata.image_count && ok; i++) {
        const metadata_image *d = &m->metadata.images[i];
        if (d != first && d->isa && strcmp(d->isa, m->isa) == 0)
            ok = module_find(l->image, l->size_bytes, d->section, &part) &&
                 load_code(m, &part, d, st);
    }
    return ok;
}

/* A program has no code of its own: that of its kernels is loaded with them. */
static bool describe_program(const loader *l, status *st) {
    tsr_module_t m = l->module;
    module_part part;
    if (l->is_inner)
        return status_set(st, STATUS_CORRUPT, "a program is no kernel of another one");
    for (size_t i = 0; module_part_at(l->image, l->size_bytes, i, &part); i++)
        if (module_is_image(part.kind))
            return status_set(st, STATUS_CORRUPT, "the module of a program has the image '%s'",
                              part.kind);
    m->codes = base_calloc(1, sizeof *m->codes);
    m->codes[0].description = &m->metadata.images[0];
    m->code_count = 1;
    m->isa = m->context->device->info.isa;
    return true;
}

void module_free(tsr_module_t m) {
    device *d = m->context->device;
    program_close(m);
    for (uint32_t i = 0; m->kernels && i < m->metadata.program->kernel_count; i++)
        if (m->kernels[i])
            module_free(m->kernels[i]);
    free(m->kernels);
    for (uint32_t i = 0; i < m->code_count; i++)
        if (m->codes[i].image)
            d->driver->unload(d, m->codes[i].image);
    if (m->used)
        d->driver->event_destroy(d, m->used);
    free(m->codes);
    launch_forget_needs(m);
    metadata_release(&m->metadata);
    free(m);
}

static bool load_parts(const loader *l, status *st) {
    module_part part;
    tsr_module_t m = l->module;
    device *d = m->context->device;
    if (!module_check(l->image, l->size_bytes, st))
        return false;
    if (!module_find(l->image, l->size_bytes, "metadata", &part))
        return status_set(st, STATUS_CORRUPT, "the module has no metadata");
    if (!metadata_parse(&m->metadata, part.data, part.size_bytes, st))
        return false;
    m->kernel = (struct tsr_kernel){m, &m->metadata};
    if (!(m->metadata.program ? describe_program(l, st) : check_images(l, st) && load_codes(l, st)))
        return false;
    return l->is_inner || d->driver->event_create(d, &m->used, st);
}

/* ---- programs ---- */

static tsr_status_t load_module(const loader *l);

static tsr_status_t load_kernel(const loader *l, const map *sections, uint32_t index) {
    tsr_module_t m = l->module;
    const char *section = m->metadata.program->kernels[index];
    char why[1024];
    intptr_t at;
    module_part part;
    if (!map_get(sections, section, &at) ||
        !module_part_at(l->image, l->size_bytes, (size_t)at, &part))
        return error_set(TSR_ECORRUPT,
                         "the program of '%s' has the kernel '%.40s', which the "
                         "module lacks",
                         m->metadata.name, section);
    tsr_module_t kernel = m->kernels[index] = base_calloc(1, sizeof *kernel);
    kernel->context = m->context;
    const loader inner = {kernel, part.data, part.size_bytes, true};
    tsr_status_t result = load_module(&inner);
    if (result == TSR_SUCCESS)
        return result;
    snprintf(why, sizeof why, "%s", tsrGetLastError());
    return error_set(result, "section '%s': %s", section, why);
}

static void index_sections(const loader *l, map *sections) {
    module_part part;
    map_init(sections);
    for (size_t i = 0; module_part_at(l->image, l->size_bytes, i, &part); i++)
        map_put(sections, part.kind, (intptr_t)i);
}

static tsr_status_t load_kernels(const loader *l, const map *sections) {
    tsr_module_t m = l->module;
    tsr_status_t result = TSR_SUCCESS;
    m->kernels = base_calloc(m->metadata.program->kernel_count + 1, sizeof(tsr_module_t));
    for (uint32_t i = 0; i < m->metadata.program->kernel_count && result == TSR_SUCCESS; i++)
        result = load_kernel(l, sections, i);
    return result;
}

/* The bytes of each constant, in the image. */
static tsr_status_t find_constants(const loader *l, const map *sections, const void **bytes) {
    const program *p = l->module->metadata.program;
    for (uint32_t i = 0; i < p->constant_count; i++) {
        const program_constant *c = &p->constants[i];
        intptr_t at;
        module_part part;
        if (!map_get(sections, c->section, &at) ||
            !module_part_at(l->image, l->size_bytes, (size_t)at, &part) ||
            part.size_bytes != (size_t)c->bytes)
            return error_set(
                TSR_ECORRUPT,
                "the program of '%s' has the constant '%.40s' of %lld bytes, which the "
                "module lacks",
                l->module->metadata.name, c->section, (long long)c->bytes);
        bytes[i] = part.data;
    }
    return TSR_SUCCESS;
}

static tsr_status_t load_program(const loader *l) {
    tsr_module_t m = l->module;
    uint32_t count = m->metadata.program->kernel_count;
    uint32_t constant_count = m->metadata.program->constant_count;
    status st = STATUS_INIT;
    map sections;
    index_sections(l, &sections);
    const void **constants = base_calloc((size_t)constant_count + 1, sizeof *constants);
    tsr_status_t result = load_kernels(l, &sections);
    if (result == TSR_SUCCESS)
        result = find_constants(l, &sections, constants);
    map_release(&sections);
    if (result != TSR_SUCCESS) {
        free(constants);
        return result;
    }
    const metadata **kernels = base_calloc(count + 1, sizeof(const metadata *));
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = &m->kernels[i]->metadata;
    if (count)
        m->isa = m->kernels[0]->isa;
    bool ok = program_check(&m->metadata, kernels, &st) && program_open(m, constants, &st);
    free(kernels);
    free(constants);
    return ok ? TSR_SUCCESS : error_from(&st);
}

static tsr_status_t load_module(const loader *l) {
    status st = STATUS_INIT;
    tsr_status_t result = check_version(l->image, l->size_bytes);
    if (result != TSR_SUCCESS)
        return result;
    result = load_parts(l, &st) ? launch_fix_needs(l->module) : error_from(&st);
    return result == TSR_SUCCESS && l->module->metadata.program ? load_program(l) : result;
}

tsr_status_t tsrLoadModule(tsr_context_t context, const void *image, size_t size_bytes,
                           tsr_module_t *module) {
    if (!context)
        return error_null("context");
    if (!image || !module)
        return error_null(image ? "module" : "image");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_module_t m = base_calloc(1, sizeof *m);
    m->context = context;
    const loader l = {m, image, size_bytes, false};
    tsr_status_t result = load_module(&l);
    if (result != TSR_SUCCESS) {
        module_free(m);
        return result;
    }
    context_add(context, &context->modules, &m->link);
    *module = m;
    return TSR_SUCCESS;
}

tsr_status_t tsrUnloadModule(tsr_module_t module) {
    status st = STATUS_INIT;
    device_event_state state;
    uint64_t time_ns;
    if (!module)
        return error_null("module");
    tsr_context_t context = module->context;
    device *d = context->device;
    pthread_mutex_lock(&context->mutex);
    size_t graphs = module->graphs, prepared = module->prepared;
    pthread_mutex_unlock(&context->mutex);
    if (!d->driver->event_query(d, module->used, true, &state, &time_ns, &st))
        return error_from(&st);
    if (graphs)
        return error_set(TSR_EINVAL, "%zu graphs use the module; destroy them first", graphs);
    if (prepared)
        return error_set(TSR_EINVAL, "%zu prepared kernels are of the module; destroy them first",
                         prepared);
    context_remove(context, &context->modules, &module->link);
    module_free(module);
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
    *isa = module->isa;
    return TSR_SUCCESS;
}

tsr_status_t tsrGetKernelInfo(tsr_kernel_t kernel, tsr_kernel_info_t *info) {
    if (!kernel)
        return error_null("kernel");
    tsr_status_t usable = error_check_size(info, info ? info->struct_size : 0, sizeof *info);
    if (usable == TSR_SUCCESS)
        usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    const metadata *m = kernel->metadata;
    const metadata_image *code = kernel->module->codes[0].description;
    *info = (tsr_kernel_info_t){.struct_size = info->struct_size,
                                .name = m->name,
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

tsr_status_t tsrGetKernelDimName(tsr_kernel_t kernel, uint32_t index, const char **name) {
    if (!kernel || !name)
        return error_null(kernel ? "name" : "kernel");
    tsr_status_t usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    const metadata *m = kernel->metadata;
    if (index >= m->dims)
        return error_set(TSR_ENOTFOUND, "kernel '%s' has no dimension %u; it takes %u", m->name,
                         index, m->dims);
    *name = m->dim_names[index];
    return TSR_SUCCESS;
}

tsr_status_t tsrGetDonatedOutput(tsr_kernel_t kernel, uint32_t input, uint32_t *output) {
    if (!kernel || !output)
        return error_null(kernel ? "output" : "kernel");
    tsr_status_t usable = context_usable(kernel->module->context);
    if (usable != TSR_SUCCESS)
        return usable;
    const metadata *m = kernel->metadata;
    if (input >= m->inputs)
        return error_set(TSR_ENOTFOUND, "kernel '%s' has no input %u; it has %u", m->name, input,
                         m->inputs);
    *output = m->donated ? m->donated[input] : TSR_NOT_DONATED;
    return TSR_SUCCESS;
}
