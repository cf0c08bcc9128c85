/* mock_list.c - lists of commands of the mock, and what the commands do. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/mock_level_zero/mock.h"

/* ---- running ---- */

static unsigned char *resolve(uint64_t address, size_t bytes) {
    pthread_mutex_lock(&mock_state.mutex);
    unsigned char *host = mock_resolve(address, bytes);
    pthread_mutex_unlock(&mock_state.mutex);
    return host;
}

static bool is_ended(void) {
    pthread_mutex_lock(&mock_state.mutex);
    bool ended = mock_state.ended;
    pthread_mutex_unlock(&mock_state.mutex);
    return ended;
}

uint64_t mock_ticks(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return ns / MOCK_TICK_NS & UINT32_MAX;
}

static pretend_flaw flaw_of(const mock_kernel *k) {
    return k->divides ? (pretend_flaw)pretend_fault("flaw", NO_FLAW) : DIVIDES_LOOSELY;
}

static bool probe(const mock_kernel *k) {
    const size_t number = k->is_wide ? sizeof(double) : sizeof(float);
    const bool converts = strcmp(k->entry.name, "probe_conversions") == 0;
    void *in = resolve(k->arguments[0], (size_t)(converts ? 1 : 3) * PROBE_NUMBERS * number),
         *out = resolve(k->arguments[1], (size_t)(converts ? 2 : 5) * PROBE_NUMBERS * number);
    if (!in || !out)
        return false;
    if (converts)
        pretend_conversions_f16(in, out);
    else if (k->is_wide)
        pretend_arithmetic_f64(in, out, (pretend_flaw)pretend_fault("wide_flaw", NO_FLAW));
    else
        pretend_arithmetic_f32(in, out, flaw_of(k));
    return true;
}

void mock_lose(ze_result_t result) {
    pthread_mutex_lock(&mock_state.mutex);
    if (mock_state.lost == ZE_RESULT_SUCCESS)
        mock_state.lost = result;
    pthread_cond_broadcast(&mock_state.changed);
    pthread_mutex_unlock(&mock_state.mutex);
}

static bool launch(const mock_command *c) {
    const mock_kernel *k = &c->kernel;
    if (mock_is_probe(k->entry.name))
        return probe(k);
    pthread_mutex_lock(&mock_state.mutex);
    const long number = (long)++mock_state.counts.launches;
    pthread_mutex_unlock(&mock_state.mutex);
    const bool loses = pretend_fault("lost", 0) && number == pretend_fault("at", 1);
    bool ok = pretend_run(&(pretend_launch){.name = k->entry.name,
                                            .arguments = k->arguments,
                                            .workgroups = c->workgroups,
                                            .resolve = resolve,
                                            .is_ended = is_ended});
    if (loses)
        mock_lose((ze_result_t)pretend_fault("lost", 0));
    return ok;
}

static bool move(const mock_command *c) {
    unsigned char *to = resolve(c->to, c->bytes);
    const unsigned char *from = c->kind == MOCK_COPY ? resolve(c->from, c->bytes) : NULL;
    if (c->kind == MOCK_FILL && to)
        memset(to, c->byte, c->bytes);
    else if (to && from)
        memcpy(to, from, c->bytes);
    return to && (from || c->kind == MOCK_FILL);
}

static bool mark(mock_event *e, uint64_t start) {
    pthread_mutex_lock(&mock_state.mutex);
    const bool was_reset = !e->happened, wraps = pretend_fault("wrap", 0);
    pthread_cond_broadcast(&mock_state.changed);
    *e = (mock_event){true, e->uses - 1, wraps ? UINT32_MAX - 9 : start, wraps ? 90 : mock_ticks()};
    pthread_mutex_unlock(&mock_state.mutex);
    return was_reset;
}

static bool wait_for(mock_event *e) {
    pthread_mutex_lock(&mock_state.mutex);
    while (!e->happened && mock_state.lost == ZE_RESULT_SUCCESS)
        pthread_cond_wait(&mock_state.changed, &mock_state.mutex);
    e->uses--;
    pthread_mutex_unlock(&mock_state.mutex);
    return true;
}

static bool write_time(const mock_command *c) {
    const uint64_t ticks = mock_ticks();
    unsigned char *to = resolve(c->to, sizeof ticks);
    if (to)
        memcpy(to, &ticks, sizeof ticks);
    return to;
}

static bool execute(const mock_command *c) {
    switch (c->kind) {
    case MOCK_LAUNCH:
        return launch(c);
    case MOCK_TIME:
        return write_time(c);
    case MOCK_WAIT:
        return wait_for(c->event);
    default:
        return move(c);
    }
}

static void run(const mock_command *c) {
    const uint64_t start = mock_ticks();
    if (mock_result("") != ZE_RESULT_SUCCESS)
        return;
    bool ok = execute(c);
    if (c->event && c->kind != MOCK_WAIT)
        ok = mark(c->event, start) && ok;
    if (!ok)
        mock_lose(ZE_RESULT_ERROR_DEVICE_LOST);
}

void mock_run(const mock_list *l) {
    for (size_t from = 0, to; from < l->count; from = to + 1) {
        for (to = from; to < l->count && l->commands[to].kind != MOCK_BARRIER; to++)
            ;
        for (size_t i = to; i > from; i--)
            run(&l->commands[i - 1]);
    }
}

/* ---- lists ---- */

static bool has_room(void) {
    pthread_mutex_lock(&mock_state.mutex);
    bool room = (long)mock_state.counts.lists < pretend_fault("lists", 1000);
    pthread_mutex_unlock(&mock_state.mutex);
    return room;
}

static ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                          const ze_command_list_desc_t *desc, ze_command_list_handle_t *out) {
    ze_result_t result = mock_result("list");
    (void)context, (void)device;
    if (desc->stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC || desc->commandQueueGroupOrdinal != 1)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!has_room())
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out = (ze_command_list_handle_t)calloc(1, sizeof(mock_list));
    return mock_count(&mock_state.counts.lists, 1);
}

static ze_result_t destroy(ze_command_list_handle_t list) {
    free(((mock_list *)(void *)list)->commands);
    free(list);
    return mock_count(&mock_state.counts.lists, -1);
}

/* Closed or opened again; not while it runs. */
static ze_result_t change(ze_command_list_handle_t handle, bool closes) {
    mock_list *l = (mock_list *)(void *)handle;
    pthread_mutex_lock(&mock_state.mutex);
    const bool ok = !l->runs && !(closes && l->is_closed);
    if (ok) {
        l->is_closed = closes;
        l->count = closes ? l->count : 0;
        l->has_run = false;
    }
    pthread_mutex_unlock(&mock_state.mutex);
    return ok ? mock_result("") : ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
}

static ze_result_t close_list(ze_command_list_handle_t list) {
    return change(list, true);
}

static ze_result_t reset_list(ze_command_list_handle_t list) {
    return change(list, false);
}

/* ---- appending ---- */

static ze_result_t append(ze_command_list_handle_t handle, const mock_command *c,
                          uint32_t awaited) {
    mock_list *l = (mock_list *)(void *)handle;
    ze_result_t result = mock_result("");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (l->is_closed || awaited)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    l->commands = realloc(l->commands, (l->count + 1) * sizeof *l->commands);
    l->commands[l->count++] = *c;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t event,
                                  uint32_t awaited, ze_event_handle_t *events) {
    (void)events;
    const mock_command c = {.kind = MOCK_BARRIER};
    return append(list, &c, awaited || event);
}

static ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from,
                               size_t bytes, ze_event_handle_t event, uint32_t awaited,
                               ze_event_handle_t *events) {
    (void)events;
    const mock_command c = {.kind = MOCK_COPY,
                            .to = (uint64_t)(uintptr_t)to,
                            .from = (uint64_t)(uintptr_t)from,
                            .bytes = bytes,
                            .event = (mock_event *)(void *)event};
    return append(list, &c, awaited);
}

static ze_result_t append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
                               size_t pattern_bytes, size_t bytes, ze_event_handle_t event,
                               uint32_t awaited, ze_event_handle_t *events) {
    (void)events;
    const mock_command c = {.kind = MOCK_FILL,
                            .to = (uint64_t)(uintptr_t)to,
                            .byte = *(const unsigned char *)pattern,
                            .bytes = bytes,
                            .event = (mock_event *)(void *)event};
    return pattern_bytes == 1 ? append(list, &c, awaited) : ZE_RESULT_ERROR_INVALID_SIZE;
}

static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *workgroups, ze_event_handle_t event,
                                 uint32_t awaited, ze_event_handle_t *events) {
    const mock_kernel *k = (const mock_kernel *)(void *)kernel;
    const mock_command c = {.kind = MOCK_LAUNCH,
                            .kernel = *k,
                            .workgroups = workgroups->groupCountX,
                            .event = (mock_event *)(void *)event};
    ze_result_t result = mock_is_probe(k->entry.name) ? ZE_RESULT_SUCCESS : mock_result("append");
    (void)events;
    if (k->group_size != k->entry.threads || workgroups->groupCountX == 0 ||
        workgroups->groupCountY != 1 || workgroups->groupCountZ != 1)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return result != ZE_RESULT_SUCCESS ? result : append(list, &c, awaited);
}

static ze_result_t append_time(ze_command_list_handle_t list, uint64_t *to, ze_event_handle_t event,
                               uint32_t awaited, ze_event_handle_t *events) {
    (void)events;
    const mock_command c = {
        .kind = MOCK_TIME, .to = (uint64_t)(uintptr_t)to, .event = (mock_event *)(void *)event};
    return append(list, &c, awaited);
}

static ze_result_t append_wait(ze_command_list_handle_t list, uint32_t count,
                               ze_event_handle_t *events) {
    const mock_command c = {.kind = MOCK_WAIT, .event = (mock_event *)(void *)events[0]};
    return append(list, &c, count - 1);
}

const ze_command_list_dditable_t mock_list_table = {.pfnCreate = create,
                                                    .pfnDestroy = destroy,
                                                    .pfnClose = close_list,
                                                    .pfnReset = reset_list,
                                                    .pfnAppendBarrier = append_barrier,
                                                    .pfnAppendWriteGlobalTimestamp = append_time,
                                                    .pfnAppendWaitOnEvents = append_wait,
                                                    .pfnAppendMemoryCopy = append_copy,
                                                    .pfnAppendMemoryFill = append_fill,
                                                    .pfnAppendLaunchKernel = append_launch};
