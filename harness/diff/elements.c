/* elements.c - blocks shared out to threads; details only where blocks differ. */
#include "diff/elements.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    STEP_BYTES = 1 << 20, /* what a thread takes at a time */
    BLOCK_BYTES = 1 << 12,
    THREADS_MAX = 8
};

typedef struct shared_work {
    dtype type;
    const unsigned char *a, *b;
    size_t size_bytes;
    atomic_size_t next; /* byte offset of the next step */
} shared_work;

typedef struct worker_part {
    shared_work *work;
    element_diff found;
} worker_part;

static void note(element_diff *d, dtype type, int64_t at, uint64_t a, uint64_t b) {
    uint64_t ulp = dtype_ulp_distance(type, a, b);
    if (ulp == 0 && histogram_is_nan(type, a)) {
        d->nan_payloads++;
        return;
    }
    int bucket = histogram_bucket(type, a, b, ulp);
    d->differing++;
    d->histogram[bucket]++;
    if (d->first < 0 || at < d->first) {
        d->first = at;
        d->first_a = a;
        d->first_b = b;
    }
    if (bucket == HISTOGRAM_NAN)
        return;
    if (d->max_ulp_at < 0 || ulp > d->max_ulp || (ulp == d->max_ulp && at < d->max_ulp_at)) {
        d->max_ulp = ulp;
        d->max_ulp_at = at;
    }
    double apart = fabs(dtype_load(type, &a, 0) - dtype_load(type, &b, 0));
    if (isinf(apart))
        d->infinite++;
    else
        d->max_absolute = fmax(d->max_absolute, apart);
}

static void look_closely(shared_work *w, size_t start, size_t end, element_diff *d) {
    size_t size = dtype_size(w->type);
    for (size_t i = start / size; i < end / size; i++) {
        uint64_t a = dtype_load_bits(w->type, w->a, i), b = dtype_load_bits(w->type, w->b, i);
        if (a != b)
            note(d, w->type, (int64_t)i, a, b);
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static void *work_on(void *context) {
    worker_part *part = context;
    shared_work *w = part->work;
    size_t start;
    while ((start = atomic_fetch_add(&w->next, STEP_BYTES)) < w->size_bytes) {
        size_t end = least(start + STEP_BYTES, w->size_bytes);
        if (memcmp(w->a + start, w->b + start, end - start) == 0)
            continue;
        for (; start < end; start += BLOCK_BYTES) {
            size_t stop = least(start + BLOCK_BYTES, end);
            if (memcmp(w->a + start, w->b + start, stop - start) != 0)
                look_closely(w, start, stop, &part->found);
        }
    }
    return NULL;
}

static void merge(element_diff *into, const element_diff *from) {
    into->differing += from->differing;
    into->nan_payloads += from->nan_payloads;
    if (from->first >= 0 && (into->first < 0 || from->first < into->first)) {
        into->first = from->first;
        into->first_a = from->first_a;
        into->first_b = from->first_b;
    }
    bool greater = from->max_ulp > into->max_ulp ||
                   (from->max_ulp == into->max_ulp && from->max_ulp_at < into->max_ulp_at);
    if (from->max_ulp_at >= 0 && (into->max_ulp_at < 0 || greater)) {
        into->max_ulp = from->max_ulp;
        into->max_ulp_at = from->max_ulp_at;
    }
    into->infinite += from->infinite;
    into->max_absolute = fmax(into->max_absolute, from->max_absolute);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->histogram[i] += from->histogram[i];
}

static int thread_count(size_t size_bytes) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = least(size_bytes / (4 * STEP_BYTES), THREADS_MAX);
    return (int)least(wanted, cores > 0 ? (size_t)cores : 1);
}

void elements_diff(dtype type, const void *a, const void *b, int64_t count, element_diff *out) {
    const element_diff nothing = {.count = count, .first = -1, .max_ulp_at = -1};
    shared_work work = {
        .type = type, .a = a, .b = b, .size_bytes = (size_t)count * dtype_size(type)};
    worker_part parts[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    int started = 1, wanted = thread_count(work.size_bytes);
    parts[0] = (worker_part){&work, nothing};
    for (; started < wanted; started++) {
        parts[started] = (worker_part){&work, nothing};
        if (pthread_create(&threads[started], NULL, work_on, &parts[started]) != 0)
            break;
    }
    work_on(&parts[0]);
    *out = parts[0].found;
    for (int i = 1; i < started; i++) {
        pthread_join(threads[i], NULL);
        merge(out, &parts[i].found);
    }
}

void elements_index(int rank, const int64_t *dims, int64_t flat, int64_t index[TENSOR_MAX_RANK]) {
    for (int axis = rank - 1; axis >= 0; axis--) {
        index[axis] = flat % dims[axis];
        flat /= dims[axis];
    }
}
