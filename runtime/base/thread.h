/* thread.h - starting threads that stay out of the program's way. */
#ifndef TESSERA_BASE_THREAD_H
#define TESSERA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts `run(argument)` with asynchronous signals blocked: those belong to the program's own
 * threads. Faults (SIGSEGV and its kin) still reach their handlers. False when the system gives no
 * thread. */
bool thread_start(pthread_t *thread_out, void *(*run)(void *), void *argument);

#endif
