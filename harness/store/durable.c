/* durable.c - a thread that calls fdatasync when it is asked to. */
#include "store/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/thread.h"

struct durable {
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t asked, done; /* requests */
    bool stop;
    int error; /* errno of the first refusal that nobody was told yet */
};

static void *serve(void *argument) {
    durable *d = argument;
    pthread_mutex_lock(&d->mutex);
    for (;;) {
        while (d->asked == d->done && !d->stop)
            pthread_cond_wait(&d->changed, &d->mutex);
        if (d->asked == d->done)
            break;
        uint64_t request = d->asked;
        pthread_mutex_unlock(&d->mutex);
        int error = fdatasync(d->fd) == 0 ? 0 : errno;
        pthread_mutex_lock(&d->mutex);
        d->done = request;
        if (error && !d->error)
            d->error = error;
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

durable *durable_start(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    durable *d = base_calloc(1, sizeof *d);
    d->fd = fd;
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (thread_start(&d->thread, serve, d))
        return d;
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->mutex);
    close(fd);
    free(d);
    return NULL;
}

void durable_request(durable *d) {
    pthread_mutex_lock(&d->mutex);
    d->asked++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
}

bool durable_wait(durable *d, status *st) {
    pthread_mutex_lock(&d->mutex);
    while (d->asked != d->done)
        pthread_cond_wait(&d->changed, &d->mutex);
    int error = d->error;
    d->error = 0;
    pthread_mutex_unlock(&d->mutex);
    return error == 0 ||
           status_set_errno(st, error, "the disk did not take the last result for good");
}

void durable_stop(durable *d) {
    if (!d)
        return;
    pthread_mutex_lock(&d->mutex);
    d->stop = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->mutex);
    close(d->fd);
    free(d);
}
