/* program_run.h - what a launch of a program is while its commands are made; between program_run.c
 * and program_batch.c. */
#ifndef TESSERA_RUNTIME_PROGRAM_RUN_H
#define TESSERA_RUNTIME_PROGRAM_RUN_H

#include "runtime.h"

enum {
    PROGRAM_BATCH_FIRST = 32, /* commands that are submitted together at first ... */
    PROGRAM_BATCH = 256,      /* ... and at most, */
    PROGRAM_OPERANDS = 4096,  /* and operands for which there is room at least */
    PROGRAM_AHEAD = 32768     /* commands between two looks at what the stream is through with */
};

/* A launch: it lives while its commands are made, under the lock of its program. */
typedef struct program_run {
    tsr_stream_t stream;
    tsr_graph_t graph;              /* that captures; or NULL */
    bool each;                      /* nothing is submitted together */
    bool timed;                     /* as in device_dispatch */
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
    device_memory *arena;
    device_memory **constants;
    device_event *passed[2]; /* recorded in turn behind so many batches */
    pthread_mutex_t mutex;
    program_run run;
};

/* Memory for the program between its kernels; another one for each graph that holds it. */
bool program_make_arena(tsr_module_t module, device_memory **out, status *st);

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

static inline tsr_status_t program_add(struct program_state *s, device_command command) {
    s->run.commands[s->run.count] = command;
    return program_added(s);
}

#endif
