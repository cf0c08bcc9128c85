/* thread.h - starting threads that stay out of the program's way, and conditions by the clock of
 * clock.h. */
#ifndef TESSERA_BASE_THREAD_H
#define TESSERA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts `run(argument)` with asynchronous signals blocked: those belong to the program's own
 * threads. Faults (SIGSEGV and its kin) still reach their handlers. False when the system gives no
 * thread. */
bool thread_start(pthread_t *thread_out, void *(*run)(void *), void *argument);

/* A condition whose moments are those of clock_now_ns. */
void thread_condition_init(pthread_cond_t *condition);
/* Waits for it, at most until the moment; returns early now and then, as every wait does. */
void thread_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns);

#endif
