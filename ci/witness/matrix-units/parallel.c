/* parallel.c - a loop over indices on all processors: parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, PIECE = 16 };

typedef struct loop {
    size_t count;
    atomic_size_t next;
    void (*body)(void *, size_t, size_t);
    void *context;
} loop;

typedef struct worker {
    loop *loop;
    size_t number;
} worker;

size_t parallel_workers(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (size_t)processors;
}

static void *work(void *argument) {
    worker *w = argument;
    loop *l = w->loop;
    for (size_t first; (first = atomic_fetch_add(&l->next, PIECE)) < l->count;)
        for (size_t i = first; i < first + PIECE && i < l->count; i++)
            l->body(l->context, w->number, i);
    return NULL;
}

void parallel_for(size_t count, void (*body)(void *context, size_t worker, size_t i),
                  void *context) {
    loop l = {.count = count, .body = body, .context = context};
    pthread_t threads[WORKERS_MAX];
    worker workers[WORKERS_MAX];
    size_t number = parallel_workers();
    for (size_t w = 0; w < number; w++) {
        workers[w] = (worker){&l, w};
        if (pthread_create(&threads[w], NULL, work, &workers[w])) {
            fprintf(stderr, "matrix-units: no thread\n");
            exit(2);
        }
    }
    for (size_t w = 0; w < number; w++)
        pthread_join(threads[w], NULL);
}
