/* error.c - errors: a code of the interface, and words. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

struct PJRT_Error {
    PJRT_Error_Code code;
    char *message;
};

PJRT_Error *error_new(PJRT_Error_Code code, const char *format, ...) {
    PJRT_Error *e = base_malloc(sizeof *e);
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    *e = (PJRT_Error){code, base_malloc((size_t)length + 1)};
    va_start(list, format);
    vsnprintf(e->message, (size_t)length + 1, format, list);
    va_end(list);
    return e;
}

PJRT_Error_Code error_code_of(tsr_status_t code) {
    switch (code) {
    case TSR_EINVAL:
        return PJRT_Error_Code_INVALID_ARGUMENT;
    case TSR_EOOM:
        return PJRT_Error_Code_RESOURCE_EXHAUSTED;
    case TSR_ENOTFOUND:
        return PJRT_Error_Code_NOT_FOUND;
    case TSR_ECORRUPT:
    case TSR_EVERSION:
        return PJRT_Error_Code_DATA_LOSS;
    case TSR_EUNAVAILABLE:
        return PJRT_Error_Code_UNAVAILABLE;
    default:
        return PJRT_Error_Code_INTERNAL;
    }
}

PJRT_Error *error_of(tsr_status_t code, const char *message) {
    return error_new(error_code_of(code), "%s",
                     message && *message ? message : tsrStatusName(code));
}

PJRT_Error *pjrt_Error_Destroy(void *args) {
    PJRT_TAKES(Error_Destroy, error);
    if (a->error)
        free(a->error->message);
    free(a->error);
    return NULL;
}

PJRT_Error *pjrt_Error_Message(void *args) {
    PJRT_TAKES(Error_Message, message_size);
    a->message = a->error ? a->error->message : "";
    a->message_size = strlen(a->message);
    return NULL;
}

PJRT_Error *pjrt_Error_GetCode(void *args) {
    PJRT_TAKES(Error_GetCode, code);
    PJRT_NEEDS(Error_GetCode, error);
    a->code = a->error->code;
    return NULL;
}
