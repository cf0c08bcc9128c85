/* vulkan_image.c - modules of SPIR-V: what they need is looked up before the driver sees them,
 * since not every one looks itself. */
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/vulkan.h"

enum { HEADER_WORDS = 5, VERSION_1_5 = 0x00010500 };

/* What is read of a module. */
typedef struct reader {
    const vulkan_device *device;
    const device_source *source;
    const uint32_t *words;
    size_t count;
    bool soft;   /* it has code of its own for what the device does not do right */
    bool judged; /* the device has been tried */
    uint64_t shared_bytes;
    uint32_t threads;  /* the most of an entry point */
    bool *found;       /* of each symbol */
    uint32_t *lengths; /* constants and, of arrays and pointers, bytes: by number of result */
    uint32_t ids;
    status *st;
} reader;

static bool refuse(const reader *r, const char *what, uint64_t needs, uint64_t most) {
    return status_set(r->st, STATUS_UNAVAILABLE, "'%s' needs %llu %s; device '%s' has %llu",
                      r->source->label, (unsigned long long)needs, what, r->device->adapter->name,
                      (unsigned long long)most);
}

static bool corrupt(const reader *r, const char *why) {
    return status_set(r->st, STATUS_CORRUPT, "'%s' is no module of SPIR-V for this device: %s",
                      r->source->label, why);
}

/* ---- its instructions ---- */

static bool has_capability(const reader *r, uint32_t capability) {
    const vulkan_features *f = &r->device->adapter->features;
    const struct {
        uint32_t capability;
        VkBool32 there;
        const char *feature;
    } rows[] = {
#define CAPABILITY(name, part, feature) {SpvCapability##name, f->part.feature, #feature},
#include "device/vulkan_capabilities.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].capability == capability)
            return rows[i].there ||
                   status_set(r->st, STATUS_UNAVAILABLE,
                              "'%s' needs the feature %s, which device '%s' does not have",
                              r->source->label, rows[i].feature, r->device->adapter->name);
    return capability == SpvCapabilityShader || capability == SpvCapabilityMatrix ||
           corrupt(r, "it declares a capability that no code for Vulkan needs here");
}

/* Of a constant of the module, or of all f64 where the module computes in it without constants. */
static bool has_trait(const reader *r, uint32_t number) {
    static const struct {
        trait_way way;
        const char *what;
    } rows[] = {
#define TRAIT(id, way, what) {TRAIT_##way, what},
#include "device/vulkan_traits.def"
    };
    if (number >= VULKAN_TRAIT_COUNT || r->device->traits[number] ||
        (r->soft && rows[number].way == TRAIT_SOFT))
        return true;
    return status_set(r->st, STATUS_UNAVAILABLE,
                      "'%s' needs %s, which device '%s' does not do as IEEE 754 says",
                      r->source->label, rows[number].what, r->device->adapter->name);
}

static bool has_f64(const reader *r) {
    bool ok = true;
    for (uint32_t i = VULKAN_FMA_F64; i < VULKAN_TRAIT_COUNT && ok && !r->soft && r->judged; i++)
        ok = has_trait(r, i);
    return ok;
}

static void note_entry(reader *r, const uint32_t *operands, uint32_t count) {
    size_t room = (count - 2) * sizeof *operands;
    const char *name = (const char *)(operands + 2);
    for (uint32_t i = 0; i < r->source->phase_count && memchr(name, '\0', room); i++)
        r->found[i] |= strcmp(name, r->source->symbols[i]) == 0;
}

static uint32_t length_of(const reader *r, uint32_t id) {
    return id < r->ids ? r->lengths[id] : 0;
}

static void note_length(reader *r, uint32_t id, uint64_t length) {
    if (id < r->ids)
        r->lengths[id] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

static bool read_operation(reader *r, uint16_t opcode, const uint32_t *o, uint32_t count) {
    switch (opcode) {
    case SpvOpCapability:
        return count < 1 ||
               (has_capability(r, o[0]) && (o[0] != SpvCapabilityFloat64 || has_f64(r)));
    case SpvOpEntryPoint:
        if (count > 2)
            note_entry(r, o, count);
        return true;
    case SpvOpExecutionMode:
        if (count > 4 && o[1] == SpvExecutionModeLocalSize && o[2] > r->threads)
            r->threads = o[2];
        return true;
    case SpvOpDecorate:
        return count < 3 || o[1] != SpvDecorationSpecId || has_trait(r, o[2]);
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        if (count > 1)
            note_length(r, o[0], o[1] / 8);
        return true;
    case SpvOpConstant:
        if (count > 2)
            note_length(r, o[1], o[2]);
        return true;
    case SpvOpTypeArray:
        if (count > 2)
            note_length(r, o[0], (uint64_t)length_of(r, o[1]) * length_of(r, o[2]));
        return true;
    case SpvOpTypePointer:
        if (count > 2)
            note_length(r, o[0], length_of(r, o[2]));
        return true;
    case SpvOpVariable:
        if (count > 2 && o[2] == SpvStorageClassWorkgroup)
            r->shared_bytes += length_of(r, o[0]);
        return true;
    default:
        return true;
    }
}

static bool read_words(reader *r) {
    for (size_t at = HEADER_WORDS; at < r->count;) {
        uint32_t length = r->words[at] >> SpvWordCountShift;
        if (length == 0 || length > r->count - at)
            return corrupt(r, "an instruction has a wrong length");
        if (!read_operation(r, (uint16_t)(r->words[at] & SpvOpCodeMask), r->words + at + 1,
                            length - 1))
            return false;
        at += length;
    }
    return true;
}

static bool check_limits(const reader *r) {
    const VkPhysicalDeviceLimits *limits = &r->device->adapter->properties.limits;
    if (r->threads > limits->maxComputeWorkGroupInvocations)
        return refuse(r, "threads in a workgroup", r->threads,
                      limits->maxComputeWorkGroupInvocations);
    if (r->threads > limits->maxComputeWorkGroupSize[0])
        return refuse(r, "threads in a row", r->threads, limits->maxComputeWorkGroupSize[0]);
    return r->shared_bytes <= limits->maxComputeSharedMemorySize ||
           refuse(r, "bytes of shared memory", r->shared_bytes, limits->maxComputeSharedMemorySize);
}

static bool check_symbols(const reader *r) {
    for (uint32_t i = 0; i < r->source->phase_count; i++)
        if (!r->found[i])
            return status_set(r->st, STATUS_NOT_FOUND,
                              "'%s' has no function '%s', which its metadata names",
                              r->source->label, r->source->symbols[i]);
    return true;
}

static bool check_header(const reader *r) {
    enum { IDS_MOST = 1 << 22 }; /* SPIR-V's "Universal Limits" */
    if (r->source->size_bytes % sizeof *r->words || r->count < HEADER_WORDS ||
        r->words[0] != SpvMagicNumber)
        return corrupt(r, "it does not begin like one");
    if (r->words[1] > VERSION_1_5)
        return corrupt(r, "it is of a newer version than Vulkan 1.2 takes");
    return r->words[3] <= IDS_MOST || corrupt(r, "it has too many results");
}

static bool read_module(reader *r) {
    if (!check_header(r))
        return false;
    r->ids = r->words[3];
    r->lengths = base_calloc(r->ids + 1, sizeof *r->lengths);
    r->found = base_calloc(r->source->phase_count + 1, sizeof *r->found);
    bool ok = read_words(r) && check_limits(r) && check_symbols(r);
    free(r->lengths);
    free(r->found);
    return ok;
}

/* ---- pipelines ---- */

static VkResult create_pipeline(vulkan_device *v, VkShaderModule module, const char *symbol,
                                VkPipeline *pipeline_out) {
    VkSpecializationMapEntry entries[VULKAN_TRAIT_COUNT];
    for (uint32_t i = 0; i < VULKAN_TRAIT_COUNT; i++)
        entries[i] =
            (VkSpecializationMapEntry){i, i * (uint32_t)sizeof(VkBool32), sizeof(VkBool32)};
    const VkSpecializationInfo special = {VULKAN_TRAIT_COUNT, entries, sizeof v->traits, v->traits};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = symbol,
                  .pSpecializationInfo = &special},
        .layout = v->layout};
    return v->f.CreateComputePipelines(v->device, v->cache, 1, &info, NULL, pipeline_out);
}

static bool create_pipelines(vulkan_device *v, const device_source *source, vulkan_image *image,
                             status *st) {
    VkShaderModule module;
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = source->size_bytes,
                                           .pCode = source->bytes};
    VkResult result = v->f.CreateShaderModule(v->device, &info, NULL, &module);
    if (result != VK_SUCCESS)
        return vulkan_failed(v, "vkCreateShaderModule", result, st);
    for (uint32_t i = 0; i < source->phase_count && result == VK_SUCCESS; i++)
        result = create_pipeline(v, module, source->symbols[i], &image->pipelines[i]);
    v->f.DestroyShaderModule(v->device, module, NULL);
    return result == VK_SUCCESS ? vulkan_valid(st)
                                : vulkan_failed(v, "vkCreateComputePipelines", result, st);
}

bool vulkan_load(device *d, const device_source *source, device_image **image_out, status *st) {
    vulkan_device *v = (vulkan_device *)d;
    reader r = {.device = v,
                .source = source,
                .words = source->bytes,
                .count = source->size_bytes / sizeof(uint32_t),
                .soft = strcmp(source->target, VULKAN_TARGET_F64) == 0,
                .judged = v->judged,
                .st = st};
    uint32_t *aligned = base_malloc(source->size_bytes + 1);
    memcpy(aligned, source->bytes, source->size_bytes);
    r.words = aligned;
    device_source own = *source;
    own.bytes = aligned;
    vulkan_image *image = base_calloc(1, sizeof *image + source->phase_count * sizeof(VkPipeline));
    image->base.phase_count = source->phase_count;
    image->device = v;
    bool ok = source->phase_count == 0 || /* nothing to do has no code */
              (read_module(&r) && create_pipelines(v, &own, image, st));
    free(aligned);
    if (!ok)
        vulkan_unload(d, &image->base);
    else
        *image_out = &image->base;
    return ok;
}

void vulkan_unload(device *d, device_image *base) {
    vulkan_image *image = (vulkan_image *)base;
    vulkan_device *v = image->device;
    (void)d;
    for (uint32_t i = 0; i < base->phase_count; i++)
        v->f.DestroyPipeline(v->device, image->pipelines[i], NULL);
    free(image);
}
