/* fuzz.h - what a fuzz target is: one function that takes any bytes and comes back.
 *
 * With clang's libFuzzer (or AFL++, which knows the same function) bytes are searched for; without
 * it driver.c runs the kept ones, so that they are tests. */
#ifndef TESSERA_CI_READERS_FUZZ_H
#define TESSERA_CI_READERS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
