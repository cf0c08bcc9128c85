/* shared_object.c - a function of a shared object: over DLTensors in plain C
 * (tessera/implementation.h), or of the TVM FFI convention. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "guest/guest.h"
#include "guest/tvm_ffi.h"

typedef struct shared_object {
    void *library;
    tsr_implementation_fn function; /* or ... */
    tvm_ffi *ffi;
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

bool shared_object_open(guest_function *s, status *st) {
    shared_object *o = base_calloc(1, sizeof *o);
    s->own = o;
    o->library = dlopen(s->path, RTLD_NOW | RTLD_LOCAL);
    if (!o->library)
        return status_set(st, STATUS_UNAVAILABLE, "cannot load it: %s", dlerror());
    void *ffi = find(o->library, "__tvm_ffi_", s->symbol), *plain = find(o->library, "", s->symbol);
    void *error = find(o->library, "", "tessera_error");
    memcpy(&o->function, &plain, sizeof plain);
    memcpy(&o->error, &error, sizeof error);
    o->ffi = ffi ? tvm_ffi_open(s, o->library, ffi) : NULL;
    return ffi || plain ||
           status_set(st, STATUS_NOT_FOUND,
                      "%s exports neither %s nor __tvm_ffi_%s; `nm -D` lists what it does", s->path,
                      s->symbol, s->symbol);
}

bool shared_object_call(guest_function *s, status *st) {
    shared_object *o = s->own;
    if (o->ffi)
        return tvm_ffi_call(o->ffi, s, st);
    int code = o->function(s->pointers, (int32_t)s->count);
    const char *why = code && o->error ? o->error() : NULL;
    if (code == TSR_IMPLEMENTATION_UNSUPPORTED)
        return status_set(st, STATUS_UNAVAILABLE, "%s does not take these types or shapes%s%.600s",
                          s->symbol, why ? ": " : "", why ? why : "");
    /* A function without a result leaves in the register whatever was there. */
    const char *hint = code < INT8_MIN || code > UINT8_MAX
                           ? " (is it int f(DLTensor *const *, int32_t), which is 0 when done?)"
                           : "";
    return code == 0 || status_set(st, STATUS_INVALID, "%s returned %d%s%s%.600s", s->symbol, code,
                                   hint, why ? ": " : "", why ? why : "");
}
