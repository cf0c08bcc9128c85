/* foreign_freeze.c - guests that do nothing between calls, and neither does what they have started.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/foreign/foreign_parts.h"

pthread_mutex_t foreign_living_mutex = PTHREAD_MUTEX_INITIALIZER;
foreign_image *foreign_living;
foreign_started_list foreign_started;
static bool (*spared)(pid_t pid);
static _Thread_local uint64_t called, wakes;

void foreign_freeze_enter(foreign_image *image) {
    static uint64_t numbers;
    pthread_mutex_lock(&foreign_living_mutex);
    image->number = ++numbers;
    image->next_living = foreign_living;
    foreign_living = image;
    image->awake_since_ns = clock_now_ns();
    called = image->number;
    pthread_mutex_unlock(&foreign_living_mutex);
}

void foreign_freeze_leave(foreign_image *image) {
    pthread_mutex_lock(&foreign_living_mutex);
    for (foreign_image **at = &foreign_living; *at; at = &(*at)->next_living)
        if (*at == image) {
            *at = image->next_living;
            break;
        }
    image->frozen = false;
    pthread_mutex_unlock(&foreign_living_mutex);
}

void foreign_note_call(const foreign_image *image, bool woken) {
    called = image->number;
    wakes += woken;
}

uint64_t foreign_wakes(void) {
    return wakes;
}

uint64_t foreign_called(void) {
    return called;
}

void foreign_spare(bool (*those)(pid_t pid)) {
    spared = those;
}

bool foreign_is_spared(pid_t pid) {
    return spared && spared(pid);
}

/* ---- stopping ---- */

/* It has stopped, or ended, when this returns; what is waited for is left to others. */
static void stop(foreign_image *image) {
    siginfo_t about;
    kill(-image->pid, SIGSTOP);
    while (waitid(P_PID, (id_t)image->pid, &about, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
           errno == EINTR)
        ;
    image->frozen = true;
    image->awake_ns += clock_now_ns() - image->awake_since_ns;
}

static foreign_image *image_of(uint64_t number) {
    for (foreign_image *image = foreign_living; image; image = image->next_living)
        if (image->number == number)
            return image;
    return NULL;
}

static void stop_started(uint64_t owner) {
    for (size_t i = 0; i < foreign_started.count; i++) {
        foreign_started_process *p = &foreign_started.items[i];
        const foreign_image *image = image_of(p->owner);
        if (!p->stopped && (!image || image->frozen || p->owner == owner)) {
            kill(p->pid, SIGSTOP);
            p->stopped = true;
        }
    }
}

/* Those that were made while others were being stopped are stopped, too. */
static void freeze(uint64_t only) {
    enum { ROUNDS_MAX = 8 };
    uint64_t in_hand = only;
    bool any = false;
    for (foreign_image *image = foreign_living; image; image = image->next_living)
        if (!image->frozen && (!only || image->number == only)) {
            stop(image);
            in_hand = image->number;
            any = true;
        }
    for (int round = 0; any && round < ROUNDS_MAX && foreign_find_started(in_hand); round++)
        stop_started(in_hand);
}

void foreign_freeze(void) {
    pthread_mutex_lock(&foreign_living_mutex);
    freeze(0);
    pthread_mutex_unlock(&foreign_living_mutex);
}

void foreign_freeze_called(void) {
    pthread_mutex_lock(&foreign_living_mutex);
    if (image_of(called))
        freeze(called);
    pthread_mutex_unlock(&foreign_living_mutex);
}

void foreign_thaw(foreign_image *image) {
    pthread_mutex_lock(&foreign_living_mutex);
    if (image->frozen)
        image->awake_since_ns = clock_now_ns();
    if (image->frozen && image->pid)
        kill(-image->pid, SIGCONT);
    for (size_t i = 0; image->frozen && i < foreign_started.count; i++)
        if (foreign_started.items[i].owner == image->number) {
            kill(foreign_started.items[i].pid, SIGCONT);
            foreign_started.items[i].stopped = false;
        }
    image->frozen = false;
    pthread_mutex_unlock(&foreign_living_mutex);
}

void foreign_keep_awake(bool awake) {
    pthread_mutex_lock(&foreign_living_mutex);
    for (const foreign_image *image = foreign_living; image; image = image->next_living)
        if (image->ring)
            atomic_store(&image->ring->spin_pauses, awake ? image->pauses_in_part : image->pauses);
    pthread_mutex_unlock(&foreign_living_mutex);
}

/* ---- their end ---- */

/* Those that became children of this process. The first process of a namespace is gone when the
 * others are, so none is waited for alone. */
static void reap(foreign_processes *left) {
    enum { TRIES_MAX = 10000, EVERY_US = 100 };
    size_t waiting = left->count;
    for (int i = 0; waiting && i < TRIES_MAX; i++) {
        waiting = 0;
        for (size_t k = 0; k < left->count; k++) {
            if (left->items[k] && waitpid(left->items[k], NULL, WNOHANG) != 0)
                left->items[k] = 0;
            waiting += left->items[k] != 0;
        }
        if (waiting)
            usleep(EVERY_US);
    }
}

/* Those that they made meanwhile come to this process, too. */
void foreign_end_left_behind(bool (*those)(pid_t pid)) {
    enum { ROUNDS_MAX = 100 };
    bool any = true;
    for (int round = 0; any && round < ROUNDS_MAX; round++) {
        pthread_mutex_lock(&foreign_living_mutex);
        foreign_processes left = foreign_left_behind(those);
        for (size_t i = 0; i < left.count; i++)
            kill(left.items[i], SIGKILL);
        pthread_mutex_unlock(&foreign_living_mutex);
        any = left.count > 0;
        reap(&left);
        vec_release(&left);
    }
}

void foreign_keep_apart(void) {
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}
