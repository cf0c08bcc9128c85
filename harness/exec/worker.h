/* worker.h - a process that runs jobs, so that a crash, a hang or a lack of memory ends that job
 * alone.
 *
 * The parent starts this program again (exec: clean state) with two pipes and sends one JSON line
 * per job; the worker answers with {"stage": NAME} and {"set": {...}} lines, then {"result":
 * {...}}. Whatever the worker does - dies, hangs, writes rubbish - worker_run returns a result. */
#ifndef TESSERA_HARNESS_EXEC_WORKER_H
#define TESSERA_HARNESS_EXEC_WORKER_H

#include "exec/execute.h"
#include "job/job.h"
#include "process/process.h"

typedef struct worker {
    process process;
    char stage[32];
    input_set set; /* on which the kernel runs, where `has_set` */
    bool has_set;
    uint64_t timeout_ns;     /* for one stage */
    uint64_t job_ns;         /* for a whole job; 0: no limit */
    uint64_t end_ns;         /* of the job in hand; 0: whenever it is done */
    uint64_t deadline_ns;    /* of the step in hand */
    json_t *frames;          /* that it told of its end; NULL: none */
    bool has_others;         /* it ran code of others */
    const job *begun;        /* that it was sent, and of which nobody has the result; NULL: none */
    uint64_t timed_since_ns; /* when the stage "time" was announced; 0: it was not */
    uint64_t timed_until_ns; /* when the stage after it was; 0: it is on */
} worker;

void worker_init(worker *w, uint64_t timeout_seconds, uint64_t memory_mib,
                 const volatile sig_atomic_t *interrupted);
void worker_stop(worker *w);

/* At most so long for each of the jobs that follow, however many steps it announces: a worker that
 * runs what is not trusted could announce steps for ever. */
void worker_limit(worker *w, uint64_t seconds);

/* The job's result with its "internal" part, owned by the caller. NULL only when interrupted. */
json_t *worker_run(worker *w, const job *j);

/* Sends it the job, of which nothing may be timed: others run meanwhile. NULL, or the result where
 * no process takes it. */
json_t *worker_begin(worker *w, const job *j);
/* False while the job that it has begun goes on: process_wait waits for several. Else *result as of
 * worker_run. */
bool worker_has_ended(worker *w, json_t **result);
/* Ends it, where it has begun a job, without a result. */
void worker_give_up(worker *w);

/* The worker's own side: serves jobs from file descriptor 3 to 4 until the parent closes; returns
 * the exit code. `relation` as execute_job takes it. */
int worker_serve(execute_relation_fn relation);

#endif
