/* program_run.h - what a launch of a program is while its commands are made; between program_run.c
 * and program_batch.c. */
#ifndef TESSERA_RUNTIME_PROGRAM_RUN_H
#define TESSERA_RUNTIME_PROGRAM_RUN_H

#include "runtime.h"

enum {
    PROGRAM_BATCH_FIRST = 32, /* commands that are submitted together at first ... */
    PROGRAM_BATCH = 256,      /* ... and at most, */
    PROGRAM_OPERANDS = 4096,  /* and operands for which there is room at least */
    PROGRAM_RECORDED = 4096,  /* commands that a device records together, at most */
    PROGRAM_SEQUENCES = 32,
    PROGRAM_AHEAD = 32768 /* commands between two looks at what the stream is through with */
};

/* A recording of commands that came together, or one to be made when they come again. */
typedef struct program_sequence {
    uint64_t key;              /* of the commands */
    uint64_t used;             /* when it was asked for last; 0: never */
    device_sequence *sequence; /* NULL: there is none yet */
    bool noted;                /* the commands came once, and were not recorded */
} program_sequence;

/* A launch: it lives while its commands are made, under the lock of its program. */
typedef struct program_run {
    tsr_stream_t stream;
    tsr_graph_t graph;              /* that captures; or NULL */
    bool each;                      /* nothing is submitted together */
    bool timed;                     /* as in device_dispatch */
    bool recorded;                  /* the device records what comes together */
    uint32_t opened;                /* the DEVICE_REPLAY of those that come now; or UINT32_MAX */
    uint64_t limit_ns, deadline_ns; /* 0: none */
    unsigned char **bases;          /* of inputs, outputs, the arena and constants */
    const device_memory **memories;
    int64_t turns[PROGRAM_DEPTH_MAX]; /* of the counted loops around, outermost first */
    uint32_t loops;
    unsigned char flag;     /* that was read last; a lost device may write it later */
    const metadata *kernel; /* of the last dispatch */
    uint32_t ahead, looks;  /* commands since the last look; looks */
    uint32_t batch;         /* commands that the next one has, at most */
    uint32_t count, operand_count, operand_room;
    device_command *commands;
    void **operands;
    const device_memory **operand_memories;
} program_run;

struct program_state {
    tsr_module_t module;
    device_command *dispatches; /* of each kernel, but for its buffers */
    int64_t **in_place; /* workgroups of each kernel that copies donated inputs, where all lie at
                           their outputs; NULL: it copies none */
    device_memory *arena;
    device_memory **constants;
    device_event *passed[2]; /* recorded in turn behind PROGRAM_AHEAD commands */
    program_sequence sequences[PROGRAM_SEQUENCES];
    uint64_t asked;                 /* for sequences, ever */
    uint32_t fresh;                 /* recordings since the last that came again */
    uint32_t recorded_most;         /* commands of one; 0: the device records none */
    device_memory *workspace;       /* of all dispatches that are recorded; NULL: they need none */
    struct program_posting *posted; /* exchanges under way, the last one first */
    pthread_mutex_t mutex;
    program_run run;
};

/* Memory for the program between its kernels; another one for each graph that holds it. */
bool program_make_arena(tsr_module_t module, device_memory **out, status *st);

/* program_run.c: where a place lies in the present turns. */
device_span program_span_of(const program_run *r, const program_place *p);

/* ---- program_exchange.c ---- */

/* Begins an exchange when the device has made what is sent. */
tsr_status_t program_run_exchange(struct program_state *s, const program_command *c);
/* Waits until it is through. */
tsr_status_t program_run_wait(struct program_state *s, const program_command *c);
/* Waits for all that are under way: behind a launch that failed. */
void program_end_exchanges(struct program_state *s);

/* ---- program_sequence.c ---- */

/* Finds what the device can record, and makes the workspace for it. */
bool program_record_open(struct program_state *s, status *st);
void program_record_close(struct program_state *s);
/* Ends the commands that come together: what was put at the batch's end by now. */
void program_record_end(struct program_state *s);

/* Begins them, unless they have begun: comes before a command is put at the batch's end that the
 * device can record. */
static inline void program_record_begin(program_run *r) {
    if (r->recorded && r->opened == UINT32_MAX) {
        r->opened = r->count++;
        r->commands[r->opened].kind = DEVICE_REPLAY;
        r->commands[r->opened].limit_ns = 0;
    }
}

/* ---- program_batch.c ---- */

/* Gives the commands that were put at the batch's end to the stream. */
tsr_status_t program_flush(struct program_state *s);
/* Until the stream has done what it was given. */
tsr_status_t program_await(const struct program_state *s);
/* Without batches: under debug, or where a graph captures. */
tsr_status_t program_give_one(struct program_state *s);

/* After a command was put at the batch's end. */
static inline tsr_status_t program_added(struct program_state *s) {
    s->run.count++;
    if (s->run.each)
        return program_give_one(s);
    return s->run.count >= s->run.batch ? program_flush(s) : TSR_SUCCESS;
}

/* A command between addresses of the device. */
static inline tsr_status_t program_add(struct program_state *s, device_command command) {
    program_record_begin(&s->run);
    s->run.commands[s->run.count] = command;
    return program_added(s);
}

/* A command that no device records. */
static inline tsr_status_t program_add_apart(struct program_state *s, device_command command) {
    program_record_end(s);
    s->run.commands[s->run.count] = command;
    return program_added(s);
}

#endif
