/* fuzz_golden.c - goldens: a manifest, a NUL, and the compressed elements beside it. */
#include <string.h>

#include "case/golden.h"
#include "fuzz.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char key[] = "098f18d9e3eda72741f00f89cde78c3f870745b0c19310c6c7f443e3995f02fc";
    const struct compiler_buffer buffer = {
        .name = "out", .type = DTYPE_F32, .rank = 2, .dims = {7, 7}, .replaces = -1};
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t manifest = end ? (size_t)(end - data) : size, rest = end ? size - manifest - 1 : 0;
    golden g;
    golden_state state;
    tensor t = {0};
    status st = STATUS_INIT;
    scratch_file("square.out.lz4", end ? end + 1 : data, rest);
    if (golden_read(scratch_file("square.json", data, manifest), key, &g, &state, &st)) {
        golden_digest(&g, 0);
        if (golden_tensor(&g, 0, &buffer, &t, &st))
            tensor_release(&t);
        golden_release(&g);
    }
    return 0;
}
