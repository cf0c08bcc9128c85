/* shared_object.c - a function of a shared object: over DLTensors in plain C
 * (tessera/implementation.h), or of the TVM FFI convention. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "guest/guest.h"

/* The stable C ABI of TVM FFI (tvm/ffi/c_api.h): a value is an index of its type and 8 bytes; an
 * error is an object whose cell has its kind and message behind the object's own 24 bytes. */
typedef struct ffi_any {
    int32_t type_index;
    uint32_t padding;
    union {
        int64_t integer;
        void *pointer;
    };
} ffi_any;
typedef struct ffi_error {
    char object[24];
    struct {
        const char *data;
        size_t size;
    } kind, message;
} ffi_error;
enum { FFI_NONE = 0, FFI_DLTENSOR_POINTER = 7 };
typedef int (*ffi_function)(void *handle, const ffi_any *arguments, int32_t count, ffi_any *result);

typedef struct shared_object {
    void *library;
    tsr_implementation_fn function; /* or ... */
    ffi_function ffi;
    ffi_any arguments[GUEST_TENSORS_MAX];
    const char *(*error)(void);
} shared_object;

static void *find(void *library, const char *prefix, const char *name) {
    text symbol;
    text_init(&symbol);
    text_printf(&symbol, "%s%s", prefix, name);
    void *found = dlsym(library, symbol.data);
    text_release(&symbol);
    return found;
}

bool shared_object_open(guest_subject *s, status *st) {
    shared_object *o = base_calloc(1, sizeof *o);
    s->own = o;
    o->library = dlopen(s->path, RTLD_NOW | RTLD_LOCAL);
    if (!o->library)
        return status_set(st, STATUS_UNAVAILABLE, "cannot load it: %s", dlerror());
    void *ffi = find(o->library, "__tvm_ffi_", s->symbol), *plain = find(o->library, "", s->symbol);
    void *error = find(o->library, "", "tessera_error");
    memcpy(&o->ffi, &ffi, sizeof ffi);
    memcpy(&o->function, &plain, sizeof plain);
    memcpy(&o->error, &error, sizeof error);
    for (uint32_t i = 0; i < s->count; i++)
        o->arguments[i] = (ffi_any){FFI_DLTENSOR_POINTER, 0, {.pointer = &s->tensors[i]}};
    return ffi || plain ||
           status_set(st, STATUS_NOT_FOUND,
                      "%s exports neither %s nor __tvm_ffi_%s; `nm -D` lists what it does", s->path,
                      s->symbol, s->symbol);
}

static const char unsupported_kind[] = "NotImplementedError";

static bool ffi_failed(const guest_subject *s, int code, status *st) {
    const shared_object *o = s->own;
    void (*take)(void **) = NULL;
    void *symbol = dlsym(o->library, "TVMFFIErrorMoveFromRaised"), *raised = NULL;
    memcpy(&take, &symbol, sizeof symbol);
    if (take)
        take(&raised);
    if (!raised)
        return status_set(st, STATUS_INVALID, "%s returned %d", s->symbol, code);
    const ffi_error *e = raised;
    bool unsupported = e->kind.size == strlen(unsupported_kind) &&
                       memcmp(e->kind.data, unsupported_kind, e->kind.size) == 0;
    return status_set(st, unsupported ? STATUS_UNAVAILABLE : STATUS_INVALID, "%s: %.*s: %.*s",
                      s->symbol, (int)e->kind.size, e->kind.data,
                      e->message.size < 600 ? (int)e->message.size : 600, e->message.data);
}

bool shared_object_call(guest_subject *s, status *st) {
    shared_object *o = s->own;
    if (o->ffi) {
        ffi_any result = {.type_index = FFI_NONE};
        int code = o->ffi(NULL, o->arguments, (int32_t)s->count, &result);
        return code == 0 || ffi_failed(s, code, st);
    }
    int code = o->function(s->pointers, (int32_t)s->count);
    const char *why = code && o->error ? o->error() : NULL;
    if (code == TSR_IMPLEMENTATION_UNSUPPORTED)
        return status_set(st, STATUS_UNAVAILABLE, "%s does not take these types or shapes%s%.600s",
                          s->symbol, why ? ": " : "", why ? why : "");
    return code == 0 || status_set(st, STATUS_INVALID, "%s returned %d%s%.600s", s->symbol, code,
                                   why ? ": " : "", why ? why : "");
}
