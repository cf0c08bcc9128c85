/* job_plan.h - which jobs a command means: cases x backends x profiles x thread counts. */
#ifndef TESSERA_HARNESS_JOB_JOB_PLAN_H
#define TESSERA_HARNESS_JOB_JOB_PLAN_H

#include "case/backend.h"
#include "case/case.h"
#include "implementation/implementation.h"
#include "job/job.h"

enum { JOB_THREADS_MAX = 16, JOB_TRANSPORTS_MAX = 4 };

/* The request, resolved: every name is known, every backend can run here. */
typedef struct job_choice {
    bool backends[BACKEND_COUNT];
    const char
        *own[BACKEND_COUNT]; /* the chip of its device, of a backend whose code is for that */
    bool by_name;            /* backends were named: what one cannot do is missing, not left out */
    bool profiles[PROFILE_COUNT];
    bool profiles_by_name; /* else implementations run under fast: each element within its bound */
    implementation *implementations; /* --with; owned by whoever made the choice */
    uint32_t implementation_count;
    uint32_t threads[JOB_THREADS_MAX];
    uint32_t thread_count;
    uint32_t ranks[JOB_THREADS_MAX]; /* in place of one; none: one */
    uint32_t rank_count;
    const char *transports[JOB_TRANSPORTS_MAX];
    uint32_t transport_count;
    const char *layout; /* of ranks along the axes of meshes; or NULL */
#define OWN(kind, name)
#define CHOSEN(kind, name, scope) JOB_C_##kind name;
#include "job/job.def"
#undef OWN
#undef CHOSEN
    const char *also[COMPILER_LEVELS_MAX]; /* further levels of a module */
    uint32_t also_count;
    uint64_t timeout_seconds, memory_mib;
    char cache[1024];   /* the folder of compiled modules; empty: none */
    const char *inject; /* FAULT[@KERNEL[/CASE]], or NULL */
    const char *fault;  /* the same, or the default of the environment */
} job_choice;

typedef struct job_plan {
    VEC(job) jobs;                  /* in corpus order; all jobs of a case are neighbours */
    VEC(job) elsewhere;             /* those of other shards */
    const compiler_kernel *without; /* the first kernel that none of the columns could run: it has
                                       no formula, or one of which no code is made; or NULL */
} job_plan;

/* interp takes part once per case, as strict on one thread. With implementations, only cases of
 * kernels that one of them computes take part. */
void job_plan_make(job_plan *p, const corpus *c, const job_choice *choice, job_mode mode);
/* Checks that there is a job for each --with; else says which functions the first of those without
 * has. */
bool job_plan_covers(const job_plan *p, const job_choice *choice, status *st);
/* Checks that there is something to run; else which kernel lacks a formula, or code. */
bool job_plan_has_formulas(const job_plan *p, status *st);
void job_plan_release(job_plan *p);
/* Is a fault made in some job? */
bool job_plan_has_fault(const job_plan *p);

/* Sizes of the choice in canonical text: two runs of equal text ask for the same. */
json_t *job_choice_json(const job_choice *choice);

#endif
