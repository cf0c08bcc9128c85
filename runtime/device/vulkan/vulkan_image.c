/* vulkan_image.c - modules of SPIR-V: what they need is looked up before the driver sees them,
 * since not every one looks itself. */
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/shared/spirv_image.h"
#include "device/vulkan/vulkan.h"

enum { VERSION_1_5 = 0x00010500 };

/* State of reading a module. */
typedef struct reader {
    const vulkan_device *device;
    const device_source *source;
    spirv_image image;
    bool soft;   /* it has code of its own for what the device does not do right */
    bool judged; /* the device has been tried */
    status *st;
} reader;

static bool fits(const reader *r, const char *what, uint64_t needs, uint64_t most) {
    return needs <= most ||
           status_set(r->st, STATUS_UNAVAILABLE, "'%s' needs %llu %s; device '%s' has %llu",
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
#include "device/vulkan/vulkan_capabilities.def"
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

/* Checks a trait of a constant of the module, or of all f64 where it computes in it without them.
 */
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
    if (rows[number].way == TRAIT_TURNS)
        return status_set(r->st, STATUS_UNAVAILABLE,
                          "a thread of '%s' has %s; device '%s' ends them early, and says nothing",
                          r->source->label, rows[number].what, r->device->adapter->name);
    return status_set(r->st, STATUS_UNAVAILABLE,
                      "'%s' needs %s, which device '%s' does not do as IEEE 754 says",
                      r->source->label, rows[number].what, r->device->adapter->name);
}

static bool has_f64(const reader *r) {
    bool ok = true;
    for (uint32_t i = VULKAN_FMA_F64; i <= VULKAN_NARROW_F64 && ok && !r->soft && r->judged; i++)
        ok = has_trait(r, i);
    return ok;
}

static bool has_capabilities(const reader *r) {
    const uint32_t *op;
    bool ok = true;
    for (size_t at = 0; ok && (op = spirv_image_next(&r->image, &at, SpvOpCapability, 2));)
        ok = has_capability(r, op[1]) && (op[1] != SpvCapabilityFloat64 || has_f64(r));
    return ok;
}

static bool has_traits(const reader *r) {
    const uint32_t *op;
    bool ok = true;
    for (size_t at = 0; ok && (op = spirv_image_next(&r->image, &at, SpvOpDecorate, 4));)
        ok = op[2] != SpvDecorationSpecId || has_trait(r, op[3]);
    return ok;
}

static bool check_limits(const reader *r) {
    const VkPhysicalDeviceLimits *limits = &r->device->adapter->properties.limits;
    bool ok = fits(r, "bytes of shared memory", r->image.workgroup_bytes,
                   limits->maxComputeSharedMemorySize);
    for (uint32_t i = 0; i < r->source->phase_count && ok; i++) {
        uint64_t threads = 0;
        ok = spirv_image_threads(&r->image, r->source->symbols[i], r->source->label, &threads,
                                 r->st) &&
             fits(r, "threads in a workgroup", threads, limits->maxComputeWorkGroupInvocations) &&
             fits(r, "threads in a row", threads, limits->maxComputeWorkGroupSize[0]);
    }
    return ok;
}

static bool read_module(reader *r, const void *words) {
    return spirv_image_read(&r->image, words, r->source->size_bytes, r->source->label, r->st) &&
           (r->image.words[1] <= VERSION_1_5 ||
            corrupt(r, "it is of a newer version than Vulkan 1.2 takes")) &&
           has_capabilities(r) && has_traits(r) && check_limits(r);
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
                .soft = strcmp(source->target, VULKAN_TARGET_F64) == 0,
                .judged = v->judged,
                .st = st};
    uint32_t *aligned = base_malloc(source->size_bytes + 1);
    memcpy(aligned, source->bytes, source->size_bytes);
    device_source own = *source;
    own.bytes = aligned;
    vulkan_image *image = base_calloc(1, sizeof *image + source->phase_count * sizeof(VkPipeline));
    image->base.phase_count = source->phase_count;
    image->device = v;
    bool ok = source->phase_count == 0 || /* nothing to do has no code */
              (read_module(&r, aligned) && create_pipelines(v, &own, image, st));
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
