/* fuzz_safetensors.c - .safetensors files: what opens has its bytes, tensor by tensor. */
#include <stdlib.h>

#include "fuzz.h"
#include "scratch.h"
#include "state/safetensors.h"

enum { ELEMENTS_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    safetensors s;
    status st = STATUS_INIT;
    bool opened = safetensors_open(&s, scratch_file("fuzzed.safetensors", data, size), &st);
    for (size_t i = 0; opened && i < s.entries.count; i++) {
        const safetensors_entry *e = &s.entries.items[i];
        tensor t = {0};
        if (e->begin > e->end || s.data_offset + e->end > size ||
            safetensors_find(&s, e->name) == NULL)
            abort();
        if (e->end - e->begin < ELEMENTS_MAX && safetensors_read(&s, e, DTYPE_NONE, &t, &st)) {
            if (tensor_bytes(&t) != e->end - e->begin)
                abort();
            tensor_release(&t);
        }
    }
    safetensors_close(&s);
    return 0;
}
