/* error.c - the last error of each thread, status names and the version. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

static const char *const names[] = {
    [TSR_SUCCESS] = "success",          [TSR_EOOM] = "out of memory",
    [TSR_EINVAL] = "invalid argument",  [TSR_ETIMEOUT] = "timeout",
    [TSR_ENOTFOUND] = "not found",      [TSR_ECORRUPT] = "corrupt module",
    [TSR_EVERSION] = "ABI version",     [TSR_EUNAVAILABLE] = "unavailable",
    [TSR_EINTERNAL] = "internal error", [TSR_EDEVICELOST] = "device lost",
};

static const tsr_status_t codes[STATUS_CODE_COUNT] = {
    [STATUS_OK] = TSR_SUCCESS,
    [STATUS_INVALID] = TSR_EINVAL,
    [STATUS_NOT_FOUND] = TSR_ENOTFOUND,
    [STATUS_CORRUPT] = TSR_ECORRUPT,
    [STATUS_UNAVAILABLE] = TSR_EUNAVAILABLE,
    [STATUS_OUT_OF_MEMORY] = TSR_EOOM,
    [STATUS_IO] = TSR_EINTERNAL,
    [STATUS_TIMEOUT] = TSR_ETIMEOUT,
    [STATUS_DEVICE_LOST] = TSR_EDEVICELOST,
    [STATUS_MISMATCH] = TSR_EINTERNAL,
    [STATUS_INTERRUPTED] = TSR_EINTERNAL,
    [STATUS_INTERNAL] = TSR_EINTERNAL,
};

const char *tsrGetLastError(void) {
    return last_error;
}

const char *tsrStatusName(tsr_status_t code) {
    return (unsigned)code < sizeof names / sizeof names[0] ? names[code] : "unknown status";
}

void tsrGetVersion(uint32_t *abi_major, uint32_t *abi_minor) {
    if (abi_major)
        *abi_major = TSR_ABI_MAJOR;
    if (abi_minor)
        *abi_minor = TSR_ABI_MINOR;
}

tsr_status_t error_set(tsr_status_t code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return code;
}

tsr_status_t error_from(const status *st) {
    return error_set(codes[st->code], "%s", st->message);
}

tsr_status_t error_null(const char *argument) {
    return error_set(TSR_EINVAL, "%s is NULL", argument);
}

tsr_status_t error_check_size(const void *info, size_t told_bytes, size_t least_bytes) {
    if (!info)
        return error_null("info");
    return told_bytes >= least_bytes
               ? TSR_SUCCESS
               : error_set(TSR_EINVAL, "struct_size is %zu; set it to the size of the struct, %zu",
                           told_bytes, least_bytes);
}
