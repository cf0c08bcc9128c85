/* mock_queue.c - queues of the mock, each a thread that runs lists in the order in which it was
 * given them; fences and events. */
#include <stdlib.h>
#include <time.h>

#include "test/mock_level_zero/mock.h"

typedef struct queue queue;

typedef struct fence {
    queue *of;
    bool is_given, happened;
} fence;

typedef struct submission {
    struct submission *next;
    mock_list *list;
    fence *fence;
} submission;

struct queue {
    pthread_t thread;
    submission *first, **last;
    bool stops;
};

/* ---- queues ---- */

/* With the lock held, but while the list runs. */
static void run_first(queue *q) {
    submission *s = q->first;
    pthread_mutex_unlock(&mock_state.mutex);
    mock_run(s->list);
    pthread_mutex_lock(&mock_state.mutex);
    s->list->runs = false;
    s->fence->happened = true;
    q->first = s->next;
    if (!q->first)
        q->last = &q->first;
    free(s);
    pthread_cond_broadcast(&mock_state.changed);
}

static void *queue_main(void *argument) {
    queue *q = argument;
    pthread_mutex_lock(&mock_state.mutex);
    while (q->first || !q->stops)
        if (q->first)
            run_first(q);
        else
            pthread_cond_wait(&mock_state.changed, &mock_state.mutex);
    pthread_mutex_unlock(&mock_state.mutex);
    return NULL;
}

static ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                          const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *out) {
    ze_result_t result = mock_result("queue");
    (void)context, (void)device;
    if (desc->stype != ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC || desc->ordinal != 1 ||
        desc->index != 0 || desc->mode != ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    queue *q = calloc(1, sizeof *q);
    q->last = &q->first;
    if (pthread_create(&q->thread, NULL, queue_main, q) != 0)
        abort();
    *out = (ze_command_queue_handle_t)(void *)q;
    return mock_count(&mock_state.counts.queues, 1);
}

static ze_result_t destroy(ze_command_queue_handle_t handle) {
    queue *q = (queue *)(void *)handle;
    pthread_mutex_lock(&mock_state.mutex);
    q->stops = true;
    pthread_cond_broadcast(&mock_state.changed);
    pthread_mutex_unlock(&mock_state.mutex);
    pthread_join(q->thread, NULL);
    free(q);
    return mock_count(&mock_state.counts.queues, -1);
}

/* With the lock held. */
static ze_result_t take(queue *q, mock_list *l, fence *f) {
    if (!l->is_closed || l->runs || f->of != q)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (f->is_given)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (l->has_run && pretend_fault("again", 0))
        return (ze_result_t)pretend_fault("again", 0);
    mock_state.counts.repeats += l->has_run;
    mock_state.counts.lists_given++;
    l->has_run = true;
    for (size_t i = 0; i < l->count; i++) {
        const mock_command *c = &l->commands[i];
        mock_state.counts.given += c->kind == MOCK_LAUNCH && !mock_is_probe(c->kernel.entry.name);
        if (c->event)
            c->event->uses++;
    }
    submission *s = calloc(1, sizeof *s);
    *s = (submission){.list = l, .fence = f};
    l->runs = f->is_given = true;
    *q->last = s;
    q->last = &s->next;
    pthread_cond_broadcast(&mock_state.changed);
    return ZE_RESULT_SUCCESS;
}

static bool is_probe(const mock_list *l) {
    return l->count && l->commands[0].kind == MOCK_LAUNCH &&
           mock_is_probe(l->commands[0].kernel.entry.name);
}

static bool launches(const mock_list *l) {
    return l->count && l->commands[0].kind == MOCK_LAUNCH && !is_probe(l);
}

static ze_result_t execute(ze_command_queue_handle_t handle, uint32_t count,
                           ze_command_list_handle_t *lists, ze_fence_handle_t given) {
    mock_list *l = (mock_list *)(void *)lists[0];
    ze_result_t result = launches(l) ? mock_result("execute") : mock_result("");
    if (result != ZE_RESULT_SUCCESS || count != 1)
        return result != ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock_state.mutex);
    result = take((queue *)(void *)handle, l, (fence *)(void *)given);
    pthread_mutex_unlock(&mock_state.mutex);
    return result;
}

/* ---- fences ---- */

static ze_result_t create_fence(ze_command_queue_handle_t of, const ze_fence_desc_t *desc,
                                ze_fence_handle_t *out) {
    ze_result_t result = mock_result("fence_made");
    if (desc->stype != ZE_STRUCTURE_TYPE_FENCE_DESC || result != ZE_RESULT_SUCCESS)
        return result != ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    fence *f = calloc(1, sizeof *f);
    f->of = (queue *)(void *)of;
    *out = (ze_fence_handle_t)(void *)f;
    return mock_count(&mock_state.counts.fences, 1);
}

/* Waits for a list that a lost device is still at: its end was told before. */
static ze_result_t destroy_fence(ze_fence_handle_t handle) {
    const fence *f = (const fence *)(void *)handle;
    pthread_mutex_lock(&mock_state.mutex);
    while (f->is_given && !f->happened)
        pthread_cond_wait(&mock_state.changed, &mock_state.mutex);
    pthread_mutex_unlock(&mock_state.mutex);
    free(handle);
    return mock_count(&mock_state.counts.fences, -1);
}

static ze_result_t wait_for_fence(ze_fence_handle_t handle, uint64_t limit_ns) {
    const fence *f = (const fence *)(void *)handle;
    struct timespec until;
    int passed = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)limit_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mock_state.mutex);
    while (!f->happened && !passed)
        passed = pthread_cond_timedwait(&mock_state.changed, &mock_state.mutex, &until);
    bool happened = f->happened, computed = mock_state.counts.launches > 0;
    pthread_mutex_unlock(&mock_state.mutex);
    ze_result_t result = mock_result(computed ? "fence" : "");
    return result != ZE_RESULT_SUCCESS ? result
           : happened                  ? ZE_RESULT_SUCCESS
                                       : ZE_RESULT_NOT_READY;
}

static ze_result_t query_fence(ze_fence_handle_t handle) {
    return wait_for_fence(handle, 0);
}

static ze_result_t reset_fence(ze_fence_handle_t handle) {
    fence *f = (fence *)(void *)handle;
    pthread_mutex_lock(&mock_state.mutex);
    const bool ok = f->happened || !f->is_given;
    if (ok)
        f->happened = f->is_given = false;
    pthread_mutex_unlock(&mock_state.mutex);
    return ok ? mock_result("") : ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
}

/* ---- events ---- */

enum { EVENTS_MOST = 64 };

static ze_result_t create_pool(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                               uint32_t count, ze_device_handle_t *devices,
                               ze_event_pool_handle_t *out) {
    ze_result_t result = mock_result("pool");
    (void)context, (void)devices;
    if (desc->stype != ZE_STRUCTURE_TYPE_EVENT_POOL_DESC || count != 1 ||
        desc->count > EVENTS_MOST || !(desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out = (ze_event_pool_handle_t)calloc(1, 1);
    return mock_count(&mock_state.counts.pools, 1);
}

static ze_result_t destroy_pool(ze_event_pool_handle_t pool) {
    free(pool);
    return mock_count(&mock_state.counts.pools, -1);
}

static ze_result_t create_event(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                ze_event_handle_t *out) {
    ze_result_t result = mock_result("");
    (void)pool;
    if (desc->stype != ZE_STRUCTURE_TYPE_EVENT_DESC || result != ZE_RESULT_SUCCESS)
        return result != ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *out = (ze_event_handle_t)calloc(1, sizeof(mock_event));
    return mock_count(&mock_state.counts.events, 1);
}

static bool is_used(ze_event_handle_t event) {
    pthread_mutex_lock(&mock_state.mutex);
    const bool used = ((const mock_event *)(const void *)event)->uses > 0;
    pthread_mutex_unlock(&mock_state.mutex);
    if (used)
        mock_lose(ZE_RESULT_ERROR_DEVICE_LOST);
    return used;
}

static ze_result_t destroy_event(ze_event_handle_t event) {
    (void)is_used(event);
    free(event);
    return mock_count(&mock_state.counts.events, -1);
}

static ze_result_t reset_event(ze_event_handle_t event) {
    if (is_used(event))
        return mock_result("");
    pthread_mutex_lock(&mock_state.mutex);
    ((mock_event *)(void *)event)->happened = false;
    pthread_mutex_unlock(&mock_state.mutex);
    return mock_result("");
}

static ze_result_t query_event(ze_event_handle_t event) {
    pthread_mutex_lock(&mock_state.mutex);
    const bool happened = ((const mock_event *)(const void *)event)->happened;
    pthread_mutex_unlock(&mock_state.mutex);
    const ze_result_t result = mock_result("");
    return result == ZE_RESULT_SUCCESS && !happened ? ZE_RESULT_NOT_READY : result;
}

static ze_result_t get_times(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out) {
    pthread_mutex_lock(&mock_state.mutex);
    const mock_event e = *(const mock_event *)(void *)handle;
    pthread_mutex_unlock(&mock_state.mutex);
    *out = (ze_kernel_timestamp_result_t){.global = {e.start, e.end}, .context = {e.start, e.end}};
    return e.happened ? mock_result("") : ZE_RESULT_NOT_READY;
}

const ze_command_queue_dditable_t mock_queue_table = {
    .pfnCreate = create, .pfnDestroy = destroy, .pfnExecuteCommandLists = execute};
const ze_fence_dditable_t mock_fence_table = {.pfnCreate = create_fence,
                                              .pfnDestroy = destroy_fence,
                                              .pfnHostSynchronize = wait_for_fence,
                                              .pfnQueryStatus = query_fence,
                                              .pfnReset = reset_fence};
const ze_event_pool_dditable_t mock_pool_table = {.pfnCreate = create_pool,
                                                  .pfnDestroy = destroy_pool};
const ze_event_dditable_t mock_event_table = {.pfnCreate = create_event,
                                              .pfnDestroy = destroy_event,
                                              .pfnQueryStatus = query_event,
                                              .pfnHostReset = reset_event,
                                              .pfnQueryKernelTimestamp = get_times};
