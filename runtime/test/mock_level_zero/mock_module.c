/* mock_module.c - modules of the mock, of which it reads the entry points, and kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/mock_level_zero/mock.h"

typedef struct module {
    bool is_wide, divides;
    uint32_t count;
    mock_entry entries[MOCK_ENTRIES];
} module;

bool mock_is_probe(const char *name) {
    return strcmp(name, "probe_arithmetic") == 0 || strcmp(name, "probe_conversions") == 0;
}

/* ---- SPIR-V ---- */

enum {
    MAGIC = 0x07230203,
    HEADER = 5,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    LOCAL_SIZE = 17,
    FLOAT64 = 10
};

static mock_entry *entry_of(module *m, uint32_t id) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->entries[i].id == id)
            return &m->entries[i];
    return NULL;
}

static void read_entry(module *m, const uint32_t *op) {
    if (m->count == MOCK_ENTRIES)
        return;
    mock_entry *e = &m->entries[m->count++];
    e->id = op[2];
    snprintf(e->name, sizeof e->name, "%s", (const char *)(op + 3));
}

static void read_mode(module *m, const uint32_t *op) {
    mock_entry *e = op[2] == LOCAL_SIZE ? entry_of(m, op[1]) : NULL;
    if (e)
        e->threads = op[3] * op[4] * op[5];
}

static bool read_module(module *m, const uint32_t *words, size_t count) {
    mock_entry *function = NULL;
    if (count < HEADER || words[0] != MAGIC)
        return false;
    for (size_t at = HEADER; at < count && words[at] >> 16; at += words[at] >> 16) {
        const uint32_t *op = words + at, code = op[0] & 0xFFFF;
        if (code == OP_ENTRY_POINT)
            read_entry(m, op);
        else if (code == OP_EXECUTION_MODE)
            read_mode(m, op);
        else if (code == OP_CAPABILITY)
            m->is_wide |= op[1] == FLOAT64;
        else if (code == OP_FUNCTION)
            function = entry_of(m, op[2]);
        else if (code == OP_FUNCTION_PARAMETER && function)
            function->arguments++;
    }
    return true;
}

/* ---- modules ---- */

static bool has_option(const ze_module_desc_t *desc, const char *option) {
    return desc->pBuildFlags && strstr(desc->pBuildFlags, option);
}

/* A log is its text. */
static ze_result_t refuse(ze_result_t result, const char *why, ze_module_build_log_handle_t *log) {
    *log = (ze_module_build_log_handle_t)(void *)strdup(why);
    mock_count(&mock_state.counts.logs, 1);
    return result;
}

static ze_result_t create_module(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_module_desc_t *desc, ze_module_handle_t *out,
                                 ze_module_build_log_handle_t *log) {
    const bool is_large = (uint64_t)pretend_fault("largest", 0) > UINT32_MAX;
    ze_result_t result = mock_result("build");
    (void)context, (void)device;
    if (desc->stype != ZE_STRUCTURE_TYPE_MODULE_DESC || desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (result != ZE_RESULT_SUCCESS)
        return refuse(result, "\nerror: line 7: it is too long\nand more\n", log);
    if (is_large && !has_option(desc, "-ze-opt-greater-than-4GB-buffer-required"))
        return refuse(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "buffers are large", log);
    module *m = calloc(1, sizeof *m);
    m->divides = has_option(desc, "-ze-fp32-correctly-rounded-divide-sqrt");
    if (!read_module(m, (const uint32_t *)(const void *)desc->pInputModule, desc->inputSize / 4)) {
        free(m);
        return refuse(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "no SPIR-V", log);
    }
    *out = (ze_module_handle_t)(void *)m;
    refuse(ZE_RESULT_SUCCESS, "", log); /* one is made in any case */
    return mock_count(&mock_state.counts.modules, 1);
}

static ze_result_t destroy_module(ze_module_handle_t handle) {
    free(handle);
    return mock_count(&mock_state.counts.modules, -1);
}

static ze_result_t get_log(ze_module_build_log_handle_t log, size_t *bytes, char *out) {
    const char *text = (const char *)(void *)log;
    if (out)
        memcpy(out, text, *bytes);
    *bytes = strlen(text) + 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t destroy_log(ze_module_build_log_handle_t log) {
    free(log);
    return mock_count(&mock_state.counts.logs, -1);
}

/* ---- kernels ---- */

static ze_result_t create_kernel(ze_module_handle_t handle, const ze_kernel_desc_t *desc,
                                 ze_kernel_handle_t *out) {
    const module *m = (const module *)(void *)handle;
    ze_result_t result = mock_result("kernel");
    if (desc->stype != ZE_STRUCTURE_TYPE_KERNEL_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < m->count && result == ZE_RESULT_SUCCESS; i++) {
        const char *name = m->entries[i].name;
        if (strcmp(name, desc->pKernelName) != 0 ||
            !(mock_is_probe(name) || pretend_has_kernel(name)))
            continue;
        mock_kernel *k = calloc(1, sizeof *k);
        *k = (mock_kernel){.entry = m->entries[i], .is_wide = m->is_wide, .divides = m->divides};
        *out = (ze_kernel_handle_t)(void *)k;
        return mock_count(&mock_state.counts.kernels, 1);
    }
    return result != ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}

static ze_result_t destroy_kernel(ze_kernel_handle_t kernel) {
    free(kernel);
    return mock_count(&mock_state.counts.kernels, -1);
}

static ze_result_t get_kernel(ze_kernel_handle_t handle, ze_kernel_properties_t *out) {
    const mock_kernel *k = (const mock_kernel *)(void *)handle;
    if (out->stype != ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    out->numKernelArgs = k->entry.arguments;
    out->requiredGroupSizeX = (uint32_t)pretend_fault("made_for", (long)k->entry.threads);
    out->requiredGroupSizeY = out->requiredGroupSizeZ = 1;
    return mock_result("");
}

static ze_result_t set_group_size(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
    mock_kernel *k = (mock_kernel *)(void *)handle;
    if (x != k->entry.threads || y != 1 || z != 1)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    k->group_size = x;
    return mock_is_probe(k->entry.name) ? mock_result("") : mock_result("group");
}

static ze_result_t set_argument(ze_kernel_handle_t handle, uint32_t index, size_t bytes,
                                const void *value) {
    mock_kernel *k = (mock_kernel *)(void *)handle;
    if (index >= k->entry.arguments || index >= MOCK_ARGUMENTS)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (bytes != sizeof k->arguments[index])
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    k->arguments[index] = 0;
    if (value)
        memcpy(&k->arguments[index], value, bytes);
    return mock_result("");
}

const ze_module_dditable_t mock_module_table = {.pfnCreate = create_module,
                                                .pfnDestroy = destroy_module};
const ze_module_build_log_dditable_t mock_log_table = {.pfnDestroy = destroy_log,
                                                       .pfnGetString = get_log};
const ze_kernel_dditable_t mock_kernel_table = {.pfnCreate = create_kernel,
                                                .pfnDestroy = destroy_kernel,
                                                .pfnSetGroupSize = set_group_size,
                                                .pfnSetArgumentValue = set_argument,
                                                .pfnGetProperties = get_kernel};
