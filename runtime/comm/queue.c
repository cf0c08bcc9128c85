/* queue.c - see queue.h. */
#include "comm/queue.h"

#include "base/clock.h"
#include "base/thread.h"

void comm_queue_init(comm_queue *q, comm *c) {
    *q = (comm_queue){.comm = c};
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->changed, NULL);
}

static void run(comm_queue *q, comm_job *job) {
    job->start_ns = clock_now_ns();
    job->ok = job->run(q->comm, job, &job->st);
    job->end_ns = clock_now_ns();
}

/* The mutex is held. */
static void end_first(comm_queue *q) {
    const comm_job *first = q->first;
    comm_job *next = first->next;
    q->first->ended = true;
    for (; next && !first->ok; next = next->next) {
        next->st = first->st;
        next->start_ns = next->end_ns = first->end_ns;
        next->ended = true;
    }
    q->first = next;
    if (!next)
        q->last = NULL;
    pthread_cond_broadcast(&q->changed);
}

static void *run_all(void *queue) {
    comm_queue *q = queue;
    pthread_mutex_lock(&q->mutex);
    while (!q->stops || q->first) {
        comm_job *job = q->first;
        if (!job) {
            pthread_cond_wait(&q->changed, &q->mutex);
            continue;
        }
        pthread_mutex_unlock(&q->mutex);
        run(q, job);
        pthread_mutex_lock(&q->mutex);
        end_first(q);
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

void comm_queue_release(comm_queue *q) {
    pthread_mutex_lock(&q->mutex);
    q->stops = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    if (q->started)
        pthread_join(q->thread, NULL);
    pthread_mutex_destroy(&q->mutex);
    pthread_cond_destroy(&q->changed);
}

void comm_queue_give(comm_queue *q, comm_job *job, bool soon) {
    pthread_mutex_lock(&q->mutex);
    const bool here =
        !q->first &&
        (soon || (!q->started && !(q->started = thread_start(&q->thread, run_all, q))));
    job->next = NULL;
    job->ended = here;
    if (!here) {
        *(q->first ? &q->last->next : &q->first) = job;
        q->last = job;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->mutex);
    if (here) /* nobody else knows of it */
        run(q, job);
}

bool comm_queue_ended(comm_queue *q, const comm_job *job) {
    pthread_mutex_lock(&q->mutex);
    const bool ended = job->ended;
    pthread_mutex_unlock(&q->mutex);
    return ended;
}

bool comm_queue_await(comm_queue *q, comm_job *job, status *st) {
    pthread_mutex_lock(&q->mutex);
    while (!job->ended)
        pthread_cond_wait(&q->changed, &q->mutex);
    pthread_mutex_unlock(&q->mutex);
    if (!job->ok)
        *st = job->st;
    return job->ok;
}
