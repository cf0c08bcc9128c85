/* stream.h - reads the folder of a recorded program (docs/capture.md).
 *
 * What is read was written by a program that may have been killed, or by anyone: each line is
 * checked. The last line of a process may be cut; anywhere else that is damage. */
#ifndef TESSERA_HARNESS_CAPTURE_STREAM_H
#define TESSERA_HARNESS_CAPTURE_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/text.h"
#include "base/vec.h"

#define CAPTURE_SCHEMA "tsr.capture/1"

typedef enum capture_role { CAPTURE_INPUT, CAPTURE_OUTPUT, CAPTURE_BOTH } capture_role;

/* All strings are of the stream's arena. */
typedef struct capture_tensor {
    const char *name;
    capture_role role;
    const char *dtype; /* its name; type: DTYPE_NONE where no kernel has it */
    dtype type;
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    const char *part;           /* "upper", ...; NULL: all of it */
    const char *before, *after; /* hashes; NULL: none was taken */
} capture_tensor;

typedef struct capture_call {
    uint32_t process; /* index into the stream's */
    uint32_t thread;
    uint64_t number;                /* in the process, from 1 */
    const char *function, *library; /* library: NULL where it is not known */
    const char *arguments;          /* JSON: pairs of name and scalar; a name alone is a tensor */
    capture_tensor *tensors;
    uint32_t tensor_count;
    /* Text to be compared: what it is, what went in and what came out. */
    const char *signature, *inputs, *outputs;
} capture_call;

typedef struct capture_process {
    const char *file;      /* its name in the folder */
    int64_t id, forked_by; /* forked_by: 0 where it began by itself */
    uint64_t started_ns;
    const char *program; /* its command line */
    json_t *environment; /* owned by the stream */
    bool ended;          /* by itself, and the recording with it */
    bool cut;            /* its last line is cut */
    size_t first, count; /* its calls */
} capture_process;

typedef struct capture_stream {
    arena memory;
    const char *folder; /* as it was given; borrowed */
    json_t *head;
    VEC(capture_process) processes; /* in the order in which they began */
    VEC(capture_call) calls;        /* by process, then by number */
} capture_stream;

/* Is it a folder with a stream? */
bool capture_is_stream(const char *folder);
/* capture_stream_close in any case. */
bool capture_stream_open(capture_stream *s, const char *folder, status *st);
void capture_stream_close(capture_stream *s);

/* The file of a tensor's content; false where it was not kept. */
bool capture_tensor_path(const capture_stream *s, const char *hash, text *out);
/* "call 7", and "of process 123" where the stream has several. */
void capture_describe_place(const capture_stream *s, const capture_call *c, text *out);
/* The same as capture_find takes it: "7", or "123/7". */
void capture_name_place(const capture_stream *s, const capture_call *c, text *out);
/* "f32 [3, 5]". */
void capture_describe_tensor(const capture_tensor *t, text *out);
/* "7" or "PID/7"; NULL with the reason where there is no such call, or are several. Borrowed. */
const capture_call *capture_find(const capture_stream *s, const char *place, status *st);

#endif
