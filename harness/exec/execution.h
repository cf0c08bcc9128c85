/* execution.h - a job under way, shared by the files that run its steps. */
#ifndef TESSERA_HARNESS_EXEC_EXECUTION_H
#define TESSERA_HARNESS_EXEC_EXECUTION_H

#include "case/backend.h"
#include "check/verdict.h"
#include "common/scratch_folder.h"
#include "exec/execute.h"
#include "exec/timeline.h"
#include "launch/launch.h"
#include "measure/counters.h"
#include "measure/sample.h"
#include "measure/watch.h"
#include "tessera/descent.h"
#include "tessera/edit.h"

/* Why the result of a kernel without a formula is neither right nor wrong. */
#define EXECUTION_NOT_VERIFIED "not verified: the kernel has no formula"

typedef struct execution execution;
struct staging;

/* The steps of a job that differ between classes of backends (case/backend.h). False: the step
 * failed, as the status says. */
typedef struct execution_class {
    bool foreign;                            /* code of others, which may write anywhere */
    bool held_to_golden;                     /* VERIFY: skipped where there is no golden */
    bool (*build)(execution *e, status *st); /* makes the module */
    const tensor *(*compute)(execution *e, status *st); /* the outputs; NULL: it failed */
    bool (*judge)(execution *e, const tensor *outputs, status *st);
    bool (*tune)(execution *e, status *st); /* TUNE: instead of these; NULL: as in other modes */
    bool (*time)(execution *e, status *st); /* once there is a verdict */
    /* PACK: builds, and writes what is made on the way. */
    bool (*pack_code)(execution *e, const struct staging *s, status *st);
    /* PACK: the outputs that the pack holds; NULL: it has none. `expected`: the interpreter's. */
    bool (*pack_outputs)(execution *e, const tensor *expected, const tensor **actual, status *st);
} execution_class;

extern const execution_class execution_of_interpreter, execution_of_compiler, execution_of_tools,
    execution_of_others, execution_of_steps, execution_of_ranks;

/* Fields: the state of one job, from its backend to its verdict, which its stages share. */
struct execution {
    const execution_class *class;
    const backend *backend;
    case_context *context;
    const job *job;
    execute_stage_fn stage;
    void *stage_context;
    json_t *result;
    compiler_profile profile;
    uint32_t device;          /* of the runtime, where the backend has one */
    compiler_instance *tried; /* TUNE: of other tiles, instead of the case's; or NULL */
    compiler_artifact artifact;
    launch launch;
    compiler_artifact *rank_modules; /* of a launch on several ranks; or NULL */
    counters counters;
    timeline timeline;
    watch watch;              /* begun before the kernel is loaded */
    tensor *outputs, *repeat; /* a list each, of tensors_new */
    const execute_hooks *hooks;
    input_set set; /* on which the kernel runs, where `has_set` */
    bool has_set;
    bool mismatch;          /* there is no verdict that holds: nothing to time */
    bool schedule_rejected; /* the tuned schedule did not fit, and is not used */
    char note[400];         /* why; or what else a result that holds has to say */
    char space[200];        /* the tiles of a kernel of tiles */
    compiler_provenance provenance;
    compiler_stored stored;        /* see execution_stored */
    const compiler_edited *edited; /* the job's edits; NULL: it has none */
    scratch_folder folder; /* for the files of an implementation that is a program; or none */
};

/* Steps that classes share. */
bool execution_needs_nothing(execution *e, status *st);
bool execution_packs_nothing(execution *e, const struct staging *s, status *st);
const tensor *execution_computed(execution *e, status *st); /* by two launches */
bool execution_judge_repeated(execution *e, const tensor *outputs, status *st);
bool execution_time_bench(execution *e, status *st);
bool execution_pack_computed(execution *e, const tensor *expected, const tensor **actual,
                             status *st);

/* execute_steps.c: the module that the job begins with; NULL: the case's own. */
const compiler_stored *execution_stored(execution *e);

/* execute_pack.c: writes the members of a pack. What does not need the kernel to run comes first: a
 * crash on the way leaves that. */
bool execution_pack(execution *e, status *st);
/* execute_export.c: the case in the job's language. */
bool execution_export(execution *e, status *st);

/* execute_set.c: the kernel runs on this set from now on; NULL: on several, or on none. */
void execution_set(execution *e, const input_set *set);
/* The failure with its set, where that is not the case's own. */
status execution_name_set(const execution *e, const status *failed);
/* The result is a mismatch, on the set of now. */
void execution_mismatch(execution *e, const char *why);
/* Says in the result on which set it failed. */
void execution_put_failed_set(execution *e);
/* Puts the case into the record, with the arrays that were given. */
void execution_put_case_key(execution *e);

/* execute_result.c: fields of the result. The first gives a digest for each output, owned. */
json_t *execution_digests(const execution *e, const tensor *outputs);
void execution_put_digests(execution *e, const tensor *outputs);
void execution_put_tiles(execution *e); /* which a kernel has, and what of them no code uses */
void execution_put_identity(execution *e);
void execution_put_verdict(execution *e, const verdict *v);
void execution_put_work(execution *e); /* FLOPs, bytes and types */

/* execute_occupancy.c: of code for a chip, as the compiler counts registers; else nothing */
void execution_put_occupancy(execution *e, const compiler_options *options);

/* execute_launch.c */
/* Makes the fault `transposed` in an output. */
void execution_transpose_output(const execution *e, tensor *outputs);
/* The request for a launch of the module that was built. */
launch_request execution_request(const execution *e, uint32_t threads);
/* Writes the inputs, poisons the outputs, launches. */
bool execution_launch(execution *e, status *st);
/* Two launches; the outputs are in `outputs` and `repeat`. */
bool execution_compute(execution *e, status *st);
/* Holds `outputs` against what is expected. `repeat`: the outputs of a second launch; NULL where
 * that would only compile the same again. */
bool execution_judge(execution *e, const tensor *repeat, status *st);

/* execute_sentinels.c: what made outputs that are not finite, where that was looked for. */
void execution_put_sentinels(execution *e, const verdict *v);

/* execute_wrong.c: the first element of outputs that is not what it should be, as JSON, owned;
 * *wrong stays NULL where all hold. The second puts it into the result of a replay. */
bool execution_find_wrong(case_context *s, compiler_profile profile, const tensor *outputs,
                          json_t **wrong, status *st);
void execution_put_wrong(execution *e);

/* execute_emit.c: EMIT; and what an edited case is made of. */
bool execution_emit(execution *e, status *st);
void execution_put_size(const execution *e, const compiler_edited *edited);

/* execute_opinion.c: OPINION; *wrong: the result is that what the job names is, by a second
 * opinion; and a launch of a module on the job's device, of the inputs of a case. */
bool execution_opinion(execution *e, status *st);
bool execution_ask_opinion(execution *e, const tensor *outputs, bool *wrong, status *st);
bool execution_launch_beside(const execution *e, const case_context *c,
                             const compiler_artifact *module, tensor *outputs, status *st);

/* execute_steps.c: STEPS and RUNS. */
bool execution_list_steps(execution *e, status *st);
bool execution_runs(execution *e, status *st);

/* execute_record.c: writes the golden of these outputs, the interpreter's. */
bool execution_record(execution *e, const tensor *outputs, status *st);

/* execute_fallbacks.c: says in the result what takes the place of what its target lacks: types of
 * the kernel (capabilities.def), and what the metadata of the module that was built name; and the
 * memory of a launch. */
void execution_put_fallbacks(execution *e);
void execution_put_module_facts(execution *e);

/* execute_memory.c: the memory of a launch, where the module has one image, of sizes that are
 * known; and, after launches, what the device gave of its own where its driver counts. */
void execution_put_memory(execution *e, const json_t *metadata);
void execution_put_device_memory(execution *e);

/* execute_time.c: times a kernel that holds. A deviation that shows while it is timed makes the
 * result a mismatch. */
bool execution_time(execution *e, status *st);
void execution_put_times(execution *e, const sample_set *samples);

/* execute_ranks.c: ends what jobs on several ranks have. */
void execution_release_ranks(execution *e);

/* execute_others.c, PACK: what the implementation opens, as the job says; whatever comes of that.
 */
void execution_put_opened(execution *e);

/* Is what runs code of others in a process of its own? Code for a GPU has none. */
bool execution_has_guest(const execution *e);

/* execute_others.c: what --tolerance lets code of others pass outside of its bounds under fast,
 * else 0; and how many elements were judged, and by what. */
double execution_tolerance(const execution *e);
void execution_put_judged(const execution *e, const verdict *v);

/* execute_ahead.c: has a plugin compile for devices that are not here, and puts what it tells into
 * the result. False: nothing runs it, as the status says. */
struct implementation_request;
bool execution_compile_ahead(execution *e, const struct implementation_request *request,
                             status *st);

/* execute_beside.c: ours beside an implementation. NULL where ours was not asked for, or does not
 * run: its own column says why. Opened before the implementation is timed, so that our threads are
 * there already. */
typedef struct beside beside;
beside *execution_beside_open(execution *e);
/* Times both in turn; nothing for NULL. */
bool execution_beside_take(beside *b, const sample_source *theirs, status *st);
void execution_beside_close(beside *b);

/* execute_tune.c: opens `tried`, the tiles that a job tries. */
bool execution_open_tried(execution *e, status *st);
/* The schedule that was built against the kernel's own: bits, then times. */
bool execution_tune(execution *e, status *st);

#endif
