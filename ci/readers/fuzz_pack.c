/* fuzz_pack.c - repro packs: bytes that somebody sent. */
#include "fuzz.h"
#include "repro/pack.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pack_state state;
    status st = STATUS_INIT;
    pack_free(pack_read(scratch_file("fuzzed" PACK_SUFFIX, data, size), &state, &st));
    return 0;
}
