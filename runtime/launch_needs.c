/* launch_needs.c - what a launch with these dimensions runs, and the memory that it takes. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formula.h"
#include "runtime.h"

static formula_names names_of(const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    return (formula_names){m->dim_names, request->dims, m->dims};
}

/* "M=13, N=127" */
static void append_dims(text *out, const metadata *m, const int64_t *values) {
    for (uint32_t i = 0; i < m->dims; i++)
        text_printf(out, "%s%s=%" PRId64, i ? ", " : "", m->dim_names[i], values[i]);
}

static tsr_status_t refuse(const kernel_launch *request, const char *what) {
    text dims;
    text_init(&dims);
    append_dims(&dims, request->kernel->metadata, request->dims);
    tsr_status_t result = error_set(TSR_EINVAL, "kernel '%s' with %s: %s",
                                    request->kernel->metadata->name, dims.data, what);
    text_release(&dims);
    return result;
}

static tsr_status_t check_constraints(const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    formula_names names = names_of(request);
    for (uint32_t i = 0; i < m->dims; i++)
        if (request->dims[i] < 0)
            return error_set(TSR_EINVAL, "kernel '%s': dimension %s is negative: %" PRId64, m->name,
                             m->dim_names[i], request->dims[i]);
    for (uint32_t i = 0; i < m->constraint_count; i++) {
        int64_t value;
        formula_result result = formula_evaluate(m->constraints[i].formula, &names, &value);
        if (result != FORMULA_OK || value < 0)
            return refuse(request, m->constraints[i].what);
    }
    return TSR_SUCCESS;
}

/* The code for exactly these dimensions, else that for any. */
static tsr_status_t choose_code(kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    tsr_module_t module = request->kernel->module;
    request->code = NULL;
    for (uint32_t i = 0; i < module->code_count; i++) {
        const int64_t *when = module->codes[i].description->when;
        bool fits = !when || memcmp(when, request->dims, m->dims * sizeof *when) == 0;
        if (fits && (when || !request->code))
            request->code = &module->codes[i];
    }
    return request->code ? TSR_SUCCESS
                         : refuse(request, "the module has code for other dimensions alone");
}

static bool evaluate(const metadata_need *need, const formula_names *names, int64_t *out) {
    *out = need->value;
    if (!need->formula)
        return true;
    return formula_evaluate(need->formula, names, out) == FORMULA_OK && *out >= 0 &&
           *out <= METADATA_LIMIT;
}

static tsr_status_t find_code_needs(kernel_launch *request) {
    const metadata_image *code = request->code->description;
    formula_names names = names_of(request);
    bool ok = evaluate(&code->workspace_bytes, &names, &request->workspace_bytes) &&
              evaluate(&code->scratch_bytes, &names, &request->scratch_bytes);
    for (uint32_t i = 0; i < code->phase_count && ok; i++)
        ok = evaluate(&code->phases[i].workgroups, &names, &request->room.workgroups[i]);
    request->workgroups = request->room.workgroups;
    return ok ? TSR_SUCCESS : refuse(request, "that is more memory or work than there can be");
}

static bool size_of(const metadata_parameter *p, const formula_names *names, int64_t *bytes) {
    *bytes = (int64_t)p->size_bytes;
    if (p->size_bytes || names->count == 0)
        return true;
    *bytes = (int64_t)dtype_size(p->type);
    for (uint32_t i = 0; i < p->rank; i++) {
        int64_t dim = p->dims[i];
        if (p->formulas[i] &&
            (formula_evaluate(p->formulas[i], names, &dim) != FORMULA_OK || dim < 0))
            return false;
        if (__builtin_mul_overflow(*bytes, dim, bytes))
            return false;
    }
    return *bytes <= METADATA_LIMIT;
}

static int64_t *room_of_sizes(kernel_launch *request) {
    return request->large ? request->large->sizes : request->room.sizes;
}

static tsr_status_t find_needs(kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    formula_names names = names_of(request);
    tsr_status_t result = check_constraints(request);
    int64_t *sizes = room_of_sizes(request);
    request->sizes = sizes;
    for (uint32_t i = 0; i < m->inputs + m->outputs && result == TSR_SUCCESS; i++)
        if (!size_of(&m->parameters[i], &names, &sizes[i]))
            result = refuse(request, "a buffer would have more bytes than there can be");
    if (result == TSR_SUCCESS)
        result = choose_code(request);
    return result == TSR_SUCCESS ? find_code_needs(request) : result;
}

/* Needs of a launch. Without dimensions they are the same for all; with dimensions most launches
 * have those of the one before, and evaluating the formulas takes longer than a small kernel. */
struct launch_needs {
    const kernel_code *code;
    int64_t workspace_bytes, scratch_bytes;
    int64_t *sizes, workgroups[METADATA_PHASES_MAX], dims[METADATA_DIMS_MAX];
    bool known;
    atomic_flag busy; /* with dimensions: somebody reads or writes the rest; others evaluate */
};

static inline void recall(struct launch_needs *n, kernel_launch *request) {
    request->code = n->code;
    request->sizes = n->sizes;
    request->workgroups = n->workgroups;
    request->workspace_bytes = n->workspace_bytes;
    request->scratch_bytes = n->scratch_bytes;
}

/* False where they are of other dimensions. What may change before the launch ends is copied. */
static bool recall_same(struct launch_needs *n, kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    if (!n->known || memcmp(n->dims, request->dims, m->dims * sizeof *n->dims) != 0)
        return false;
    recall(n, request);
    request->sizes =
        memcpy(room_of_sizes(request), n->sizes, (m->inputs + m->outputs) * sizeof *n->sizes);
    request->workgroups = memcpy(request->room.workgroups, n->workgroups,
                                 n->code->description->phase_count * sizeof *n->workgroups);
    return true;
}

static void remember(struct launch_needs *n, const kernel_launch *request) {
    const metadata *m = request->kernel->metadata;
    n->known = true;
    n->code = request->code;
    if (m->dims)
        memcpy(n->dims, request->dims, m->dims * sizeof *n->dims);
    memcpy(n->sizes, request->sizes, (m->inputs + m->outputs) * sizeof *n->sizes);
    memcpy(n->workgroups, request->workgroups,
           n->code->description->phase_count * sizeof *n->workgroups);
    n->workspace_bytes = request->workspace_bytes;
    n->scratch_bytes = request->scratch_bytes;
}

static tsr_status_t find_or_recall(struct launch_needs *n, kernel_launch *request) {
    if (atomic_flag_test_and_set_explicit(&n->busy, memory_order_acquire))
        return find_needs(request);
    tsr_status_t result = TSR_SUCCESS;
    if (!recall_same(n, request)) {
        result = find_needs(request);
        if (result == TSR_SUCCESS)
            remember(n, request);
    }
    atomic_flag_clear_explicit(&n->busy, memory_order_release);
    return result;
}

tsr_status_t launch_find_needs(kernel_launch *request) {
    const struct tsr_module *module = request->kernel->module;
    if (module->metadata.dims)
        return find_or_recall(module->needs, request);
    recall(module->needs, request);
    return TSR_SUCCESS;
}

static struct launch_room *make_room(arena *memory, uint32_t buffers) {
    struct launch_room *room = ARENA_NEW(memory, struct launch_room, 1);
    pthread_mutex_init(&room->turn, NULL);
    room->buffers = ARENA_NEW(memory, void *, buffers);
    room->memories = ARENA_NEW(memory, const device_memory *, buffers);
    room->sizes = ARENA_NEW(memory, int64_t, buffers);
    room->by_address = ARENA_NEW(memory, uint32_t, buffers);
    return room;
}

tsr_status_t launch_fix_needs(tsr_module_t module) {
    metadata *m = &module->metadata;
    uint32_t buffers = m->inputs + m->outputs;
    module->needs = ARENA_NEW(&m->memory, struct launch_needs, 1);
    module->needs->sizes = ARENA_NEW(&m->memory, int64_t, buffers);
    atomic_flag_clear(&module->needs->busy);
    if (buffers > LAUNCH_SMALL_BUFFERS)
        module->room = make_room(&m->memory, buffers);
    if (m->dims)
        return TSR_SUCCESS;
    kernel_launch request;
    launch_begin(&request, &module->kernel, NULL);
    request.dims = NULL;
    tsr_status_t result = find_needs(&request);
    if (result == TSR_SUCCESS)
        remember(module->needs, &request);
    launch_end(&request);
    return result;
}

void launch_forget_needs(tsr_module_t module) {
    if (module->room)
        pthread_mutex_destroy(&module->room->turn);
}

tsr_status_t launch_check_spec(const kernel_launch *request, const tsr_launch_t *launch) {
    const uint32_t given[METADATA_LAUNCH_COUNT] = {
        launch->grid_x,  launch->grid_y,  launch->grid_z,    launch->block_x,
        launch->block_y, launch->block_z, launch->smem_bytes};
    int64_t wanted[METADATA_LAUNCH_COUNT];
    formula_names names = names_of(request);
    bool same = true, any = false;
    for (int i = 0; i < METADATA_LAUNCH_COUNT; i++)
        any |= given[i] != 0;
    if (!any)
        return TSR_SUCCESS;
    for (int i = 0; i < METADATA_LAUNCH_COUNT; i++) {
        if (!evaluate(&request->code->description->launch[i], &names, &wanted[i]))
            return refuse(request, "its launch spec has no value");
        same &= given[i] == 0 || given[i] == wanted[i];
    }
    return same ? TSR_SUCCESS
                : error_set(TSR_EINVAL,
                            "kernel '%s' is launched with grid %" PRId64 "x%" PRId64 "x%" PRId64
                            ", block %" PRId64 "x%" PRId64 "x%" PRId64 ", %" PRId64
                            " bytes of shared memory, not with grid %ux%ux%u, block %ux%ux%u, %u "
                            "bytes; 0 stands for what it is launched with",
                            request->kernel->metadata->name, wanted[0], wanted[1], wanted[2],
                            wanted[3], wanted[4], wanted[5], wanted[6], given[0], given[1],
                            given[2], given[3], given[4], given[5], given[6]);
}
