/* nvtx.c - opens a library of NVTX. */
#include "nvtx.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool take(void *library, const char *name, void *function_out) {
    void *found = dlsym(library, name);
    memcpy(function_out, &found, sizeof found);
    return found != NULL;
}

static bool take_all(void *library, nvtx *out) {
    return take(library, "nvtxRangePushA", &out->push) && take(library, "nvtxRangePop", &out->pop);
}

static bool open_first(const char *const *names, size_t count, nvtx *out) {
    for (size_t i = 0; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library && take_all(library, out))
            return true;
        if (library)
            dlclose(library);
    }
    return false;
}

bool nvtx_open(nvtx *out, status *st) {
    static const char *const usual[] = {"libnvtx3interop.so.1", "libnvtx3interop.so",
                                        "libnvToolsExt.so.1", "libnvToolsExt.so"};
    const char *own = getenv(NVTX_LIBRARY); // NOLINT(concurrency-mt-unsafe)
    bool named = own && *own;
    if (named ? open_first(&own, 1, out) : open_first(usual, sizeof usual / sizeof *usual, out))
        return true;
    return status_set(st, STATUS_UNAVAILABLE,
                      "the policy asks for profiling.nvtx, and there is no library of NVTX (%s): "
                      "install one (cuda-nvtx), name it by " NVTX_LIBRARY ", or leave the key out",
                      named ? own : "libnvtx3interop.so.1, libnvToolsExt.so.1");
}
