/* record.h - writes the calls of a running program as a stream (docs/capture.md).
 *
 * It lives in other people's processes: in a preloaded library and in Python's extension. So it
 * needs nothing but the C library, keeps errno, prints nothing but one message where recording
 * ends, and whatever fails ends the recording and never the program. A line is one write(2), so a
 * program that is killed leaves a stream that ends with a whole line, or with one cut line.
 *
 * A call is recorded by the thread that makes it:
 *
 *     record_call call;
 *     if (record_open(&call, "cblas_sgemm")) {
 *         record_integer(&call, "m", m); ... record_tensor(&call, &a); ...
 *         record_before(&call);
 *     }
 *     ... the call itself ...
 *     record_close(&call);
 *
 * Calls inside of an open one are none of their own: record_open is false for them, and
 * record_close does nothing. Thread rule: any thread, any number at once; fork is allowed. */
#ifndef TESSERA_HARNESS_CAPTURE_RECORD_H
#define TESSERA_HARNESS_CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_SCHEMA "tsr.capture/1"
#define RECORD_VARIABLE "TESSERA_CAPTURE"
#define RECORD_VARIABLE_TENSORS "TESSERA_CAPTURE_TENSORS"

enum { RECORD_TENSORS_MAX = 32, RECORD_RANK_MAX = 8, RECORD_HASH_BYTES = 33 };

typedef enum record_role { RECORD_INPUT, RECORD_OUTPUT, RECORD_BOTH } record_role;
/* The part of a matrix that the call sees; the rest is recorded as zeros. */
typedef enum record_part {
    RECORD_WHOLE,
    RECORD_UPPER,
    RECORD_LOWER,
    RECORD_UPPER_OPEN, /* without its diagonal */
    RECORD_LOWER_OPEN
} record_part;

/* All is borrowed until record_close. A matrix in column-major order is written as its transpose,
 * so that the last axis is the one that memory runs along. */
typedef struct record_tensor {
    const char *name;
    record_role role;
    record_part part;
    const char *dtype; /* "f32" */
    const char *descr; /* of a .npy file, "<f4" */
    uint32_t item_bytes;
    int rank;
    int64_t shape[RECORD_RANK_MAX], strides[RECORD_RANK_MAX]; /* in elements */
    const void *data;
    char before[RECORD_HASH_BYTES], after[RECORD_HASH_BYTES]; /* "": not taken */
} record_tensor;

typedef struct record_text {
    char *data; /* owned */
    size_t length, capacity;
    bool failed; /* no memory: nothing is written */
} record_text;

typedef struct record_call {
    bool is_open, keeps; /* keeps: its tensors, too */
    const char *function, *library;
    uint64_t number;
    uint32_t thread, generation;
    record_text arguments;
    uint32_t tensor_count;
    record_tensor tensors[RECORD_TENSORS_MAX];
} record_call;

/* True while calls are recorded. */
bool record_is_on(void);
/* Takes TESSERA_CAPTURE and TESSERA_CAPTURE_TENSORS; a relative folder is one of this moment.
 * Again: nothing. */
void record_start(void);
/* The end of a process that ends by itself is told, so that others are known. */
void record_finish(void);

/* False, and nothing to do: recording is off, or this is a call inside of another. */
bool record_open(record_call *call, const char *function);
/* The arguments in the order of the call; the name of a tensor alone stands for its address. */
void record_integer(record_call *call, const char *name, int64_t value);
void record_real(record_call *call, const char *name, double value);
void record_letter(record_call *call, const char *name, char value);
void record_word(record_call *call, const char *name, const char *value);
void record_tensor_of(record_call *call, const record_tensor *tensor);
/* The call's return value: an output that is no argument. It may come after record_before, when its
 * shape is known. */
void record_result_of(record_call *call, const record_tensor *tensor);
void record_before(record_call *call);
void record_close(record_call *call);
/* Ends it unwritten: the call raised. */
void record_drop(record_call *call);

/* ---- between the files of this folder ---- */

void record_text_bytes(record_text *t, const char *data, size_t count);
void record_text_add(record_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
void record_text_string(record_text *t, const char *value);
/* 17 digits, whatever the locale is; "nan" and infinities as strings. */
void record_text_real(record_text *t, double value);
void record_text_free(record_text *t);

/* Hash of what the call sees; a folder: its elements are kept there as HASH.npy. False with errno
 * where that could not be written. */
bool record_tensor_take(const record_tensor *t, const char *folder, char hash[RECORD_HASH_BYTES]);
/* Does the list ("all", "none", "12,40-45,cblas_*") mean a call? */
bool record_wants(const char *list, uint64_t number, const char *function);
/* All of it, whatever limits of file sizes there are. False with errno. */
bool record_write_all(int fd, const char *data, size_t count);

#endif
