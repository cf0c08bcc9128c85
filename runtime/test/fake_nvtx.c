/* fake_nvtx.c - a library of NVTX for test_policy.c: it writes down the ranges that it is told. */
#include <stdio.h>
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default")))
SHOWN int nvtxRangePushA(const char *name);
SHOWN int nvtxRangePop(void);

static int depth;

static void note(const char *what, const char *name) {
    const char *path = getenv("FAKE_NVTX_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    (void)fprintf(file, "%s%s%s\n", what, *name ? " " : "", name);
    (void)fclose(file);
}

int nvtxRangePushA(const char *name) {
    note("push", name);
    return depth++;
}

int nvtxRangePop(void) {
    note("pop", "");
    return --depth;
}
