/* state.c - states: the memory of what kernels are given and give back, launch after launch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

/* One donated input. */
typedef struct part {
    const char *name;
    void *memory; /* allocated of the context */
    size_t bytes;
} part;

struct tsr_state {
    owned link;
    tsr_context_t context;
    arena memory; /* of the names */
    uint32_t count;
    part *parts;
};

static part *find_part(const struct tsr_state *state, const char *name) {
    for (uint32_t i = 0; i < state->count; i++)
        if (strcmp(state->parts[i].name, name) == 0)
            return &state->parts[i];
    return NULL;
}

static bool is_donated(const metadata *m, uint32_t input) {
    return m->donated && m->donated[input] != METADATA_NOT_DONATED;
}

/* ---- making one ---- */

void state_free(tsr_state_t state) {
    arena_release(&state->memory);
    free(state->parts);
    free(state);
}

static void free_parts(tsr_state_t state) {
    for (uint32_t i = 0; i < state->count; i++)
        (void)tsrFree(state->context, state->parts[i].memory);
}

static tsr_status_t add_part(tsr_state_t state, const metadata_parameter *p) {
    part *made = &state->parts[state->count];
    *made = (part){.name = arena_strdup(&state->memory, p->name), .bytes = p->size_bytes};
    tsr_status_t result =
        tsrAlloc(state->context, made->bytes ? made->bytes : 1, TSR_ALLOC_ZERO, &made->memory);
    state->count += result == TSR_SUCCESS;
    return result;
}

tsr_status_t tsrCreateState(tsr_kernel_t kernel, tsr_state_t *state) {
    if (!kernel || !state)
        return error_null(kernel ? "state" : "kernel");
    const metadata *m = kernel->metadata;
    tsr_context_t context = kernel->module->context;
    tsr_status_t result = context_usable(context);
    if (result != TSR_SUCCESS)
        return result;
    struct tsr_state *made = base_calloc(1, sizeof *made);
    made->context = context;
    made->parts = base_calloc((size_t)m->inputs + 1, sizeof *made->parts);
    for (uint32_t i = 0; i < m->inputs && result == TSR_SUCCESS; i++)
        if (is_donated(m, i))
            result = add_part(made, &m->parameters[i]);
    if (result == TSR_SUCCESS && made->count == 0)
        result = error_set(TSR_EINVAL, "kernel '%s' has no state: no input is donated", m->name);
    if (result != TSR_SUCCESS) {
        free_parts(made);
        state_free(made);
        return result;
    }
    context_add(context, &context->states, &made->link);
    *state = made;
    return TSR_SUCCESS;
}

tsr_status_t tsrDestroyState(tsr_state_t state) {
    if (!state)
        return error_null("state");
    tsr_status_t usable = context_usable(state->context);
    if (usable != TSR_SUCCESS)
        return usable;
    free_parts(state);
    context_remove(state->context, &state->context->states, &state->link);
    state_free(state);
    return TSR_SUCCESS;
}

tsr_status_t tsrGetStateBuffer(tsr_state_t state, const char *name, void **buffer,
                               uint64_t *bytes) {
    if (!state || !name || !buffer)
        return error_null(!state ? "state" : !name ? "name" : "buffer");
    const part *p = find_part(state, name);
    if (!p)
        return error_set(TSR_ENOTFOUND, "the state has no '%s'", name);
    *buffer = p->memory;
    if (bytes)
        *bytes = p->bytes;
    return TSR_SUCCESS;
}

/* ---- launches ---- */

/* Arguments of the state: the donated inputs, and the outputs that replace them. */
static tsr_status_t fill_state(const metadata *m, tsr_state_t state, void **all) {
    for (uint32_t i = 0; i < m->inputs; i++) {
        if (!is_donated(m, i))
            continue;
        const metadata_parameter *wanted = &m->parameters[i];
        part *p = find_part(state, wanted->name);
        if (!p || p->bytes != wanted->size_bytes)
            return error_set(p ? TSR_EINVAL : TSR_ENOTFOUND,
                             "the state has no '%s' of %zu bytes, which kernel '%s' changes",
                             wanted->name, wanted->size_bytes, m->name);
        all[i] = all[m->inputs + m->donated[i]] = &p->memory;
    }
    return TSR_SUCCESS;
}

/* The caller's, in the places that are left. */
static tsr_status_t fill_others(const metadata *m, size_t count, void **args, size_t nargs,
                                void **all) {
    size_t left = 0, taken = 0;
    for (size_t i = 0; i < count; i++)
        left += all[i] == NULL;
    if (nargs != left)
        return error_set(TSR_EINVAL, "kernel '%s' takes %zu arguments beside its state, not %zu",
                         m->name, left, nargs);
    for (size_t i = 0; i < count; i++)
        if (!all[i])
            all[i] = args[taken++];
    return TSR_SUCCESS;
}

tsr_status_t tsrLaunchState(tsr_kernel_t kernel, tsr_state_t state, tsr_stream_t stream,
                            tsr_launch_t spec, void **args, size_t nargs) {
    if (!kernel || !state)
        return error_null(kernel ? "state" : "kernel");
    if (nargs && !args)
        return error_null("args");
    const metadata *m = kernel->metadata;
    if (kernel->module->context != state->context)
        return error_set(TSR_EINVAL, "the state belongs to another context than kernel '%s'",
                         m->name);
    const size_t count = (size_t)m->inputs + m->outputs + m->dims;
    void **all = base_calloc(count + 1, sizeof *all);
    tsr_status_t result = fill_state(m, state, all);
    if (result == TSR_SUCCESS)
        result = fill_others(m, count, args, nargs, all);
    if (result == TSR_SUCCESS)
        result = tsrLaunch(kernel, stream, spec, all, count);
    free(all);
    return result;
}
