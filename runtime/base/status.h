/* status.h - how a function says that it failed.
 *
 * A function that can fail returns bool (or a pointer) and fills a `status` that the caller owns.
 * The function that meets the failure names its code (status_set); its callers add their part of
 * the story (status_context). The first cause wins: a status that holds a failure keeps its code,
 * and later text follows after "; ". A NULL status is allowed where the caller does not care.
 * Thread rule: one status, one thread. */
#ifndef TESSERA_BASE_STATUS_H
#define TESSERA_BASE_STATUS_H

#include <stdbool.h>

typedef enum status_code {
    STATUS_OK = 0,
    STATUS_INVALID,       /* the caller's or user's input is wrong (exit 3) */
    STATUS_NOT_FOUND,     /* a path, name or record that does not exist (exit 3) */
    STATUS_CORRUPT,       /* a file that is damaged or of another version (exit 3) */
    STATUS_UNAVAILABLE,   /* a device, driver, permission or feature that is not here (exit 4) */
    STATUS_OUT_OF_MEMORY, /* memory or disk exhausted */
    STATUS_IO,            /* the operating system refused a read or write */
    STATUS_TIMEOUT,
    STATUS_DEVICE_LOST, /* a device stopped answering (exit 4) */
    STATUS_MISMATCH,    /* a check did not hold (exit 1) */
    STATUS_INTERRUPTED, /* the user ended it; there is no verdict (exit 130) */
    STATUS_INTERNAL,    /* our bug (exit 70) */
    STATUS_CODE_COUNT
} status_code;

typedef struct status {
    status_code code;
    char message[1024]; /* always NUL-terminated; empty when code is STATUS_OK */
} status;

#define STATUS_INIT                                                                                \
    {                                                                                              \
        STATUS_OK, {                                                                               \
            0                                                                                      \
        }                                                                                          \
    }

/* For a status on the stack where filling its message with zeros would cost too much. */
static inline void status_clear(status *st) {
    st->code = STATUS_OK;
    st->message[0] = '\0';
}

/* Fill `st` (if not NULL) with a code and a formatted message. Always returns false, so `return
 * status_set(...)`. For a first cause; of a status that holds one already the code does not change.
 */
bool status_set(status *st, status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add to the failure that `st` (if not NULL) holds: on whose behalf it happened, e.g. "loading
 * 'x'". Always returns false. */
bool status_context(status *st, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like status_set, with ": <strerror(errno_value)>" appended; ENOSPC/ENOMEM become
 * STATUS_OUT_OF_MEMORY, ENOENT becomes STATUS_NOT_FOUND, EACCES/EPERM STATUS_UNAVAILABLE,
 * everything else STATUS_IO. */
bool status_set_errno(status *st, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Name of a code, e.g. "invalid"; static storage. */
const char *status_code_name(status_code code);

#endif
