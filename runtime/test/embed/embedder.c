/* embedder.c - runs against the ABI that it was compiled for. Compiled with -Werror, and with code
 * that Tessera's own warnings reject: it does not compile where those reach it. */
#include <stdio.h>
#include <tessera/tessera.h>

#ifdef _GNU_SOURCE
#error "a definition of Tessera's own build"
#endif

short narrowed(long wide) {
    return wide;
}

int main(void) {
    uint32_t major, minor;
    tsr_context_t context;
    tsrGetVersion(&major, &minor);
    if (major != TSR_ABI_MAJOR || minor != TSR_ABI_MINOR || narrowed(7) != 7)
        return 1;
    if (tsrCreateContext(&context) == TSR_SUCCESS && tsrDestroyContext(context) != TSR_SUCCESS)
        return 1;
    printf("%u.%u\n", (unsigned)major, (unsigned)minor);
    return 0;
}
