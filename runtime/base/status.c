/* status.c - see status.h. */
#include "base/status.h"

#include "base/escape.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[STATUS_CODE_COUNT] = {
    [STATUS_OK] = "ok",
    [STATUS_INVALID] = "invalid",
    [STATUS_NOT_FOUND] = "not found",
    [STATUS_CORRUPT] = "corrupt",
    [STATUS_UNAVAILABLE] = "unavailable",
    [STATUS_OUT_OF_MEMORY] = "out of memory",
    [STATUS_IO] = "i/o error",
    [STATUS_TIMEOUT] = "timeout",
    [STATUS_DEVICE_LOST] = "device lost",
    [STATUS_MISMATCH] = "mismatch",
    [STATUS_INTERRUPTED] = "interrupted",
    [STATUS_INTERNAL] = "internal",
};

const char *status_code_name(status_code code) {
    return (unsigned)code < STATUS_CODE_COUNT ? code_names[code] : "unknown";
}

/* A message that was cut ends with a whole character: it becomes JSON, which is UTF-8. */
static void end_whole(status *st) {
    size_t length = strlen(st->message);
    if (length == sizeof st->message - 1)
        st->message[text_utf8_cut(st->message, length)] = '\0';
}

static void append(status *st, const char *string) {
    size_t used = strlen(st->message);
    snprintf(st->message + used, sizeof st->message - used, "%s", string);
    end_whole(st);
}

/* A status without a cause takes the code; one with a cause keeps its own, and its text goes on
 * after
 * "; ". */
static void begin(status *st, status_code code) {
    if (st->code == STATUS_OK) {
        st->code = code;
        st->message[0] = '\0';
    } else if (st->message[0]) {
        append(st, "; ");
    }
}

static void append_formatted(status *st, const char *format, va_list args) {
    size_t used = strlen(st->message);
    vsnprintf(st->message + used, sizeof st->message - used, format, args);
    end_whole(st);
}

bool status_set(status *st, status_code code, const char *format, ...) {
    if (!st)
        return false;
    begin(st, code);
    va_list args;
    va_start(args, format);
    append_formatted(st, format, args);
    va_end(args);
    return false;
}

bool status_context(status *st, const char *format, ...) {
    if (!st)
        return false;
    assert(st->code != STATUS_OK);
    begin(st, STATUS_INTERNAL);
    va_list args;
    va_start(args, format);
    append_formatted(st, format, args);
    va_end(args);
    return false;
}

static status_code code_of_errno(int errno_value) {
    switch (errno_value) {
    case ENOSPC:
    case ENOMEM:
        return STATUS_OUT_OF_MEMORY;
    case ENOENT:
        return STATUS_NOT_FOUND;
    case EACCES:
    case EPERM:
        return STATUS_UNAVAILABLE;
    default:
        return STATUS_IO;
    }
}

bool status_set_errno(status *st, int errno_value, const char *format, ...) {
    if (!st)
        return false;
    begin(st, code_of_errno(errno_value));
    va_list args;
    va_start(args, format);
    append_formatted(st, format, args);
    va_end(args);
    append(st, ": ");
    append(st, strerrordesc_np(errno_value) ? strerrordesc_np(errno_value) : "unknown error");
    return false;
}
